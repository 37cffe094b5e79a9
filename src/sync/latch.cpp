// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/latch.h"

#include "weft/debug.h"
#include "weft/detail/base/spin_lock.h"

// The last waiter that is back from wait() may destroy the latch, so that nobody may come to look for waiters
// after the step that makes the count zero. That step therefore takes kLocked where somebody waits, or is
// about to, and its owner wakes them all and clears the word; where nobody does it is the last access. For
// waiters it follows that while they hold kLocked the count does not become zero.
namespace weft {

struct Latch::ListLock {
  Latch& latch;

  void lock() { detail::lockBit<uint32_t>(latch.word_, kLocked); }
  void unlock() {
    // (4) release: the list is seen by whoever takes kLocked next; pairs with (2).
    latch.word_.fetch_and(latch.waiters_.isEmpty() ? ~(kLocked | kWaiters) : ~kLocked,
                          std::memory_order_release);
  }
};

Latch::Latch(ptrdiff_t expected) : word_(static_cast<uint32_t>(expected) * kOne) {
  WEFT_ASSERT(expected >= 0 && expected <= max(), "Latch(%td): the count must be 0 to %td.", expected, max());
}

void Latch::count_down(ptrdiff_t n) {
  // relaxed, here and on failure: only a guess for the compare-exchange.
  uint32_t old = word_.load(std::memory_order_relaxed);
  for (uint32_t round = 0;;) {
    const auto count = static_cast<ptrdiff_t>(old / kOne);
    WEFT_ASSERT(n >= 0 && n <= count,
                "Latch::count_down(%td): the count is %td. Make the latch with as many as are counted down.",
                n, count);
    const bool isLast = n == count && n != 0;
    uint32_t next = old - static_cast<uint32_t>(n) * kOne;
    if (isLast && (old & kLocked) != 0) {
      detail::relax(round);
      old = word_.load(std::memory_order_relaxed);
      continue;
    }
    next |= isLast && (old & kWaiters) != 0 ? kLocked : 0;
    // (2) acq_rel: what came before is seen by those who find the count at zero, or are woken; sees the same
    // of the others, and the list; pairs with (2, 4, 5), and with the acquire in try_wait().
    if (word_.compare_exchange_weak(old, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
      if (isLast && next != 0) {
        break;
      }
      return;
    }
  }
  detail::WaitList claimed;
  claimed.claimAll(waiters_);
  // (3) release: what came before each count_down() is seen by those who find the count at zero, by
  // try_wait()'s acquire. The last access to the latch; nobody else changes the word at zero, but for waiters
  // that wait for kLocked.
  word_.store(0, std::memory_order_release);
  detail::wakeAll(claimed);
}

// Registers `self` as a waiter. Returns: false if there is nothing to wait for.
bool Latch::queue(detail::Waiter& self) {
  const uint32_t old = detail::lockBit<uint32_t>(word_, kLocked);
  const bool isToWait = old >= kOne;
  if (isToWait) {
    waiters_.pushBack(self);
  }
  // (5) release: the list is seen by whoever takes kLocked next; pairs with (2). One step, so that the last
  // count_down() finds one of the bits.
  word_.fetch_add((isToWait && (old & kWaiters) == 0 ? kWaiters : 0) - kLocked, std::memory_order_release);
  return isToWait;
}

bool Latch::waitFor(detail::TimePoint deadline, const std::stop_token& token) {
  // relaxed: a count of zero is looked at again, under the lock.
  if (token.stop_requested() && word_.load(std::memory_order_relaxed) >= kOne) {
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  if (!queue(self)) {
    return true;
  }
  const auto claim = [&] {
    ListLock lock{*this};
    return detail::unlinkIfLinked(self, lock, waiters_);
  };
  return detail::blockStoppable(self, deadline, token, claim, "Latch", this) == detail::WaitEnd::Woken;
}

void Latch::reportDestroyedInUse() {
  WEFT_FATAL("a Latch was destroyed while somebody waits for it. Keep it alive until wait() has returned.");
}

}  // namespace weft
