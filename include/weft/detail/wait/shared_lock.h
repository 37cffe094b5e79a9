// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/sync.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::detail {

// The word and the list behind SharedMutex: one holder that writes, or many that read.
//
//   kWriter        held by one writer alone
//   n * kReader    held by n readers together
//   kWaiters       newcomers queue behind the waiters, except readers that may pass
//   n * kPass      passed by n readers since a waiter last had its turn
//
// While nobody waits, taking and releasing are one compare-exchange each. A thread or fiber that cannot have
// the lock queues. The step that ends the last hold, or takes a waiter out of the list, hands the lock on: to
// the first waiter, if that waiter writes, or to all readers before the next writer. So the lock is never
// free while somebody waits, and waiters are served in the order in which they came.
//
// Readers that come while others hold the lock need not wait, though writers do. Otherwise each writer that
// waits would make all readers wait, and these would then be woken one after the other. kMaxPasses readers
// may pass until one of the waiters has its turn; then all queue. So neither readers nor writers starve.
//
// What must not happen: the last reader leaves, and then looks for waiters in a mutex that is gone, since the
// only waiter gave up in between, took the free lock, released it and destroyed it. So a last reader that
// sees kWaiters takes the list's lock in the step in which it leaves. While kWaiters and kLocked are set,
// therefore, the number of readers may fall, but not to zero, and no reader or writer comes: what settle()
// finds holds until it is done, and readers that would pass queue.
//
// Rejected: releasing the lock to nobody, as weft::mutex does, so that those who run may take the lock before
// those who wait. With two kinds of waiters that needs a rule for each kind so that the other does not
// starve. Also rejected: a fetch_sub for readers that leave, since the last reader would have to come back.
//
// Shared waiters are told apart by Waiter::mark. List: WaitList, or a checker's.
template <class List = WaitList, class Sync = StdSync, unsigned kMaxPasses = 64>
class SharedLock {
 public:
  enum How : uint8_t { kExclusive = 0, kShared = 1 };  // Waiter::mark

  // Returns: whether the lock was free, and is taken now.
  bool tryLock() {
    Word expected = 0;
    // (1) acquire: sees what the holders before wrote; pairs with (3, 4) and with unlockBy().
    return word_.bits.compare_exchange_strong(expected, kWriter, std::memory_order_acquire,
                                              std::memory_order_relaxed);
  }

  // Returns: whether the lock was free or shared, without waiters that may not be passed, and is shared now.
  bool tryLockShared() {
    // relaxed: only a guess for the compare-exchange.
    Word old = word_.bits.load(std::memory_order_relaxed);
    while (mayShare(old)) {
      const Word pass = (old & Base::kWaiters) != 0 ? kPass : 0;
      // (2) acquire: sees what the last writer wrote; pairs with (3) and with unlockBy().
      if (word_.bits.compare_exchange_weak(old, old + pass + kReader, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Releases an exclusive hold if nobody waits; that is the last access.
  // Returns: whether it did; if not, call unlock().
  bool tryUnlock() {
    Word expected = kWriter;
    // (3) release: the next holders see what this one wrote; pairs with (1, 2) and with takeOrQueue().
    return word_.bits.compare_exchange_strong(expected, 0, std::memory_order_release,
                                              std::memory_order_relaxed);
  }

  // Releases an exclusive hold.
  // Returns: the waiters to wake, which hold the lock.
  List unlock() {
    word_.lock();
    return settle(kWriter);
  }

  // Releases a shared hold. `granted` gets the waiters to wake, which hold the lock.
  // Returns: false if nobody shares the lock.
  bool unlockShared(List& granted) {
    uint32_t round = 0;
    // relaxed: only a guess for the compare-exchange.
    Word old = word_.bits.load(std::memory_order_relaxed);
    while (old >= kReader) {
      const bool isLast = old < 2 * kReader;
      if (!isLast || (old & Base::kWaiters) == 0) {
        // (4) release: the next writer sees that this one has read; pairs with (1, 5) and with takeOrQueue().
        // The last access.
        if (word_.bits.compare_exchange_weak(old, old - kReader, std::memory_order_release,
                                             std::memory_order_relaxed)) {
          return true;
        }
      } else if ((old & Base::kLocked) != 0) {
        Sync::relax(round);
        old = word_.bits.load(std::memory_order_relaxed);
        // (5) acquire: takes the list's lock, as lockBit does, and sees that the other readers have read;
        // pairs with (4). settle() releases what this one has read.
      } else if (word_.bits.compare_exchange_weak(old, (old - kReader) | Base::kLocked,
                                                  std::memory_order_acquire, std::memory_order_relaxed)) {
        granted = settle(0);
        return true;
      }
    }
    return false;
  }

  // Takes the lock if it can be had and nobody waits for it, or queues `self`.
  // Returns: whether it took the lock.
  template <class Waiter>
  bool takeOrQueue(Waiter& self, How how) {
    self.mark = how;
    return word_.takeOrQueue(self, [how](Word& state) {
      const bool isThere = (state & (how == kShared ? kWriter | Base::kWaiters : ~Word{0})) == 0;
      state += !isThere ? 0 : how == kShared ? kReader : kWriter;
      return isThere;
    });
  }

  // Takes `self` out of the list, if it is still there. `granted` gets the waiters to wake,
  // which hold the lock.
  // Returns: whether `self` was there; if not, a wake is owed to it.
  template <class Waiter>
  bool giveUp(Waiter& self, List& granted) {
    if (!word_.lockIfAwaited()) {
      return false;
    }
    const bool isLinked = self.isLinked;
    if (isLinked) {
      word_.list.remove(self);
    }
    granted = settle(0);
    return isLinked;
  }

  // relaxed: for the destructor.
  bool isIdle() const { return word_.bits.load(std::memory_order_relaxed) == 0; }

 private:
  using Word = uint64_t;
  using Base = WaitWord<Word, List, Sync>;
  static constexpr Word kWriter = Base::kState, kPass = 8, kReader = 1024, kPasses = kReader - kPass;
  static_assert(kMaxPasses <= kPasses / kPass);

  static bool mayShare(Word word) {
    const bool mayPass = (word & Base::kLocked) == 0 && (word & kPasses) < kMaxPasses * kPass;
    return (word & kWriter) == 0 && ((word & Base::kWaiters) == 0 || mayPass);
  }

  // Ends the hold `dropped`, hands the lock to the waiters whose turn it is, and releases the list's lock.
  // Returns: these waiters.
  List settle(Word dropped) {
    List granted;
    // relaxed: at least as new as the step that took the list's lock, and nobody changes the part that is
    // read here.
    Word old = word_.bits.load(std::memory_order_relaxed);
    const Word held = (old & ~(Base::kBits | kPasses)) - dropped;
    Word taken = 0;
    if (!word_.list.isEmpty() && word_.list.front()->mark == kExclusive) {
      if (held == 0) {
        word_.list.claimFront(granted);
        taken = kWriter;
      }
    } else if ((held & kWriter) == 0) {
      for (; !word_.list.isEmpty() && word_.list.front()->mark == kShared; taken += kReader) {
        word_.list.claimFront(granted);
      }
    }
    const Word gone = taken == 0 && !word_.list.isEmpty() ? 0 : kPasses;
    // The last access, unless somebody waits.
    word_.unlockBy([=](Word state) { return ((state & ~gone) - dropped) + taken; });
    return granted;
  }

  Base word_;
};

}  // namespace weft::detail
