// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/semaphore.h"

#include "weft/debug.h"
#include "weft/detail/base/spin_lock.h"

// A permit is taken by a compare-exchange, whatever the bits. One is given by a compare-exchange while both
// bits are clear, and under the lock otherwise: a waiter that is linking itself, or is linked, must be found.
// A waiter sets kWaiters and clears kLocked in one step, which fails if the count is not zero any more.
namespace weft {

Semaphore::State::State(Allocator* from, uint32_t initialCount)
    : SharedState(from), word(initialCount * kOne) {
  WEFT_ASSERT(initialCount < kMax, "Semaphore(%u): the count must stay below %u.", initialCount, kMax);
}

Semaphore::State::~State() {
  WEFT_ASSERT(
      waiters.isEmpty(),
      "a Semaphore was destroyed while somebody waits for it. Keep a copy until acquire() has returned.");
}

bool Semaphore::State::tryAcquire() {
  // relaxed: only a guess for the compare-exchange.
  uint32_t old = word.load(std::memory_order_relaxed);
  while (old >= kOne) {
    // (1) acquire: sees what came before the release of this permit; pairs with (2, 4).
    if (word.compare_exchange_weak(old, old - kOne, std::memory_order_acquire, std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void Semaphore::State::release(uint32_t count) {
  const auto check = [count](uint32_t before) {
    WEFT_ASSERT(count < kMax && before / kOne + count < kMax,
                "Semaphore::release(%u) on top of %u: the count must stay below %u.", count, before / kOne,
                kMax);
  };
  // relaxed: only a guess for the compare-exchange.
  uint32_t old = word.load(std::memory_order_relaxed);
  for (check(old); (old & (kLocked | kWaiters)) == 0; check(old)) {
    // (2) release: what came before is seen by whoever takes a permit; the last access to the state; pairs
    // with (1, 5).
    if (word.compare_exchange_weak(old, old + count * kOne, std::memory_order_release,
                                   std::memory_order_relaxed)) {
      return;
    }
  }
  detail::lockBit<uint32_t>(word, kLocked);
  detail::WaitList claimed;
  uint32_t left = count;
  for (; left > 0 && !waiters.isEmpty(); --left) {
    waiters.claimFront(claimed);
  }
  const uint32_t gone = waiters.isEmpty() ? kLocked | kWaiters : kLocked;
  // relaxed: only a guess for the compare-exchange.
  old = word.load(std::memory_order_relaxed);
  // (4) release: what came before is seen by whoever takes a permit, the list by the next lockBit; the last
  // access to the state; pairs with (1, 5).
  while (!word.compare_exchange_weak(old, (old & ~gone) + left * kOne, std::memory_order_release,
                                     std::memory_order_relaxed)) {
  }
  detail::wakeAll(claimed);
}

// Takes a permit, or registers `self` as a waiter. Returns: whether it took one.
bool Semaphore::State::takeOrQueue(detail::Waiter& self) {
  uint32_t old = detail::lockBit<uint32_t>(word, kLocked) | kLocked;
  waiters.pushBack(self);
  for (;;) {
    const bool take = old >= kOne;
    if (take) {
      waiters.remove(self);
    }
    const uint32_t next = take ? (old & ~kLocked) - kOne : (old & ~kLocked) | kWaiters;
    // (5) acq_rel: takes a permit, and sees what came before its release, or shows the list to the next
    // lockBit; pairs with (2, 4).
    if (word.compare_exchange_strong(old, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
      return take;
    }
    if (take) {
      waiters.pushBack(self);
    }
  }
}

struct Semaphore::State::ListLock {
  State& state;

  void lock() { detail::lockBit<uint32_t>(state.word, kLocked); }
  void unlock() {
    // (6) release: ends the section for the next lockBit. The count may have become positive only under the
    // lock.
    state.word.fetch_and(state.waiters.isEmpty() ? ~(kLocked | kWaiters) : ~kLocked,
                         std::memory_order_release);
  }
};

bool Semaphore::State::acquire(detail::TimePoint deadline) {
  detail::Waiter& self = detail::currentWaiter();
  ListLock lock{*this};
  return takeOrQueue(self) || detail::blockLinked(self, lock, waiters, deadline, "Semaphore", this);
}

bool Semaphore::State::acquire(detail::TimePoint deadline, const std::stop_token& token) {
  if (token.stop_requested()) {
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  const auto claim = [&] {
    ListLock lock{*this};
    return detail::unlinkIfLinked(self, lock, waiters);
  };
  return takeOrQueue(self) ||
         detail::blockStoppable(self, deadline, token, claim, "Semaphore", this) == detail::WaitEnd::Woken;
}

}  // namespace weft
