// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word and the list behind Barrier: the number of the phase, and how many arrivals are missing in it.
//
//   phase, remaining > 0 -> phase, remaining - n    an arrival of n
//   phase, 0             -> phase + 1, expected     the last, with kLocked, after the completion function
//
// While `remaining` is zero nobody may arrive, so only the last arrival changes the word then, except for
// kLocked, which waiters take to queue or to give up. Waiters look at the phase under the lock, and the last
// arrival takes the lock to end the phase. So all waiters in the list wait for the present phase.
//
// What must not happen: woken waiters destroy the barrier while the last arrival uses it. Its last access is
// the store that begins the next phase and ends the section.
template <class List = WaitList, class Sync = StdSync>
class BarrierPhase {
 public:
  static constexpr uint32_t kMax = (1u << 31) - 1;

  explicit BarrierPhase(uint32_t expected) : word_(uint64_t{expected} * kOne) {}

  struct Arrival {
    bool isAllowed = false;  // false: fewer are missing in this phase
    bool isLast = false;     // if so, the caller owes an endPhase()
    uint32_t phase = 0;
  };

  // Memory ordering: the last arrival and every waiter of the phase see what came before.
  Arrival arrive(uint32_t n) {
    // relaxed, here and on failure: only a guess for the compare-exchange.
    uint64_t old = word_.bits.load(std::memory_order_relaxed);
    while (n <= remainingIn(old)) {
      // (1) acq_rel: the last arrival sees what came before the others; pairs with (1).
      if (word_.bits.compare_exchange_weak(old, old - n * kOne, std::memory_order_acq_rel,
                                           std::memory_order_relaxed)) {
        return {true, n == remainingIn(old) && n != 0, phaseIn(old)};
      }
    }
    return {};
  }

  // The last arrival: begins a phase with `expected` arrivals. The last access. Returns: whom to wake.
  List endPhase(uint32_t expected) {
    const uint64_t old = word_.lock();
    List claimed = word_.claimAll();
    word_.unlockTo((uint64_t{phaseIn(old)} + 1) << kPhaseShift | expected * kOne);
    return claimed;
  }

  // Returns: whether `phase` has ended.
  bool hasEnded(uint32_t phase) const {
    // (2) acquire: sees what came before the end of the phase; pairs with unlockTo().
    return phaseIn(word_.bits.load(std::memory_order_acquire)) != phase;
  }

  // Queues `self`. Returns: false if the phase has ended.
  template <class Waiter>
  bool queue(Waiter& self, uint32_t phase) {
    return !word_.takeOrQueue(self, [phase](uint64_t state) { return phaseIn(state) != phase; });
  }

  // Takes `self` out of the list. Returns: whether it was there; if not, a wake is owed to it.
  template <class Waiter>
  bool giveUp(Waiter& self) {
    return word_.giveUp(self);
  }

  // For the destructor.
  bool isAwaited() const { return !word_.list.isEmpty(); }

 private:
  friend struct LayoutAccess;
  using Word = WaitWord<uint64_t, List, Sync>;
  static constexpr uint64_t kOne = Word::kState;
  static constexpr int kPhaseShift = 33;

  static uint32_t phaseIn(uint64_t word) { return static_cast<uint32_t>(word >> kPhaseShift); }
  static uint32_t remainingIn(uint64_t word) { return static_cast<uint32_t>(word / kOne) & kMax; }

  Word word_;  // phase << kPhaseShift | remaining * kOne, and the bits
};

}  // namespace weft::inline v0_1::detail
