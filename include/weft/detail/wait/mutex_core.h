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
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The word and the list behind weft::mutex. Its state:
//
//   kHeld        held, or offered: a thread or fiber that comes cannot have it
//   kUrgent      the first waiter of the list should be offered the mutex
//   kWoken       a waiter was woken and has not come yet: unlock() need not wake another
//   kOffered     not held, and free for waiters only
//   kMissing     a waiter that was woken before has not come, and the others go on without it
//
// A woken waiter tries again, so that the holder of the mutex need not wait for the waiter to run. What it
// was woken for may have been taken by a fiber that runs; then it queues again, at the front. The idea is
// that of WTF::Lock and ParkingLot (Pizlo 2016). Three rules limit how long a mutex stays free while somebody
// who can run waits: to about two milliseconds, or to an eighth of the time that this waiter has waited.
//
// - A waiter that was passed over for a millisecond becomes impatient, and the next unlock() offers the
//   mutex: it leaves kHeld set, so that a newcomer has to wait, and wakes that waiter, which takes the mutex.
// - A woken waiter may be unable to run: the unlocking fiber is on its thread, or a long task is. An unlock()
//   that sees that a wake has gone unanswered for a millisecond offers the mutex, and also wakes the next
//   waiter. If the unlocking fiber comes again, it has to wait, which lets the waiters of its own thread run.
// - There may be no further unlock(). So a waiter never sleeps without a time limit. When its time is up, it
//   takes a mutex that is free or offered, if no wake is on the way or one has gone unanswered for a
//   millisecond. The limits grow with the time that the waiter has waited, so that very many waiters that
//   wait for long cost next to nothing.
//
// A try_lock() takes an offered mutex by the same rule, since its caller may come again and again without
// ever waiting. It goes on expecting the woken waiters: they should run once its caller has suspended.
//
// An offer promises nothing more: a waiter that waited in vain for a millisecond takes what was offered to
// others, which are no longer expected then.
//
// A waiter that is no longer expected may belong to the thread of a fiber that takes the mutex again and
// again from then on. So the waiter is missed until it comes: an unlock() offers the mutex for its sake now
// and then, after a time in which that costs the others little.
//
// What must not happen: the mutex is free, somebody waits, and no waiter is on the way. Each step that
// releases or offers the mutex with waiters in the list sets kWoken, if it is not set, and wakes. kWoken is
// set together with a wake, and the woken waiter clears it in the step in which it takes the mutex or queues
// again. So while kWoken is set, a waiter is on the way.
//
// A waiter may give up because its time is up or a stop was requested. A waiter that is still in the list was
// not woken: it leaves the list, and nobody counts on it. (If the mutex is free at that moment the waiter
// takes it, as any newcomer may.) A waiter that was claimed waits for its wake, and then tries as usual: it
// takes a mutex that is free or offered, so that no offer is lost. Otherwise the mutex is held, and its
// holder's unlock() comes later: the waiter ends its being on the way, as if it queued again, but stays out
// of the list, and that unlock() wakes the next waiter. The stop's callback takes the waiter out of the list
// and wakes it, which does not count as a wake. If the callback finds the waiter awake, it does nothing. The
// waiter tests for the stop with the list locked, before it queues. So one of the two sees the other.
//
// Rejected: handing the mutex over to a waiter, which then holds it even if its thread is busy for seconds;
// and waking several waiters at once, which for short sections costs more than it brings,
// and upsets their order.
//
// List: WaitList, or a checker's.
template <class List = WaitList, class Sync = StdSync, int kSpins = 24>
class MutexCore {
 public:
  constexpr MutexCore() = default;

  // Returns: whether the mutex was free, and is held now.
  bool tryLock() {
    // (1) acquire: sees what the holder before wrote; pairs with (2, 3) and with unlockBy().
    return (word_.bits.fetch_or(kHeld, std::memory_order_acquire) & kHeld) == 0;
  }

