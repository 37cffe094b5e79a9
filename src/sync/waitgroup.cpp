// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/waitgroup.h"

#include "scheduler/waiter_inl.h"
#include "weft/detail/base/spin_lock.h"

// A last done() that finds a bit set comes back to wake; one that finds none touches the state no more. So a
// waiter that reads a count of zero beside a set bit must be woken by that done() before it may return, and
// one that reads all zeros may return at once: nobody will touch the state on its account any more.
//
// The first waiter sets kWaiters without the lock, in the one compare-exchange that a wait costs then, and
// stores itself in firstWaiter; the last done() takes the lock with its subtraction, and gives it back by a
// plain store, since the count is zero and nobody else may change the word. Later waiters queue under the
// lock.
//
// A waiter that gives up, since its time is up or a stop was requested, may not leave as the only one when
// the count is zero: a last done() has seen kWaiters then, and is on its way. It waits for that one, which
// wakes it even where it finds that work has been added meanwhile (Waiter::hasGivenUp).
namespace weft {
void WaitGroup::State::wait() {
  detail::Waiter& self = detail::inlined::currentWaiter();
  // relaxed: only a guess for the compare-exchange.
  uint32_t old = word.load(std::memory_order_relaxed);
  bool isFirst = false;
  while (!isFirst && old >= kOne && (old & (kWaiters | kLocked)) == 0) {
    // (7) acq_rel: what this fiber did before is seen by the done() that wakes it; firstWaiter is empty;
    // pairs with the acquire of lockBit and of tryEnd(), and with (5, 12).
    isFirst =
        word.compare_exchange_weak(old, old | kWaiters, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  if (isFirst || queue(self)) {
    if (isFirst) {
      // (8) release: the waiter is complete; pairs with (9, 15).
      firstWaiter.store(&self, std::memory_order_release);
    }
    detail::inlined::block(self, "WaitGroup", this);
  }
}

bool WaitGroup::State::wait(detail::TimePoint deadline, const std::stop_token& token) {
  // (11) acquire: sees the work of every done(), as wait() in the header does; pairs with (5).
  const uint32_t old = word.load(std::memory_order_acquire);
  if (old == 0) {
    return true;
  }
  if (old >= kOne && token.stop_requested()) {
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  if (!queue(self)) {
    return true;
  }
  const auto claim = [&] { return giveUp(self); };
  const detail::WaitEnd end = detail::blockStoppable(self, deadline, token, claim, "WaitGroup", this);
  self.hasGivenUp = false;
  return end == detail::WaitEnd::Woken;
}

// Takes `self` out, unless somebody owes it a wake. Returns: whether it did.
bool WaitGroup::State::giveUp(detail::Waiter& self) {
  detail::lockBit<uint32_t>(word, kLocked);
  // relaxed: written under the lock, if it is `self`.
  if (firstWaiter.load(std::memory_order_relaxed) == &self) {
    self.hasGivenUp = true;
    return removeFirstAndUnlock();
  }
  const bool isLinked = self.isLinked;
  if (isLinked) {
    laterWaiters.remove(self);
  }
  // (13) release: the list is seen by the next lockBit.
  word.fetch_and(~kLocked, std::memory_order_release);
  return isLinked;
}

// Takes the first waiter out. Returns: false, and leaves it, where it is the only one and the count is zero.
// Requires: kLocked is held; it is released.
bool WaitGroup::State::removeFirstAndUnlock() {
  // relaxed, all of these: (12) publishes them.
  detail::Waiter* first = firstWaiter.load(std::memory_order_relaxed);
  detail::Waiter* second = laterWaiters.popFront();
  firstWaiter.store(second, std::memory_order_relaxed);
  const uint32_t gone = second != nullptr ? kLocked : kLocked | kWaiters;
  uint32_t old = word.load(std::memory_order_relaxed);
  while (second != nullptr || old >= kOne) {
    // (12) release: the first waiter and the list are seen by whoever waits next and by the next lockBit;
    // pairs with (7). One step: a last done() that comes before it has seen kWaiters, one that comes after it
    // does not come back.
    if (word.compare_exchange_weak(old, old & ~gone, std::memory_order_release, std::memory_order_relaxed)) {
      return true;
    }
  }
  // relaxed: (14) publishes it.
  firstWaiter.store(first, std::memory_order_relaxed);
  // (14) release: for the next lockBit.
  word.fetch_and(~kLocked, std::memory_order_release);
  return false;
}

// The careful way to wait. Returns: false if there was nothing to wait for.
bool WaitGroup::State::queue(detail::Waiter& self) {
  const uint32_t old = detail::lockBit<uint32_t>(word, kLocked);
  if (old == 0) {
    // (3) release: for the next lockBit. The work of every done() was seen by the acquire of lockBit.
    word.fetch_and(~kLocked, std::memory_order_release);
    return false;
  }
  if ((old & kWaiters) != 0) {
    laterWaiters.pushBack(self);
  } else {
    // (10) release: the waiter is complete; pairs with (9, 15).
    firstWaiter.store(&self, std::memory_order_release);
  }
  // From here on a last done() finds kLocked or kWaiters and comes, so that the count need not be looked at
  // again.
  // (4) release: the list is seen by the next lockBit. One step, so that no done() finds neither bit.
  word.fetch_add(kWaiters - kLocked - (old & kWaiters), std::memory_order_release);
  return true;
}

void WaitGroup::State::wakeAll() {
  const uint32_t old = detail::lockBit<uint32_t>(word, kLocked);
  if (old >= kOne || (old & kWaiters) == 0) {
    // Work was added since, and somebody may wait for that already: the next last done() wakes them all. Or
    // it has.
    // (15) acquire: the waiter is complete; pairs with (8, 10). It may not be stored yet.
    detail::Waiter* first = firstWaiter.load(std::memory_order_acquire);
    if (first == nullptr || !first->hasGivenUp) {
      // (6) release: for the next lockBit.
      word.fetch_and(~kLocked, std::memory_order_release);
    } else if (removeFirstAndUnlock()) {
      detail::wake(*first);
    }
    return;
  }
  wakeAllAndUnlock();
}

void WaitGroup::State::wakeAllAndUnlock() {
  detail::Waiter* first = nullptr;
  uint32_t round = 0;
  // (9) acquire: the waiter is complete; pairs with (8, 10). It is stored in a moment, if it was not yet:
  // kWaiters is set.
  while ((first = firstWaiter.load(std::memory_order_acquire)) == nullptr) {
    detail::relax(round);
  }
  // relaxed: (5) publishes it.
  firstWaiter.store(nullptr, std::memory_order_relaxed);
  detail::WaitList later;
  later.claimAll(laterWaiters);
  // (5) release: the empty lists are seen by the next lockBit and by whoever waits next, the work of every
  // done() by a wait() that finds nothing left; pairs with (7, 11). The last access to the state.
  word.store(0, std::memory_order_release);
  detail::inlined::wake(*first);
  detail::wakeAll(later);
}

}  // namespace weft
