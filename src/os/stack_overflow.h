// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstddef>

#include "weft/export.h"

// A SIGSEGV handler for overflows of fibers' stacks, and the signal stacks on which it runs. Every fault that
// is no overflow goes to the handler that was there before.
namespace weft::inline v0_1::detail {

// Reports the fault if it is an overflow of the stack of the fiber that the calling thread runs. Requires:
// async-signal-safe.
// Returns: whether it is one. Then the process ends by SIGSEGV.
using OverflowHook = bool (*)(const siginfo_t& info, const ucontext_t& context);

// Installs the process's handler, once. Does nothing if the environment has WEFT_OVERFLOW_HANDLER=0.
WEFT_EXPORT void installOverflowHandler(OverflowHook hook) noexcept;

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
