// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>

#include "scheduler/core/scheduler_core.h"
#include "scheduler/report/dump.h"
#include "scheduler/worker/process_fork.h"
#include "weft/debug.h"
#include "weft/detail/park/quiescence.h"

// How a scheduler ends: once every thread has unbound, and nothing is left to do.
namespace weft::inline v0_1::detail {
namespace {

constexpr auto kShutdownPatience = std::chrono::seconds(5);

}  // namespace

std::atomic<int64_t> shutdownPatience{std::chrono::nanoseconds(kShutdownPatience).count()};

void assertMayEnd(const Scheduler& scheduler, const char* call, const char* object) {
  if (Scheduler::get() != &scheduler) [[likely]] {
    return;
  }
  if (Worker::current()->mode() == Worker::Mode::MultiThreaded) {
    WEFT_FATAL(
        "%s was called in a task of %s, and would wait for that task. "
        "Let no task own what it runs on, for example by a std::shared_ptr that it captures. "
        "Destroy it, or shut it down, where it was made.",
        call, object);
  }
  WEFT_FATAL(
      "%s was called on a thread that is still bound to it. "
      "Call Scheduler::unbind() before, or let the Scheduler::Binding end first.",
      call);
}

void SchedulerCore::shutDown() {
  assertNotForked("~Scheduler");
  const auto areAllUnbound = [this] { return numBound_ == 0; };
  awaitEnd(areAllUnbound);
  stopWorkers();
  // The last tasks may have bound a thread, which may still use the core after the workers have ended.
  awaitEnd(areAllUnbound);
}

void SchedulerCore::assertNoPollSources() {
  if (const char* const name = pollHub.nameOfAny()) {
    WEFT_FATAL(
        "a scheduler was destroyed before its poll source \"%s\". Destroy the source before its scheduler.",
        name);
  }
}

bool SchedulerCore::shutDownUntil(TimePoint deadline) {
  assertNotForked("Scheduler::shutdown()");
  std::unique_lock guard(mutex_);
  const auto isSoon = [&](auto&& isMet) {
    if (deadline == kNever) {
      ending_.wait(guard, isMet);  // some clocks take no time that is so late
      return true;
    }
    return ending_.wait_until(guard, std::max(deadline, TimePoint()), isMet);
  };
  if (!isSoon([this] { return numBound_ == 0; })) {
    return false;
  }
  if (numStarted_ == 0) {
    isDone_.store(true, std::memory_order_relaxed);  // relaxed: see bind()
    return true;
  }
  // (7) release: pairs with the acquire in Worker::shouldEnd().
  isStopping.store(true, std::memory_order_release);
  // The last tasks may have bound a thread. While it was bound, the workers found no rest, and some sleep.
  return isSoon([this] {
    // relaxed: mutex_ publishes what the tasks did.
    const bool isDone = isDone_.load(std::memory_order_relaxed);
    if (!isDone && numBound_ == 0) {
      unparkWorkers();
    }
    return isDone && numBound_ == 0;
  });
}

template <class Condition>
void SchedulerCore::awaitEnd(Condition isMet) {
  const TimePoint began = TimePoint::clock::now();
  auto patience = std::chrono::nanoseconds(shutdownPatience.load(std::memory_order_relaxed));
  std::unique_lock guard(mutex_);
  while (!ending_.wait_for(guard, patience, isMet)) {
    guard.unlock();
    const std::chrono::duration<double> waited = TimePoint::clock::now() - began;
    char why[64];
    std::snprintf(why, sizeof why, "~Scheduler has waited for %.3g s.", waited.count());
    reportWait(why);
    patience *= 2;
    guard.lock();
  }
}

void SchedulerCore::reportWait(const char* why) {
  const Scheduler::Stats now = stats();
  uint64_t numBlocked = 0;
  uint64_t numQueued = now.numInjected;
  for (const Scheduler::WorkerStats& worker : now.workers) {
    numBlocked += worker.numBlockedFibers;
    numQueued += worker.num;
  }
  char running[48] = "";
  if (const std::optional<size_t> number = numRunningTasks(scheduler)) {
    std::snprintf(running, sizeof running, "Tasks that run: %zu. ", *number);
  }
  WEFT_WARN(
      "%s It waits until all threads have called Scheduler::unbind() and all tasks have ended. "
      "Threads still bound: %zu. Fibers that wait: %llu. Tasks and fibers that are ready: %llu. "
      "%sWhat they do:",
      why, now.workers.size() - static_cast<size_t>(numWorkers), static_cast<unsigned long long>(numBlocked),
      static_cast<unsigned long long>(numQueued), running);
  dumpToStderr(scheduler);
}

void SchedulerCore::stopWorkers() {
  // (4) release: pairs with the acquire in Worker::shouldEnd().
  isStopping.store(true, std::memory_order_release);
  unparkWorkers();
  if (numStarted_ > 0) {
    // relaxed: the end of the threads publishes what they did.
    awaitEnd([this] { return isDone_.load(std::memory_order_relaxed); });
  }
  // No worker is freed before all have ended: until then a thief may look into any of them.
  for (int i = 0; i < numStarted_; ++i) {
    threads_[i].native.join();
  }
}

void SchedulerCore::unparkWorkers() {
  for (int i = 0; i < numStarted_; ++i) {
    workers[i]->parker().unpark();
  }
}

bool SchedulerCore::isFinished() {
  // (5) acquire: what the tasks did comes before the end of the threads; pairs with (6).
  if (isDone_.load(std::memory_order_acquire)) {
    return true;
  }
  uint64_t numEntered = 0;
  const bool isQuiet =
      isQuiescent<StdSync>([this](auto&& f) { forEachWorker([&](Worker& worker) { f(worker.counters()); }); },
                           [&] {
                             numEntered = outside_.rundown.numEntered();
                             // relaxed: see quiescence.h.
                             return numEntered + numFromUnbound_.load(std::memory_order_relaxed);
                           });
  const bool isOver = isQuiet && outside_.rundown.closeAt(numEntered);
  if (isOver) {
    {
      std::scoped_lock guard(mutex_);
      // (6) release: pairs with (5).
      isDone_.store(true, std::memory_order_release);
    }
    ending_.notify_all();
    unparkWorkers();
  }
  return isOver;
}

}  // namespace weft::inline v0_1::detail
