// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/waiter.h"

namespace weft::detail {

// The word and the list behind Barrier: which phase it is, and how many are still to arrive in it.
//
//   phase, remaining > 0 -> phase, remaining - n    those who arrive
//   phase, 0             -> phase + 1, expected     the last, with kLocked, after the completion function
//
// While `remaining` is zero nobody may arrive, so that the last one alone changes the word, but for kLocked,
// which waiters take to queue or to give up. They look at the phase under the lock, and the last one takes
// the lock to end the phase: none is left behind in the list, and all that are in it wait for the same phase.
//
// What must not happen: those who were woken destroy the barrier while the last one still uses it. Its last
// access is the store that begins the next phase and ends the section.
//
// List: WaitList, or a checker's.
template <class List = WaitList, class Sync = StdSync>
class BarrierPhase {
 public:
  static constexpr uint32_t kMax = (1u << 31) - 1;

  explicit BarrierPhase(uint32_t expected) : word_(uint64_t{expected} * kOne) {}

  struct Arrival {
    bool isAllowed = false;  // false: fewer than that are to arrive in this phase
    bool isLast = false;     // who is owes an endPhase()
    uint32_t phase = 0;
  };

  // What was written before is seen by the last one, and by whoever has waited for the phase.
  Arrival arrive(uint32_t n) {
    // relaxed, here and on failure: only a guess for the compare-exchange.
    uint64_t old = word_.load(std::memory_order_relaxed);
    while (n <= remainingIn(old)) {
      // (1) acq_rel: publishes this arrival to the last one, which sees all; pairs with (1, 2).
      if (word_.compare_exchange_weak(old, old - n * kOne, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
        return {true, n == remainingIn(old) && n != 0, phaseIn(old)};
      }
    }
    return {};
  }

  // The last one: begins the next phase, for `expected`. Returns: whom to wake.
  List endPhase(uint32_t expected) {
    const uint64_t old = lockList();
    List claimed;
    claimed.claimAll(list_);
    // (2) release: what came before is seen by all that find the next phase; pairs with (1, 3) and with the
    // acquire of lockBit. The last access.
    word_.store((uint64_t{phaseIn(old) + 1} << kPhaseShift) + expected * kOne, std::memory_order_release);
    return claimed;
  }

  // Returns: whether `phase` has ended.
  bool hasEnded(uint32_t phase) const {
    // (3) acquire: sees what came before the end of the phase; pairs with (2).
    return phaseIn(word_.load(std::memory_order_acquire)) != phase;
  }

  // Queues `self`. Returns: false if the phase has ended.
  template <class Waiter>
  bool queue(Waiter& self, uint32_t phase) {
    const bool isToWait = phaseIn(lockList()) == phase;
    if (isToWait) {
      list_.pushBack(self);
    }
    unlockList();
    return isToWait;
  }

  // Takes `self` out of the list, if it is there still. Returns: whether it was; if not, somebody owes it a
  // wake.
  template <class Waiter>
  bool giveUp(Waiter& self) {
    lockList();
    const bool isLinked = self.isLinked;
    if (isLinked) {
      list_.remove(self);
    }
    unlockList();
    return isLinked;
  }

  // For the one who destroys it.
  bool isAwaited() const { return !list_.isEmpty(); }

 private:
  static constexpr uint64_t kLocked = 1, kOne = 2;
  static constexpr int kPhaseShift = 32;

  static uint32_t phaseIn(uint64_t word) { return static_cast<uint32_t>(word >> kPhaseShift); }
  static uint32_t remainingIn(uint64_t word) { return static_cast<uint32_t>(word) / kOne; }

  uint64_t lockList() {
    return detail::lockBitBy<uint64_t>(word_, kLocked, [](uint32_t& round) { Sync::relax(round); });
  }
  void unlockList() {
    // (4) release: the list is seen by the next lockBit.
    word_.fetch_and(~kLocked, std::memory_order_release);
  }

  typename Sync::template Atomic<uint64_t> word_;  // phase << kPhaseShift | remaining * kOne | kLocked
  List list_;                                      // guarded by kLocked
};

}  // namespace weft::detail
