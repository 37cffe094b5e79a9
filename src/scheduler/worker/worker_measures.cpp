// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/worker/worker_measures.h"

#include <utility>

namespace weft::inline v0_1::detail {

void WorkerMeasures::setOn(bool isWanted) {
  isOn_ = isWanted;
  runBegan_ = {};
}

void WorkerMeasures::noteTaskBegan(TimePoint now) {
  noteRunEnded(now);  // of a task before whose FiberLocal's destructor has waited
  runBegan_ = now;
}

void WorkerMeasures::noteRunEnded(TimePoint now) {
  if (isInRun()) {
    runTimes_.add(now - std::exchange(runBegan_, TimePoint{}));
  }
}

void WorkerMeasures::noteResumed(const FiberControlBlock& fiber, TimePoint now,
                                 std::chrono::nanoseconds sinceWake) {
  if (sinceWake != std::chrono::nanoseconds{}) {
    wakeDelays_.add(sinceWake);
  }
  runBegan_ = fiber.task != nullptr ? now : TimePoint{};
}

}  // namespace weft::inline v0_1::detail
