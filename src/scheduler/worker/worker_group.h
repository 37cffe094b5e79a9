// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>

#include "scheduler/queues/external_deques.h"
#include "scheduler/queues/task_overflow.h"
#include "scheduler/report/checked_allocator.h"
#include "scheduler/worker/poll_hub.h"
#include "scheduler/worker/process_fork.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/detail/queue/steal_gate.h"
#include "weft/memory.h"
#include "weft/scheduler.h"

namespace weft::inline v0_1::detail {

class Worker;

// The worker threads of a scheduler, and what they and the bound threads share: the queues that they take
// from, and where they see who sleeps, who steals, and whether they should end. All of it is for any thread.
class WorkerGroup {
 public:
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;

  // For workers, once isStopping is set: whether everything is done. The first to find out tells the others.
  virtual bool isFinished() = 0;

  template <class F>
  void forEachWorker(F&& f) {
    for (int i = 0; i < numWorkers; ++i) {
      f(*workers[i]);
    }
  }

  static constexpr const char* kOwner = "Scheduler";  // of the allocator, in messages

  const Scheduler::Config config;
  CheckedAllocator checkedAllocator;
  Allocator* const allocator;  // &checkedAllocator
  const int numWorkers;

 private:
  const SchedulerExists exists_;  // before `idle` and `stealGate`, which ask whether light fences are free
  const Allocator::unique_ptr<Worker*> workerArray_{
      allocator->make_unique_n<Worker*>(static_cast<size_t>(numWorkers))};

 public:
  Worker** const workers = workerArray_.get();  // made and destroyed by SchedulerCore
  SegmentedQueue<TaskNode*> injector;
  TaskOverflow overflow;
  IdleSet<> idle;
  StealGate<> stealGate;
  ExternalDeques externals;
  PollHub pollHub;
  std::atomic<bool> isStopping{false};  // false -> true, by the thread that shuts down
  // Whether Scheduler::measure() is on. relaxed: Wishes::word publishes it.
  std::atomic<bool> isMeasured{false};

 protected:
  explicit WorkerGroup(const Scheduler::Config& wanted)
      : config(wanted),
        checkedAllocator(config.allocator, kOwner),
        allocator(&checkedAllocator),
        numWorkers(config.workerThread.count),
        injector(allocator),
        overflow(allocator),
        idle(static_cast<uint32_t>(numWorkers)),
        externals(allocator) {}
  ~WorkerGroup() = default;
};

}  // namespace weft::inline v0_1::detail
