// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <utility>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/wait/semaphore_core.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"
#include "weft/memory.h"

namespace weft::inline v0_1 {

namespace detail {
class PermitCase;
}

// Limits how many may do something at the same time: it holds permits, which fibers and threads take and give
// back.
//
//   weft::Semaphore connections(8);
//   const auto permit = connections.hold();  // until the end of the scope, also after an exception
//   fetch(url);
// A handle: copies share one semaphore and keep it alive. release() gives permits to waiters first, in the
// order in which they came. Who waits for several gets them at once. Until there are enough, they are kept
// for the first waiter: a waiter for few does not pass one for many, and waits behind it.
// Lifetime: the last copy may be destroyed once every acquire() has returned, even if release() has not yet.
class Semaphore {
 public:
  class Permit;

  // Makes a semaphore with `initialCount` permits.
  // Requires: 0 <= initialCount < 2^30; otherwise a message ends the program.
  explicit Semaphore(ptrdiff_t initialCount = 0, Allocator* allocator = Allocator::Default)
      : state_(allocator, initialCount) {}

  // Suspends the fiber, or blocks the thread, until there is a permit, and takes it.
  // Memory ordering: the acquire() that takes a permit sees what was written before the release() that gave
  // it.
  void acquire() const {
    if (!state_->tryAcquire()) {
      state_->acquire(1, detail::kNever);
    }
  }

  // As acquire(), but takes `count` permits, all at once. Waits for ever if there will never be as many.
  // Requires: 0 <= count < 2^30; otherwise a message ends the program. Returns at once for 0.
  void acquire(ptrdiff_t count) const {
    if (!state_->tryAcquire(count)) {
      state_->acquire(count, detail::kNever);
    }
  }

  // Takes a permit, or `count`, if there are as many and nobody waits. Neither suspends nor blocks.
  // Returns: whether it took them.
  bool try_acquire() const { return state_.checked().tryAcquire(); }
  bool try_acquire(ptrdiff_t count) const { return state_.checked().tryAcquire(count); }

  // As acquire(), but also ends at a stop of `token`, after `duration`, or at `time`, never early by its
  // clock. Takes what try_acquire() takes at the call, even if the stop or the time has come.
  // Returns: whether it took a permit, or all `count`: false if the stop or the time came first.
  bool acquire(const std::stop_token& token) const {
    return state_->tryAcquire() || state_->acquire(1, detail::kNever, token);
  }
  template <class Rep, class Period>
  bool try_acquire_for(const std::chrono::duration<Rep, Period>& duration,
                       const std::stop_token& token = {}) const {
    return state_->tryAcquire() || state_->acquire(1, detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& time,
                         const std::stop_token& token = {}) const {
    return state_->tryAcquire() || detail::waitUntilByClock(time, token, [&](detail::TimePoint deadline) {
             return state_->acquire(1, deadline, token);
           });
  }
  bool acquire(ptrdiff_t count, const std::stop_token& token) const {
    return state_->tryAcquire(count) || state_->acquire(count, detail::kNever, token);
  }
  template <class Rep, class Period>
  bool try_acquire_for(ptrdiff_t count, const std::chrono::duration<Rep, Period>& duration,
                       const std::stop_token& token = {}) const {
    return state_->tryAcquire(count) || state_->acquire(count, detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  bool try_acquire_until(ptrdiff_t count, const std::chrono::time_point<Clock, Duration>& time,
                         const std::stop_token& token = {}) const {
    return state_->tryAcquire(count) ||
           detail::waitUntilByClock(time, token, [&](detail::TimePoint deadline) {
             return state_->acquire(count, deadline, token);
           });
  }

  // As acquire() and try_acquire(), but the permits are given back when the returned Permit is destroyed.
  // Returns: the Permit of what it took. It is empty if the stop came first, or if tryHold() took nothing.
  // After a call for 0 permits it is not empty.
  [[nodiscard]] Permit hold(ptrdiff_t count = 1) const;
  [[nodiscard]] Permit hold(const std::stop_token& token) const;
  [[nodiscard]] Permit hold(ptrdiff_t count, const std::stop_token& token) const;
  [[nodiscard]] Permit tryHold(ptrdiff_t count = 1) const;

  // Gives `count` permits. Neither suspends nor blocks.
  // Requires: 0 <= count, and the number of permits stays below 2^30; otherwise a message ends the program.
  void release(ptrdiff_t count = 1) const { state_->release(count); }

 private:
  friend class detail::PermitCase;

  struct State : detail::SharedState {
    static constexpr const char* kName = "a Semaphore";

    constexpr explicit State(detail::MovedFrom movedFromTag) : SharedState(nullptr), core(movedFromTag) {}
    WEFT_EXPORT State(Allocator* from, ptrdiff_t initialCount);
    WEFT_EXPORT ~State();
    WEFT_EXPORT bool tryAcquire();
    WEFT_EXPORT bool tryAcquire(ptrdiff_t count);
    WEFT_EXPORT bool acquire(ptrdiff_t count, detail::TimePoint deadline, const std::stop_token& token = {});
    WEFT_EXPORT void release(ptrdiff_t count);

    WEFT_EXPORT static detail::MovedFromState<State> movedFrom;

    detail::SemaphoreCore<> core;
  };

  detail::Shared<State> state_;
};

// Permits that are given back when it is destroyed, on whatever fiber or thread that is. Can be moved, into a
// task for instance, but not copied. Keeps the semaphore alive.
//
//   weft::Semaphore places(8);
//   weft::schedule([permit = places.hold()] { work(); });
class [[nodiscard]] Semaphore::Permit {
 public:
  // Makes an empty one.
  Permit() noexcept = default;

  // Takes over `count` permits that the caller has acquired.
  static Permit adopt(Semaphore semaphore, ptrdiff_t count = 1) {
    return Permit(std::move(semaphore), count);
  }

  Permit(Permit&& other) noexcept
      : semaphore_(std::exchange(other.semaphore_, std::nullopt)), count_(std::exchange(other.count_, 0)) {}
  Permit& operator=(Permit&& other) noexcept {
    Permit taken(std::move(other));
    std::swap(semaphore_, taken.semaphore_);
    std::swap(count_, taken.count_);
    return *this;
  }
  ~Permit() { release(); }

  // Returns: whether it has permits to give back; also true for 0 permits that were acquired.
  explicit operator bool() const noexcept { return semaphore_.has_value(); }
  // Returns: how many permits it has to give back.
  ptrdiff_t count() const noexcept { return count_; }

  // Gives the permits back now, and is empty then. Does nothing if it is empty.
  void release() {
    if (semaphore_.has_value()) {
      std::exchange(semaphore_, std::nullopt)->release(std::exchange(count_, 0));
    }
  }

 private:
  Permit(Semaphore&& semaphore, ptrdiff_t count) : semaphore_(std::move(semaphore)), count_(count) {}

  std::optional<Semaphore> semaphore_;
  ptrdiff_t count_ = 0;
};

inline Semaphore::Permit Semaphore::hold(ptrdiff_t count) const {
  acquire(count);
  return Permit::adopt(*this, count);
}
inline Semaphore::Permit Semaphore::hold(const std::stop_token& token) const { return hold(1, token); }
inline Semaphore::Permit Semaphore::hold(ptrdiff_t count, const std::stop_token& token) const {
  return acquire(count, token) ? Permit::adopt(*this, count) : Permit();
}
inline Semaphore::Permit Semaphore::tryHold(ptrdiff_t count) const {
  return try_acquire(count) ? Permit::adopt(*this, count) : Permit();
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
