// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/patience.h"
#include "weft/detail/wait/select_node.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word and the list behind weft::mutex. Its state:
//
//   kHeld        held, or offered: a thread or fiber that comes cannot have it
//   kOffered     not held, and free for waiters only
//   kWoken       a waiter was woken and has not come yet: unlock() need not wake another
//   kTimed       offerAt_ is the time at which unlock() offers the mutex
//
// unlock() wakes the first waiter, which tries again, so that the holder need not wait for it to run. A
// running fiber may take the mutex before the woken waiter, which then queues again at the front: at the end,
// MutexTest.KeepsTheTurnOfAWaiterThatWasPassedOver would fail. The idea is that of WTF::Lock and ParkingLot
// (Pizlo 2016). Three rules limit how long a mutex stays free while somebody who can run waits: to about two
// milliseconds, or to an eighth of the time that this waiter has waited.
//
// 1. unlock() offers the mutex once waiters have been woken in vain for a millisecond: it leaves kHeld set,
//    so that newcomers wait, and also wakes the next waiter. A woken waiter may have come too late, or may be
//    unable to run, since the unlocking fiber or a long task is on its thread. If the unlocking fiber comes
//    again, it waits, and lets the waiters of its own thread run. Without this rule,
//    MutexTest.IsHandedToAWaiterThatIsPassedOverAgainAndAgain hangs.
// 2. A waiter never sleeps without a time limit, since there may be no further unlock(). At its limit, it
//    takes a mutex that is free or offered, unless a woken waiter still has time to come. Without this rule,
//    MutexTest.IsNotKeptFromOthersByAWaiterThatCannotRun hangs. The limits grow with the time waited: 5,000
//    waiting fibers take 3 % of a processor after a second, and 15 % if limits stay at a millisecond.
// 3. A try_lock() takes an offered mutex as a waiter at its limit does, since its caller may come again and
//    again without ever waiting. Without this rule,
//    MutexTest.IsNotKeptFromOneThatOnlyTriesByAWaiterThatCannotRun fails.
//
// The time of rule 1 begins with the first wake, and ends when a waiter takes the mutex. If other woken
// waiters have not come by then, they seem to be unable to run. unlock() then wakes waiters as usual, and
// offers the mutex kRestTicks later, so that a fiber of their thread gives way to them.
//
// What must not happen: the mutex is free, somebody waits, and no waiter is on the way. Each step that
// releases or offers the mutex with waiters in the list sets kWoken, if it is not set, and wakes. kWoken is
// set together with a wake, and the woken waiter clears it in the step in which it takes the mutex or queues
// again. So while kWoken is set, a waiter is on the way.
//
// A waiter may give up because its time is up or a stop was requested. A waiter that is still in the list was
// not woken: it leaves the list, and nobody counts on it. (If the mutex is free at that moment, the waiter
// takes it, as any newcomer may.) A waiter that was claimed waits for its wake, and takes a mutex that is
// free or offered, so that no offer is lost. If the mutex is held, the waiter is no longer on the way, but
// stays out of the list, and the holder's unlock() wakes the next waiter. The stop's callback takes the
// waiter out of the list, if it is there, and wakes it, which does not count as a wake. The waiter tests for
// the stop with the list locked, before it queues. So one sees the other.
//
// A select() queues a node, which unlock() drops if the select has gone elsewhere. The select waits in the
// lines of its other cases, too, and would lose its places there if it came in vain. So unlock() offers the
// mutex to it. If it comes too late even so, it begins anew, at the end of the line.
//
// Rejected: handing the mutex over to a waiter that has waited for a millisecond, which then holds it even if
// its thread is busy for seconds (MutexTest.IsNotKeptFromOthersByAWaiterThatCannotRun hangs); and waking
// several waiters at once, which for short sections costs more than it brings, and upsets their order.
template <class List = WaitList, class Sync = StdSync, int kSpins = 24>
class MutexCore {
 public:
  constexpr MutexCore() = default;

  // Returns: whether the mutex was free, and is held now.
  bool tryLock() {
    // (1) acquire: sees what the holder before wrote; pairs with (2, 3) and with unlockBy().
    return (word_.bits.fetch_or(kHeld, std::memory_order_acquire) & kHeld) == 0;
  }

  // Releases the mutex if nobody waits. The last access then. Returns: whether it did; if not, call unlock().
  bool tryUnlock() {
    uint32_t expected = kHeld;
    // (2) release: the next holder sees what this one wrote; pairs with (1) and the next lockBit.
    return word_.bits.compare_exchange_strong(expected, 0, std::memory_order_release,
                                              std::memory_order_relaxed);
  }

