// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/waitgroup.h"

#include "waiter_inl.h"
#include "weft/detail/tiny_lock.h"

// A last done() that finds a bit set comes back to wake; one that finds none touches the state no more. So a waiter that
// reads a count of zero beside a set bit must be woken by that done() before it may return, and one that reads all zeros may
// return at once: nobody will touch the state on its account any more.
//
// The first waiter sets kWaiters without the lock, in the one compare-exchange that a wait costs then, and stores itself in
// firstWaiter; the last done() takes the lock with its subtraction, and gives it back by a plain store, since the count is
// zero and nobody else may change the word. Later waiters queue under the lock.
namespace weft {

void WaitGroup::State::wait() {
  detail::Waiter& self = detail::inlined::currentWaiter();
  // relaxed: only a guess for the compare-exchange.
  uint32_t old = word.load(std::memory_order_relaxed);
  bool isFirst = false;
  while (!isFirst && old >= kOne && (old & (kWaiters | kLocked)) == 0) {
    // (7) release: what this fiber did before is seen by the done() that wakes it; pairs with the acquire of lockBit and of
    // tryEnd().
    isFirst = word.compare_exchange_weak(old, old | kWaiters, std::memory_order_release, std::memory_order_relaxed);
  }
  if (isFirst || queue(self)) {
    if (isFirst) {
      // (8) release: the waiter is complete; pairs with (9).
      firstWaiter.store(&self, std::memory_order_release);
    }
    detail::inlined::block(self, "WaitGroup", this);
  }
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
    // (10) release: the waiter is complete; pairs with (9).
    firstWaiter.store(&self, std::memory_order_release);
  }
  // From here on a last done() finds kLocked or kWaiters and comes, so that the count need not be looked at again.
  // (4) release: the list is seen by the next lockBit. One step, so that no done() finds neither bit.
  word.fetch_add(kWaiters - kLocked - (old & kWaiters), std::memory_order_release);
  return true;
}

void WaitGroup::State::wakeAll() {
  const uint32_t old = detail::lockBit<uint32_t>(word, kLocked);
  if (old >= kOne || (old & kWaiters) == 0) {
    // Work was added since, and somebody may wait for that already: the next last done() wakes them all. Or it has.
    // (6) release: for the next lockBit.
    word.fetch_and(~kLocked, std::memory_order_release);
    return;
  }
  wakeAllAndUnlock();
}

void WaitGroup::State::wakeAllAndUnlock() {
  detail::Waiter* first = nullptr;
  uint32_t round = 0;
  // (9) acquire: the waiter is complete; pairs with (8, 10). It is stored in a moment, if it was not yet: kWaiters is set.
  while ((first = firstWaiter.load(std::memory_order_acquire)) == nullptr) {
    detail::relax(round);
  }
  // relaxed: (5) publishes it.
  firstWaiter.store(nullptr, std::memory_order_relaxed);
  detail::WaitList later;
  later.claimAll(laterWaiters);
  // (5) release: the empty lists are seen by the next lockBit, the work of every done() by a wait() that finds nothing left.
  // The last access to the state.
  word.store(0, std::memory_order_release);
  detail::inlined::wake(*first);
  detail::wakeAll(later);
}

}  // namespace weft
