// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/scheduler_walk.h"

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

Clock SchedulerWalk::clock(const ClockReading& last) {
  return {last.ticks, nanosecondsPerTick(firstReading(), last), offsets_.clockShift};
}

}  // namespace weft::inline v0_1::detail::inspect
