// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/lock_cycles.h"

#include <algorithm>

namespace weft::inline v0_1::detail::inspect {
namespace {

// Returns: the fiber that holds the lock for which this one waits, or kNone.
uint32_t holderOfLockFor(const Snapshot& snapshot, uint32_t waiter) {
  const Fiber& fiber = snapshot.fibers[waiter];
  // A fiber that was woken to try again, and has not had its turn, waits for the lock as before.
  const bool waits = fiber.state == Fiber::State::Blocked || fiber.state == Fiber::State::Ready;
  const bool hasHolder = waits && fiber.holder < snapshot.fibers.size();
  return hasHolder ? fiber.holder : kNone;
}

}  // namespace

LockCycles findCycles(const Snapshot& snapshot, std::pmr::memory_resource* memory) {
  LockCycles cycles;
  const auto numFibers = static_cast<uint32_t>(snapshot.fibers.size());
  size_t numWaiters = 0;
  for (uint32_t i = 0; i < numFibers; ++i) {
    numWaiters += holderOfLockFor(snapshot, i) != kNone;
  }
  if (numWaiters == 0) {
    return cycles;
  }
  FixedArray<uint32_t> visits(memory, numFibers);  // one more than the fiber at which a visit began; 0: none
  cycles.members_ = FixedArray<uint32_t>(memory, numWaiters);
  cycles.ends_ = FixedArray<uint32_t>(memory, numWaiters);
  cycles.isRefused_ = visits.isRefused() || cycles.members_.isRefused() || cycles.ends_.isRefused();
  if (cycles.isRefused_) {
    return cycles;
  }
  for (uint32_t begin = 0; begin < numFibers; ++begin) {
    uint32_t fiber = begin;
    while (fiber != kNone && visits[fiber] == 0) {
      visits[fiber] = begin + 1;
      fiber = holderOfLockFor(snapshot, fiber);
    }
    // A fiber of an earlier visit has been looked at with all that it leads to.
    if (fiber != kNone && visits[fiber] == begin + 1) {
      cycles.add(snapshot, fiber);
    }
  }
  return cycles;
}

void LockCycles::add(const Snapshot& snapshot, uint32_t member) {
  const uint32_t begin = size_ == 0 ? 0 : ends_[size_ - 1];
  uint32_t end = begin;
  uint32_t fiber = member;
  do {
    members_[end++] = fiber;
    fiber = holderOfLockFor(snapshot, fiber);
  } while (fiber != member);
  ends_[size_++] = end;
  const auto cycle = members_.all().subspan(begin, end - begin);
  std::rotate(cycle.begin(), std::ranges::min_element(cycle), cycle.end());
}

}  // namespace weft::inline v0_1::detail::inspect
