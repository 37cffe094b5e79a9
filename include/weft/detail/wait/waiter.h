// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/export.h"

// How every primitive waits.
//
// A primitive keeps its waiters in a WaitList, under a spin lock of its own, most of them in a WaitWord
// (wait_word.h). To wait: lock, test the state once more, link currentWaiter(), unlock, block(). To wake:
// lock, unlink, unlock, wake(). Whoever unlinks a waiter under the lock has claimed it, and owes it exactly
// one wake(). A wait that times out takes the lock. If its waiter is still linked, it unlinks it and has
// timed out. Otherwise it blocks again for the wake that it is owed.
//
// The waker's last access to the primitive is the unlock: a woken waiter may destroy it at once.
namespace weft::inline v0_1::detail {

struct FiberControlBlock;

// A blocked fiber or thread, as a primitive sees it. A fiber's waiter lies in its control block, a thread's
// in thread-local storage. There is one each, since a fiber or thread waits for one thing at a time.
// The alignment leaves the lowest three bits of its address to words that keep marks there, on 32 bits, too.
struct alignas(8) Waiter {
  Waiter* next = nullptr;  // next, previous, isLinked: guarded by the primitive's lock
  Waiter* previous = nullptr;
  FiberControlBlock* fiber = nullptr;  // null for a thread that runs no fibers
  bool isLinked = false;
  bool isOfSelect = false;  // a SelectNode: see select_node.h
  uint8_t mark = 0;         // for the primitive
  uint32_t since = 0;       // a fiber's: the CoarseTime at which its worker last looked before it blocked
  void* data = nullptr;     // for the primitive
};

inline void assertNotWaiting(const Waiter& waiter) {
  WEFT_ASSERT(!waiter.isLinked,
              "a fiber or thread that waits already began another wait. "
              "The unlock() of a lock that is given to ConditionVariable::wait() must not wait itself.");
}

// Waiters in the order in which they are to be woken.
class WaitList {
 public:
  bool isEmpty() const { return first_ == nullptr; }
  Waiter* front() const { return first_; }

  void pushBack(Waiter& waiter) {
    link(waiter);
    append(waiter);
  }

  // For a list of waiters to wake: appends a waiter that is claimed already.
  void pushClaimed(Waiter& waiter) { append(waiter); }

  void pushFront(Waiter& waiter) {
    link(waiter);
    waiter.previous = nullptr;
    waiter.next = first_;
    (first_ != nullptr ? first_->previous : last_) = &waiter;
    first_ = &waiter;
  }

  void remove(Waiter& waiter) {
    waiter.isLinked = false;
    (waiter.previous != nullptr ? waiter.previous->next : first_) = waiter.next;
    (waiter.next != nullptr ? waiter.next->previous : last_) = waiter.previous;
  }

  Waiter* popFront() {
    Waiter* waiter = first_;
    if (waiter != nullptr) {
      remove(*waiter);
    }
    return waiter;
  }

  // Moves the first waiter to the end of `claimed`, where it counts as claimed. Requires: there is one.
  void claimFront(WaitList& claimed) { claimed.append(*popFront()); }

  // Appends all waiters of `other`, which is empty afterwards. Requires: those of this list count as claimed.
  void claimAll(WaitList& other) {
    if (other.isEmpty()) {
      return;
    }
    for (Waiter* waiter = other.first_; waiter != nullptr; waiter = waiter->next) {
      waiter->isLinked = false;
    }
    (last_ != nullptr ? last_->next : first_) = other.first_;
    last_ = other.last_;
    other.first_ = other.last_ = nullptr;
  }

 private:
  static void link(Waiter& waiter) {
    assertNotWaiting(waiter);
    waiter.isLinked = true;
  }

