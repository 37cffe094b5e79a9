// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/worker_rates.h"

#include <algorithm>
#include <utility>

namespace weft::inline v0_1::detail::tools {

WorkerRates::Seen WorkerRates::see(const inspect::Snapshot& snapshot, const inspect::Worker& worker) {
  Seen seen{};
  seen.numTasks = worker.numTasksRun;
  seen.numSteals = worker.numSteals;
  seen.numParks = worker.numParks;
  seen.turn = worker.turn;
  if (const inspect::Fiber* const running = snapshot.runningOn(worker)) {
    seen.fiber = running->address;
    seen.taskNumber = running->taskNumber;
  }
  return seen;
}

bool WorkerRates::isSameWorker(const Seen& before, const Seen& now) {
  return before.numTasks <= now.numTasks && before.numSteals <= now.numSteals &&
         before.numParks <= now.numParks;
}

std::vector<WorkerRate> WorkerRates::look(const inspect::Snapshot& snapshot,
                                          std::span<const std::chrono::nanoseconds> processor, LookTime now) {
  const double seconds = std::chrono::duration<double>(now - last_).count();
  const auto each = [seconds](uint64_t before, uint64_t after) {
    return static_cast<double>(after - before) / seconds;
  };
  std::vector<WorkerRate> rates(snapshot.workers.size());
  std::map<inspect::Address, Seen> all;
  for (size_t i = 0; i < rates.size(); ++i) {
    const inspect::Worker& worker = snapshot.workers[i];
    Seen seen = see(snapshot, worker);
    seen.processor = processor[i];
    seen.firstOfTurn = now;
    const auto found = seen_.find(worker.address);
    if (found != seen_.end() && seconds > 0 && isSameWorker(found->second, seen)) {
      const Seen& before = found->second;
      rates[i] = {.isKnown = true,
                  .tasks = each(before.numTasks, seen.numTasks),
                  .steals = each(before.numSteals, seen.numSteals),
                  .sleeps = each(before.numParks, seen.numParks)};
      if (before.processor.count() >= 0 && seen.processor >= before.processor) {
        // The system counts in steps, so that it may come to a little more than there was.
        const std::chrono::duration<double> computed = seen.processor - before.processor;
        rates[i].processor = std::min(computed.count() / seconds, 1.0);
      }
      if (before.turn == seen.turn && before.fiber == seen.fiber && before.taskNumber == seen.taskNumber) {
        seen.firstOfTurn = before.firstOfTurn;
        rates[i].sameTask = now - seen.firstOfTurn;
      }
    }
    all[worker.address] = seen;
  }
  seen_ = std::move(all);
  last_ = now;
  return rates;
}

}  // namespace weft::inline v0_1::detail::tools
