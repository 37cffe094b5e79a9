// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "scheduler/core/scheduler_core.h"
#include "scheduler/report/report_lines.h"

// How each worker of a scheduler is made to print what its fibers wait for.
namespace weft::inline v0_1::detail {
namespace {

// How long reportBlockedFibers() waits for the workers that it has asked, and sleeps between two looks.
constexpr auto kReportPatience = std::chrono::milliseconds(100);
constexpr auto kShortestReportPause = std::chrono::microseconds(50);
constexpr auto kLongestReportPause = std::chrono::microseconds(3200);

}  // namespace

bool SchedulerCore::findTask(const void* scope, TaskPlace& place) {
  std::scoped_lock guard(mutex_);
  bool isFound = false;
  forEachWorkerOrBound(
      [&](Worker& worker) { isFound = isFound || worker.report().findFiberOf(scope, place); });
  forEachWorkerOrBound(
      [&](Worker& worker) { isFound = isFound || worker.report().findStackOf(scope, place); });
  return isFound;
}

void SchedulerCore::reportBlockedFibers() {
  Worker* const own = currentWorkerOf(*this);
  if (own != nullptr) {
    own->report().print();
  }
  {
    const TimePoint now = TimePoint::clock::now();
    std::scoped_lock guard(mutex_);
    forEachWorkerOrBound([&](Worker& worker) {
      if (&worker != own) {
        worker.report().ask(now);
        worker.parker().unpark();
      }
    });
  }
  awaitReports(own);
  std::vector<SilentWorker> silent;
  if (numSilent(own) != 0) {
    const TimePoint now = TimePoint::clock::now();
    std::scoped_lock guard(mutex_);
    forEachWorkerOrBound([&](Worker& worker) {
      if (&worker != own && worker.report().isWanted()) {
        silent.push_back(worker.report().describeSilence(now));
      }
    });
  }
  for (const SilentWorker& worker : silent) {
    reportSilentWorker(worker);
  }
}

size_t SchedulerCore::numSilent(const Worker* own) {
  std::scoped_lock guard(mutex_);
  size_t count = 0;
  // relaxed: a hint. A worker that has ended no longer answers.
  if (isDone_.load(std::memory_order_relaxed)) {
    return 0;
  }
  forEachWorkerOrBound(
      [&](Worker& worker) { count += &worker != own && worker.report().isWanted() ? 1 : 0; });
  return count;
}

// Waits a little for the workers that were asked. Answers meanwhile: two askers would name each other.
void SchedulerCore::awaitReports(Worker* own) {
  const TimePoint end = TimePoint::clock::now() + kReportPatience;
  auto pause = kShortestReportPause;
  while (numSilent(own) != 0 && TimePoint::clock::now() < end) {
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestReportPause);
    if (own != nullptr) {
      own->report().printIfAsked();
    }
  }
}

}  // namespace weft::inline v0_1::detail
