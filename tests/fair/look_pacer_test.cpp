// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "fair/look_pacer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

// When a thread of a fair::TaskScheduler looks between two steps and when it retires, by a clock that the
// test sets: without a thread.
namespace weft::inline v0_1::detail {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

class LookPacerTest : public ::testing::Test {
 protected:
  // As FairWorker::next() and look(). Then a step runs, which takes `length`.
  // Returns: whether there was a look.
  bool step(nanoseconds length) {
    const bool isLook = pacer_.countStep();
    if (isLook) {
      numRetired_ += pacer_.noteLook(now_, numSteps_, isAlone_) ? 1 : 0;
    }
    ++numSteps_;
    now_ += length;
    return isLook;
  }
  // Returns: the number of steps from one look to the next.
  uint64_t stepsBetweenLooks(nanoseconds length) {
    while (!step(length)) {
    }
    uint64_t count = 1;
    while (!step(length)) {
      ++count;
    }
    return count;
  }
  int retirementsIn(int steps, nanoseconds length) {
    numRetired_ = 0;
    for (int i = 0; i < steps; ++i) {
      step(length);
    }
    return numRetired_;
  }
  void sleep(nanoseconds length) {
    now_ += length;
    pacer_.restart(now_, numSteps_);
  }
  LookPacer& pacer() { return pacer_; }
  TimePoint now() const { return now_; }
  void joinOthers() { isAlone_ = false; }
  void leaveOthers() { isAlone_ = true; }

 private:
  TimePoint now_{std::chrono::hours(1)};
  uint64_t numSteps_ = 0;
  bool isAlone_ = true;
  int numRetired_ = 0;
  LookPacer pacer_;
};

TEST_F(LookPacerTest, TheFirstStepIsPrecededByALook) { EXPECT_TRUE(step(10ns)); }

TEST_F(LookPacerTest, ShortStepsAreLookedAtEach64AndLongOnesEach) {
  stepsBetweenLooks(10ns);
  EXPECT_EQ(stepsBetweenLooks(10ns), LookPacer::kLookAfterSteps);
  stepsBetweenLooks(1us);
  EXPECT_EQ(stepsBetweenLooks(1us), 3u);
  stepsBetweenLooks(10us);
  EXPECT_EQ(stepsBetweenLooks(10us), 1u);
  stepsBetweenLooks(10ns);
  EXPECT_EQ(stepsBetweenLooks(10ns), LookPacer::kLookAfterSteps);
}

TEST_F(LookPacerTest, AfterASleepTheNextStepIsPrecededByALook) {
  stepsBetweenLooks(10ns);
  stepsBetweenLooks(10ns);
  sleep(1h);
  EXPECT_TRUE(step(10ns));
}

TEST_F(LookPacerTest, TheTimeOfASleepIsNoSteps) {
  stepsBetweenLooks(10ns);
  stepsBetweenLooks(10ns);
  sleep(1h);
  step(10ns);  // with a look, which sees no step yet
  EXPECT_EQ(stepsBetweenLooks(10ns), LookPacer::kLookAfterSteps);
}

TEST_F(LookPacerTest, AStepIsLongFromTwoMicrosecondsOn) {
  const uint64_t begin = 1'000'000'000;
  pacer().wasLong(begin);
  EXPECT_FALSE(pacer().wasLong(begin + ticksIn(2) - 1));
  EXPECT_TRUE(pacer().wasLong(begin + 2 * ticksIn(2) - 1)) << "it counts from the last call";
  EXPECT_FALSE(pacer().wasLong(begin + 2 * ticksIn(2)));
}

TEST_F(LookPacerTest, AThreadWithShortStepsBesideOthersRetiresAgainAndAgain) {
  joinOthers();
  const int numRetired = retirementsIn(100 * LookPacer::kFineStepsUntilRetired, 10ns);
  EXPECT_GE(numRetired, 99);
  EXPECT_LE(numRetired, 100);
}

TEST_F(LookPacerTest, AThreadAloneDoesNotRetire) { EXPECT_EQ(retirementsIn(10'000, 10ns), 0); }

TEST_F(LookPacerTest, AThreadWithLongerStepsDoesNotRetire) {
  joinOthers();
  retirementsIn(10, nanoseconds(LookPacer::kFineStepNs));  // the first look sees no step
  EXPECT_EQ(retirementsIn(10'000, nanoseconds(LookPacer::kFineStepNs)), 0);
}

// Less than two looks are between the times at which it is alone.
TEST_F(LookPacerTest, ShortStepsCountInARowOnly) {
  retirementsIn(1'000, 10ns);
  for (int i = 0; i < 100; ++i) {
    joinOthers();
    EXPECT_EQ(retirementsIn(LookPacer::kFineStepsUntilRetired / 2, 10ns), 0);
    leaveOthers();
    EXPECT_EQ(retirementsIn(LookPacer::kLookAfterSteps, 10ns), 0);
  }
}

TEST_F(LookPacerTest, AnIntakeHasAPauseOf20Microseconds) {
  step(10ns);
  EXPECT_TRUE(pacer().isIntakesTurn(now(), false));
  pacer().noteIntake(now());
  EXPECT_FALSE(pacer().isIntakesTurn(now() + LookPacer::kIntakePause - 1ns, false));
  EXPECT_TRUE(pacer().isIntakesTurn(now() + LookPacer::kIntakePause, false));
}

TEST_F(LookPacerTest, WhereStepsAreLongADeadlineOnItsWayEndsThePause) {
  stepsBetweenLooks(10us);
  stepsBetweenLooks(10us);
  pacer().noteIntake(now());
  EXPECT_TRUE(pacer().isIntakesTurn(now(), true));
  EXPECT_FALSE(pacer().isIntakesTurn(now(), false));
  stepsBetweenLooks(10ns);
  stepsBetweenLooks(10ns);
  pacer().noteIntake(now());
  EXPECT_FALSE(pacer().isIntakesTurn(now(), true)) << "the looks are less than the pause apart";
}

}  // namespace
}  // namespace weft::inline v0_1::detail
