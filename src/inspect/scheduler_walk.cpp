// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/scheduler_walk.h"

#include "weft/detail/base/ticks.h"

namespace weft::inline v0_1::detail::inspect {

SchedulerWalk::SchedulerWalk(const Memory& memory, const Offsets& offsets, Snapshot& snapshot)
    : memory_(memory),
      offsets_(offsets),
      snapshot_(snapshot),
      cores_(snapshot.fibers.get_allocator()),
      listed_(snapshot.fibers.get_allocator()) {
  restart();
}

void SchedulerWalk::restart() {
  cores_.clear();
  auto listed = get<Address>(offsets_.schedulers);
  while (listed != 0 && cores_.size() < kMostSchedulers) {
    cores_.push_back(listed - offsets_.schedulerListed);
    listed = get<Address>(listed + offsets_.listedOlder);
  }
}

ClockReading SchedulerWalk::readingAt(Address address) {
  return {get<uint64_t>(address + offsets_.readingTicks),
          get<int64_t>(address + offsets_.readingNanoseconds)};
}

ClockReading SchedulerWalk::newestReading() {
  ClockReading newest = firstReading();
  for (const Address core : cores_) {
    forEachWorker(core, [&](Address worker) {
      const ClockReading last = readingAt(worker + offsets_.workerLastReading);
      newest = last.nanoseconds > newest.nanoseconds ? last : newest;
    });
  }
  return newest;
}

// The rate is that since the first scheduler was made; if that was just now, a guess.
Clock SchedulerWalk::clock(const ClockReading& last) {
  constexpr int64_t kLongEnough = 1'000'000;
  const ClockReading first = firstReading();
  double rate = 1000.0 / static_cast<double>(kTicksPerMicrosecond);  // nanoseconds per tick
  if (last.nanoseconds - first.nanoseconds >= kLongEnough && last.ticks > first.ticks) {
    rate = static_cast<double>(last.nanoseconds - first.nanoseconds) /
           static_cast<double>(last.ticks - first.ticks);
  }
  return {last.ticks, rate, offsets_.clockShift};
}

}  // namespace weft::inline v0_1::detail::inspect
