// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A table of a layout, and the note that leads to it, for the programs of find_layout_test.cpp.

#include "inspect/layout.h"

#ifndef TEST_LAYOUT_VERSION
#define TEST_LAYOUT_VERSION weft::detail::inspect::kLayoutVersion
#endif
#ifndef TEST_NUM_ENTRIES
#define TEST_NUM_ENTRIES 3
#endif

namespace {

const void* newest = nullptr;

constexpr weft::detail::inspect::LayoutEntry entries[] = {
    {"Worker.current", 24},
    {"Fiber.this_name_has_thirtynine_letters_", 1},
    {"Fiber.size", 192},
};

}  // namespace

extern "C" {
[[gnu::visibility("hidden")]] extern const weft::detail::inspect::LayoutTable testLayoutTable;
[[gnu::used]] const weft::detail::inspect::LayoutTable testLayoutTable = {
    {'w', 'e', 'f', 't', 'l', 'a', 'y', '\n'},
    TEST_LAYOUT_VERSION,
    sizeof entries[0],
    TEST_NUM_ENTRIES,
    sizeof(void*),
    "12.3.4",
    &newest,
    nullptr,
    entries,
    nullptr};

const void* testSchedulers();
const void* testSchedulers() { return &newest; }
}

#ifndef TEST_NO_NOTE
asm(R"(
  .pushsection .note.weft, "a", %note
  .balign 4
  .long 5, 4, 1
  .asciz "weft"
  .balign 4
  .long testLayoutTable - .
  .popsection
)");
#endif
