// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstdint>

#include "weft/export.h"

namespace weft::inline v0_1 {

// Functions that are told which task a thread runs, for profilers and other tools: a task begins or goes on,
// and it waits or ends.
//
//   void entered(const weft::FiberHooks::Run& run) noexcept { profiler.begin(weft::taskName(run.code)); }
//   void left(const weft::FiberHooks::Run&) noexcept { profiler.end(); }
//   const weft::FiberHooks hooks = {.entered = &entered, .left = &left};
//
// weft::setFiberHooks(&hooks) sets them. They are called on the thread that runs the task. For each call of
// `entered`, `left` is called once, on that thread, before `entered` is called there again. Between `left`
// and `entered` the thread looks for work, sleeps, or runs a bound thread's own code. A task that is run in
// place belongs to the run of the task that waits for it. At a switch from one fiber to another, both
// functions are called on the stack of the fiber that is left, which may have little room.
// The functions must not wait, and must not schedule tasks.
struct FiberHooks {
  // A time in which a thread runs one task.
  struct Run {
    const void* code = nullptr;  // of the task, for taskName(); of the task that is run in place, if one is
    uint64_t task = 0;           // the task's number, unique in the process
    uint32_t fiber = 0;          // the number of its fiber, unique among those of its thread
    int worker = -1;             // Scheduler::workerId()
    bool isFirst = false;        // the task has begun; else it goes on
    bool isLast = false;         // for `left`: the task has ended; else it waits
  };
  using Function = void (*)(const Run& run) noexcept;

  Function entered = nullptr;  // null: is not called
  Function left = nullptr;     // null: is not called
};

// Has all threads of all schedulers call `hooks`, in place of those that they have called; null: none. Each
// thread follows at its next poll, so after the task that it runs has ended, waited or let others run. The
// task that a thread runs then is told of when it goes on the next time.
// While there are none, tasks, waits and switches take the instructions that they take without hooks.
// Any thread or task. Neither suspends nor blocks.
// Returns: those before, which a tool may call in its own.
// Memory ordering: what happens before the call is seen by the functions.
// Lifetime: `hooks` and its functions stay as they are until the process ends: a thread may still call them.
WEFT_EXPORT const FiberHooks* setFiberHooks(const FiberHooks* hooks) noexcept;

// Names the code of a task as dump() does: "serve(Connection&) (server+0x3412)". May be called in hooks.
// Returns: text that lives as long as the process; always one pointer for one `code`.
// Blocks the thread: the first call for a `code` reads the program's symbols, which takes milliseconds. Later
// ones take a lock.
WEFT_EXPORT const char* taskName(const void* code) noexcept;

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
