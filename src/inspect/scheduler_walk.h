// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "inspect/memory.h"
#include "inspect/offsets.h"
#include "inspect/snapshot.h"
#include "inspect/worker_reader.h"
#include "os/clock_reading.h"

namespace weft::inline v0_1::detail::inspect {

// Finds the schedulers of one copy of weft, their workers, and the clocks of the process. What cannot be read
// is left out, and makes `snapshot` incomplete.
class SchedulerWalk {
 public:
  SchedulerWalk(const Memory& memory, const Offsets& offsets, Snapshot& snapshot);

  // Lists the schedulers anew.
  void restart();
  std::span<const Address> cores() const { return cores_; }

  // Calls f(Address) for each worker of the scheduler: the worker threads first, then the bound threads.
  template <class F>
  void forEachWorker(Address core, F f) {
    const auto count = std::min(get<uint32_t>(core + offsets_.schedulerNumWorkers), kMostThreads);
    const auto workers = get<Address>(core + offsets_.schedulerWorkers);
    listed_.assign(count, 0);
    if (workers == 0 || !memory_.read(workers, listed_.data(), count * sizeof(Address))) {
      snapshot_.isComplete = snapshot_.isComplete && count == 0;
      listed_.clear();
    }
    for (const Address worker : listed_) {
      if (worker != 0) {
        f(worker);
      }
    }
    auto bound = get<Address>(core + offsets_.schedulerFirstBound);
    for (uint32_t i = 0; bound != 0 && i < kMostThreads; ++i) {
      f(bound + offsets_.boundWorker);
      bound = get<Address>(bound + offsets_.boundNext);
    }
  }

  ClockReading firstReading() { return readingAt(offsets_.firstReading); }
  // Returns: the newest time that a worker has noted.
  ClockReading newestReading();
  // `last`: the time now, or when the process ended.
  Clock clock(const ClockReading& last);

  // Returns: the object; zero if it cannot be read.
  template <class T>
  T get(Address address) {
    T value{};
    if (!memory_.get(address, value)) {
      snapshot_.isComplete = false;
      return T{};
    }
    return value;
  }

 private:
  // More would be a sign of damage: then the rest is left out.
  static constexpr uint32_t kMostSchedulers = 4096;
  static constexpr uint32_t kMostThreads = 1u << 16;

  ClockReading readingAt(Address address);

  const Memory& memory_;
  const Offsets& offsets_;
  Snapshot& snapshot_;
  std::pmr::vector<Address> cores_;
  std::pmr::vector<Address> listed_;  // the worker threads' of a scheduler
};

}  // namespace weft::inline v0_1::detail::inspect
