// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <stop_token>
#include <type_traits>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1 {

// Suspends the fiber, or blocks the thread if no scheduler is bound, until `time`; never early by that clock.
// Returns at once if `time` has passed, but still counts as a dequeue, so that a loop around it lets others
// run when it is their turn, some 61 rounds later at most. Looks at other clocks than steady_clock every 10
// seconds, in case of a step forward. A time that is no number has passed. So do all waits with a time limit.
//
// A fiber whose time has come goes on once the task or fiber on its thread ends or waits, behind earlier
// fibers. It waits for at most one task.
//
//   weft::sleep_for(std::chrono::milliseconds(5));
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& time) {
  detail::Waiter& self = detail::currentWaiter();
  detail::waitUntilByClock(
      time, [&](detail::TimePoint deadline) { return detail::blockUntil(self, deadline, "sleep", nullptr); });
}

// Sleeps for at least `duration`.
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& duration) {
  weft::sleep_until(detail::deadlineAfter(duration));
}

// As sleep_until(), but also ends at a stop of `token`.
// Returns: false if the stop came first.
template <class Clock, class Duration>
bool sleep_until(const std::chrono::time_point<Clock, Duration>& time, const std::stop_token& token) {
  return !detail::waitUntilByClock(
      time, [&](detail::TimePoint deadline) { return !detail::sleepUntilStop(deadline, token); });
}

// As sleep_for(), but also ends at a stop of `token`.
template <class Rep, class Period>
bool sleep_for(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& token) {
  return weft::sleep_until(detail::deadlineAfter(duration), token);
}

template <class Number, class... Token>
  requires std::is_arithmetic_v<Number>
void sleep_for(Number, const Token&...) {
  static_assert(detail::kAlwaysFalse<Number>,
                "sleep_for(duration): a number does not say its unit. Write "
                "sleep_for(std::chrono::milliseconds(5)), for example.");
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
