// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/semaphore.h"

#include <cstddef>
#include <cstdint>

#include "weft/debug.h"

namespace weft::inline v0_1 {

constinit detail::MovedFromState<Semaphore::State> Semaphore::State::movedFrom;

Semaphore::State::State(Allocator* from, ptrdiff_t initialCount)
    : SharedState(from), core(static_cast<uint32_t>(initialCount)) {
  WEFT_ASSERT(initialCount >= 0 && initialCount < detail::SemaphoreCore<>::kMax,
              "Semaphore(%td): the count must be 0 to %u.", initialCount, detail::SemaphoreCore<>::kMax - 1);
}

Semaphore::State::~State() {
  WEFT_ASSERT(
      !core.isAwaited(),
      "a Semaphore was destroyed while somebody waits for it. Keep a copy until acquire() has returned.");
}

bool Semaphore::State::tryAcquire() { return core.tryTake(); }

void Semaphore::State::release(ptrdiff_t count) {
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
