// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "inspect/snapshot.h"
#include "weft/watchdog.h"

namespace weft::inline v0_1::detail {

// What a watchdog is to tell.
struct Finding {
  Watchdog::Condition condition{};
  std::chrono::nanoseconds duration{};  // at least
  uint32_t worker = inspect::kNone;     // LongTask, Delay: its index in the snapshot
  inspect::Address scheduler = 0;       // StuckQueue: the weft::Scheduler
  uint64_t numQueued = 0;               // StuckQueue
  inspect::Address task = 0;            // LongTaskOver: its code
  int32_t threadId = 0;                 // LongTaskOver
  inspect::Address firstOfCycle = 0;    // Deadlock: the control block of one of its fibers
};

// Finds out what is wrong, by comparing each snapshot with earlier ones. Reads no clock and no memory of the
// process: both are given. Takes memory in proportion to the workers, which each look uses again.
class WatchdogRules {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  struct Limits {
    Nanoseconds task;
    Nanoseconds delay;
    Nanoseconds standstill;
    Nanoseconds step;  // the most that counts between two looks
  };

  // Returns: whether it is certain that no thread of the process but the watchdog's can run again by itself.
  using IsNobodyLeft = bool (*)(const inspect::Snapshot& snapshot);

  WatchdogRules(const Limits& limits, IsNobodyLeft isNobodyLeft, std::pmr::memory_resource* memory);

  // `now`: since any time in the past. Returns: what is to be told, valid until the next call.
  std::span<const Finding> look(const inspect::Snapshot& snapshot, Nanoseconds now);

  // Returns: whether the last look has seen what a second look is to confirm at once.
  bool wantsLookSoon() const { return hasCycleToConfirm_; }

 private:
  // What one worker runs, from one look for something to run to the next.
  struct Run {
    inspect::Address worker = 0;
    uint64_t turn = 0;
    inspect::Address fiber = 0;
    inspect::Address task = 0;  // 0: code outside of tasks, or nothing
    uint64_t taskNumber = 0;
    int32_t threadId = 0;
    uint64_t numQueued = 0;
    bool isWaitedFor = false;
    bool hasQueued = false;     // tasks that others might take as well, and nobody takes
    Nanoseconds begin{};        // the look that saw it first
    Nanoseconds waitedSince{};  // isWaitedFor
    Nanoseconds queuedSince{};  // hasQueued
    bool isTaskTold = false;
    bool isDelayTold = false;

    bool isSame(const Run& other) const {
      return worker == other.worker && turn == other.turn && fiber == other.fiber && task == other.task &&
             taskNumber == other.taskNumber;
    }
  };
  // The tasks that all workers of a scheduler share.
  struct Queue {
    inspect::Address scheduler = 0;
    uint64_t numInjected = 0;
    uint64_t progress = 0;  // another one: a task has begun or ended
    uint64_t numSteals = 0;
    Nanoseconds since{};
    bool isTold = false;
  };
  struct Cycle {
    uint64_t identity = 0;
    uint32_t numLooks = 1;  // in a row that have seen it
    bool isTold = false;
  };

  void lookAtSchedulers(const inspect::Snapshot& snapshot);
  void lookAtQueue(const inspect::Snapshot& snapshot, uint32_t index, const Queue* before);
  void lookAtWorker(const inspect::Snapshot& snapshot, uint32_t index, bool isStolenFrom);
  void compareRun(Run& run, const Run* before, const inspect::Worker& worker, bool isStolenFrom);
  void tellLongTask(Run& run, uint32_t index, bool isRunning);
  void tellDelay(Run& run, uint32_t index);
  void tellEndedTasks();
  void lookForStandstill(const inspect::Snapshot& snapshot);
  void lookForCycles(const inspect::Snapshot& snapshot);

  const Limits limits_;
  const IsNobodyLeft isNobodyLeft_;

  Nanoseconds lastNow_{};
  Nanoseconds elapsed_{};  // between the last two looks, as far as it counts
  Nanoseconds time_{};     // all of it
  bool hasLooked_ = false;

  // Those of the last look by their addresses, and those of this one.
  std::pmr::vector<Run> runs_, newRuns_;
  std::pmr::vector<Queue> queues_, newQueues_;
  std::pmr::vector<Cycle> cycles_, newCycles_;
  uint64_t standstill_ = 0;  // who waits for what, mixed; 0: no standstill
  Nanoseconds standstillSince_{};
  bool isStandstillTold_ = false;
  bool hasCycleToConfirm_ = false;
  std::pmr::vector<Finding> findings_;
};

}  // namespace weft::inline v0_1::detail
