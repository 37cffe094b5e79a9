// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/export.h"
#include "weft/future/future.h"

namespace weft::inline v0_1 {

namespace detail {
WEFT_EXPORT Future<void> afterDeadline(TimePoint deadline, const std::stop_token& token);
}  // namespace detail

// Gives a future that is ready after `duration`, never early by std::chrono::steady_clock. A stop of `token`
// makes it ready at once, with a TaskCanceled. No fiber waits for the time, and no scheduler has to be bound
// or waits for it. Neither suspends nor blocks.
//
//   weft::Future<void> retry = weft::after(std::chrono::seconds(1)).then(scheduler, [] { connect(); });
// Errors: std::system_error if the system grants no thread for timers, which the first one needs.
// Threads: a thread of weft's own makes the future ready. It has no scheduler bound, so name an executor in
// then(), unless it is to be defaultExecutor(). An executor that runs tasks at once must not let them wait.
// Lifetime: the timer stays until its time or the stop, also if the future is destroyed.
template <class Rep, class Period>
Future<void> after(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& token = {}) {
  return detail::afterDeadline(detail::deadlineAfter(duration), token);
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
