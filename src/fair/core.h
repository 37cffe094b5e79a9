// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fair/dispatcher.h"
#include "fair/worker.h"
#include "scheduler/report/checked_allocator.h"
#include "scheduler/worker/process_fork.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/fair/task.h"
#include "weft/detail/park/parker.h"
#include "weft/detail/wait/waiter.h"
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
  // A step of another scheduler has posted its own task here. enqueueKept() brings the task when the step has
  // ended. Until then this scheduler is not empty, and does not end.
  void expectKept();
  void enqueueKept(FairTask& task);
  void awaitKept();
  void assertKeepsNone(const char* what) const;
  // Called before a push: takes the task over. Of several posts at the same time, one finds null.
  void claim(FairTask& task) {
    // relaxed: the task is the caller's, and the push publishes it.
    if (task.postedTo.exchange(this, std::memory_order_relaxed) != nullptr) [[unlikely]] {
      reportPostedTwice();
    }
    dispatcher.hints.addOnItsWay(task);
  }
  // The same, called by the step of the task. It saves the read-modify-write, 6 of a step's 25 ns. Another
  // post of the task is found, unless that happens between the load and the store.
  void claimInItsStep(FairTask& task) {
    // relaxed, both: as in claim().
    if (task.postedTo.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
      reportPostedTwice();
    }
    task.postedTo.store(this, std::memory_order_relaxed);
  }
  // Gives back a task that has been claimed and not pushed.
  void unclaim(FairTask& task) {
    dispatcher.hints.takeOffItsWay(task);
    // relaxed: the task is the caller's again.
    task.postedTo.store(nullptr, std::memory_order_relaxed);
  }
  [[noreturn, gnu::cold]] void reportPostedTwice() const;

  uint64_t numStepsOfAll() const;
  static uintptr_t markOf(const FairWorker& worker) { return reinterpret_cast<uintptr_t>(worker.parker) | 1; }
  static void wakeMarked(uintptr_t mark) { reinterpret_cast<Parker<>*>(mark & ~uintptr_t{1})->unpark(); }

  // With the lock.
  bool isEmptyLocked();
  void enterIdle(FairWorker& worker);
  void leaveIdle(FairWorker& worker);
  bool leaveMark(FairWorker& worker);
  bool takeMark(FairWorker& worker);
  void beginWatch(FairWorker& worker, TimePoint now);
  bool areStepsFine(TimePoint now);
  TimePoint sleepUntil(TimePoint until);
  void publishIdle();

  bool isEmpty();
  bool waitEmptyUntil(TimePoint deadline);
  void appointPoller();
  void exitThread();
  void wakeIfEmpty(WaitList& woken);

  fair::TaskScheduler& facade;
  const std::string name;
  const int numThreads;
  CheckedAllocator allocator;
  SchedulerExists exists;
  mutex lifecycle;  // one start() or stop() at a time

  Dispatcher dispatcher;

  std::vector<std::unique_ptr<FairWorker>> workers;

  // Written with the lock, read by all threads.
  alignas(kCacheLine) std::atomic<bool> hasNoPoller{false};  // threads are idle, and none of them polls
  std::atomic<int64_t> armed{DispatchHints::kNoEarliest};    // when an idle thread wakes at the latest
  std::atomic<bool> isStopping{false};
  std::atomic<bool> isSpinning{false};  // one thread is in spin(); written without the lock

  SpinLock lock;
  FairWorker* idle = nullptr;  // guarded by lock: a stack
  // Guarded by lock: the idle thread that looks for work now and then while others are active.
  FairWorker* poller = nullptr;
  FairWorker* marked = nullptr;  // guarded by lock: whose mark was left in the front queue last
  uint64_t watchedSteps = 0;     // guarded by lock: numStepsOfAll() when the poller looked last
  TimePoint watchedAt{};         // guarded by lock
  uint32_t numRunning = 0;       // guarded by lock: threads
  WaitList emptyWaiters;         // guarded by lock
  WaitList stopWaiters;          // guarded by lock
  uint32_t numKept = 0;          // guarded by lock: tasks that expectKept() has told of
  WaitList keptWaiters;          // guarded by lock
};

inline void FairWorker::repost(FairTask& task, FairCore& to) {
  reposted_ = &task;
  if (&to != &core) [[unlikely]] {
    to.expectKept();
  }
}

inline bool FairWorker::keepsOneFor(const FairCore& to) const {
  // relaxed: written by the step.
  return reposted_ != nullptr && reposted_->postedTo.load(std::memory_order_relaxed) == &to;
}

}  // namespace weft::inline v0_1::detail
