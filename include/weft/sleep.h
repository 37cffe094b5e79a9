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

// Suspends the fiber, or blocks the thread if no scheduler is bound, until `time`, and never ends early by
// its clock. A fiber whose time has come goes on as soon as what runs on its thread ends or waits, after the
// fibers that were ready before it. It waits for at most one task.
//
//   weft::sleep_for(std::chrono::milliseconds(5));
// If `time` has passed, returns at once. In a loop of such calls the other fibers and tasks of the thread
// still have their turn, after 61 calls at the latest.
//
// These rules hold for all waits of weft with a time limit. A clock other than std::chrono::steady_clock is
// read again every 10 seconds, since it may be set forward. A time or a duration that is not a number (NaN)
// has passed.
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& time) {
  detail::Waiter& self = detail::currentWaiter();
  detail::waitUntilByClock(
      time, [&](detail::TimePoint deadline) { return detail::blockUntil(self, deadline, "sleep", nullptr); });
}

// Suspends the fiber, or blocks the thread if no scheduler is bound, for at least `duration`.
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& duration) {
  weft::sleep_until(detail::deadlineAfter(duration));
}

// As sleep_until(time), but also ends at a stop of `token`.
// Returns: false if the stop came first.
template <class Clock, class Duration>
bool sleep_until(const std::chrono::time_point<Clock, Duration>& time, const std::stop_token& token) {
  return !detail::waitUntilByClock(
      time, [&](detail::TimePoint deadline) { return !detail::sleepUntilStop(deadline, token); });
}

// As sleep_for(duration), but also ends at a stop of `token`.
// Returns: false if the stop came first.
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
