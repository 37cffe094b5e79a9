// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/waitgroup.h"

#include "scheduler/core/waiter_inl.h"

namespace weft::inline v0_1 {
namespace {

void wake(detail::WaitGroupCore<>::Claimed claimed) {
  if (claimed.first != nullptr) [[likely]] {
    detail::inlined::wake(*claimed.first);
  } else {
    detail::wakeAll(claimed.all);
  }
}

}  // namespace

constinit detail::MovedFromState<WaitGroup::State> WaitGroup::State::movedFrom;

// Not inlined: wait() seldom needs it.
[[gnu::noinline]] bool WaitGroup::State::queue(detail::Waiter& self) {
  detail::Shared<State>::assertUsable(*this);
  return core.queue(self);
}

void WaitGroup::State::wait() {
  detail::Waiter& self = detail::inlined::currentWaiter();
  if (core.tryQueueFirst(self) || queue(self)) {
    detail::inlined::block(self, "WaitGroup", this);
  }
}

bool WaitGroup::State::wait(detail::TimePoint deadline, const std::stop_token& token) {
  if (core.isOver()) {
    return true;
  }
  if (token.stop_requested() && !core.isZero()) {
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  return !queue(self) || detail::blockQueued(self, core, deadline, token, "WaitGroup", this);
}

void WaitGroup::State::wakeAll() { wake(core.claimAll()); }
void WaitGroup::State::wakeAllAfterEnd() { wake(core.claimAllAfterEnd()); }

}  // namespace weft::inline v0_1
