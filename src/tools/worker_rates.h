// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "inspect/snapshot.h"

namespace weft::inline v0_1::detail::tools {

using LookTime = std::chrono::steady_clock::time_point;

// What a worker has done between two looks.
struct WorkerRate {
  bool isKnown = false;  // false: the worker was not there at the look before
  double tasks = 0;      // that ended, a second; the others are of a second too
  double steals = 0;
  double sleeps = 0;
  double processor = -1;  // the share of the time that its thread computed; below zero: not known
  std::chrono::nanoseconds sameTask{};  // it has run the task that it runs for at least so long
};

// Compares what workers have counted. Knows a worker by its address. A counter that has fallen is another
// worker's, which has come to lie there.
class WorkerRates {
 public:
  // `processor`: for each worker of the snapshot, how long its thread has computed; below zero: not known.
  // Returns: a rate for each of them.
  std::vector<WorkerRate> look(const inspect::Snapshot& snapshot,
                               std::span<const std::chrono::nanoseconds> processor, LookTime now);

 private:
  struct Seen {
    uint64_t numTasks, numSteals, numParks;
    std::chrono::nanoseconds processor;
    uint64_t turn;
    inspect::Address fiber;  // that its thread was on
    uint64_t taskNumber;
    LookTime firstOfTurn;  // the look that found it there first
  };
  static Seen see(const inspect::Snapshot& snapshot, const inspect::Worker& worker);
  static bool isSameWorker(const Seen& before, const Seen& now);

  std::map<inspect::Address, Seen> seen_;
  LookTime last_;
};

}  // namespace weft::inline v0_1::detail::tools