  // Releases the mutex if nobody waits; that is the last access.
  // Returns: whether it did; if not, call unlock().
  bool tryUnlock() {
    uint32_t expected = kHeld;
    // (2) release: the next holder sees what this one wrote; pairs with (1, 4) and the next lockBit.
    return word_.bits.compare_exchange_strong(expected, 0, std::memory_order_release,
                                              std::memory_order_relaxed);
  }

  // Takes an offered mutex if no waiter to which it was offered has come for a millisecond.
  // Returns: whether it took it.
  template <class Host>
  bool tryTakeOffer(const Host& host) {
    uint32_t word = word_.lock() | Word::kLocked;
    const uint32_t now = detail::patienceTicks(host.now());
    const bool isOverdue = now - wokenAt_.get() >= kPatienceTicks;
    bool isTaken = false;
    while (isOverdue && !isTaken && (word & kOffered) != 0) {
      // relaxed, both: lock() has seen what the holder before wrote, and the list stays locked.
      isTaken = word_.bits.compare_exchange_weak(word, taken(word, How::Comes), std::memory_order_relaxed,
                                                 std::memory_order_relaxed);
    }
    if (isTaken) {
      wokenAt_.set(now);
    }
    releaseList(0, 0);
    return isTaken;
  }

  // relaxed, both: a hint.
  bool isLocked() const { return (word_.bits.load(std::memory_order_relaxed) & kHeld) != 0; }
  bool isOffered() const { return (word_.bits.load(std::memory_order_relaxed) & kOffered) != 0; }
  // relaxed: for the destructor.
  bool isIdle() const { return word_.bits.load(std::memory_order_relaxed) == 0; }

  // Waits until the caller holds the mutex, or gives up. Host has now(); block(self); blockUntil(self,
  // deadline), which returns false if the deadline came first; limit(), the time at which it gives up, or
  // kNever; isStopped(), whether a stop was requested; and hasLeft(), whether leave() has taken the waiter
  // out, which is asked after a wake.
  // Returns: whether the caller holds the mutex.
  template <class Waiter, class Host>
  bool lock(Waiter& self, const Host& host) {
    self.mark = kPatient;
    How how = How::Comes;
    TimePoint passedOverSince{};
    while (!spin(how)) {
      LockTry result = takeOrQueue(self, how, host);
      if (result == LockTry::Waits) {
        const TimePoint began = host.now();
        const bool isWoken = host.blockUntil(self, std::min<TimePoint>(began + kPatience, host.limit()));
        result = detail::waitInList(self, host, isWoken,
                                    [&](TimePoint& next) { return retry(self, began, next, host); });
      }
      if (result != LockTry::Claimed) {
        return result == LockTry::Taken;
      }
      how = How::WasWoken;
      const TimePoint now = host.now();
      if (passedOverSince == TimePoint{}) {
        passedOverSince = now;
      } else if (now - passedOverSince >= kPatience) {
        self.mark = kImpatient;
      }
    }
    return true;
  }

  // For a stop. Takes `self`, which waits, out of the list if it is there. Any thread.
  // Returns: whether it was there; if so, it should be woken, after host.hasLeft() was made true.
  template <class Waiter>
  bool leave(Waiter& self) {
    word_.lock();
    const bool isLinked = self.isLinked;
    if (isLinked) {
      word_.list.remove(self);
    }
    releaseList(0, 0);
    return isLinked;
  }

