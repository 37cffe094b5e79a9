// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/waiter.h"

namespace weft::detail {

// The word and the list behind SharedMutex: one that writes, or many that read.
//
//   kWriter        held by one alone
//   n * kReader    held by n together
//   kWaiters       the list is not empty: whoever comes queues behind it, but for readers that may pass
//   n * kPass      passed by n readers since it was somebody's turn
//   kListLocked    the list is being changed
//
// While nobody waits, taking and releasing are a compare-exchange each. Who cannot have the lock queues;
// whoever ends the last hold, or takes a waiter out of the list, hands the lock to the first waiter, if that
// writes, or to all readers before the next writer. So the lock is never free while somebody waits, and those
// who wait are served in the order in which they came.
//
// Readers that come while others hold the lock need not wait, though writers do: otherwise each writer that
// waits makes all readers wait, who then are woken one after the other. kMaxPasses of them may pass until one
// of those who wait has its turn; then all queue. So neither readers nor writers starve.
//
// What must not happen: the last reader leaves, and then looks for waiters in a mutex that is gone, since the
// only waiter gave up in between, took the free lock, released it and destroyed it. So a last reader that
// sees kWaiters takes the list's lock in the step in which it leaves. While kWaiters and kListLocked are set,
// then, the number of readers may fall, but not to zero, and nobody comes: what settle() finds holds until it
// is done, and readers that would pass queue.
//
// Rejected: handing over to nobody, as weft::mutex does, so that those who run may take the lock before those
// who wait: with two kinds of waiters that needs a rule for each kind lest the other starves. A fetch_sub for
// readers that leave: the last one would have to come back.
//
// Shared waiters are told apart by Waiter::mark. List: WaitList, or a checker's.
template <class List = WaitList, class Sync = StdSync, unsigned kMaxPasses = 64>
class SharedLock {
 public:
  enum How : uint8_t { kExclusive = 0, kShared = 1 };  // Waiter::mark