  // Takes an offered mutex if no waiter has come for it for a millisecond. Returns: whether it did.
  template <class Host>
  bool tryTakeOffer(const Host& host) {
    const uint32_t word = word_.lock();
    const bool isTaken = !isExpected(word, detail::patienceTicks(host.now())) && take(true, host);
    releaseList(0, 0);
    return isTaken;
  }

  // relaxed, both: a hint.
  bool isLocked() const { return (word_.bits.load(std::memory_order_relaxed) & kHeld) != 0; }
  bool isOffered() const { return (word_.bits.load(std::memory_order_relaxed) & kOffered) != 0; }
  // relaxed: for the destructor.
  bool isIdle() const { return word_.bits.load(std::memory_order_relaxed) == 0; }

  // Waits until the caller holds the mutex, or gives up. Host has now(); block(self); blockUntil(self,
  // deadline), which returns false if the deadline came first; limit(), when it gives up, or kNever;
  // isStopped(), whether a stop was requested; and hasLeft(), whether leave() has taken the waiter out.
  // Returns: whether the caller holds the mutex.
  template <class Waiter, class Host>
  bool lock(Waiter& self, const Host& host) {
    for (bool wasWoken = false; !spin(wasWoken); wasWoken = true) {
      LockTry result = takeOrQueue(self, wasWoken, host);
      if (result == LockTry::Waits) {
        const TimePoint began = host.now();
        const bool isWoken = host.blockUntil(self, std::min<TimePoint>(began + kPatience, host.limit()));
        result = detail::waitInList(self, host, isWoken,
                                    [&](TimePoint& next) { return retry(self, began, next, host); });
      }
      if (result != LockTry::Claimed) {
        return result == LockTry::Taken;
      }
    }
    return true;
  }

  // For a stop. Any thread. Takes `self`, which waits, out of the list.
  // Returns: whether it was there; if so, the caller makes host.hasLeft() true and wakes it.
  template <class Waiter>
  bool leave(Waiter& self) {
    word_.lock();
    const bool wasThere = detail::removeIfLinked(word_.list, self);
    releaseList(0, 0);
    return wasThere;
  }

  // Releases the mutex, or offers it to the waiters.
  // Requires: the caller holds it.
  // Returns: whom to wake.
  template <class Host>
  List unlock(const Host& host) {
    const uint32_t now = detail::patienceTicks(host.now());
    uint32_t word = word_.bits.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
    while (needsNoWake(word, now)) {
      // (3) release: as at note 2; pairs with (1) and the next lockBit. The last access.
      if (word_.bits.compare_exchange_weak(word, word & ~kHeld, std::memory_order_release,
                                           std::memory_order_relaxed)) {
        return {};
      }
    }
    word = word_.lock();
    bool offers = isDue(word, now);
    List woken;
    if (offers || (word & kWoken) == 0) {
      offers = wakeFirst(woken) || (offers && numOnTheWay_.get() != 0);
    }
    if ((word & kTimed) == 0 || offerAt_.get() - now - 1 >= kPatienceTicks) {
      offerAt_.set(now + kPatienceTicks);
    }
    releaseList(offers ? 0 : kHeld,
                (offers ? kOffered | kWoken : 0) | (woken.isEmpty() ? 0 : kWoken | kTimed));
    return woken;
  }

  // A step of lock(), and of a select. Queues `self`, unless the mutex can be had or the waiter gives up. A
  // newcomer whose time is up queues nevertheless, so that others of its thread get their turn.
  // Returns: Taken, Waits or GivenUp.
  template <class Waiter, class Host>
  LockTry takeOrQueue(Waiter& self, bool wasWoken, const Host& host) {
    word_.lock();
    numOnTheWay_.set(numOnTheWay_.get() - (wasWoken ? 1 : 0));
    LockTry result = LockTry::Taken;
    if (!take(wasWoken, host)) {
      const bool givesUp = host.isStopped() || (wasWoken && detail::isTimeUp(host));
      result = givesUp ? LockTry::GivenUp : LockTry::Waits;
      if (!givesUp) {
        wasWoken ? word_.list.pushFront(self) : word_.list.pushBack(self);
      }
    }
    releaseList(wasWoken ? kWoken : 0, 0);
    return result;
  }

