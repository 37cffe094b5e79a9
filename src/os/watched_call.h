// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/task_node.h"

// Calls that no exception leaves. The search for a handler, which comes before any frame is left, ends there
// with a report. So the report, a core dump and a debugger have the stack of the throw.
namespace weft::inline v0_1::detail {

// Says what becomes of an exception that escapes a watched call.
struct Watch {
  // Does not return. `other`: what unwinds the stack, or null for a C++ exception, which is being handled.
  void (*escaped)(const Watch* self, const char* other);
};

// The Watch of all tasks: see src/scheduler/report/run_or_die.cpp.
extern const Watch taskWatch;

// These are in assembly, or in watched_call.cpp where WEFT_UCONTEXT is defined. There the stack is unwound
// before the report. The first calls function(argument), watched by `watch`, which outlives the call; the
// second node->invoke(node, TaskOp::Run), watched by taskWatch.
extern "C" {
void weft_call_watched(void* argument, void (*function)(void*), const Watch* watch);
void weft_run_task(TaskNode* node);
}

// For Watch::escaped(). Returns: the address of the call that has thrown; null if the unwinder does not know.
const void* findThrow();

template <class F>
void callWatched(F& f, const Watch& watch) {
  weft_call_watched(&f, [](void* self) { (*static_cast<F*>(self))(); }, &watch);
}

}  // namespace weft::inline v0_1::detail