  // Returns: whether the lock was free, and is taken now.
  bool tryLock() {
    Word expected = 0;
    // (1) acquire: sees what the holders before wrote; pairs with (3, 4, 5, 6).
    return word_.compare_exchange_strong(expected, kWriter, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  // Returns: whether the lock was free or shared, with nobody waiting for it that may not be passed, and is
  // shared now.
  bool tryLockShared() {
    // relaxed: only a guess for the compare-exchange.
    Word old = word_.load(std::memory_order_relaxed);
    while (mayShare(old)) {
      const Word pass = (old & kWaiters) != 0 ? kPass : 0;
      // (2) acquire: sees what the last writer wrote; pairs with (3, 6).
      if (word_.compare_exchange_weak(old, old + pass + kReader, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Releases an exclusive hold if nobody waits: the last access then. Returns: whether it did; if not, call
  // unlock().
  bool tryUnlock() {
    Word expected = kWriter;
    // (3) release: the next holders see what this one wrote; pairs with (1, 2, 7).
    return word_.compare_exchange_strong(expected, 0, std::memory_order_release, std::memory_order_relaxed);
  }

  // Releases an exclusive hold. Returns: whom to wake; they hold the lock.
  List unlock() {
    lockList();
    return settle(kWriter);
  }

  // Releases a shared hold. `granted`: whom to wake; they hold the lock. Returns: false if nobody shares the
  // lock.
  bool unlockShared(List& granted) {
    uint32_t round = 0;
    // relaxed: only a guess for the compare-exchange.
    Word old = word_.load(std::memory_order_relaxed);
    while (old >= kReader) {
      const bool isLast = old < 2 * kReader;
      if (!isLast || (old & kWaiters) == 0) {
        // (4) release: the next writer sees that this one has read; pairs with (1, 5, 7). The last access.
        if (word_.compare_exchange_weak(old, old - kReader, std::memory_order_release,
                                        std::memory_order_relaxed)) {
          return true;
        }
      } else if ((old & kListLocked) != 0) {
        Sync::relax(round);
        old = word_.load(std::memory_order_relaxed);
        // (5) acq_rel: takes the list's lock, as lockBit does, and sees that the other readers have read;
        // pairs with (1, 4).
      } else if (word_.compare_exchange_weak(old, (old - kReader) | kListLocked, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
        granted = settle(0);
        return true;
      }
    }
    return false;
  }

  // Takes the lock if it can be had and nobody waits for it, or queues `self`. Returns: whether it took it.
  template <class Waiter>
  bool takeOrQueue(Waiter& self, How how) {
    self.mark = how;
    Word old = lockList() | kListLocked;
    list_.pushBack(self);
    for (;;) {
      const bool take = (old & (how == kShared ? kWriter | kWaiters : ~kListLocked)) == 0;
      if (take) {
        list_.remove(self);
      }
      const Word hold = how == kShared ? kReader : kWriter;
      const Word next = (take ? old + hold : old | kWaiters) & ~kListLocked;
      // (7) acq_rel: takes the lock, and sees what the holders before wrote, or shows the list to whoever
      // locks it next; pairs with (3, 4, 6).
      if (word_.compare_exchange_strong(old, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return take;
      }
      if (take) {
        list_.pushBack(self);
      }
    }
  }

  // Takes `self` out of the list, if it is there still. `granted`: whom to wake; they hold the lock. Returns:
  // whether it was there; if not, somebody owes it a wake.
  template <class Waiter>
  bool giveUp(Waiter& self, List& granted) {
    lockList();
    if (!self.isLinked) {
      // (8) release: ends the section for the next lockBit.
      word_.fetch_and(~kListLocked, std::memory_order_release);
      return false;
    }
    list_.remove(self);
    granted = settle(0);
    return true;
  }

  // relaxed: for the one who destroys it.
  bool isIdle() const { return word_.load(std::memory_order_relaxed) == 0; }

 private:
  using Word = uint64_t;
  static constexpr Word kWriter = 1, kListLocked = 2, kWaiters = 4, kPass = 8, kReader = 1024;
  static constexpr Word kListBits = kListLocked | kWaiters, kPasses = kReader - kPass;
  static_assert(kMaxPasses <= kPasses / kPass);

  static bool mayShare(Word word) {
    const bool mayPass = (word & kListLocked) == 0 && (word & kPasses) < kMaxPasses * kPass;
    return (word & kWriter) == 0 && ((word & kWaiters) == 0 || mayPass);
  }

  Word lockList() {
    return detail::lockBitBy<Word>(word_, kListLocked, [](uint32_t& round) { Sync::relax(round); });
  }

  // Ends the hold `dropped`, hands the lock to those whose turn it is, and releases the list's lock. Returns:
  // them.
  List settle(Word dropped) {
    List granted;
    // relaxed: at least as new as the step that took the list's lock, and nobody changes what is asked here.
    Word old = word_.load(std::memory_order_relaxed);
    const Word held = (old & ~(kListBits | kPasses)) - dropped;
    Word taken = 0;
    if (!list_.isEmpty() && list_.front()->mark == kExclusive) {
      if (held == 0) {
        list_.claimFront(granted);
        taken = kWriter;
      }
    } else if ((held & kWriter) == 0) {
      for (; !list_.isEmpty() && list_.front()->mark == kShared; taken += kReader) {
        list_.claimFront(granted);
      }
    }
    const Word waiters = list_.isEmpty() ? 0 : kWaiters;
    const Word kept = taken == 0 && waiters != 0 ? ~kListBits : ~(kListBits | kPasses);
    Word next = 0;
    do {
      next = (((old & kept) - dropped) + taken) | waiters;
      // (6) acq_rel: sees that the readers before have read; the next holders see what was written before,
      // and the next lockBit the list; pairs with (1, 2, 7). The last access, unless somebody waits.
    } while (!word_.compare_exchange_weak(old, next, std::memory_order_acq_rel, std::memory_order_relaxed));
    return granted;
  }

  typename Sync::template Atomic<Word> word_{0};
  List list_;  // guarded by kListLocked
};

}  // namespace weft::detail
