// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

#include "weft/export.h"

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

// If the fault is an overflow of the stack, prints which fiber and task it was, and the calls. Claims faults
// in the guard of the stack, and faults of code that has moved the stack pointer below it in one step. Of
// several threads one prints, and the others stay here. Async-signal-safe.
// Returns: whether it is an overflow.
WEFT_EXPORT bool reportOverflow(const CurrentStack& stack, const siginfo_t& info,
                                const ucontext_t& context) noexcept;

}  // namespace weft::inline v0_1::detail
