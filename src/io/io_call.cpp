// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/io_call.h"

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace weft::inline v0_1::detail {

int endedBy(const io::Wait& limits) {
  if (limits.deadline != kNever && TimePoint::clock::now() >= limits.deadline) {
    return ETIMEDOUT;
  }
  const IoDomain* const domain = currentIoDomain();
  // relaxed: a task that the canceler waits for sees it in time.
  const bool isCanceled = domain != nullptr && domain->isCanceled.load(std::memory_order_relaxed);
  return isCanceled || limits.stop.stop_requested() ? ECANCELED : 0;
}

int pauseWithin(const io::Wait& limits, std::chrono::nanoseconds time) {
  if (const int ended = endedBy(limits); ended != 0) {
    return ended;
  }
  const TimePoint next = std::min(limits.deadline, TimePoint::clock::now() + time);
  return sleepUntilStop(next, limits.stop) ? 0 : ECANCELED;
}

int pause(const IoCall& call, std::chrono::nanoseconds time) {
  if (call.slot == nullptr) {
    return pauseWithin(call.limits, time);
  }
  if (const int ended = endedBy(call.limits); ended != 0) {
    return ended;
  }
  ReadinessWait wait{.domain = currentIoDomain()};
  Waiter& self = currentWaiter();
  self.data = &wait;
  const IoWait scope(nullptr);
  if (const int error = addWaiter(*call.slot, call.fd, call.began.generation, self); error != 0) {
    return error;
  }
  const TimePoint next = std::min(call.limits.deadline, TimePoint::clock::now() + time);
  return blockInSlot(call, *call.slot, self, next) == WaitEnd::TimedOut ? 0 : ECANCELED;
}

}  // namespace weft::inline v0_1::detail
