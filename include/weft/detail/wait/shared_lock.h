// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/patience.h"
#include "weft/detail/wait/shared_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The lock behind SharedMutex: how callers wait for the SharedWord, and for how long they have patience with
// one whose turn it is.
//
// That one may be unable to come: its thread runs a long task. So grants expire. Each waiter looks by itself
// after about a millisecond, and then now and then. One that finds grants that were there a millisecond
// before takes back all that are not confirmed, and takes the lock if that frees it, though others are before
// it: it runs, and they may be unable to. A try does the same. No clock is read for a grant: whoever looks
// first notes the time. One that has lost its grant takes the lock if it can when it comes, or queues again,
// at the front.
//
// Newcomers may take the lock meanwhile, and one of them again and again on the very thread to which the
// missing waiter belongs. So a newcomer that finds somebody missing lets the ready fibers of its thread go
// first now and then.
//
// List: WaitList, or a checker's.
template <class List = WaitList, class Sync = StdSync, unsigned kMaxPasses = 64>
class SharedLock {
 public:
  using How = typename SharedWord<List, Sync, kMaxPasses>::How;

  // These are SharedWord's.
  bool tryLock() { return word_.tryLock(); }
  bool tryLockShared() { return word_.tryLockShared(); }
  bool tryUnlock() { return word_.tryUnlock(); }
  List unlock() { return word_.unlock(); }
  bool unlockShared(List& granted) { return word_.unlockShared(granted); }

  // For where the first two fail, which they also do because of waiters that do not come.
  template <class Host>
  bool tryTake(How how, const Host& host) {
    const Word seen = word_.seen();
    if (!Holds::areAnyPending(seen) && Holds::entry(seen, how) == 0) {
      return false;
    }
    Word word = word_.lock();
    const Word hold = expire(word, host) ? freeHold(word, how) : Holds::entry(word, how);
    host.wakeAll(word_.settle(hold));
    return hold != 0;
  }

  // Waits until the caller holds the lock, or gives up. Host: as for MutexCore. It also has wakeAll(List);
  // blockAtFirst(self), which waits for about kPatience, but not beyond limit(); and giveWay(self), which
  // lets the ready fibers of the caller's thread go first, if they did not for kPatience.
  // Returns: whether the caller holds the lock.
  template <class Waiter, class Host>
  bool lock(Waiter& self, How how, const Host& host) {
    self.mark = how;
    LockTry result = come(self, how, host);
    while (result == LockTry::Waits) {
      const bool isWoken = host.blockAtFirst(self);
      const TimePoint began = isWoken ? TimePoint() : host.now() - kPatience;
      result = detail::waitInList(self, host, isWoken,
                                  [&](TimePoint& next) { return retry(self, how, began, next, host); });
      if (result == LockTry::Claimed) {
        result = word_.confirm() ? LockTry::Taken : comeLate(self, how, host);
      }
    }
    return result == LockTry::Taken;
  }

  // For a stop. Takes `self`, which waits, out of the list if it is there. Any thread.
  // Returns: whether it was there; if so, it should be woken, after host.hasLeft() was made true.
  template <class Waiter, class Host>
  bool leave(Waiter& self, const Host& host) {
    word_.lock();
    const bool isLinked = self.isLinked;
    if (isLinked) {
      word_.list().remove(self);
    }
    host.wakeAll(word_.settle(0));
    return isLinked;
  }

  // For the destructor.
  bool isIdle() const { return word_.seen() == 0; }

 private:
  using Holds = SharedWord<List, Sync, kMaxPasses>;
  using Word = typename Holds::Word;

  // Returns: what to add to `word` to take the lock, whoever waits; 0 if holders are in the way.
  static Word freeHold(Word word, How how) { return Holds::isFree(word, how) ? Holds::holdOf(how) : 0; }

  // Returns: what came of a try that has got `hold`.
  static LockTry outcome(Word hold, bool givesUp) {
    return hold != 0 ? LockTry::Taken : givesUp ? LockTry::GivenUp : LockTry::Waits;
  }

  // A newcomer takes the lock if it can be had, or queues `self`. One whose time is up queues nevertheless,
  // so that others of its thread get their turn.
  // Returns: Taken, Waits or GivenUp.
  template <class Waiter, class Host>
  LockTry come(Waiter& self, How how, const Host& host) {
    if (Holds::isAnyMissing(word_.seen())) {
      host.giveWay(self);
    }
    const Word hold = Holds::entry(word_.lock(), how);
    const bool givesUp = hold == 0 && host.isStopped();
    if (hold == 0 && !givesUp) {
      word_.list().pushBack(self);
    }
    host.wakeAll(word_.settle(hold));
    return outcome(hold, givesUp);
  }

  // Called where the grant of `self` could not be confirmed at once, since some grants were taken back. If it
  // is one of these, `self` comes as a newcomer, but queues at the front, and gives up if its time is up.
  template <class Waiter, class Host>
  LockTry comeLate(Waiter& self, How how, const Host& host) {
    const Word word = word_.lock();
    if (!word_.isMissing(self)) {
      host.wakeAll(word_.settle(Holds::confirmation()));
      return LockTry::Taken;
    }
    const Word hold = freeHold(word, how);
    const bool givesUp = hold == 0 && (host.isStopped() || detail::isTimeUp(host));
    if (hold == 0 && !givesUp) {
      word_.list().pushFront(self);
    }
    host.wakeAll(word_.settle(hold + word_.comeBack()));
    return outcome(hold, givesUp);
  }

  // Called after the time limit of `self`, which has waited since `began`. `next` gets the next limit.
  template <class Waiter, class Host>
  LockTry retry(Waiter& self, How how, TimePoint began, TimePoint& next, const Host& host) {
    Word word = word_.lock();
    if (!self.isLinked) {
      host.wakeAll(word_.settle(0));
      return LockTry::Claimed;
    }
    (void)expire(word, host);
    const TimePoint now = host.now();
    next = detail::nextTry(now, began, host.limit(), Holds::areAnyPending(word),
                           detail::patienceTicks(now) - suspectedAt_.get());
    // A reader does not pass a writer that waits for other readers.
    const bool isInTurn = Holds::isFree(word, How::kExclusive) || word_.list().front()->mark == How::kShared;
    const Word hold = isInTurn ? freeHold(word, how) : 0;
    const bool givesUp = hold == 0 && host.limit() <= now;
    if (hold != 0 || givesUp) {
      word_.list().remove(self);
    }
    host.wakeAll(word_.settle(hold));
    return outcome(hold, givesUp);
  }

  // Within a section, with its word. Takes back the grants that were not confirmed for kPatience.
  // Returns: whether there were any.
  template <class Host>
  bool expire(Word& word, const Host& host) {
    if (!Holds::areAnyPending(word)) {
      return false;
    }
    const uint32_t now = detail::patienceTicks(host.now());
    if (suspect_.get() != word_.numGrants()) {
      suspect_.set(word_.numGrants());
      suspectedAt_.set(now);
    }
    return now - suspectedAt_.get() >= kPatienceTicks && word_.takeBack(word);
  }

  template <class T>
  using Var = typename Sync::template Var<T>;

  Holds word_;
  // For sections.
  Var<uint32_t> suspect_{0};      // numGrants() when grants to confirm were seen last by one that looked,
  Var<uint32_t> suspectedAt_{0};  // and when they were seen first
};

}  // namespace weft::inline v0_1::detail
