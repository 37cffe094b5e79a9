// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word behind a primitive, and the list of its waiters.
//
//   kLocked          the list is being changed
//   kWaiters         the list is not empty
//   kState, and up   what the primitive counts or marks
//
// To wait, call takeOrQueue(), which looks at the state under the lock and queues the waiter, and then block.
// To wake, lock, move waiters to a list of your own, end the section and wake them: they are claimed, and
// each is owed one wake. A waiter whose time is up, or whose stop was requested, calls giveUp(), which takes
// it out of the list, or finds that it is claimed and has to wait for its wake. So exactly one of a claim, a
// time limit and a stop wins; see stoppable.h. If nobody waits any more, giveUp() leaves the word alone.
//
// What must not happen:
//     the waiter                            the waker
//     looks at the state, and has to wait
//                                           changes the state, and sees nobody
//     queues, and sleeps
// It cannot happen. The waiter's section ends by the step that sets kWaiters, which fails if the state has
// changed since the waiter looked at it. The waker changes that word, so it sees a bit, and locks.
//
// What must not happen: the waiter destroys the primitive while its waker uses it. The step that ends a
// section is the last access to the word and the list; the wakes come after it.
//
// A section ends in one of three ways. unlockTo() is a plain store, for primitives where nobody else changes
// the word while kLocked is set. unlockBy() changes the state that others have left there. unlock() keeps it.
//
// List, here and in the primitives' cores: WaitList, or a checker's.
template <class Int = uint32_t, class List = WaitList, class Sync = StdSync>
class WaitWord {
 public:
  static constexpr Int kLocked = 1, kWaiters = 2, kBits = kLocked | kWaiters, kState = 4;

  constexpr explicit WaitWord(Int state = 0) : bits(state) {}

  // Returns: the word as it was, without kLocked.
  Int lock() {
    return detail::lockBitBy<Int>(bits, kLocked, [](uint32_t& round) { Sync::relax(round); });
  }

  void unlock() {
    // (1) release: the next holder of the lock sees the list; pairs with (3, 5) and the acquire of lockBit.
    bits.fetch_and(static_cast<Int>(list.isEmpty() ? ~kBits : ~kLocked), std::memory_order_release);
  }

  // Ends the section with `state` in the word.
  // Requires: nobody else changes the word meanwhile.
  void unlockTo(Int state) {
    // (2) release: publishes the list, and what came before, to the next thread that locks or looks at the
    // state; pairs with (5), the acquire of lockBit and the primitive's.
    bits.store(static_cast<Int>(state | waitersBit()), std::memory_order_release);
  }

  // Ends the section, and replaces the state, as it is by then, by next(state). Returns: the state before.
  template <class Next>
  Int unlockBy(const Next& next) {
    Int old = bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    Int made = 0;
    do {
      made = static_cast<Int>((next(static_cast<Int>(old & ~kBits)) & ~kBits) | waitersBit());
      // (3) acq_rel: publishes as unlockTo() does, and sees what came before the state that it finds; pairs
      // with (1, 3, 4, 5) and the acquire of lockBit.
    } while (!bits.compare_exchange_weak(old, made, std::memory_order_acq_rel, std::memory_order_relaxed));
    return old;
  }

  // Takes what take(state) takes of the word without kLocked, or queues `self`. take returns whether there
  // was anything to take, and is called again if others change the word meanwhile.
  // Returns: the last result of take.
  template <class Waiter, class Take>
  bool takeOrQueue(Waiter& self, const Take& take) {
    lock();
    return settle(self, take);
  }

  // takeOrQueue() within a section, which it ends.
  template <class Waiter, class Take>
  bool settle(Waiter& self, const Take& take) {
    Int old = bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    for (;;) {
      Int next = static_cast<Int>(old & ~kLocked);
      const bool isTaken = take(next);
      if (isTaken == self.isLinked) {
        isTaken ? list.remove(self) : list.pushBack(self);
      }
      next = static_cast<Int>((next & ~kBits) | waitersBit());
      // (4) acq_rel: publishes the list to the next holder of the lock; sees what came before the state that
      // it takes; pairs with (3, 5) and the acquire of lockBit. One step, so that others find a bit.
      if (bits.compare_exchange_strong(old, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return isTaken;
      }
    }
  }

  // Takes `self` out of the list. Returns: whether it was there; if not, a wake is owed to it.
  template <class Waiter>
  bool giveUp(Waiter& self) {
    if (!lockIfAwaited()) {
      return false;
    }
    const bool wasThere = detail::removeIfLinked(list, self);
    unlock();
    return wasThere;
  }

  // lock(), unless nobody waits. Returns: whether it has locked.
  bool lockIfAwaited() {
    uint32_t round = 0;
    Int old = bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    while ((old & kWaiters) != 0) {
      if ((old & kLocked) != 0) {
        Sync::relax(round);
        old = bits.load(std::memory_order_relaxed);
        // (5) acquire: as lockBit; pairs with (1, 2, 3, 4).
      } else if (bits.compare_exchange_weak(old, static_cast<Int>(old | kLocked), std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Within a section. Returns: all waiters, which are claimed now.
  List claimAll() {
    List claimed;
    claimed.claimAll(list);
    return claimed;
  }

  typename Sync::template Atomic<Int> bits;
  List list;  // guarded by kLocked

 private:
  Int waitersBit() const { return list.isEmpty() ? 0 : kWaiters; }
};

}  // namespace weft::inline v0_1::detail
