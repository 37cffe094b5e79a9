// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>

#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"
#include "weft/memory.h"

namespace weft {

// Counts pieces of work that are still to be done, and lets fibers and threads wait until none is.
//
//   weft::WaitGroup files;
//   for (const auto& path : paths) {
//     files.add();
//     weft::schedule([=] { read(path); files.done(); });
//   }
//   files.wait();
//
// A handle: copies share one counter, and capturing one by value keeps it alive.
class WaitGroup {
 public:
  explicit(false) WaitGroup(unsigned int initialCount = 0, Allocator* allocator = Allocator::Default)
      : state_(allocator, initialCount) {}

  // Adds `count` pieces of work. Neither suspends nor blocks.
  // Requires: the count stays below 2^30. A wait() that is to see them starts after add().
  void add(unsigned int count = 1) const {
    const uint32_t old = state_->add(count);
    WEFT_ASSERT(count < State::kMax && old / State::kOne + count < State::kMax,
                "WaitGroup::add(%u) on top of %u: the count must stay below %u.", count, old / State::kOne,
                State::kMax);
  }

  // One piece of work is done. Neither suspends nor blocks. Returns: whether it was the last.
  // Requires: the count is not zero; else a message ends the program.
  // Memory ordering: what was written before done() is seen after wait().
  // Lifetime: the last copy may be destroyed as soon as every wait() has returned, also while the last done()
  // is still returning.
  bool done() const {
    State& state = *state_;
    if (state.tryEnd()) {
      return true;
    }
    // (1) acq_rel: publishes this work to wait(); the last done() sees that of all the others; pairs with (1,
    // 2, 6).
    const uint32_t old = state.word.fetch_sub(State::kOne, std::memory_order_acq_rel);
    if (old >= 2 * State::kOne) [[likely]] {
      return false;
    }
    WEFT_ASSERT(
        old >= State::kOne,
        "WaitGroup: done() called too many times: it was called more often than add() and the initial "
        "count allow. Call it once for each piece of work, and add() before the work is scheduled.");
    if (old != State::kOne) {
      state.wakeAll();
    }
    return true;
  }

  // Suspends the fiber, or blocks the thread, until the count is zero.
  void wait() const {
    // (2) acquire: sees the work of every done(); pairs with (1, 6). Only a word of all zeros may return
    // here: with a bit set, the last done() is about to wake the waiters, and touches the state once more.
    if (state_->word.load(std::memory_order_acquire) != 0) {
      state_->wait();
    }
  }

  // The same, but not beyond a stop that is requested by `token`, nor for longer than `duration` or later
  // than `time`; never early by its clock. Returns: false when one of these came first; a count that is zero
  // already wins.
  bool wait(const std::stop_token& token) const { return state_->wait(detail::kNever, token); }
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& token = {}) const {
    return state_->wait(detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time,
                  const std::stop_token& token = {}) const {
    return detail::waitUntilByClock(
        time, token, [&](detail::TimePoint deadline) { return state_->wait(deadline, token); });
  }

 private:
  struct State : detail::SharedState {
    static constexpr uint32_t kLocked = 1, kWaiters = 2, kOne = 4, kMax = 1u << 30;

    State(Allocator* from, unsigned int count) : SharedState(from), word(count * kOne) {
      WEFT_ASSERT(count < kMax, "WaitGroup(%u): the count must stay below %u.", count, kMax);
    }
    ~State() {
      // relaxed: nobody else may use it any more.
      WEFT_ASSERT(
          (word.load(std::memory_order_relaxed) & kWaiters) == 0,
          "a WaitGroup was destroyed while somebody waits for it. Keep a copy until wait() has returned.");
    }

    // Returns: the word before.
    uint32_t add(unsigned int count) {
      uint32_t round = 0;
      // relaxed, all of it: done() and wait() order the work; adding alone tells nothing.
      uint32_t old = word.load(std::memory_order_relaxed);
      for (;;) {
        if ((old & kLocked) != 0) {
          detail::relax(round);
          old = word.load(std::memory_order_relaxed);
        } else if (word.compare_exchange_weak(old, old + count * kOne, std::memory_order_relaxed,
                                              std::memory_order_relaxed)) {
          return old;
        }
      }
    }

    // Does done() in the most frequent case of a wait: the last piece of work ends, and somebody waits. Takes
    // the lock in the same step. Returns: whether it was that case.
    bool tryEnd() {
      uint32_t expected = kOne | kWaiters;
      // relaxed: only a guess for the compare-exchange.
      if (word.load(std::memory_order_relaxed) != expected ||
          // (6) acq_rel: as the subtraction in done(), and takes the lock as lockBit does; pairs with (1, 2).
          !word.compare_exchange_strong(expected, kWaiters | kLocked, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
        return false;
      }
      wakeAllAndUnlock();
      return true;
    }

    WEFT_EXPORT void wait();
    WEFT_EXPORT bool wait(detail::TimePoint deadline, const std::stop_token& token);
    bool queue(detail::Waiter& self);
    bool giveUp(detail::Waiter& self);
    bool removeFirstAndUnlock();
    WEFT_EXPORT void wakeAllAndUnlock();
    WEFT_EXPORT void wakeAll();

    // count * kOne | kWaiters | kLocked. done() subtracts from it at any time, all others leave it alone
    // while it is locked.
    std::atomic<uint32_t> word;
    // The waiter that has set kWaiters. It stores it right after, so that whoever finds the bit may have to
    // wait for it.
    std::atomic<detail::Waiter*> firstWaiter{nullptr};
    detail::WaitList laterWaiters;  // guarded by kLocked
  };

  detail::Shared<State> state_;
};

}  // namespace weft
