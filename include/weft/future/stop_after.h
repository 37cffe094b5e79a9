// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <optional>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/future/timer.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

namespace detail {
struct StopTimer;
}

// Requests a stop after a time, for all that is to be done within that time.
//
//   weft::StopAfter limit(std::chrono::milliseconds(100));
//   weft::Future<Page> page = weft::async(limit.token(), fetch);
//   const bool isInTime = page.wait(limit.token());
// Threads: a thread of weft's own requests the stop; what is called at the stop must not wait.
// Lifetime: the end of this object ends the timer, or requests the stop if the time has just come. No stop is
// requested afterwards, but one that has begun may still be calling its callbacks. The tokens may outlive it.
class WEFT_EXPORT StopAfter {
 public:
  // Requests the stop after `duration`, or at a stop of `parent`. Neither suspends nor blocks.
  // Errors: std::system_error if the system grants no thread for timers, which the first one needs.
  template <class Rep, class Period>
  explicit StopAfter(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& parent = {})
      : StopAfter(detail::deadlineAfter(duration), parent) {}
  StopAfter(const StopAfter&) = delete;
  StopAfter& operator=(const StopAfter&) = delete;
  ~StopAfter();

  // Returns: a token of the stop, or its source, for calls that request a stop themselves, such as whenAny().
  std::stop_token token() const noexcept { return source_.get_token(); }
  std::stop_source source() const noexcept { return source_; }

 private:
  struct Stop {
    void operator()() noexcept { source.request_stop(); }
    std::stop_source source;
  };

  StopAfter(detail::TimePoint deadline, const std::stop_token& parent);

  std::stop_source source_;
  detail::StopTimer* timer_;
  std::optional<std::stop_callback<Stop>> onParentsStop_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
