// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <cstddef>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/wait/latch_core.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"

namespace weft::inline v0_1 {
namespace detail {
struct LayoutAccess;  // for reports
}

// Counts down to zero, once, and lets fibers and threads wait for that. Functions have the names of
// std::latch.
//
//   weft::Latch loaded(3);
//   for (const char* name : {"map", "units", "sounds"}) {
//     weft::schedule([&loaded, name] { load(name); loaded.count_down(); });
//   }
//   loaded.wait();
// Stays at zero. Unlike a WaitGroup it is no handle that can be copied: it lies where it is declared, and
// allocates nothing.
// Lifetime: may be destroyed once all waits have returned, even if the last count_down() has not yet.
class WEFT_EXPORT Latch {
 public:
  // Makes a latch that counts down from `expected`. Destroying it while somebody waits ends the program with
  // a message.
  // Requires: 0 <= expected < 2^30; otherwise a message ends the program.
  explicit Latch(ptrdiff_t expected);
  ~Latch() {
    if (core_.isAwaited()) [[unlikely]] {
      reportDestroyedInUse();
    }
  }
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  // Returns: the largest count that a latch can have.
  static constexpr ptrdiff_t max() noexcept { return detail::LatchCore<>::kMax; }

  // Subtracts `n` from the count. Neither suspends nor blocks.
  // Requires: 0 <= n <= the count; otherwise a message ends the program.
  // Memory ordering: what was written before count_down() is seen after wait(), and after a try_wait() that
  // returns true.
  void count_down(ptrdiff_t n = 1);

  // Tests the count. Neither suspends nor blocks.
  // Returns: whether the count is zero. May be false for a moment after it became zero.
  bool try_wait() const noexcept { return core_.isOpen(); }

  // Suspends the fiber, or blocks the thread, until the count is zero.
  void wait() {
    if (!try_wait()) {
      waitFor(detail::kNever, {});
    }
  }

  // As wait(), but also ends at a stop of `token`, after `duration`, or at `time`, never early by its clock.
  // Returns: false if the stop or the time came first. True if the count was zero at the call.
  bool wait(const std::stop_token& token) { return waitUntil(detail::kNever, token); }
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& token = {}) {
    return waitUntil(detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time, const std::stop_token& token = {}) {
    return detail::waitUntilByClock(time, token,
                                    [&](detail::TimePoint deadline) { return waitUntil(deadline, token); });
  }

  // Calls count_down(n), then wait().
  void arrive_and_wait(ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }

 private:
  friend detail::LayoutAccess;

  bool waitUntil(detail::TimePoint deadline, const std::stop_token& token) {
    return try_wait() || waitFor(deadline, token);
  }
  bool waitFor(detail::TimePoint deadline, const std::stop_token& token);
  [[noreturn]] static void reportDestroyedInUse();

  detail::LatchCore<> core_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
