// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/once.h"

#include "scheduler/fibers/fiber_control_block.h"
#include "weft/debug.h"
#include "weft/detail/base/owner.h"
#include "weft/detail/wait/stoppable.h"

namespace weft::inline v0_1 {

// Returns: Mine if the caller should call its function, and then end().
Once::Turn Once::begin(const std::stop_token& token) {
  // relaxed: a caller finds itself there only if it stored itself there.
  WEFT_ASSERT(!detail::isOrWaitsForCaller(runner_.load(std::memory_order_relaxed)),
              "Once %p: call() was called within the function that it calls, and would wait for itself. "
              "Call it before, or elsewhere.",
              static_cast<const void*>(this));
  const Turn turn = core_.tryBegin() ? Turn::Mine : beginSlow(token);
  if (turn == Turn::Mine) {
    // relaxed: only a caller that stored itself finds itself there.
    runner_.store(detail::currentOwner(), std::memory_order_relaxed);
  }
  return turn;
}

Once::Turn Once::beginSlow(const std::stop_token& token) {
  detail::Waiter& self = detail::currentWaiter();
  const Turn turn = core_.begin(self, token.stop_requested());
  if (turn != Turn::Waits) {
    return turn;
  }
  const detail::WithoutHandler withoutHandler;
  const bool isWoken = detail::blockQueued(self, core_, detail::kNever, token, "Once", this);
  return isWoken ? core_.turnOf(self) : Turn::Stopped;
}

void Once::end(bool hasReturned) {
  // relaxed: see begin().
  runner_.store(nullptr, std::memory_order_relaxed);
  if (!core_.tryEnd(hasReturned)) {
    detail::wakeAll(core_.end(hasReturned));
  }
}

void Once::reportDestroyedInUse() {
  WEFT_FATAL(
      "a Once was destroyed while its function was being called. "
      "Keep it alive until all calls have returned.");
}

}  // namespace weft::inline v0_1
