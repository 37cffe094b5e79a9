// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/export.h"

// Reports of fiber stack overflows: a SIGSEGV handler that prints which fiber and task it was and a
// backtrace, and lets the process end by SIGSEGV. It claims faults in the guard of the fiber that the
// faulting thread runs, and faults of code that has moved the stack pointer below that stack in one step.
// Every other fault goes to the handler that was there before.
namespace weft::inline v0_1::detail {

// What the faulting thread runs.
struct CurrentStack {
  uintptr_t slabLow;   // in [slabLow, guardLow) lie other stacks of the pool, with their guards
  uintptr_t guardLow;  // the guard is [guardLow, base)
  uintptr_t base;      // the stack is [base, top)
  uintptr_t top;
  uint32_t fiberId;
  const void* task;  // an address in the task's code; or null
};

// Fills in what the calling thread runs. Requires: async-signal-safe.
// Returns: false when the thread runs no fiber with a guard.
using CurrentStackHook = bool (*)(CurrentStack*);

// Installs the process's handler, once. Does nothing if the environment has WEFT_OVERFLOW_HANDLER=0.
WEFT_EXPORT void installOverflowHandler(CurrentStackHook hook) noexcept;

// Disables the handler for good: the handler before it serves every fault, and later installs do nothing.
WEFT_EXPORT void disableOverflowHandler() noexcept;

// Gives the calling thread a signal stack while this object lives, unless it has one: a handler cannot run on
// a stack that is used up. Costs only address space until then. Requires: destroyed by its maker.
class WEFT_EXPORT AlternateStack {
 public:
  AlternateStack() noexcept;
  ~AlternateStack();
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  // The guard page and the stack. Null when the thread had a stack, or there was no memory.
  void* memory_ = nullptr;
  size_t size_ = 0;
};

}  // namespace weft::inline v0_1::detail
