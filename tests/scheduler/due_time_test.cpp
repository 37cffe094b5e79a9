// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/due_time.h"

#include <gtest/gtest.h>

#include <chrono>

namespace weft::inline v0_1::detail {
namespace {

using Clock = TimePoint::clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(DueTimeTest, NeverSaysThatATimeHasNotComeWhichHas) {
  DueTime due;
  int numFalse = 0;
  for (int round = 0; round < 300; ++round) {
    const TimePoint deadline = due.now() + microseconds(7 * round + 1);
    due.expect(deadline);
    for (;;) {
      // A processor may read two counters in the other order, some nanoseconds apart.
      const TimePoint before = Clock::now() - microseconds(1);
      if (due.mayHaveCome()) {
        if (due.now() >= deadline) {
          break;
        }
        due.expect(deadline);
      } else {
        ++numFalse;
        ASSERT_LT(before, deadline) << "in round " << round;
      }
    }
  }
  RecordProperty("numFalse", numFalse);
}

TEST(DueTimeTest, TakesTheLatestTimeOfAll) {
  DueTime due;
  (void)due.now();
  due.expect(TimePoint::max() - microseconds(1));
  (void)due.mayHaveCome();
  due.expect(due.now());
  EXPECT_TRUE(due.mayHaveCome());
}

// A machine whose clock and counter go as they are told to.
struct FakeClock {
  static TimePoint now() { return time; }
  static uint64_t ticks() { return tick; }
  static bool isSteady() { return true; }

  static constexpr uint64_t kTicksPerMicrosecond = 2'500;
  static void pass(microseconds duration) {
    time += duration;
    tick += static_cast<uint64_t>(duration.count()) * kTicksPerMicrosecond;
  }
  // The counter goes on, and the clock does not.
  static void suspend(microseconds duration) {
    tick += static_cast<uint64_t>(duration.count()) * kTicksPerMicrosecond;
  }

  static inline TimePoint time;
  static inline uint64_t tick;
};

class DueTimeOfAMachineTest : public ::testing::Test {
 protected:
  using Due = BasicDueTime<FakeClock>;

  void SetUp() override {
    FakeClock::time = TimePoint(std::chrono::hours(1));
    FakeClock::tick = 1'000'000'000'000;
  }

  // Lets time pass, as a worker that is busy does, until `due` says that a deadline has come.
  // Returns: how late that is.
  static microseconds latenessAfter(Due& due, microseconds duration) {
    const TimePoint deadline = due.now() + duration;
    due.expect(deadline);
    for (int step = 0; step < 1'000'000; ++step) {
      if (due.mayHaveCome()) {
        if (due.now() >= deadline) {
          break;
        }
        due.expect(deadline);
      }
      FakeClock::pass(microseconds(10));
    }
    return std::chrono::duration_cast<microseconds>(FakeClock::time - deadline);
  }
};

TEST_F(DueTimeOfAMachineTest, KnowsTheSpeedOfTheCounterSoon) {
  Due due;
  EXPECT_LE(latenessAfter(due, milliseconds(5)), microseconds(10));
  due.expect(due.now() + std::chrono::seconds(1));
  EXPECT_FALSE(due.mayHaveCome());
  FakeClock::pass(milliseconds(900));
  EXPECT_FALSE(due.mayHaveCome());
  FakeClock::pass(milliseconds(100));
  EXPECT_TRUE(due.mayHaveCome());
}

TEST_F(DueTimeOfAMachineTest, IsNotLateAfterASuspension) {
  for (const milliseconds before : {milliseconds(0), milliseconds(50), milliseconds(5'000)}) {
    SetUp();
    Due due;
    FakeClock::pass(before);
    FakeClock::suspend(std::chrono::hours(8));
    EXPECT_LE(latenessAfter(due, milliseconds(50)), microseconds(10)) << before.count();
    FakeClock::suspend(std::chrono::hours(8));
    EXPECT_LE(latenessAfter(due, milliseconds(50)), microseconds(10)) << before.count();
    (void)due.now();
    FakeClock::suspend(std::chrono::seconds(5));
    EXPECT_LE(latenessAfter(due, milliseconds(50)), microseconds(10)) << before.count();
    FakeClock::suspend(milliseconds(100));
    EXPECT_LE(latenessAfter(due, milliseconds(50)), microseconds(10)) << before.count();
  }
}

TEST_F(DueTimeOfAMachineTest, IsNotLateWhereTheCounterBeginsAnew) {
  Due due;
  EXPECT_LE(latenessAfter(due, milliseconds(50)), microseconds(10));
  const TimePoint deadline = due.now() + std::chrono::seconds(1);
  due.expect(deadline);
  FakeClock::pass(std::chrono::seconds(1));
  FakeClock::tick = 5;
  EXPECT_TRUE(due.mayHaveCome());
  EXPECT_LE(latenessAfter(due, milliseconds(50)), microseconds(10));
}

}  // namespace
}  // namespace weft::inline v0_1::detail
