// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "scheduler/worker/worker.h"

// What a worker measures while Scheduler::measure() is on: how long tasks run until they wait or end, and how
// long woken fibers are ready.
namespace weft::inline v0_1::detail {

void Worker::setMeasured(bool isWanted) {
  isMeasured_ = isWanted;
  runBegan_ = {};
}

void Worker::measureTaskBegan(TimePoint now) {
  measureRunEnded(now);  // of a task before whose FiberLocal's destructor has waited
  runBegan_ = now;
}

// What has run since runBegan_, if anything has, ends or waits.
void Worker::measureRunEnded(TimePoint now) {
  if (runBegan_ != TimePoint{}) {
    runTimes_.add(now - std::exchange(runBegan_, TimePoint{}));
  }
}

void Worker::measureResumed(const FiberControlBlock& fiber, const WakeTaken& wake) {
  if (wake.sinceWake != Nanoseconds{}) {
    wakeDelays_.add(wake.sinceWake);
  }
  runBegan_ = fiber.task != nullptr ? wake.now : TimePoint{};
}

void Worker::countInPlace() {
  if (Worker& worker = *current(); worker.isMeasured_) {
    ++worker.numInPlace_;
  }
}

}  // namespace weft::inline v0_1::detail
