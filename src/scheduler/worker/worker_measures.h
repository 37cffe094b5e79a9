// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>

#include "os/single_writer_counter.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/worker/duration_counter.h"
#include "weft/detail/base/sync.h"
#include "weft/histogram.h"

namespace weft::inline v0_1::detail {

// What a worker measures while Scheduler::measure() is on: how long tasks run until they wait or end, how
// long woken fibers are ready, and how many tasks are run in place. The worker tells it of these; what it has
// measured is for any thread.
class WorkerMeasures {
 public:
  bool isOn() const { return isOn_; }
  // The task that runs is measured from when it goes on the next time.
  void setOn(bool isWanted);

  // While on.
  void noteTaskBegan(TimePoint now);
  // What runs ends or waits. Does nothing if no run has begun.
  void noteRunEnded(TimePoint now);
  // `sinceWake`: how long ago the fiber was woken; 0: not known.
  void noteResumed(const FiberControlBlock& fiber, TimePoint now, std::chrono::nanoseconds sinceWake);
  // Whether a run has begun that has not ended.
  bool isInRun() const { return runBegan_ != TimePoint{}; }

  void countInPlace() {
    if (isOn_) {
      ++numInPlace_;
    }
  }

  // Any thread.
  uint64_t numInPlace() const { return numInPlace_.get(); }
  Histogram runTimes() const { return runTimes_.get(); }
  Histogram wakeDelays() const { return wakeDelays_.get(); }

 private:
  bool isOn_ = false;
  TimePoint runBegan_{};  // when the task began that runs, or went on; 0: none does, or it is not known
  SingleWriterCounter numInPlace_;
  DurationCounter runTimes_, wakeDelays_;
};

}  // namespace weft::inline v0_1::detail
