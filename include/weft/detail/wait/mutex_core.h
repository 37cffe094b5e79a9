// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/waiter.h"

namespace weft::detail {

// The word and the list behind weft::mutex.
//
//   kLocked      held, or offered: who comes cannot have it
//   kListLocked  the list is being changed
//   kWaiters     the list is not empty
//   kUrgent      the first of the list is to be offered the mutex
//   kWoken       a waiter was woken and has not come yet: unlock() need not wake another
//   kOffered     held by nobody, and free for those who waited for it
//   kMissing     one that was woken before has not come, and the others go on without it
//
// A waiter that is woken tries again, so that whoever holds the mutex need not wait for it to run; what it is
// woken for may have been taken by one that runs, in which case it queues again, at the front. The idea is
// that of WTF::Lock and ParkingLot (Pizlo 2016). By three rules no mutex stays free for longer than about two
// milliseconds, or an eighth of the time that somebody has waited who can run:
//
// - A waiter that was passed over for a millisecond becomes impatient, and the next unlock() offers the
//   mutex: it leaves kLocked set, so that whoever comes has to wait, and wakes that waiter, which takes it.
// - A woken waiter may be unable to run: the one who unlocks is on its thread, or a long task is. An unlock()
//   that sees that a wake has gone unanswered for a millisecond offers the mutex, and wakes the next one as
//   well. If the one who unlocks comes again it has to wait, which lets the waiters of its own thread run.
// - Nobody may unlock again. So a waiter is never asleep without a time limit; when its time is up, it takes
//   a mutex that is free or offered, if there was a wake that has gone unanswered for a millisecond. The
//   limits grow with the time that it has waited, so that very many who wait for long cost next to nothing.
//
// Who only tries gets what was offered by the same rule, since it may come again and again without ever
// waiting. That one goes on expecting those who were woken: they are to run once it has suspended.
//
// An offer is no more than that: who waited in vain for a millisecond takes what was offered to others, which
// are no longer expected then.
//
// One that is not expected any more may be of the thread of one that takes the mutex again and again from
// then on. So it is missed until it comes: an unlock() offers the mutex for its sake now and then, after a
// time in which it costs the others little.
//
// What must not happen: the mutex is free, somebody waits, and nobody is on the way. Whoever releases or
// offers it with waiters in the list sets kWoken if it is not set, and wakes. kWoken is set with a wake, and
// whoever comes from a wake clears it in the step in which it takes the mutex or queues again. So while
// kWoken is set somebody is on the way.
//
// A waiter may give up, since its time is up or a stop was requested. One that is in the list was not woken:
// it leaves the list, and nobody counts on it. (If the mutex is free at that moment it takes it, as anybody
// may who comes.) One that was claimed waits for its wake, and then tries as ever: it takes a mutex that is
// free or offered, so that no offer is lost. Otherwise somebody holds it, whose unlock() comes later: it ends
// its being on the way, as if it queued again, but stays out of the list, and that unlock() wakes the next.
// The stop's callback takes the waiter out of the list and wakes it, which counts as no wake. Where it finds
// the waiter awake it does nothing; the waiter asks for the stop with the list locked, before it queues. So
// one of the two sees the other.
//
// Rejected: handing the mutex over to a waiter, which then holds it even if its thread is busy for seconds;
// and a wake of several at once, which for short sections costs more than it brings, and upsets their order.
//
// List: WaitList, or a checker's.
template <class List = WaitList, class Sync = StdSync, int kSpins = 24>
class MutexCore {
 public:
  constexpr MutexCore() = default;

  // Returns: whether it was free, and is held now.
  bool tryLock() {
    // (1) acquire: sees what the holder before wrote; pairs with (2, 3, 5).
    return (word_.fetch_or(kLocked, std::memory_order_acquire) & kLocked) == 0;
  }

  // Releases it if nobody waits: the last access then. Returns: whether it did; if not, call unlock().
  bool tryUnlock() {
    uint32_t expected = kLocked;
    // (2) release: the next holder sees what this one wrote; pairs with (1, 4) and the next lockBit.
    return word_.compare_exchange_strong(expected, 0, std::memory_order_release, std::memory_order_relaxed);
  }

