// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/semaphore.h"

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "sync/acquire_permits.h"
#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/wait/semaphore_core.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1 {

constinit detail::MovedFromState<Semaphore::State> Semaphore::State::movedFrom;

Semaphore::State::State(Allocator* from, ptrdiff_t initialCount)
    : SharedState(from), core(static_cast<uint32_t>(initialCount)) {
  WEFT_ASSERT(initialCount >= 0 && initialCount < ptrdiff_t{detail::SemaphoreCore<>::kMax},
              "Semaphore(%td): the count must be 0 to %u.", initialCount, detail::SemaphoreCore<>::kMax - 1);
}

Semaphore::State::~State() {
  WEFT_ASSERT(
      !core.isAwaited(),
      "a Semaphore was destroyed while somebody waits for it. Keep a copy until acquire() has returned.");
}

bool Semaphore::State::tryAcquire() { return core.tryTake(); }

bool Semaphore::State::tryAcquire(ptrdiff_t count) {
  WEFT_ASSERT(count >= 0 && count < ptrdiff_t{detail::SemaphoreCore<>::kMax},
              "Semaphore: %td permits were to be acquired: the number must be 0 to %u.", count,
              detail::SemaphoreCore<>::kMax - 1);
  if (count == 0) {
    detail::Shared<State>::assertUsable(*this);
    return true;
  }
  return core.tryTake(static_cast<uint32_t>(count));
}

void Semaphore::State::release(ptrdiff_t count) {
  if (!core.tryGive(count)) {
    detail::Shared<State>::assertUsable(*this);
    detail::wakeAll(core.give(count));
  }
}

bool Semaphore::State::acquire(ptrdiff_t count, detail::TimePoint deadline, const std::stop_token& token) {
  detail::Shared<State>::assertUsable(*this);
  return detail::acquirePermits(core, static_cast<uint32_t>(count), deadline, token, {"Semaphore", this});
}

bool detail::acquirePermits(SemaphoreCore<>& core, uint32_t count, TimePoint deadline,
                            const std::stop_token& token, PermitsFor use) {
  if (token.stop_requested()) {
    return false;
  }
  Waiter& self = currentWaiter();
  if (core.takeOrQueue(self, count)) {
    return true;
  }
  // On the thread of a stop, too: wakes those whose turn comes because `self` leaves.
  const auto leave = [&] {
    WaitList served;
    const bool wasThere = core.giveUp(self, served);
    wakeAll(served);
    return wasThere;
  };
  return detail::blockStoppable(self, deadline, token, leave, use.what, use.object) == WaitEnd::Woken;
}

}  // namespace weft::inline v0_1
