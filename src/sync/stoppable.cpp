// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/wait/stoppable.h"

#include "scheduler/fiber_control_block.h"
#include "weft/detail/base/spin_lock.h"

namespace weft::detail {

WaitEnd blockStoppableBy(Waiter& self, TimePoint deadline, const std::stop_token& token, ClaimRef claim,
                         const char* what, const void* object) {
  bool isStopped = false;         // written by the callback before it wakes `self`
  bool wasStoppedBefore = false;  // written by the callback where it runs right here
  const auto stop = [&]() noexcept {
    if (!claim()) {
      return;
    }
    if (isOwnWaiter(self)) {
      wasStoppedBefore = true;
    } else {
      isStopped = true;
      wake(self);
    }
  };
  {
    const std::stop_callback callback(token, stop);
    if (wasStoppedBefore) {
      return WaitEnd::Stopped;
    }
    if (!blockUntil(self, deadline, what, object)) {
      if (claim()) {
        return WaitEnd::TimedOut;
      }
      block(self, what, object);
    }
  }
  return isStopped ? WaitEnd::Stopped : WaitEnd::Woken;
}

bool sleepUntilStop(TimePoint deadline, const std::stop_token& token) {
  if (token.stop_requested()) {
    return false;
  }
  Waiter& self = currentWaiter();
  SpinLock lock;
  WaitList list;
  list.pushBack(self);
  const auto claim = [&] { return unlinkIfLinked(self, lock, list); };
  return blockStoppable(self, deadline, token, claim, "sleep", nullptr) != WaitEnd::Stopped;
}

}  // namespace weft::detail