  // A step of lock(), and of a select. After the time limit of `self`, which has waited since `began`. `next`
  // gets the next limit: at the latest when a woken waiter has no time left to come, and at the host's limit.
  template <class Waiter, class Host>
  LockTry retry(Waiter& self, TimePoint began, TimePoint& next, const Host& host) {
    const uint32_t word = word_.lock();
    LockTry result = LockTry::Claimed;
    if (self.isLinked) {
      const TimePoint now = host.now();
      const uint32_t ticks = detail::patienceTicks(now);
      const bool waits = isExpected(word, ticks), isLast = now >= host.limit();
      const bool isTaken = waits ? isLast && take(false, host) : take(true, host);
      result = isTaken ? LockTry::Taken : isLast ? LockTry::GivenUp : LockTry::Waits;
      if (result != LockTry::Waits) {
        word_.list.remove(self);
      }
      next = detail::nextTry(now, began, host.limit(), waits, kPatienceTicks - (offerAt_.get() - ticks));
    }
    releaseList(0, 0);
    return result;
  }

 private:
  using Word = WaitWord<uint32_t, List, Sync>;
  static constexpr uint32_t kHeld = Word::kState, kOffered = 2 * kHeld, kWoken = 4 * kHeld,
                            kTimed = 8 * kHeld;

  // With kPatienceTicks instead, a fiber that locks in a loop waits half of the time beside a waiter that
  // cannot run, and gets the mutex 15 to 25 % less often.
  static constexpr uint32_t kRestTicks = 8 * kPatienceTicks;

  // Returns: whether it is time to offer the mutex: offerAt_ is not within the next kRestTicks.
  bool isDue(uint32_t word, uint32_t now) const {
    return (word & kTimed) != 0 && offerAt_.get() - now - 1 >= kRestTicks;
  }
  bool isExpected(uint32_t word, uint32_t now) const { return (word & kWoken) != 0 && !isDue(word, now); }

  // Returns: whether it is not time to offer the mutex, and nobody waits or a waiter is on the way.
  bool needsNoWake(uint32_t word, uint32_t now) const {
    return (word & Word::kLocked) == 0 && !isDue(word, now) &&
           (word & (kWoken | Word::kWaiters)) != Word::kWaiters;
  }

  // Within a section. Claims the first waiter that is no select which has gone elsewhere, if there is one.
  // Returns: whether it is a select.
  bool wakeFirst(List& woken) {
    while (auto* const first = word_.list.popFront()) {
      if (claim(*first)) {
        auto& owner = ownerOf(*first);
        woken.pushClaimed(owner);
        numOnTheWay_.set(numOnTheWay_.get() + 1);
        return static_cast<const void*>(&owner) != first;
      }
    }
    return false;
  }

  static bool mayTake(uint32_t word, bool wasWoken) {
    return (word & kHeld) == 0 || (wasWoken && (word & kOffered) != 0);
  }

  // Returns: whether a newcomer took the mutex. takeOrQueue() takes it for woken waiters, and counts them.
  bool spin(bool wasWoken) {
    for (int i = 0; i < kSpins; ++i) {
      // relaxed: a hint.
      if (!mayTake(word_.bits.load(std::memory_order_relaxed), wasWoken)) {
        Sync::pause();
      } else if (wasWoken) {
        return false;
      } else if (tryLock()) {
        return true;
      }
    }
    return false;
  }

  // Takes a mutex that is free, or, for a waiter, offered. Returns: whether it did.
  // Requires: the list is locked. Then nobody releases the mutex.
  template <class Host>
  bool take(bool isWaiter, const Host& host) {
    const bool areOthersOnTheWay = numOnTheWay_.get() != 0;
    const uint32_t ended = !isWaiter ? 0 : kOffered | kWoken | (areOthersOnTheWay ? 0 : kTimed);
    // relaxed, all: whoever took the list's lock, which is held, sees what the last holder wrote.
    uint32_t word = word_.bits.load(std::memory_order_relaxed);
    while (mayTake(word, isWaiter)) {
      if (word_.bits.compare_exchange_weak(word, (word | kHeld) & ~ended, std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
        if (isWaiter && areOthersOnTheWay) {
          offerAt_.set(detail::patienceTicks(host.now()) + kRestTicks);
        }
        return true;
      }
    }
    return false;
  }

  // Ends the list's section, and clears and sets further bits. The last access, unless somebody waits.
  void releaseList(uint32_t cleared, uint32_t set) {
    const uint32_t gone = cleared | (word_.list.isEmpty() && numOnTheWay_.get() == 0 ? kTimed : 0);
    word_.unlockBy([gone, set](uint32_t state) { return (state & ~gone) | set; });
  }

  Word word_;
  // In ticks. Written under kHeld and the list's lock, and therefore read under either.
  typename Sync::template Var<uint32_t> offerAt_{0};
  // The number of woken waiters that have not come; guarded by the list's lock. Without this count,
  // MutexTest.IsGivenUpForAWaiterOfTheSameThreadThatWasPassedOverByAnother hangs.
  typename Sync::template Var<uint32_t> numOnTheWay_{0};
};

}  // namespace weft::inline v0_1::detail
