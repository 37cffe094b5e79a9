// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>

#include "scheduler/fibers/fiber_pool.h"
#include "scheduler/fibers/fiber_switch.h"
#include "scheduler/policy/throttle.h"
#include "scheduler/report/report_lines.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/park/quiescence.h"

namespace weft::inline v0_1::detail {

// What a worker says of its fibers when asked, and what others can say of one that does not answer.
class WorkerReport {
 public:
  // `workerId`: of a worker thread, or kBoundThread. `tasks`: those of its scheduler.
  WorkerReport(int workerId, const FiberSwitch& running, const FiberPool& pool,
               const TaskCounters<>& counters, const Throttle& throttle, TaskFinder& tasks)
      : workerId_(workerId),
        running_(running),
        pool_(pool),
        counters_(counters),
        throttle_(throttle),
        tasks_(tasks) {}

  // The owner: print what the fibers of the worker wait for.
  void print() const;
  void printIfAsked() {
    // relaxed, both: the report reads only what belongs to the worker.
    if (isWanted_.load(std::memory_order_relaxed)) [[unlikely]] {
      isWanted_.store(false, std::memory_order_relaxed);
      print();
    }
  }

  // One thread at a time, with the scheduler's mutex: asks for a report. The worker must then be unparked.
  void ask(TimePoint now);
  // Any thread: whether an answer is owed. relaxed: a hint; the thread that asks unparks the worker.
  bool isWanted() const { return isWanted_.load(std::memory_order_relaxed); }
  // One thread at a time, with the scheduler's mutex: describes what a worker does that has not answered.
  SilentWorker describeSilence(TimePoint now);

  // Any thread. These set `place` if they return true.
  // Returns: whether the TaskScope at `scope`, perhaps gone, is of a fiber here or of a task in place.
  bool findFiberOf(const void* scope, TaskPlace& place) const;
  bool findStackOf(const void* scope, TaskPlace& place) const;

 private:
  void printOnThisStack() const;
  TaskPlace placeOf(const FiberControlBlock& fiber) const;
  TaskPlace currentPlace() const;

  const int workerId_;
  const FiberSwitch& running_;
  const FiberPool& pool_;
  const TaskCounters<>& counters_;
  const Throttle& throttle_;
  TaskFinder& tasks_;
  std::atomic<bool> isWanted_{false};  // false -> true by any thread, true -> false by the owner
  // Guarded by the scheduler's mutex: where the worker was seen since it was asked, and since when.
  TaskPlace seenAt_;
  uint64_t seenEnded_ = 0;
  TimePoint seenSince_{};
};

}  // namespace weft::inline v0_1::detail
