// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "fair/dispatcher.h"
#include "fair/quiescence.h"
#include "fair/worker.h"

namespace weft::inline v0_1::detail {

// The threads of a fair::TaskScheduler that are idle: which one watches, whose mark the front queue bears,
// and until when they sleep. idle_threads.cpp explains it.
//
// The lock of FairQuiescence guards all of it. The functions take the lock. Any thread may read the hints.
class IdleThreads {
 public:
  using Workers = std::vector<std::unique_ptr<FairWorker>>;

  IdleThreads(Dispatcher& dispatcher, FairQuiescence& quiescence, const Workers& workers)
      : dispatcher_(dispatcher), quiescence_(quiescence), workers_(workers) {}

  // `worker` becomes idle; with `isRetiring`, although there is work.
  // Returns: false if there is something to do instead. `until`: when the thread wakes by itself.
  bool beginIdle(FairWorker& worker, bool isRetiring, TimePoint& until);
  // After a sleep.
  // Returns: whether to sleep on, and in `until` for how long. If not, the thread is active again.
  bool staysIdle(FairWorker& worker, TimePoint& until);
  // An active thread, before a step: an idle thread must learn of what is queued, now or later.
  void seeToTheIdle(bool isQueued);
  // A hint: threads are idle, and none of them watches.
  // relaxed: a thread that becomes idle meanwhile watches by itself, until it has left a mark.
  bool hasNoWatcher() const { return hasNoWatcher_.load(std::memory_order_relaxed); }

  // One thread at a time spins: it looks for work before it sleeps.
  bool tryBeginSpin();
  // relaxed: the queues have orders of their own.
  void endSpin() { isSpinning_.store(false, std::memory_order_relaxed); }

  // relaxed, all: the threads are started after start(). stop() wakes the sleeping threads after the store,
  // and the others see it in time.
  bool isStopping() const { return isStopping_.load(std::memory_order_relaxed); }
  void start() { isStopping_.store(false, std::memory_order_relaxed); }
  void stop();

  // Called by the thread that has replaced a mark by a push.
  static void wakeMarked(uintptr_t mark) { reinterpret_cast<Parker<>*>(mark & ~uintptr_t{1})->unpark(); }

 private:
  static uintptr_t markOf(const FairWorker& worker) { return reinterpret_cast<uintptr_t>(worker.parker) | 1; }

  void enterIdle(FairWorker& worker);
  void leaveIdle(FairWorker& worker);
  bool leaveMark(FairWorker& worker);
  bool takeMark(FairWorker& worker);
  void beginWatch(FairWorker& worker, TimePoint now);
  void watchOn(FairWorker& worker, TimePoint now, bool isQueued, TimePoint& until);
  bool areStepsFine(TimePoint now);
  uint64_t numStepsOfAll() const;
  TimePoint sleepUntil(TimePoint until);
  void publishIdle();
  void appointWatcher();

  Dispatcher& dispatcher_;
  FairQuiescence& quiescence_;
  const Workers& workers_;

  // Written with the lock, but for isSpinning_.
  alignas(kCacheLine) std::atomic<bool> hasNoWatcher_{false};
  std::atomic<int64_t> armed_{DispatchHints::kNoEarliest};  // when an idle thread wakes at the latest
  std::atomic<bool> isStopping_{false};
  std::atomic<bool> isSpinning_{false};

  FairWorker* idle_ = nullptr;     // a stack
  FairWorker* watcher_ = nullptr;  // looks for work at each tick while others are active
  FairWorker* marked_ = nullptr;   // whose mark was left in the front queue last
  uint64_t watchedSteps_ = 0;      // numStepsOfAll() when the watcher looked last
  TimePoint watchedAt_{};
};

}  // namespace weft::inline v0_1::detail
