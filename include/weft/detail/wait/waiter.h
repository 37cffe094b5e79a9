// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>

#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/export.h"

// How every primitive waits.
//
// A primitive keeps the waiters of those that wait for it in a WaitList, under a spin lock of its own. To
// wait: lock, look once more, link currentWaiter(), unlock, block(). To wake: lock, unlink, unlock, wake().
// Whoever unlinks a waiter under the lock has claimed it, and owes it exactly one wake(). A wait that times
// out takes the lock and looks: still linked, it unlinks itself and has timed out; claimed, it blocks again
// for the wake it is owed. So exactly one of the two wins, and the loser leaves nothing behind.
//
// The waker's last access to the primitive is the unlock, so that whoever wakes may destroy the primitive at
// once.
namespace weft::detail {

struct FiberControlBlock;

// A blocked fiber or thread, as a primitive sees it: a fiber's lies in its control block, a thread's in
// thread-local storage. One exists per fiber or thread, since it waits for one thing at a time.
struct Waiter {
  Waiter* next = nullptr;  // next, previous and isLinked are guarded by the lock of the primitive
  Waiter* previous = nullptr;
  FiberControlBlock* fiber = nullptr;  // null for a thread that runs no fibers
  bool isLinked = false;
  bool isOfSelect = false;  // a SelectNode: see select_node.h
  uint8_t mark = 0;         // for the primitive
  bool hasGivenUp = false;  // WaitGroup's, guarded by its lock; false between waits
  void* data = nullptr;     // for the primitive
};

inline void assertNotWaiting(const Waiter& waiter) {
  WEFT_ASSERT(
      !waiter.isLinked,
      "a fiber or thread that waits already began another wait. The unlock() of a lock that is given to "
      "ConditionVariable::wait() must not wait itself.");
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

  // The same for one that is claimed already, in a list of those to be woken.
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

  // Appends all waiters of `other`, which is empty afterwards. They count as claimed. Requires: so do all in
  // this list.
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

// The waiter of the fiber or thread that calls. Lifetime: as long as that fiber runs its task, or the thread.
// Requires: it does not wait already; else a message ends the program.
WEFT_EXPORT Waiter& currentWaiter() noexcept;

// Makes block() return. Any thread; once for each claim. Nothing of the primitive or the waiter is touched
// once the waiter may return.
WEFT_EXPORT void wake(Waiter& waiter) noexcept;

// Wakes all waiters of `claimed`, first to last.
WEFT_EXPORT void wakeAll(WaitList& claimed) noexcept;

// Suspends the fiber, or parks the thread, until wake(). `what` ("Event") and `object` are for reports.
WEFT_EXPORT void block(Waiter& self, const char* what, const void* object);

// As block() until `deadline`. Returns: false if the deadline came first; a claimer may then still owe a
// wake().
WEFT_EXPORT bool blockUntil(Waiter& self, TimePoint deadline, const char* what, const void* object);

// As blockUntil(), for a lock that looks again by itself when the time is up, which is not a thing that may
// still happen where everybody waits. Without the wait handler of a thread. (A handler that waits for the
// lock that its wait was handed would wait for ever.)
WEFT_EXPORT bool blockForLock(Waiter& self, TimePoint deadline, const char* what, const void* object);

// Takes `self` out of `list`, which `lock` guards, unless somebody has done so already. Returns: whether it
// did; if not, somebody owes `self` a wake().
template <class Lock>
bool unlinkIfLinked(Waiter& self, Lock& lock, WaitList& list) {
  lock.lock();
  const bool isLinked = self.isLinked;
  if (isLinked) {
    list.remove(self);
  }
  lock.unlock();
  return isLinked;
}

// Waits, linked in `list`, until woken or until `deadline`; `lock` guards the list and is held neither before
// nor after.
// Returns: false if the deadline came first; the waiter is unlinked then. A deadline of kNever waits without
// one. Waits that may be stopped as well: see stoppable.h.
template <class Lock>
bool blockLinked(Waiter& self, Lock& lock, WaitList& list, TimePoint deadline, const char* what,
                 const void* object) {
  if (deadline == kNever) {
    block(self, what, object);
    return true;
  }
  if (blockUntil(self, deadline, what, object)) {
    return true;
  }
  if (detail::unlinkIfLinked(self, lock, list)) {
    return false;
  }
  block(self, what, object);
  return true;
}

}  // namespace weft::detail
