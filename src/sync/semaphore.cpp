// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/semaphore.h"

#include "weft/debug.h"

namespace weft::inline v0_1 {

constinit detail::MovedFromState<Semaphore::State> Semaphore::State::movedFrom;

Semaphore::State::State(Allocator* from, uint32_t initialCount) : SharedState(from), core(initialCount) {
  WEFT_ASSERT(initialCount < detail::SemaphoreCore<>::kMax, "Semaphore(%u): the count must stay below %u.",
              initialCount, detail::SemaphoreCore<>::kMax);
}

Semaphore::State::~State() {
  WEFT_ASSERT(
      !core.isAwaited(),
      "a Semaphore was destroyed while somebody waits for it. Keep a copy until acquire() has returned.");
}

bool Semaphore::State::tryAcquire() { return core.tryTake(); }

void Semaphore::State::release(uint32_t count) {
  if (!core.tryGive(count)) {
    detail::Shared<State>::assertUsable(*this);
    detail::wakeAll(core.give(count));
  }
}

bool Semaphore::State::acquire(detail::TimePoint deadline, const std::stop_token& token) {
  detail::Shared<State>::assertUsable(*this);
  if (token.stop_requested()) {
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  return core.takeOrQueue(self) || detail::blockQueued(self, core, deadline, token, "Semaphore", this);
}

}  // namespace weft::inline v0_1
