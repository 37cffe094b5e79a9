// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"

namespace weft {

// Counts down to zero, once, and lets fibers and threads wait for it. Names are those of std::latch.
//
//   weft::Latch loaded(3);
//   for (const char* name : {"map", "units", "sounds"}) {
//     weft::schedule([&loaded, name] { load(name); loaded.count_down(); });
//   }
//   loaded.wait();
//
// Unlike a WaitGroup it is no handle: it lies where it is declared, takes no memory, and is counted down
// only, so that it is open for good at zero.
// Lifetime: may be destroyed as soon as all waits have returned, also while the last count_down() is still
// returning.
class WEFT_EXPORT Latch {
 public:
  // Requires: 0 <= expected < 2^30; else a message ends the program.
  explicit Latch(ptrdiff_t expected);
  ~Latch() {
    // relaxed: nobody else may use it any more.
    if ((word_.load(std::memory_order_relaxed) & kWaiters) != 0) [[unlikely]] {
      reportDestroyedInUse();
    }
  }
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  // Returns: the largest count.
  static constexpr ptrdiff_t max() noexcept { return (ptrdiff_t{1} << 30) - 1; }

  // Takes `n` from the count. Neither suspends nor blocks. Requires: 0 <= n, and n is at most the count; else
  // a message ends the program.
  // Memory ordering: what was written before count_down() is seen after wait(), and after a try_wait() that
  // returns true.
  void count_down(ptrdiff_t n = 1);

  // Returns: whether the count is zero; for a moment after it has become zero, perhaps false.
  bool try_wait() const noexcept {
    // (1) acquire: sees what came before each count_down(); pairs with the releases in latch.cpp. With a bit
    // set the last count_down() is not done with the latch.
    return word_.load(std::memory_order_acquire) == 0;
  }

  // Suspends the fiber, or blocks the thread, until the count is zero.
  void wait() {
    if (!try_wait()) {
      waitFor(detail::kNever, {});
    }
  }

  // The same, but not beyond a stop that is requested by `token`, nor for longer than `duration` or later
  // than `time`; never early by its clock. Returns: false when one of these came first; a count that is zero
  // already wins.
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

  // As count_down(n), then wait().
  void arrive_and_wait(ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }

 private:
  // count * kOne | kWaiters | kLocked. While either bit is set, the count becomes zero only by one that takes
  // kLocked.
  static constexpr uint32_t kLocked = 1, kWaiters = 2, kOne = 4;
  struct ListLock;

  bool waitUntil(detail::TimePoint deadline, const std::stop_token& token) {
    return try_wait() || waitFor(deadline, token);
  }
  bool waitFor(detail::TimePoint deadline, const std::stop_token& token);
  bool queue(detail::Waiter& self);
  [[noreturn]] static void reportDestroyedInUse();

  std::atomic<uint32_t> word_;
  detail::WaitList waiters_;  // guarded by kLocked
};

}  // namespace weft
