// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <stop_token>
#include <utility>

#include "weft/detail/base/deadline.h"
#include "weft/detail/future/state.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"

namespace weft::detail {

// Ends the program with a message: a future without state was used.
[[noreturn, gnu::cold]] WEFT_EXPORT void reportNoFuture(const char* function);

// A counted pointer to a state; what every future has, whatever its type.
class FutureHandle {
 public:
  // Returns: whether there is a state: false after Future(), and after get(), then() or share() of a Future.
  bool valid() const noexcept { return core_ != nullptr; }

  // Returns: whether there is a result or an exception already. Neither suspends nor blocks: asking again and
  // again lets nobody else run on this thread, and on a bound thread without workers the task neither;
  // yield() in between, or wait(). Requires: valid(). Memory ordering: what the task did, or was done before
  // the promise was set, is seen if it is true.
  bool ready() const { return core("ready").isReady(); }

  // Suspends the fiber, or blocks the thread, until the future is ready. Requires: valid(). A task that this
  // worker was the last to schedule, and that nobody has begun, is called on this fiber instead. Memory
  // ordering: as ready().
  void wait() const { core("wait").wait(); }

  // As wait(), at most for `duration`. Returns: false when the time was up first.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration) const {
    return core("wait_for").waitUntil(detail::deadlineAfter(duration));
  }

  // As wait(), at most until `time`; never early by its clock. Returns: false when the time was up first.
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time) const {
    FutureCore& state = core("wait_until");
    return detail::waitUntilByClock(time, [&state](TimePoint deadline) { return state.waitUntil(deadline); });
  }

  // The same, but not beyond a stop that is requested by `token`. Returns: false when the stop, or the time,
  // came first; a future that is ready already wins.
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
  // Takes over a reference that was counted already.
  explicit FutureHandle(FutureCore* state) noexcept : core_(state) {}
  FutureHandle(const FutureHandle& other) noexcept : core_(other.core_) {
    if (core_ != nullptr) {
      core_->retain();
    }
  }
  FutureHandle(FutureHandle&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  FutureHandle& operator=(const FutureHandle& other) noexcept {
    FutureHandle copy(other);
    std::swap(core_, copy.core_);
    return *this;
  }
  FutureHandle& operator=(FutureHandle&& other) noexcept {
    FutureHandle taken(std::move(other));
    std::swap(core_, taken.core_);
    return *this;
  }
  ~FutureHandle() {
    if (core_ != nullptr) {
      core_->release();
    }
  }

  FutureCore& core(const char* function) const {
    if (core_ == nullptr) [[unlikely]] {
      reportNoFuture(function);
    }
    return *core_;
  }

  FutureCore* core_ = nullptr;

  friend struct FutureAccess;
};

}  // namespace weft::detail
