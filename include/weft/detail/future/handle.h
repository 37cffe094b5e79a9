// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/future/state.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

[[noreturn, gnu::cold]] WEFT_EXPORT void reportNoFuture(const char* function);

// The common part of all futures.
class FutureHandle {
 public:
  // The functions of futures that need no type of the result: see Future.
  bool valid() const noexcept { return core_.get() != nullptr; }
  bool ready() const { return core("ready").isReady(); }
  void wait() const { core("wait").wait(); }
  bool wait(const std::stop_token& token) const { return core("wait").waitUntil(kNever, token); }
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& token) const {
    return core("wait_for").waitUntil(detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time, const std::stop_token& token) const {
    FutureCore& state = core("wait_until");
    return detail::waitUntilByClock(time, token,
                                    [&](TimePoint deadline) { return state.waitUntil(deadline, token); });
  }

 protected:
  FutureHandle() noexcept = default;
  // Takes over a counted reference.
  explicit FutureHandle(FutureCore* state) noexcept : core_(Shared<FutureCore>::adopt(state)) {}

  FutureCore& core(const char* function) const {
    if (!valid()) [[unlikely]] {
      reportNoFuture(function);
    }
    return *core_;
  }

  Shared<FutureCore> core_;

  friend struct FutureAccess;
};

}  // namespace weft::inline v0_1::detail
