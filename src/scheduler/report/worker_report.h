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

// What a worker says of its fibers when it is asked, and what others can say of a worker
// that does not answer.
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

  // The owner: prints what the fibers of the worker wait for.
  void print() const;
  // The owner: does so if the worker was asked.
  void printIfAsked() {
    // relaxed, both: the report reads only what belongs to the worker.
    if (isWanted_.load(std::memory_order_relaxed)) [[unlikely]] {
      isWanted_.store(false, std::memory_order_relaxed);
      print();
    }
  }

  // One thread at a time, which holds the scheduler's mutex: asks for a report. Afterwards the
  // worker must be unparked.
  void ask(TimePoint now);
  // Any thread: whether the worker has been asked and has not answered.
  // relaxed: a hint; the thread that asks unparks the worker afterwards.
  bool isWanted() const { return isWanted_.load(std::memory_order_relaxed); }
  // One thread at a time, which holds that mutex: describes what a worker does that has not answered.
  SilentWorker describeSilence(TimePoint now);

  // Any thread. If the answer is yes, they set `place` to it.
  // Returns: whether the TaskScope at `scope`, which need not exist any more, is that of a fiber of this
  // worker, or of a task that is run in place on such a fiber.
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
  // Guarded by the scheduler's mutex: where the worker was seen since it was asked, and when it was first
  // seen there.
  TaskPlace seenAt_;
  uint64_t seenEnded_ = 0;
  TimePoint seenSince_{};
};

}  // namespace weft::inline v0_1::detail
