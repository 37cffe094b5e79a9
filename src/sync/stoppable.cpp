// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/wait/stoppable.h"

#include "scheduler/fibers/fiber_control_block.h"
#include "weft/detail/base/spin_lock.h"

namespace weft::inline v0_1::detail {

namespace {

struct StoppableHost : BlockHost {
  static void wake(Waiter& waiter) { detail::wake(waiter); }
  static bool isOwn(const Waiter& waiter) { return isOwnWaiter(waiter); }
  template <class F>
  std::stop_callback<F> onStop(const F& function) const {
    return std::stop_callback<F>(token, function);
  }

  const std::stop_token& token;
};

}  // namespace

WaitEnd blockStoppableFor(Waiter& self, TimePoint deadline, const std::stop_token& token, ClaimRef claim,
                          const char* what, const void* object) {
  return detail::blockStoppableBy<StdSync>(self, StoppableHost{{deadline, what, object}, token}, claim);
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

}  // namespace weft::inline v0_1::detail
