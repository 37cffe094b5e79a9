// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/debug.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word and the list behind Latch. The state of the word is the count.
//
// The last waiter that returns may destroy the latch. So nobody may look for waiters after the step that
// makes the count zero. If somebody waits, or is about to, that step takes kLocked; its owner wakes all
// waiters and clears the word. If nobody waits, that step is the last access.
template <class List = WaitList, class Sync = StdSync>
class LatchCore {
 public:
  static constexpr ptrdiff_t kMax = (ptrdiff_t{1} << 30) - 1;

  explicit LatchCore(uint32_t expected) : word_(expected * kOne) {}

  // Returns: whether the count is zero, and the last countDown() has finished with the latch.
  bool isOpen() const {
    // (1) acquire: sees what came before each countDown(); pairs with (2) and with unlockTo().
    return word_.bits.load(std::memory_order_acquire) == 0;
  }

  // relaxed: nothing is concluded from a count of zero.
  bool isZero() const { return word_.bits.load(std::memory_order_relaxed) < kOne; }
  // relaxed: for the destructor.
  bool isAwaited() const { return (word_.bits.load(std::memory_order_relaxed) & Word::kWaiters) != 0; }

  // Requires: 0 <= n, and n is at most the count; else a message ends the program.
  // Returns: whether the caller has to open() the latch; if not, this was its last access.
  bool countDown(ptrdiff_t n) {
    // relaxed, here and on failure: only a guess for the compare-exchange.
    uint32_t old = word_.bits.load(std::memory_order_relaxed);
    for (uint32_t round = 0;;) {
      const auto count = static_cast<ptrdiff_t>(old / kOne);
      WEFT_ASSERT(
          n >= 0 && n <= count,
          "Latch::count_down(%td): the count is %td. Make the latch with as many as are counted down.", n,
          count);
      const bool isLast = n == count && n != 0;
      uint32_t next = old - static_cast<uint32_t>(n) * kOne;
      if (isLast && (old & Word::kLocked) != 0) {
        Sync::relax(round);
        old = word_.bits.load(std::memory_order_relaxed);
        continue;
      }
      next |= isLast && (old & Word::kWaiters) != 0 ? Word::kLocked : 0;
      // (2) acq_rel: publishes what came before; takes the lock as lockBit does; pairs with (1, 2).
      if (word_.bits.compare_exchange_weak(old, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return isLast && next != 0;
      }
    }
  }

  // For the last countDown(), which returned true. Returns: whom to wake.
  List open() {
    List claimed = word_.claimAll();
    // The last access to the core. At zero, others only wait for kLocked.
    word_.unlockTo(0);
    return claimed;
  }

  // Queues `self`. Returns: false if there is nothing to wait for.
  template <class Waiter>
  bool queue(Waiter& self) {
    return !word_.takeOrQueue(self, [](uint32_t state) { return state < kOne; });
  }
  template <class Waiter>
  bool giveUp(Waiter& self) {
    return word_.giveUp(self);
  }

 private:
  friend struct LayoutAccess;
  using Word = WaitWord<uint32_t, List, Sync>;
  static constexpr uint32_t kOne = Word::kState;

  // While either bit is set, only a step that takes kLocked makes the count zero.
  Word word_;
};

}  // namespace weft::inline v0_1::detail
