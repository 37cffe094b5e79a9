// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/debug.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word and the list behind Semaphore. The word's state is the number of permits: 0 while somebody waits.
//
// A permit is taken by a compare-exchange, whatever the bits. It is given by a compare-exchange while both
// bits are clear, and under the lock otherwise, because waiters that are queueing or queued must be found. A
// waiter queues in a step that fails if the number is no longer zero.
template <class List = WaitList, class Sync = StdSync>
class SemaphoreCore {
  using Word = WaitWord<uint32_t, List, Sync>;
  static constexpr uint32_t kOne = Word::kState;

 public:
  static constexpr uint32_t kMax = 1u << 30;

  explicit SemaphoreCore(uint32_t numPermits) : word_(numPermits * kOne) {}

  // No permit, and locked for ever.
  constexpr explicit SemaphoreCore(MovedFrom) : word_(Word::kBits) {}

  // Takes a permit if there is one. Returns: whether it did.
  bool tryTake() {
    uint32_t old = word_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    while (old >= kOne) {
      // (1) acquire: sees what came before this permit was given; pairs with (2) and with unlockBy().
      if (word_.bits.compare_exchange_weak(old, old - kOne, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Gives `count` permits if nobody waits. Then that is the last access to the core.
  // Requires: 0 <= count, and there is room; else a message ends the program.
  // Returns: whether it did; if not, call give().
  bool tryGive(ptrdiff_t count) {
    uint32_t old = word_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    for (check(old, count); (old & Word::kBits) == 0; check(old, count)) {
      // (2) release: publishes what came before to the taker; pairs with (1) and lockBit's acquire.
      if (word_.bits.compare_exchange_weak(old, old + static_cast<uint32_t>(count) * kOne,
                                           std::memory_order_release, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Gives `count` permits, to the waiters first. Returns: whom to wake. The last access to the core.
  List give(ptrdiff_t count) {
    word_.lock();
    List claimed;
    for (; count > 0 && !word_.list.isEmpty(); --count) {
      word_.list.claimFront(claimed);
    }
    word_.unlockBy([count](uint32_t state) { return state + static_cast<uint32_t>(count) * kOne; });
    return claimed;
  }

  // Takes a permit, or queues `self`. Returns: whether it took one.
  template <class Waiter>
  bool takeOrQueue(Waiter& self) {
    return word_.takeOrQueue(self, [](uint32_t& state) {
      const bool isThere = state >= kOne;
      state -= isThere ? kOne : 0;
      return isThere;
    });
  }
  template <class Waiter>
  bool giveUp(Waiter& self) {
    return word_.giveUp(self);
  }

  // For the destructor.
  bool isAwaited() const { return !word_.list.isEmpty(); }

 private:
  static void check(uint32_t before, ptrdiff_t count) {
    // As a size_t, a negative number is too large.
    const auto added = static_cast<size_t>(count);
    const size_t there = size_t{before} / kOne;
    WEFT_ASSERT(
        added < kMax && there + added < kMax,
        "Semaphore::release(%td) on top of %zu: release() takes 0 or more, and the count must stay below %u.",
        count, there, kMax);
  }

  Word word_;
};

}  // namespace weft::inline v0_1::detail
