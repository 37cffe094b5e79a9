// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/detail/base/shared.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/select_node.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word and the list behind Event.
//
//   kSignalled   signalled
//   kWaiters     the list is not empty, or signals are forwarded
//   an address   the only waiter, without any of the bits; beside kLocked until the holder has moved it
//
// There are two ways to change the word.
// - While kLocked is clear, by one compare-exchange: to signal without waiters, to use a signal up, and to
//   put an only waiter's address into the word or take it out. The waiter puts its address there, and the
//   signal that takes it out has claimed the waiter.
// - With kLocked set, only the holder of the lock changes the word. The holder finds every waiter in the
//   list, an only waiter too, because lock() moves it there.
//
// A waiter is queued, and a signal is handed to it, in one step or under the lock, so that no signal is lost.
template <class List = WaitList, class Sync = StdSync>
class EventCore {
  using Word = WaitWord<uintptr_t, List, Sync>;

 public:
  using Waiter = std::remove_pointer_t<decltype(std::declval<const List&>().front())>;

  EventCore(bool isAuto, bool isSignalled)
      : leftOfSignal_(isAuto ? 0 : kSignalled), word_(isSignalled ? kSignalled : 0) {}

  // Locked for ever: no signal and no wait succeeds without queue() or lock().
  constexpr explicit EventCore(MovedFrom) : leftOfSignal_(0), word_(Word::kBits) {}

  bool isAuto() const { return leftOfSignal_ == 0; }

  bool isSignalled() const {
    // (1) acquire: sees what came before the signal; pairs with (3, 4) and with unlockTo().
    return (word_.bits.load(std::memory_order_acquire) & kSignalled) != 0;
  }
  // relaxed: for the destructor.
  bool isAwaited() const {
    return !word_.list.isEmpty() || word_.bits.load(std::memory_order_relaxed) > kAllBits;
  }

  // Uses up the signal of an automatic event. Returns: whether the event was signalled.
  bool tryWait() {
    // (2) acquire: sees what came before the signal; pairs with (3, 4) and with unlockTo().
    uintptr_t old = word_.bits.load(std::memory_order_acquire);
    if (!isAuto()) {
      return (old & kSignalled) != 0;
    }
    uint32_t round = 0;
    while ((old & kSignalled) != 0) {
      if ((old & Word::kLocked) != 0) {
        Sync::relax(round);
        old = word_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
        // (3) acquire: sees what came before the signal; pairs with (1, 2, 4) and with unlockTo().
      } else if (word_.bits.compare_exchange_weak(old, old & ~uintptr_t{kSignalled},
                                                  std::memory_order_acquire, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Signals if nobody waits, or one waiter in the word. Calls wake(waiter) after the last access.
  // Returns: whether it signalled; if not, lock() and call signalAndUnlock().
  template <class Wake>
  bool trySignal(const Wake& wake) {
    uintptr_t old = word_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    while ((old & Word::kBits) == 0) {
      const bool isAwaited = old > kAllBits;
      const uintptr_t next = isAwaited ? leftOfSignal_ : kSignalled;
      // (4) acq_rel: publishes what came before, also if the event is signalled already, when it continues
      // the release sequence of earlier signals; sees the waiter complete; pairs with (1, 2, 3, 5).
      if (word_.bits.compare_exchange_weak(old, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        if (isAwaited) {
          wake(*reinterpret_cast<Waiter*>(old));
        }
        return true;
      }
    }
    return false;
  }

  // Puts `self` into the word, if nobody waits and there is no signal.
  // Returns: whether it did; if not, call tryWait() and queue().
  bool tryQueueAlone(Waiter& self) {
    uintptr_t old = word_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    // (5) release: the waiter is complete; pairs with (4) and the acquire of lockBit.
    return old == 0 &&
           word_.bits.compare_exchange_strong(old, reinterpret_cast<uintptr_t>(&self),
                                              std::memory_order_release, std::memory_order_relaxed);
  }

  // Queues `self`. Returns: false if it found a signal instead.
  bool queue(Waiter& self) {
    const bool isToWait = lock() == 0;
    if (isToWait) {
      word_.list.pushBack(self);
    }
    unlock(isToWait || isAuto() ? 0 : kSignalled);
    return isToWait;
  }

  // Takes `self` out. Returns: whether it was there; if not, a wake is owed to it.
  bool giveUp(Waiter& self) {
    const uintptr_t signalled = lock();
    const bool wasThere = detail::removeIfLinked(word_.list, self);
    unlock(signalled);
    return wasThere;
  }

  uintptr_t lock() {
    static_assert(alignof(Waiter) > kAllBits);
    const uintptr_t old = word_.lock();
    if (old > kAllBits) {
      word_.list.pushBack(*reinterpret_cast<Waiter*>(old));
    }
    return old & kSignalled;
  }
  void unlock(uintptr_t signalled) {
    word_.unlockTo(signalled | (numForwards != 0 ? uintptr_t{Word::kWaiters} : 0));
  }

  // The waiters to wake: `first`, or null, and `all`.
  struct Claimed {
    Waiter* first = nullptr;
    List all;
  };
  // Signals, with the lock held. `wasSignalled` is the result of lock(). The last access to the core.
  Claimed signalAndUnlock(uintptr_t wasSignalled) {
    Claimed claimed;
    if (isAuto()) {
      Waiter* const first = claimFirst();
      claimed.first = first != nullptr ? &ownerOf(*first) : nullptr;
      unlock(first != nullptr ? wasSignalled : kSignalled);
      return claimed;
    }
    if (!hasSelects) [[likely]] {
      claimed.all.claimAll(word_.list);
    }
    while (Waiter* const first = claimFirst()) {
      claimed.all.pushClaimed(ownerOf(*first));
    }
    unlock(kSignalled);
    return claimed;
  }

  List& list() { return word_.list; }  // guarded by the lock

  uint32_t numForwards = 0;  // how many events signals are forwarded to; guarded by the lock
  bool hasSelects = false;   // the list may contain a SelectNode; guarded by the lock

 private:
  friend struct LayoutAccess;
  static constexpr uint8_t kSignalled = Word::kState, kAllBits = Word::kBits | kSignalled;

  // Returns: a waiter that is claimed, or null. Skips a select of which another case has happened.
  Waiter* claimFirst() {
    Waiter* waiter = word_.list.popFront();
    while (waiter != nullptr && !claim(*waiter)) {
      waiter = word_.list.popFront();
    }
    return waiter;
  }

  const uint8_t leftOfSignal_;  // the word after a signal to an only waiter: 0 if automatic, else kSignalled
  Word word_;
};

}  // namespace weft::inline v0_1::detail
