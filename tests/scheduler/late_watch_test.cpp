// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/trace/late_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include <weft/trace.h>

#include "os/clock_reading.h"
#include "scheduler/trace/recorder.h"

namespace weft::detail {
namespace {

using namespace std::chrono_literals;
using Nanoseconds = std::chrono::nanoseconds;

// Something whose address stands for the code of a task.
const char kTask = 'A';
const char kOther = 'B';

class LateWatchTest : public ::testing::Test {
 protected:
  LateWatchTest() {
    EXPECT_TRUE(trace::start());
    events_.emplace();
    now_ = ClockReading::now();
  }
  ~LateWatchTest() override {
    lateWatch.end();
    trace::stop();
  }

  uint64_t ticksBefore(Nanoseconds duration) const {
    return now_.ticks - static_cast<uint64_t>(static_cast<double>(duration.count()) /
                                              nanosecondsPerTick(recorder.reading, now_));
  }
  // Returns: whether that is told.
  bool delay(LateKind kind, Nanoseconds duration) {
    EXPECT_TRUE(watch_.lookAtDelay(kind, duration, &kTask, runs_, 0, *events_));
    return watch_.late().kind == kind && watch_.late().duration == duration;
  }
  void run(const void* task, Nanoseconds beganBefore, Nanoseconds endedBefore) {
    runs_.begin(ticksBefore(beganBefore));
    EXPECT_TRUE(runs_.end(task, ticksBefore(endedBefore)));
  }
  Lateness blame(Nanoseconds duration) const {
    Lateness late;
    late.duration = duration;
    runs_.noteBlocker(late, now_);
    return late;
  }

  LateWatch watch_;
  RunWatch runs_;
  ClockReading now_;
  std::optional<TraceEvents> events_;
};

TEST_F(LateWatchTest, WithinTheIntervalIsToldWhatIsTwiceAsLate) {
  watch_.begin(0s, 1ms, 1h);
  EXPECT_TRUE(delay(LateKind::Wake, 3ms));
  EXPECT_FALSE(delay(LateKind::Wake, 60ms)) << "before that is told";
  watch_.finish();
  EXPECT_FALSE(delay(LateKind::Wake, 5ms));
  EXPECT_TRUE(delay(LateKind::Timer, 6ms));
  watch_.finish();
  EXPECT_FALSE(delay(LateKind::Wake, 11ms));
  EXPECT_TRUE(delay(LateKind::Wake, 12ms));
}

TEST_F(LateWatchTest, AnIntervalIsOfOneLimit) {
  watch_.begin(1ms, 1ms, 1h);
  EXPECT_TRUE(delay(LateKind::Wake, 3ms));
  watch_.finish();
  watch_.lookAtRun({&kOther, ticksBefore(4ms), ticksBefore(2ms)}, 0, *events_);
  EXPECT_EQ(watch_.late().task, &kOther);
}

TEST_F(LateWatchTest, NewLimitsBeginAnew) {
  watch_.begin(0s, 1ms, 1h);
  EXPECT_TRUE(delay(LateKind::Wake, 3ms));
  watch_.finish();
  watch_.begin(0s, 1ms, 1h);
  EXPECT_TRUE(delay(LateKind::Wake, 2ms));
}

TEST_F(LateWatchTest, RunsOfATaskAreBlamedTogether) {
  lateWatch.begin(0s, 1ms, 1h);
  run(&kTask, 90ms, 41ms);  // before the wake
  run(&kTask, 40ms, 29ms);
  run(&kOther, 28ms, 20ms);
  run(&kTask, 20ms, 2ms);
  const Lateness late = blame(40ms);
  EXPECT_EQ(late.blocker, &kTask);
  EXPECT_EQ(late.numRuns, 2U);
  EXPECT_NEAR(static_cast<double>(late.blockedFor.count()), 29e6, 1e5);
}

TEST_F(LateWatchTest, NobodyIsBlamedForLessThanHalf) {
  lateWatch.begin(0s, 1ms, 1h);
  run(&kTask, 40ms, 25ms);
  run(&kOther, 25ms, 10ms);
  EXPECT_EQ(blame(40ms).blocker, nullptr);
  EXPECT_EQ(blame(29ms).blocker, &kOther);
}

TEST_F(LateWatchTest, ShortRunsBetweenDoNotCoverALongOne) {
  lateWatch.begin(0s, 20ms, 1h);
  run(&kTask, 40ms, 11ms);
  for (int i = 0; i < 100; ++i) {
    run(&kOther, 11ms - i * 100us, 11ms - i * 100us - 20us);
  }
  EXPECT_EQ(blame(40ms).blocker, &kTask);
}

TEST_F(LateWatchTest, AfterAForgottenRunNothingIsBlamed) {
  lateWatch.begin(0s, 1ms, 1h);
  run(&kTask, 40ms, 2ms);
  runs_.begin(ticksBefore(2ms));
  runs_.forget();
  EXPECT_FALSE(runs_.end(&kTask, ticksBefore(1ms)));
  EXPECT_EQ(blame(40ms).blocker, nullptr);
}

}  // namespace
}  // namespace weft::detail
