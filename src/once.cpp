// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/once.h"

#include "weft/debug.h"
#include "weft/detail/owner.h"
#include "weft/detail/tiny_lock.h"

namespace weft {
namespace {

// Waiter::mark of one that was woken.
constexpr uint8_t kIsDone = 0, kIsNext = 1;

}  // namespace

// Returns: whether it is for the caller to call its function, and then end(); if not, a call has returned.
bool Once::begin() {
  // relaxed: only whoever stored it finds itself there.
  WEFT_ASSERT(runner_.load(std::memory_order_relaxed) != detail::currentOwner(),
              "Once %p: call() was called within the function that it calls, which would wait for itself. "
              "Call it before, or "
              "elsewhere.",
              static_cast<const void*>(this));
  const uint32_t old = detail::lockBit<uint32_t>(word_, kLocked);
  bool isNext = old == 0;
  if (old != kRunning) {
    // (3) release: for the next lockBit.
    word_.store(isNext ? kRunning : old, std::memory_order_release);
  } else {
    detail::Waiter& self = detail::currentWaiter();
    self.mark = kIsDone;
    waiters_.pushBack(self);
    // (4) release: the list is seen by the next lockBit.
    word_.store(kRunning, std::memory_order_release);
    detail::block(self, "Once", this);
    isNext = self.mark == kIsNext;
  }
  if (isNext) {
    // relaxed: see above.
    runner_.store(detail::currentOwner(), std::memory_order_relaxed);
  }
  return isNext;
}

void Once::end(bool hasReturned) {
  // relaxed: see begin().
  runner_.store(nullptr, std::memory_order_relaxed);
  detail::lockBit<uint32_t>(word_, kLocked);
  detail::WaitList claimed;
  uint32_t next = kDone;
  if (hasReturned) {
    claimed.claimAll(waiters_);
  } else if (waiters_.isEmpty()) {
    next = 0;
  } else {
    waiters_.front()->mark = kIsNext;
    waiters_.claimFront(claimed);
    next = kRunning;
  }
  // (2) release: what the function has written is seen by all that find it done, and the list by the next
  // lockBit; pairs with isDone()'s acquire. The last access, unless somebody is to call its own function.
  word_.store(next, std::memory_order_release);
  detail::wakeAll(claimed);
}

void Once::reportDestroyedInUse() {
  WEFT_FATAL(
      "a Once was destroyed while its function was being called. Keep it alive until all calls have "
      "returned.");
}

}  // namespace weft
