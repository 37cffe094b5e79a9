// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/tick_rate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <set>

#include "os/clock_reading.h"
#include "os/tick_counter.h"
#include "weft/detail/base/ticks.h"
#include "weft/scheduler.h"

// How fast the counter of ticks runs, by a counter and a clock that the test sets.
namespace weft::inline v0_1::detail {
namespace {

using std::chrono::nanoseconds;

// A machine in which each look at the counter or the clock takes 20 ns. Numbers are in nanoseconds.
struct FakeMachine {
  double perMicrosecond = 1000;  // ticks
  double time = 1e6;
  double clockStep = 1;
  int numLooks = 0;
  std::set<int> preemptedAt;  // the thread loses its processor for 4 ms before these looks
  bool isPreemptedAlways = false;
  bool isCounterStill = false;
  bool isClockStill = false;
  bool goesBack = false;

  void pass() {
    ++numLooks;
    time += isPreemptedAlways || preemptedAt.contains(numLooks) ? 4e6 : 20;
  }
};
FakeMachine machine;

struct FakeClock {
  static std::chrono::steady_clock::time_point now() {
    machine.pass();
    const double shown = machine.isClockStill ? 1e6 : machine.time;
    return std::chrono::steady_clock::time_point(nanoseconds(static_cast<int64_t>(shown)));
  }
  static uint64_t ticks() {
    machine.pass();
    const double shown = machine.goesBack ? 1e9 - machine.time : machine.time;
    return machine.isCounterStill ? 7 : static_cast<uint64_t>(shown * machine.perMicrosecond / 1000);
  }
};

class TickRateTest : public ::testing::TestWithParam<double> {
 protected:
  void SetUp() override {
    machine = FakeMachine();
    machine.perMicrosecond = GetParam();
  }
  static double measure() { return TickRateMeter<FakeClock>::measure(); }
};

TEST_P(TickRateTest, AMeasurementAgreesWithTheClockAndEndsSoon) {
  const double begin = machine.time;
  EXPECT_NEAR(measure(), GetParam(), GetParam() / 16);
  EXPECT_LE(machine.time - begin, 55'000);
}

// Of the twelve looks of the first reading, and of some later ones.
TEST_P(TickRateTest, OneThatIsPreemptedAtAnyLookMeasuresAsWell) {
  for (int look = 1; look <= 100; ++look) {
    SetUp();
    machine.preemptedAt = {look};
    EXPECT_NEAR(measure(), GetParam(), GetParam() / 16) << "at look " << look;
  }
}

TEST_P(TickRateTest, OneWhoseFirstReadingsAreAllPreemptedBeginsAnew) {
  for (int look = 1; look <= 24; ++look) {
    machine.preemptedAt.insert(look);
  }
  EXPECT_NEAR(measure(), GetParam(), GetParam() / 16);
  EXPECT_GT(machine.numLooks, 24);
}

TEST_P(TickRateTest, OneThatIsPreemptedAtEachLookTakesLongerAndIsAsExact) {
  machine.isPreemptedAlways = true;
  EXPECT_NEAR(measure(), GetParam(), GetParam() / 16);
}

TEST_P(TickRateTest, ACounterThatStandsStillOrGoesBackGivesNoneSoon) {
  machine.isCounterStill = true;
  const double begin = machine.time;
  EXPECT_EQ(measure(), 0);
  EXPECT_LE(machine.time - begin, 60'000);
  SetUp();
  machine.goesBack = true;
  EXPECT_EQ(measure(), 0);
}

TEST_P(TickRateTest, AClockThatStandsStillGivesNoneAndTheMeasurementEnds) {
  machine.isClockStill = true;
  EXPECT_EQ(measure(), 0);
}

INSTANTIATE_TEST_SUITE_P(Rates, TickRateTest, ::testing::Values(1, 10, 19.2, 24, 54, 512, 1000, 2500, 5000));

TEST(TickRate, WhatTheProcessorTellsCountsIfTheMeasurementAgrees) {
  EXPECT_EQ(tickRateOf(24, 24.3, 25), 24);
  EXPECT_EQ(tickRateOf(2500, 2400, 2000), 2500);
  EXPECT_EQ(tickRateOf(0, 24.3, 25), 24.3);
  EXPECT_EQ(tickRateOf(1000, 24.3, 25), 24.3);
  EXPECT_EQ(tickRateOf(12, 24.3, 25), 24.3);
}

TEST(TickRate, WithoutAMeasurementTheGuessCounts) {
  EXPECT_EQ(tickRateOf(0, 0, 25), 25);
  EXPECT_EQ(tickRateOf(1000, 0, 25), 25);
}

TEST(TickRate, ASlowCounterIsTooSlowToMeasure) {
  machine = FakeMachine();
  machine.perMicrosecond = 0.032768;
  EXPECT_EQ(TickRateMeter<FakeClock>::measure(), 0);
}

// Both measurements are wrong by a sixteenth at most, however long this thread is kept from running.
TEST(TickRate, ASchedulerHasMeasuredTheMachinesCounter) {
  const Scheduler scheduler{Scheduler::Config()};
  const double rate = ticksPerMicrosecond();
  EXPECT_GT(rate, 0);
  const double measured = areTicksSteady() ? TickRateMeter<MachineClock>::measure() : 0;
  if (measured != 0 && rate != double{port::kTicksPerMicrosecond}) {  // else one of the two gave up
    EXPECT_NEAR(measured, rate, rate / 7);
  }
  calibrateTicks();
  EXPECT_EQ(ticksPerMicrosecond(), rate) << "it is measured once";
}

TEST(TickRate, ReadingsThatAreTooCloseToEachOtherTakeThePortsGuess) {
  const ClockReading reading{1'000, 1'000};
  EXPECT_EQ(nanosecondsPerTick(reading, reading), 1000.0 / double{port::kTicksPerMicrosecond});
}

TEST(TickRate, TicksAndMicrosecondsAreEachOthersInverse) {
  for (const uint64_t microseconds : {1, 2, 100, 3'000, 70'000, 1'000'000}) {
    const auto expected = static_cast<float>(microseconds);
    EXPECT_NEAR(microsecondsIn(ticksIn(microseconds)), expected, expected / 100 + 1 / ticksPerMicrosecond());
  }
}

}  // namespace
}  // namespace weft::inline v0_1::detail
