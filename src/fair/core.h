// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fair/dispatcher.h"
#include "fair/idle_threads.h"
#include "fair/quiescence.h"
#include "fair/worker.h"
#include "scheduler/report/checked_allocator.h"
#include "scheduler/worker/process_fork.h"
#include "weft/detail/fair/task.h"
#include "weft/fair/task_scheduler.h"
#include "weft/mutex.h"

namespace weft::inline v0_1::detail {

// What the threads of a fair::TaskScheduler share. docs/fair.md explains it.
struct FairCore {
  FairCore(fair::TaskScheduler& scheduler, const std::string& called, int count,
           const CheckedAllocator& checked, uint32_t blockSize);
  ~FairCore();

  void start();
  void stop();
  // Any thread, in a step or not: queues tasks that have been claimed for this scheduler.
  void enqueue(FairTask& newest, FairTask& oldest);

  fair::TaskScheduler& facade;
  const std::string name;
  CheckedAllocator allocator;

 private:
  SchedulerExists exists_;

 public:
  mutex lifecycle;  // one start(), stop() or takeBack() at a time
  Dispatcher dispatcher;
  FairQuiescence quiescence;
  std::vector<std::unique_ptr<FairWorker>> workers;
  IdleThreads idle;
};

inline void FairWorker::repost(FairTask& task, FairCore& to) {
  reposted_ = &task;
  if (&to != &core) [[unlikely]] {
    to.quiescence.expectKept();
  }
}

}  // namespace weft::inline v0_1::detail
