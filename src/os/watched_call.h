// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/task_node.h"

// Calls that no exception leaves. One that would is reported where it is thrown: the search for a handler,
// which comes before any frame is left, ends there. So the report, a core dump and a debugger have the stack
// of the throw, which a catch (...) would have unwound.
namespace weft::inline v0_1::detail {

// Says what becomes of an exception that escapes a watched call.
struct Watch {
  // Does not return. `other` is null for a C++ exception, which is being handled then. Else it says what
  // wants to unwind the stack.
  void (*escaped)(const Watch* self, const char* other);
};

// The Watch of all tasks: see src/scheduler/report/run_or_die.cpp.
extern const Watch taskWatch;

// These are in assembly. The first calls function(argument), watched by `watch`, which outlives the call; the
// second node->invoke(node, TaskOp::Run), watched by taskWatch.
extern "C" {
void weft_call_watched(void* argument, void (*function)(void*), const Watch* watch);
void weft_run_task(TaskNode* node);
}

// To be called by Watch::escaped(), while the stack of the throw exists; elsewhere returns null.
// Returns: the address of the call that has thrown the exception; null where the unwinder does not know.
const void* findThrow();

// Calls f(), watched by `watch`.
template <class F>
void callWatched(F& f, const Watch& watch) {
  weft_call_watched(&f, [](void* self) { (*static_cast<F*>(self))(); }, &watch);
}

}  // namespace weft::inline v0_1::detail
