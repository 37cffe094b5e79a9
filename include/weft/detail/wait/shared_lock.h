// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/patience.h"
#include "weft/detail/wait/shared_word.h"
#include "weft/detail/wait/wait_word.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// The lock behind SharedMutex: how callers wait for the SharedWord, and for how long it is kept for a waiter.
//
// A waiter whose turn it is may be unable to come, since its thread runs a long task. So grants expire. Each
// waiter looks by itself after about a millisecond, and then now and then. If it finds grants that were there
// a millisecond before, it takes back all that are not confirmed, and takes the lock if that frees it, though
// others are before it, since they may be unable to run. A try does this too. Whoever looks first notes the
// time. A waiter that has lost its grant takes the lock if it can, or queues again at the front.
//
// A newcomer may take the lock meanwhile, again and again, on the very thread of the missing waiter. So a
// newcomer that finds somebody missing lets the ready fibers of its thread go first now and then.
template <class List = WaitList, class Sync = StdSync, unsigned kMaxPasses = 64>
class SharedLock {
 public:
  using How = typename SharedWord<List, Sync, kMaxPasses>::How;

  bool tryLock() { return word_.tryLock(); }
  bool tryLockShared() { return word_.tryLockShared(); }
  bool tryUnlock() { return word_.tryUnlock(); }
  List unlock() { return word_.unlock(); }
  bool unlockShared(List& granted) { return word_.unlockShared(granted); }

  // After tryLock() or tryLockShared() has failed, perhaps because of waiters that do not come.
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

  // Waits until the caller holds the lock, or gives up. Host has MutexCore's functions; wakeAll(List);
  // blockAtFirst(self), which waits for about kPatience, at most until limit(); and giveWay(self), which lets
  // the ready fibers of the caller's thread go first, if they did not for kPatience.
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

  // For a stop, as MutexCore::leave().
  template <class Waiter, class Host>
  bool leave(Waiter& self, const Host& host) {
    word_.lock();
    const bool wasThere = detail::removeIfLinked(word_.list(), self);
    host.wakeAll(word_.settle(0));
    return wasThere;
  }

  // For the destructor.
  bool isIdle() const { return word_.seen() == 0; }

 private:
  friend struct LayoutAccess;
  using Holds = SharedWord<List, Sync, kMaxPasses>;
  using Word = typename Holds::Word;

  // Returns: what to add to `word` to take the lock, whoever waits; 0 if holders are in the way.
  static Word freeHold(Word word, How how) { return Holds::isFree(word, how) ? Holds::holdOf(how) : 0; }

  static LockTry outcome(Word hold, bool givesUp) {
    return hold != 0 ? LockTry::Taken : givesUp ? LockTry::GivenUp : LockTry::Waits;
  }

  // A newcomer takes the lock if it can, or queues `self`. If its time is up it queues nevertheless, so that
  // others of its thread get their turn. Returns: Taken, Waits or GivenUp.
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

  // The grant of `self` could not be confirmed, since some grants were taken back. If it is one of these,
  // `self` comes as a newcomer, but queues at the front, and gives up if its time is up.
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

  // After the time limit of `self`, which has waited since `began`. `next` gets the next limit.
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

  // Within a section. Takes back the grants unconfirmed for kPatience. Returns: whether there were any.
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
  // Guarded by the section: numGrants() at the last look at unconfirmed grants; when they were first seen.
  Var<uint32_t> suspect_{0};
  Var<uint32_t> suspectedAt_{0};
};

}  // namespace weft::inline v0_1::detail
