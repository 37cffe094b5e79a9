// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/barrier.h"

#include "weft/debug.h"

namespace weft::inline v0_1::detail {

BarrierBase::BarrierBase(ptrdiff_t expected)
    : phase_(static_cast<uint32_t>(expected)), expected_(static_cast<uint32_t>(expected)) {
  WEFT_ASSERT(expected >= 0 && expected <= ptrdiff_t{BarrierPhase<>::kMax},
              "Barrier(%td): the count must be 0 to %u.", expected, BarrierPhase<>::kMax);
}

BarrierBase::~BarrierBase() {
  WEFT_ASSERT(!phase_.isAwaited(),
              "a Barrier was destroyed while somebody waits for it. Keep it alive until all are back.");
}

BarrierPhase<>::Arrival BarrierBase::arriveBy(ptrdiff_t n, const char* function) {
  const bool isInRange = n >= 0 && n <= ptrdiff_t{BarrierPhase<>::kMax};
  const auto arrival = isInRange ? phase_.arrive(static_cast<uint32_t>(n)) : BarrierPhase<>::Arrival();
  WEFT_ASSERT(arrival.isAllowed,
              "Barrier::%s(): %td arrive where fewer are still expected in this phase. "
              "Make the barrier with as many as arrive, and arrive once in each phase.",
              function, n);
  return arrival;
}

void BarrierBase::drop() {
  // relaxed: the arrival that follows orders it.
  const uint32_t old = expected_.fetch_sub(1, std::memory_order_relaxed);
  WEFT_ASSERT(old != 0,
              "Barrier::arrive_and_drop(): nobody is expected any more. Drop each of those who arrive once.");
}

void BarrierBase::endPhase() noexcept {
  // relaxed: ordered by the arrivals.
  wakeAll(phase_.endPhase(expected_.load(std::memory_order_relaxed)));
}

bool BarrierBase::waitFor(const void* barrier, uint32_t phase, TimePoint deadline,
                          const std::stop_token& token) {
  WEFT_ASSERT(barrier == this,
              "Barrier::wait() was called with an arrival of another barrier, "
              "or one that was waited with or moved from. "
              "Wait once with each arrival that arrive() returns.");
  if (phase_.hasEnded(phase)) {
    return true;
  }
  if (token.stop_requested()) {
    return false;
  }
  Waiter& self = currentWaiter();
  return !phase_.queue(self, phase) || blockQueued(self, phase_, deadline, token, "Barrier", this);
}

}  // namespace weft::inline v0_1::detail