  void append(Waiter& waiter) {
    waiter.next = nullptr;
    waiter.previous = last_;
    (last_ != nullptr ? last_->next : first_) = &waiter;
    last_ = &waiter;
  }

  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

// The waiter of the calling fiber or thread.
// Requires: the caller does not wait already; else a message ends the program.
// Lifetime: as long as that fiber runs its task, or as that thread runs.
WEFT_EXPORT Waiter& currentWaiter() noexcept;

// Makes block() return. Any thread; once for each claim. Its last access lets the waiter return.
WEFT_EXPORT void wake(Waiter& waiter) noexcept;

WEFT_EXPORT void wakeAll(const WaitList& claimed) noexcept;

// Suspends the fiber, or parks the thread, until wake(). `what` ("Event") and `object` are for reports.
WEFT_EXPORT void block(Waiter& self, const char* what, const void* object);

// block() with a limit. Returns: false if the deadline came first; a claimer may then still owe a wake().
WEFT_EXPORT bool blockUntil(Waiter& self, TimePoint deadline, const char* what, const void* object);

// blockUntil() for a lock whose waiter tries again by itself when the time is up. Such a retry does not count
// as an event that may still happen. Does not call the wait handler: it would wait forever for a lock that
// its wait was handed.
WEFT_EXPORT bool blockForLock(Waiter& self, TimePoint deadline, const char* what, const void* object);

// blockForLock() for kPatience (patience.h), from when the fiber's thread next looks at the clock: before it
// sleeps, or after some tens of other fibers and tasks. Until then it costs hardly more than block().
WEFT_EXPORT bool blockPatiently(Waiter& self, const char* what, const void* object);

// Lets the ready fibers of the caller's thread go first, if that was not done for kPatience.
WEFT_EXPORT void giveWay(Waiter& self);

// Takes `self` out of `list`, with the list's lock held. Returns: whether it was there.
template <class List, class AnyWaiter>
bool removeIfLinked(List& list, AnyWaiter& self) {
  const bool isLinked = self.isLinked;
  if (isLinked) {
    list.remove(self);
  }
  return isLinked;
}

// Takes `self` out of `list`, which `lock` guards. Returns: whether it was there; if not, a wake is owed.
template <class Lock>
bool unlinkIfLinked(Waiter& self, Lock& lock, WaitList& list) {
  lock.lock();
  const bool isLinked = detail::removeIfLinked(list, self);
  lock.unlock();
  return isLinked;
}

// Waits until woken, or until the time of `host` is up. Then giveUp() takes `self` out of where it is linked,
// and returns whether it did; if not, a wake is owed. Host has block(self), and blockUntil(self), which
// returns false when the time is up. Returns: false if the time was up first.
template <class AnyWaiter, class Host, class GiveUp>
bool blockOrGiveUp(AnyWaiter& self, const Host& host, const GiveUp& giveUp) {
  if (host.blockUntil(self)) {
    return true;
  }
  if (giveUp()) {
    return false;
  }
  host.block(self);
  return true;
}

struct BlockHost {
  void block(Waiter& self) const { detail::block(self, what, object); }
  bool blockUntil(Waiter& self) const { return detail::blockUntil(self, deadline, what, object); }

  TimePoint deadline;
  const char* what;
  const void* object;
};

// blockOrGiveUp() until `deadline` (kNever: none). Waits that may also be stopped are in stoppable.h.
template <class GiveUp>
bool blockTimed(Waiter& self, const GiveUp& giveUp, TimePoint deadline, const char* what,
                const void* object) {
  if (deadline == kNever) {
    block(self, what, object);
    return true;
  }
  return detail::blockOrGiveUp(self, BlockHost{deadline, what, object}, giveUp);
}

// Waits in `list`, which `lock` guards, unless isOver(), called with the lock held, returns true.
template <class Lock, class IsOver>
bool blockUnless(const IsOver& isOver, Lock& lock, WaitList& list, TimePoint deadline, const char* what,
                 const void* object) {
  Waiter& self = currentWaiter();
  lock.lock();
  const bool isToWait = !isOver();
  if (isToWait) {
    list.pushBack(self);
  }
  lock.unlock();
  const auto giveUp = [&] { return detail::unlinkIfLinked(self, lock, list); };
  return !isToWait || detail::blockTimed(self, giveUp, deadline, what, object);
}

}  // namespace weft::inline v0_1::detail
