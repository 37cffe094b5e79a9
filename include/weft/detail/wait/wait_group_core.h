// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/detail/base/shared.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word and the list behind WaitGroup. The state of the word is the count.
//
// end() subtracts at any time, without looking. If it makes the count zero and sees neither kLocked nor
// kWaiters, it no longer touches the word. If it sees one of these bits, it comes back, takes the lock and
// wakes all waiters. So a wait that finds the whole word zero may return, and the group may go. If the count
// is zero beside a bit, only the end() that comes back may make the word zero.
//
// What must not happen:
//     a holder of the lock                  the last end()
//                                           makes the count zero, sees kLocked, and comes back
//     unlocks: all is zero
//     another finds that, returns, and the group goes
//                                           takes the lock
// It cannot happen. A holder of the lock that finds the count above zero leaves kWaiters set: a waiter that
// queues sets it, and a waiter that gives up locks only if it is set. A waiter that gives up clears kWaiters
// only if it is the only waiter, in a step that fails if the count is zero by then; then it stays queued and
// is woken. add() leaves a count of zero beside kWaiters alone, and waits for the end() that comes back.
//
// The first waiter sets kWaiters without the lock, in the only compare-exchange that a wait then costs, and
// stores itself in first_. It never gives up. The next holder of the lock moves it to the list, or wakes it.
template <class List = WaitList, class Sync = StdSync>
class WaitGroupCore {
  using Word = WaitWord<uint32_t, List, Sync>;

 public:
  using Waiter = std::remove_pointer_t<decltype(std::declval<const List&>().front())>;

  static constexpr uint32_t kOne = Word::kState, kMax = 1u << 30;

  explicit WaitGroupCore(uint32_t count) : word_(count * kOne) {}
  // The count is zero beside kWaiters, so wait() does not take it for the end, and add() has to wait.
  constexpr explicit WaitGroupCore(MovedFrom) : word_(Word::kWaiters) {}

  // Calls onHold() each time that it has to wait a moment. Returns: the word before.
  template <class OnHold>
  uint32_t add(uint32_t count, const OnHold& onHold) {
    uint32_t round = 0;
    // relaxed, all: end() and isOver() order the work.
    uint32_t old = word_.bits.load(std::memory_order_relaxed);
    for (;;) {
      if ((old & Word::kBits) != 0 && ((old & Word::kLocked) != 0 || old < kOne)) [[unlikely]] {
        onHold();
        Sync::relax(round);
        old = word_.bits.load(std::memory_order_relaxed);
      } else if (word_.bits.compare_exchange_weak(old, old + count * kOne, std::memory_order_relaxed,
                                                  std::memory_order_relaxed)) {
        return old;
      }
    }
  }

  uint32_t add(uint32_t count) {
    return add(count, [] {});
  }

  // Ends a piece of work. Returns: the word before; if the count is zero now and the word had a bit, the
  // caller owes a claimAllAfterEnd().
  uint32_t end() {
    // (1) acq_rel: publishes this work; the last end() sees all others' work; pairs with (1, 2, 3).
    return word_.bits.fetch_sub(kOne, std::memory_order_acq_rel);
  }

  // Does end() in the most frequent case: the last piece of work ends, and somebody waits. Also takes the
  // lock. Returns: whether it did; if so, the caller owes a claimAll().
  bool tryEnd() {
    uint32_t expected = kOne | Word::kWaiters;
    // relaxed: a guess for the compare-exchange.
    return word_.bits.load(std::memory_order_relaxed) == expected &&
           // (2) acq_rel: as (1), and takes the lock as lockBit does; pairs with (1, 3).
           word_.bits.compare_exchange_strong(expected, Word::kWaiters | Word::kLocked,
                                              std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  // Returns: whether the count is zero, and no end() comes back any more.
  bool isOver() const {
    // (3) acquire: sees the work of every end(); pairs with (1, 2) and with unlockTo().
    return word_.bits.load(std::memory_order_acquire) == 0;
  }
  // Whether the count is zero. relaxed: no caller concludes anything if it is.
  bool isZero() const { return word_.bits.load(std::memory_order_relaxed) < kOne; }
  // Whether somebody waits. relaxed: for the destructor.
  bool isAwaited() const { return (word_.bits.load(std::memory_order_relaxed) & Word::kWaiters) != 0; }

  // Queues `self`, which will not give up, if it is the first waiter.
  // Returns: whether it did; if not, call queue().
  bool tryQueueFirst(Waiter& self) {
    uint32_t old = word_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    while (old >= kOne && (old & Word::kBits) == 0) {
      // (4) acquire: first_ is empty; pairs with unlockTo(). The store to first_ publishes what came before.
      if (word_.bits.compare_exchange_weak(old, old | Word::kWaiters, std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
        // (5) release: the waiter is complete; pairs with (6).
        first_.store(&self, std::memory_order_release);
        return true;
      }
    }
    return false;
  }

  // Queues `self`. Returns: false if there is nothing to wait for.
  bool queue(Waiter& self) {
    // If the count is above zero now, the last end() comes back, so the count need not be tested again.
    const bool isToWait = word_.lock() != 0;
    if (isToWait) {
      listFirst();
    }
    return !word_.settle(self, [isToWait](uint32_t) { return !isToWait; });
  }

  // Takes `self` out of the list, unless a wake is owed to it. Returns: whether it did.
  bool giveUp(Waiter& self) {
    if (!word_.lockIfAwaited()) {
      return false;
    }
    listFirst();
    if (!self.isLinked) {
      word_.unlock();
      return false;
    }
    word_.list.remove(self);
    const bool isOnly = word_.list.isEmpty();
    return word_.settle(self, [isOnly](uint32_t state) { return !isOnly || state >= kOne; });
  }

  // The waiters to wake: `first`, or `all`.
  struct Claimed {
    Waiter* first = nullptr;
    List all;
  };
  // For the last end(), with kLocked held. The last access to the core.
  Claimed claimAll() {
    Claimed claimed;
    if (word_.list.isEmpty()) {
      claimed.first = takeFirst();
    } else {
      claimed.all.claimAll(word_.list);
    }
    word_.unlockTo(0);
    return claimed;
  }
  Claimed claimAllAfterEnd() {
    word_.lock();
    return claimAll();
  }

 private:
  friend struct LayoutAccess;

  // Moves the first waiter to the list.
  // Requires: kLocked is held, and somebody waits or the count is above zero.
  void listFirst() {
    // relaxed: kWaiters was set before the lock was taken, and stays.
    if (word_.list.isEmpty() && (word_.bits.load(std::memory_order_relaxed) & Word::kWaiters) != 0) {
      word_.list.pushBack(*takeFirst());
    }
  }

  // Requires: kLocked is held, kWaiters is set, and the list is empty.
  Waiter* takeFirst() {
    Waiter* first = nullptr;
    uint32_t round = 0;
    // (6) acquire: the waiter is complete; pairs with (5). It stores itself right after it has set kWaiters.
    while ((first = first_.load(std::memory_order_acquire)) == nullptr) {
      Sync::relax(round);
    }
    first_.store(nullptr, std::memory_order_relaxed);  // relaxed: the end of the section publishes it
    return first;
  }

  Word word_;
  // The waiter that has set kWaiters; see takeFirst().
  typename Sync::template Atomic<Waiter*> first_{nullptr};
};

}  // namespace weft::inline v0_1::detail