  // Releases the mutex, or offers it to the waiters.
  // Requires: the caller holds it.
  // Returns: whom to wake.
  template <class Host>
  List unlock(const Host& host) {
    const uint32_t now = detail::patienceTicks(host.now());
    const uint32_t unansweredFor = now - wokenAt_.get();
    // relaxed: only a guess for the compare-exchange.
    uint32_t word = word_.bits.load(std::memory_order_relaxed);
    while (needsNoWake(word, unansweredFor)) {
      // (3) release: the next holder sees what this one wrote; pairs with (1, 4) and the next lockBit. The
      // mutex may be gone after it.
      if (word_.bits.compare_exchange_weak(word, word & ~kHeld, std::memory_order_release,
                                           std::memory_order_relaxed)) {
        return {};
      }
    }
    word = word_.lock();
    const bool isUrgent = !word_.list.isEmpty() && word_.list.front()->mark == kImpatient;
    const bool isOffered = isUrgent || isOverdue(word, unansweredFor);
    List woken;
    if (!word_.list.isEmpty() && (isOffered || (word & kWoken) == 0)) {
      word_.list.claimFront(woken);
      numOnTheWay_.set(numOnTheWay_.get() + 1);
    }
    if (isOffered || !woken.isEmpty()) {
      wokenAt_.set(now);
    }
    releaseList(isOffered ? 0 : kHeld, (isOffered ? kOffered | kWoken : 0) | (woken.isEmpty() ? 0 : kWoken));
    return woken;
  }

 private:
  using Word = WaitWord<uint32_t, List, Sync>;
  static constexpr uint32_t kHeld = Word::kState, kUrgent = 2 * kHeld, kWoken = 4 * kHeld,
                            kOffered = 8 * kHeld, kMissing = 16 * kHeld;

  // Waiter::mark
  static constexpr uint8_t kPatient = 0, kImpatient = 1;

  // How the caller has come to try.
  enum class How { Comes, WasWoken, TimeIsUp };

  static constexpr uint32_t kMissingTicks = 8 * kPatienceTicks;

  // Whether it is time to offer the mutex to the waiters that are on the way.
  static bool isOverdue(uint32_t word, uint32_t unansweredFor) {
    return ((word & kWoken) != 0 && unansweredFor >= kPatienceTicks) ||
           ((word & kMissing) != 0 && unansweredFor >= kMissingTicks);
  }

  static bool mayTake(uint32_t word, How how) {
    return (word & kHeld) == 0 || (how != How::Comes && (word & kOffered) != 0);
  }
  // The list is locked unless `how` is Comes.
  uint32_t taken(uint32_t word, How how) const {
    const uint32_t now = (word | kHeld) & ~kOffered;
    return how == How::Comes ? now : (now & ~(kWoken | kMissing)) | missing();
  }
  uint32_t missing() const { return numOnTheWay_.get() != 0 ? kMissing : 0; }

  // Returns: whether nobody waits, or a waiter is on the way already and need not be given way to.
  static bool needsNoWake(uint32_t word, uint32_t unansweredFor) {
    return (word & (Word::kLocked | kUrgent)) == 0 && !isOverdue(word, unansweredFor) &&
           (word & (kWoken | Word::kWaiters)) != Word::kWaiters;
  }

