// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

// Where the state of a scheduler lies in memory, for who looks from outside: the program `weft`, the commands
// for debuggers, and weft::dump(). Needs no debug information, and no symbols.
//
// The library holds one LayoutTable. An ELF note of its own leads to it, in stripped programs and core files
// too: name "weft", type kLayoutNoteType, content one int32_t: the distance from that content's own address
// to the table. A program may hold several copies of weft, each with a table.
//
// The table names offsets and sizes, so a reader that finds all names that it wants understands the process.
// kLayoutVersion grows when a name changes its meaning, or goes.
namespace weft::inline v0_1::detail::inspect {

inline constexpr char kLayoutNoteName[] = "weft";  // with its zero byte 5 bytes, padded to 8
inline constexpr uint32_t kLayoutNoteType = 1;
inline constexpr char kLayoutMagic[8] = {'w', 'e', 'f', 't', 'l', 'a', 'y', '\n'};
inline constexpr uint32_t kLayoutVersion = 2;

struct LayoutEntry {
  char name[40];   // "Worker.current"; ends with a zero byte
  uint64_t value;  // an offset in bytes from the start of the named type, or a size
};

struct LayoutTable {
  char magic[8];       // kLayoutMagic
  uint32_t version;    // kLayoutVersion
  uint32_t entrySize;  // sizeof(LayoutEntry)
  uint32_t numEntries;
  uint32_t pointerSize;      // sizeof(void*)
  char release[16];          // of the library: "0.1.0"
  const void* schedulers;    // address of the pointer that is the head of the list of schedulers
  const void* firstReading;  // address of the clocks' reading at the first scheduler's making
  const void* entries;       // address of the LayoutEntry array
  const void* recorder;      // address of the flight recorder's state
};

}  // namespace weft::inline v0_1::detail::inspect
