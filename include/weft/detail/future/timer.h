// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/deadline.h"
#include "weft/detail/queue/timer_heap.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// What is to happen at a time, without a fiber that waits for it. One thread of the process, which the first
// timer starts and which then stays, calls what is due. It has no scheduler bound.
struct Timer {
  Timer(TimePoint time, void (*call)(Timer&)) : deadline(time), expire(call) {}

  TimePoint deadline;
  uint32_t timerIndex = kNotInHeap;
  void (*const expire)(Timer&);  // may destroy the timer, and must not wait
};

// Has `timer.expire(timer)` called at its deadline. Any thread; neither suspends nor blocks.
// Errors: std::system_error if there is no thread yet, and the system grants none.
WEFT_EXPORT void startTimer(Timer& timer);

// Takes that back, once. Any thread; neither suspends nor blocks.
// Returns: whether expire() was not called, and never will be. If false, it was or is about to be, or the
// timer was not started, or was cancelled.
WEFT_EXPORT bool cancelTimer(Timer& timer);

}  // namespace weft::inline v0_1::detail
