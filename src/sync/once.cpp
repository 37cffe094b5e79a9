// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/once.h"

#include "scheduler/fiber_control_block.h"
#include "weft/debug.h"
#include "weft/detail/base/owner.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/wait/stoppable.h"

namespace weft {
namespace {

// Waiter::mark of one that was woken.
constexpr uint8_t kIsDone = 0, kIsNext = 1;

}  // namespace

// Returns: Mine if it is for the caller to call its function, and then end().
Once::Turn Once::begin(const std::stop_token& token) {
  // relaxed: only whoever stored it finds itself there.
  WEFT_ASSERT(!detail::isOrWaitsForCaller(runner_.load(std::memory_order_relaxed)),
              "Once %p: call() was called within the function that it calls, which would wait for itself. "
              "Call it before, or elsewhere.",
              static_cast<const void*>(this));
  const uint32_t old = detail::lockBit<uint32_t>(word_, kLocked);
  const bool isToWait = old == kRunning && !token.stop_requested();
  detail::Waiter* self = nullptr;
  if (isToWait) {
    self = &detail::currentWaiter();
    self->mark = kIsDone;
    waiters_.pushBack(*self);
  }
  // (3) release: the list is seen by the next lockBit.
  word_.store(old == 0 ? kRunning : old, std::memory_order_release);
  Turn turn = old == 0 ? Turn::Mine : old == kRunning ? Turn::Stopped : Turn::Done;
  if (isToWait) {
    const auto claim = [&] { return giveUp(*self); };
    const detail::WithoutHandler withoutHandler;
    if (detail::blockStoppable(*self, detail::kNever, token, claim, "Once", this) == detail::WaitEnd::Woken) {
      turn = self->mark == kIsNext ? Turn::Mine : Turn::Done;
    }
  }
  if (turn == Turn::Mine) {
    // relaxed: see above.
    runner_.store(detail::currentOwner(), std::memory_order_relaxed);
  }
  return turn;
}

// Takes `self` out, unless somebody owes it a wake. Returns: whether it did.
bool Once::giveUp(detail::Waiter& self) {
  const uint32_t old = detail::lockBit<uint32_t>(word_, kLocked);
  const bool isLinked = self.isLinked;
  if (isLinked) {
    waiters_.remove(self);
  }
  // (4) release: the list is seen by the next lockBit.
  word_.store(old, std::memory_order_release);
  return isLinked;
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