  // Takes it, held by nobody, where nobody whom it was offered to has come for a millisecond. Returns:
  // whether it did.
  template <class Host>
  bool tryTakeOffer(const Host& host) {
    uint32_t word = lockList() | kListLocked;
    const uint32_t now = ticks(host.now());
    const bool isOverdue = now - wokenAt_.get() >= kPatienceTicks;
    bool isTaken = false;
    while (isOverdue && !isTaken && (word & kOffered) != 0) {
      // relaxed, both: lockList() has seen what the holder before wrote, and the list stays locked.
      isTaken = word_.compare_exchange_weak(word, taken(word, How::Comes), std::memory_order_relaxed,
                                            std::memory_order_relaxed);
    }
    if (isTaken) {
      wokenAt_.set(now);
    }
    releaseList(0, 0);
    return isTaken;
  }

  // relaxed, both: a hint.
  bool isLocked() const { return (word_.load(std::memory_order_relaxed) & kLocked) != 0; }
  bool isOffered() const { return (word_.load(std::memory_order_relaxed) & kOffered) != 0; }
  // relaxed: for the one who destroys it.
  bool isIdle() const { return word_.load(std::memory_order_relaxed) == 0; }

  // Waits until it holds the mutex, or gives up. Host: now(), block(self), and blockUntil(self, deadline),
  // which returns false if the deadline came first; limit(), at which it gives up, or kNever; isStopped(),
  // whether a stop was requested; and hasLeft(), whether leave() has taken it out, asked after a wake.
  // Returns: whether it holds the mutex.
  template <class Waiter, class Host>
  bool lock(Waiter& self, const Host& host) {
    self.mark = kPatient;
    How how = How::Comes;
    TimePoint passedOverSince{};
    while (!spin(how)) {
      Try result = takeOrQueue(self, how, host);
      if (result == Try::Waits) {
        result = waitInList(self, host);
      }
      if (result != Try::Claimed) {
        return result == Try::Taken;
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

  // For a stop: takes `self`, which waits, out of the list if it is there. Returns: whether it was; then it
  // is to be woken, after host.hasLeft() was made true. Any thread.
  template <class Waiter>
  bool leave(Waiter& self) {
    lockList();
    const bool isLinked = self.isLinked;
    if (isLinked) {
      list_.remove(self);
    }
    releaseList(0, 0);
    return isLinked;
  }

  // Releases it, or offers it to those who wait. Requires: it is held by the caller. Returns: whom to wake.
  template <class Host>
  List unlock(const Host& host) {
    const uint32_t now = ticks(host.now());
    const uint32_t unansweredFor = now - wokenAt_.get();
    // relaxed: only a guess for the compare-exchange.
    uint32_t word = word_.load(std::memory_order_relaxed);
    while (needsNoWake(word, unansweredFor)) {
      // (3) release: the next holder sees what this one wrote; pairs with (1, 4) and the next lockBit. The
      // mutex may be gone after it.
      if (word_.compare_exchange_weak(word, word & ~kLocked, std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return {};
      }
    }
    word = lockList();
    const bool isUrgent = !list_.isEmpty() && list_.front()->mark == kImpatient;
    const bool isOffered = isUrgent || isOverdue(word, unansweredFor);
    List woken;
    if (!list_.isEmpty() && (isOffered || (word & kWoken) == 0)) {
      list_.claimFront(woken);
      numOnTheWay_.set(numOnTheWay_.get() + 1);
    }
    if (isOffered || !woken.isEmpty()) {
      wokenAt_.set(now);
    }
    releaseList(isOffered ? 0 : kLocked,
                (isOffered ? kOffered | kWoken : 0) | (woken.isEmpty() ? 0 : kWoken));
    return woken;
  }

 private:
  static constexpr uint32_t kLocked = 1, kListLocked = 2, kWaiters = 4, kUrgent = 8, kWoken = 16,
                            kOffered = 32, kMissing = 64;
  static constexpr uint32_t kListBits = kWaiters | kUrgent;

  static constexpr auto kPatience = std::chrono::milliseconds(1);
  // Of the time that it has waited: how long a waiter waits before it looks again.
  static constexpr int kShareOfWait = 8;

  // Waiter::mark
  static constexpr uint8_t kPatient = 0, kImpatient = 1;

  // How the one who tries has come to try.
  enum class How { Comes, WasWoken, TimeIsUp };
  enum class Try { Taken, Claimed, Waits, GivenUp };

  // About microseconds; wrap every 73 minutes, which delays at most one offer.
  static uint32_t ticks(TimePoint time) {
    return static_cast<uint32_t>(time.time_since_epoch().count() >> 10);
  }
  static constexpr uint32_t kPatienceTicks =
      static_cast<uint32_t>(std::chrono::nanoseconds(kPatience).count() >> 10);

  static constexpr uint32_t kMissingTicks = 8 * kPatienceTicks;

  // Whether it is time to offer the mutex to those who are on the way.
  static bool isOverdue(uint32_t word, uint32_t unansweredFor) {
    return ((word & kWoken) != 0 && unansweredFor >= kPatienceTicks) ||
           ((word & kMissing) != 0 && unansweredFor >= kMissingTicks);
  }

  static bool mayTake(uint32_t word, How how) {
    return (word & kLocked) == 0 || (how != How::Comes && (word & kOffered) != 0);
  }
  // `how` is not Comes: with the list locked.
  uint32_t taken(uint32_t word, How how) const {
    const uint32_t now = (word | kLocked) & ~kOffered;
    return how == How::Comes ? now : (now & ~(kWoken | kMissing)) | missing();
  }
  uint32_t missing() const { return numOnTheWay_.get() != 0 ? kMissing : 0; }

  // Nobody waits, or somebody is on the way already and need not be given way to.
  static bool needsNoWake(uint32_t word, uint32_t unansweredFor) {
    return (word & (kListLocked | kUrgent)) == 0 && !isOverdue(word, unansweredFor) &&
           (word & (kWoken | kWaiters)) != kWaiters;
  }

  uint32_t lockList() {
    return detail::lockBitBy<uint32_t>(word_, kListLocked, [](uint32_t& round) { Sync::relax(round); });
  }

  uint32_t listBits() const {
    return list_.isEmpty() ? 0 : kWaiters | (list_.front()->mark == kImpatient ? kUrgent : 0);
  }

  bool spin(How how) {
    for (int i = 0; i < kSpins; ++i) {
      // relaxed: a hint.
      uint32_t word = word_.load(std::memory_order_relaxed);
      if (!mayTake(word, how)) {
        Sync::pause();
      } else if (how != How::Comes) {
        return false;  // takeOrQueue() takes it, and counts
        // (4) acquire: sees what the holder before wrote; pairs with (2, 3, 5).
      } else if (word_.compare_exchange_weak(word, taken(word, how), std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  template <class Host>
  static bool isTimeUp(const Host& host) {
    return host.limit() != kNever && host.now() >= host.limit();
  }

  // Queues `self`, unless the mutex can be had, or it gives up. (While the list is locked nobody releases the
  // mutex.) One that comes queues though its time is up, so that others of its thread get their turn.
  // Returns: Taken, Waits or GivenUp.
  template <class Waiter, class Host>
  Try takeOrQueue(Waiter& self, How how, const Host& host) {
    uint32_t word = lockList() | kListLocked;
    numOnTheWay_.set(numOnTheWay_.get() - (how == How::WasWoken ? 1 : 0));
    while (mayTake(word, how)) {
      // (6) release: the next lockBit sees what is counted; pairs with it. (lockList() has seen what the
      // holder before wrote.)
      if (word_.compare_exchange_weak(word, taken(word, how) & ~kListLocked, std::memory_order_release,
                                      std::memory_order_relaxed)) {
        return Try::Taken;
      }
    }
    const bool givesUp = host.isStopped() || (how == How::WasWoken && isTimeUp(host));
    if (!givesUp) {
      how == How::WasWoken ? list_.pushFront(self) : list_.pushBack(self);
    }
    how == How::WasWoken ? releaseList(kWoken | kMissing, missing()) : releaseList(0, 0);
    return givesUp ? Try::GivenUp : Try::Waits;
  }

  // Waits, queued, until it is woken, and looks by itself now and then. Returns: Claimed where it was woken;
  // Taken or GivenUp.
  template <class Waiter, class Host>
  Try waitInList(Waiter& self, const Host& host) {
    const TimePoint began = host.now();
    TimePoint next = std::min<TimePoint>(began + kPatience, host.limit());
    while (!host.blockUntil(self, next)) {
      const Try result = retry(self, began, next, host);
      if (result == Try::Claimed) {
        host.block(self);
        break;
      }
      if (result != Try::Waits) {
        return result;
      }
    }
    return host.hasLeft() ? Try::GivenUp : Try::Claimed;
  }

  // After the time limit of `self`, which has waited since `began`. `next`: gets the next limit, which is not
  // after the time at which the present wake has gone unanswered for long enough, nor after the host's.
  template <class Waiter, class Host>
  Try retry(Waiter& self, TimePoint began, TimePoint& next, const Host& host) {
    uint32_t word = lockList() | kListLocked;
    if (!self.isLinked) {
      releaseList(0, 0);
      return Try::Claimed;
    }
    // Read with the lock, so that it is not before wokenAt_.
    const TimePoint now = host.now();
    next = now + std::max<std::chrono::nanoseconds>(kPatience, (now - began) / kShareOfWait);
    const uint32_t unansweredFor = ticks(now) - wokenAt_.get();
    const bool isOverdue = unansweredFor >= kPatienceTicks;
    while (mayTake(word, How::TimeIsUp) && ((word & kWoken) == 0 || isOverdue)) {
      // relaxed, both: lockList() has seen what the holder before wrote, and the list stays locked.
      if (word_.compare_exchange_weak(word, taken(word, How::TimeIsUp), std::memory_order_relaxed,
                                      std::memory_order_relaxed)) {
        list_.remove(self);
        wokenAt_.set(ticks(now));
        releaseList(0, 0);
        return Try::Taken;
      }
    }
    if ((word & kWoken) != 0 && !isOverdue) {
      next =
          std::min<TimePoint>(next, now + kPatience - std::chrono::nanoseconds(int64_t{unansweredFor} << 10));
    }
    next = std::min<TimePoint>(next, host.limit());
    if (host.limit() != kNever && now >= host.limit()) {
      return takeOrLeave(self, word);
    }
    releaseList(0, 0);
    return Try::Waits;
  }

  // Takes `self` out of the list, and takes the mutex if it is free, as one that comes. Requires: `word` was
  // read since the list was locked.
  template <class Waiter>
  Try takeOrLeave(Waiter& self, uint32_t word) {
    bool isTaken = false;
    while (!isTaken && mayTake(word, How::Comes)) {
      // relaxed, both: as in retry().
      isTaken = word_.compare_exchange_weak(word, taken(word, How::Comes), std::memory_order_relaxed,
                                            std::memory_order_relaxed);
    }
    list_.remove(self);
    releaseList(0, 0);
    return isTaken ? Try::Taken : Try::GivenUp;
  }

  // Ends the list's section, and clears and sets further bits.
  void releaseList(uint32_t cleared, uint32_t set) {
    // relaxed: only a guess for the compare-exchange.
    uint32_t word = word_.load(std::memory_order_relaxed);
    uint32_t next = 0;
    do {
      next = (word & ~(kListLocked | kListBits | cleared)) | listBits() | set;
      // (5) release: the next holder sees what this one wrote, and the next lockBit the list; pairs with (1,
      // 4). The mutex may be gone after it, unless somebody waits.
    } while (!word_.compare_exchange_weak(word, next, std::memory_order_release, std::memory_order_relaxed));
  }

  typename Sync::template Atomic<uint32_t> word_{0};
  // When, in ticks, a waiter was woken, or the mutex was offered, last; or when one that was not woken took
  // it nevertheless. Written under kLocked and kListLocked, and so read under either.
  typename Sync::template Var<uint32_t> wokenAt_{0};
  // That were woken and have not come; guarded by kListLocked.
  typename Sync::template Var<uint32_t> numOnTheWay_{0};
  List list_;  // guarded by kListLocked
};

}  // namespace weft::detail