  bool spin(How how) {
    for (int i = 0; i < kSpins; ++i) {
      // relaxed: a hint.
      uint32_t word = word_.bits.load(std::memory_order_relaxed);
      if (!mayTake(word, how)) {
        Sync::pause();
      } else if (how != How::Comes) {
        return false;  // takeOrQueue() takes it, and counts
        // (4) acquire: sees what the holder before wrote; pairs with (2, 3) and with unlockBy().
      } else if (word_.bits.compare_exchange_weak(word, taken(word, how), std::memory_order_acquire,
                                                  std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  // Queues `self`, unless the mutex can be had or the waiter gives up. (While the list is locked nobody
  // releases the mutex.) A newcomer whose time is up queues nevertheless, so that others of its thread get
  // their turn.
  // Returns: Taken, Waits or GivenUp.
  template <class Waiter, class Host>
  LockTry takeOrQueue(Waiter& self, How how, const Host& host) {
    uint32_t word = word_.lock() | Word::kLocked;
    numOnTheWay_.set(numOnTheWay_.get() - (how == How::WasWoken ? 1 : 0));
    while (mayTake(word, how)) {
      // (5) release: the next lockBit sees what is counted; pairs with it. (lock() has seen what the
      // holder before wrote.)
      if (word_.bits.compare_exchange_weak(word, taken(word, how) & ~Word::kLocked, std::memory_order_release,
                                           std::memory_order_relaxed)) {
        return LockTry::Taken;
      }
    }
    const bool givesUp = host.isStopped() || (how == How::WasWoken && detail::isTimeUp(host));
    if (!givesUp) {
      how == How::WasWoken ? word_.list.pushFront(self) : word_.list.pushBack(self);
    }
    how == How::WasWoken ? releaseList(kWoken | kMissing, missing()) : releaseList(0, 0);
    return givesUp ? LockTry::GivenUp : LockTry::Waits;
  }

  // Called after the time limit of `self`, which has waited since `began`. `next` gets the next limit. That
  // is neither after the time at which the present wake has gone unanswered for long enough, nor after the
  // host's limit.
  template <class Waiter, class Host>
  LockTry retry(Waiter& self, TimePoint began, TimePoint& next, const Host& host) {
    uint32_t word = word_.lock() | Word::kLocked;
    if (!self.isLinked) {
      releaseList(0, 0);
      return LockTry::Claimed;
    }
    // Read with the lock held, so that it is not before wokenAt_.
    const TimePoint now = host.now();
    const uint32_t unansweredFor = detail::patienceTicks(now) - wokenAt_.get();
    const bool isOverdue = unansweredFor >= kPatienceTicks;
    while (mayTake(word, How::TimeIsUp) && ((word & kWoken) == 0 || isOverdue)) {
      // relaxed, both: lock() has seen what the holder before wrote, and the list stays locked.
      if (word_.bits.compare_exchange_weak(word, taken(word, How::TimeIsUp), std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
        word_.list.remove(self);
        wokenAt_.set(detail::patienceTicks(now));
        releaseList(0, 0);
        return LockTry::Taken;
      }
    }
    next = detail::nextTry(now, began, host.limit(), (word & kWoken) != 0, unansweredFor);
    if (host.limit() != kNever && now >= host.limit()) {
      return takeOrLeave(self, word);
    }
    releaseList(0, 0);
    return LockTry::Waits;
  }

  // Takes `self` out of the list, and takes the mutex if it is free, as a newcomer does.
  // Requires: `word` was read since the list was locked.
  template <class Waiter>
  LockTry takeOrLeave(Waiter& self, uint32_t word) {
    bool isTaken = false;
    while (!isTaken && mayTake(word, How::Comes)) {
      // relaxed, both: as in retry().
      isTaken = word_.bits.compare_exchange_weak(word, taken(word, How::Comes), std::memory_order_relaxed,
                                                 std::memory_order_relaxed);
    }
    word_.list.remove(self);
    releaseList(0, 0);
    return isTaken ? LockTry::Taken : LockTry::GivenUp;
  }

  // Ends the list's section, and clears and sets further bits. The mutex may be gone after it, unless
  // somebody waits.
  void releaseList(uint32_t cleared, uint32_t set) {
    const bool isUrgent = !word_.list.isEmpty() && word_.list.front()->mark == kImpatient;
    const uint32_t gone = cleared | kUrgent, next = set | (isUrgent ? kUrgent : 0);
    word_.unlockBy([gone, next](uint32_t state) { return (state & ~gone) | next; });
  }

  Word word_;
  // The time, in ticks, at which a waiter was last woken, or the mutex was last offered; or at which a waiter
  // that was not woken took the mutex nevertheless. Written under kHeld and the list's lock, and therefore
  // read under either.
  typename Sync::template Var<uint32_t> wokenAt_{0};
  // The number of waiters that were woken and have not come; guarded by the list's lock.
  typename Sync::template Var<uint32_t> numOnTheWay_{0};
};

}  // namespace weft::inline v0_1::detail
