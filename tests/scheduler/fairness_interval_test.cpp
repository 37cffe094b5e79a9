// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/fairness_interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

// When others have their turn, by counts of dequeues and by a clock that the test sets: without a worker.
namespace weft::inline v0_1::detail {
namespace {

class FairnessIntervalTest : public ::testing::Test {
 protected:
  using Ticks = FairnessInterval::Ticks;

  // As after some short dequeues and a turn.
  void SetUp() override {
    for (int i = 0; i < 5; ++i) {
      dequeuesUntilTurn();
    }
    numPolls_ = 0;
  }

  // Counts a dequeue, with a poll where it is time. `hasExpired`: a timer is found due there. What is
  // dequeued then takes `length` ticks. Returns: whether others had their turn.
  bool dequeue(bool hasExpired = false, Ticks length = 0) {
    const bool isTurn = --untilPoll_ == 0 && poll(hasExpired);
    const bool isOthers = isTurn && areOthersWaiting_;
    now_ += isOthers ? outsideLength_ : length;
    outsideTime_ += isOthers ? outsideLength_ : 0;
    return isTurn;
  }

  // Returns: the number of dequeues up to the next turn.
  uint32_t dequeuesUntilTurn(Ticks length = 0) {
    uint32_t count = 1;
    while (!dequeue(false, length)) {
      ++count;
    }
    return count;
  }

  // Tasks from outside always wait, each of which takes `length`.
  void saturate(Ticks length) {
    areOthersWaiting_ = true;
    outsideLength_ = length;
  }
  // Returns: the share of others, in percent, of so many dequeues that take `length` unless they are others'.
  double percentOfOthers(int dequeues, Ticks length) {
    const Ticks begin = now_;
    outsideTime_ = 0;
    for (int i = 0; i < dequeues; ++i) {
      dequeue(false, length);
    }
    return 100.0 * static_cast<double>(outsideTime_) / static_cast<double>(now_ - begin);
  }

  FairnessInterval& turns() { return fairness_; }
  void sleep(Ticks length) {
    now_ += length;
    fairness_.restart(now_);
  }
  uint32_t numPolls() const { return numPolls_; }
  uint32_t numLooks() const { return numLooks_; }  // into the reactor
  // As Worker does when a timer is set.
  void setTimer() {
    isTimerSet_ = true;
    fairness_.pollAtEachDequeue();
  }
  // As Worker does when a fiber begins to wait for I/O.
  void awaitReactor() {
    isReactorAwaited_ = true;
    fairness_.pollWithin(FairnessInterval::kReactorInterval);
  }

 private:
  bool poll(bool hasExpired) {
    ++numPolls_;
    fairness_.notePoll(now_);
    if (isReactorAwaited_ && fairness_.isReactorsTurn(FairnessInterval::kReactorInterval)) {
      ++numLooks_;
    }
    const bool isTurn = fairness_.beginTurn(hasExpired);
    if (isTurn && areOthersWaiting_) {
      fairness_.endTurn(true);
    } else if (isTurn) {
      fairness_.passOver();
    }
    fairness_.endPoll(isTimerSet_, isReactorAwaited_);
    return isTurn;
  }

  uint32_t untilPoll_ = 0;
  Ticks now_ = 1'000'000'000;
  FairnessInterval fairness_{untilPoll_, now_};
  bool areOthersWaiting_ = false;
  Ticks outsideLength_ = 0;
  Ticks outsideTime_ = 0;
  bool isTimerSet_ = false;
  bool isReactorAwaited_ = false;
  uint32_t numPolls_ = 0;
  uint32_t numLooks_ = 0;
};

TEST_F(FairnessIntervalTest, OthersHaveOneTurnInAnInterval) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(dequeuesUntilTurn(), FairnessInterval::kInterval);
  }
  EXPECT_EQ(numPolls(), 3u);
}

TEST_F(FairnessIntervalTest, WhileATimerIsSetThereIsAPollAtEachDequeueAndTheTurnsComeAsBefore) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(dequeue());
  }
  setTimer();
  EXPECT_EQ(dequeuesUntilTurn(), FairnessInterval::kInterval - 20);
  EXPECT_EQ(numPolls(), FairnessInterval::kInterval - 20);
  EXPECT_EQ(dequeuesUntilTurn(), FairnessInterval::kInterval);
}

TEST_F(FairnessIntervalTest, WhileFibersWaitForIoTheReactorHasOneOf16DequeuesAndTheTurnsComeAsBefore) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(dequeue());
  }
  awaitReactor();
  EXPECT_EQ(dequeuesUntilTurn(), FairnessInterval::kInterval - 20);
  EXPECT_EQ(numLooks(), 2u);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(dequeuesUntilTurn(), FairnessInterval::kInterval);
  }
  EXPECT_EQ(numLooks(), 2 + FairnessInterval::kInterval);
}

TEST_F(FairnessIntervalTest, WhereDequeuesAreLongTheReactorIsLookedAtInTime) {
  awaitReactor();
  percentOfOthers(200, ticksIn(FairnessInterval::kSlice));
  const uint32_t before = numLooks();
  percentOfOthers(100, ticksIn(FairnessInterval::kSlice));
  EXPECT_GE(numLooks() - before, 99u);
}

// Each of these polls is a dequeue, and a look would make it many times dearer.
TEST_F(FairnessIntervalTest, WithATimerToTheReactorIsLookedAtAsSeldomAsWithoutOne) {
  awaitReactor();
  setTimer();
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(dequeuesUntilTurn(), FairnessInterval::kInterval);
  }
  EXPECT_EQ(numPolls(), 16 * FairnessInterval::kInterval);
  EXPECT_NEAR(numLooks(), FairnessInterval::kInterval, 3);
}

TEST_F(FairnessIntervalTest, ATurnWaitsForADueTimerOnceOnly) {
  for (uint32_t i = 1; i < FairnessInterval::kInterval; ++i) {
    EXPECT_FALSE(dequeue());
  }
  EXPECT_FALSE(dequeue(true)) << "the timer's fiber is first";
  EXPECT_TRUE(dequeue(true)) << "another timer does not put it off again";
  EXPECT_EQ(dequeuesUntilTurn(), FairnessInterval::kInterval);
}

TEST_F(FairnessIntervalTest, OthersTakeTurns) {
  std::vector<FairnessInterval::Whose> whose;
  for (int i = 0; i < 2 * FairnessInterval::kNumWhose; ++i) {
    whose.push_back(turns().next());
  }
  EXPECT_TRUE(std::equal(whose.begin(), whose.begin() + FairnessInterval::kNumWhose,
                         whose.begin() + FairnessInterval::kNumWhose));
  EXPECT_EQ(std::count(whose.begin(), whose.end(), FairnessInterval::Whose::FromOutside), 2);
  EXPECT_EQ(std::count(whose.begin(), whose.end(), FairnessInterval::Whose::Oldest), 2);
  EXPECT_EQ(std::count(whose.begin(), whose.end(), FairnessInterval::Whose::Stranded), 2);
}

TEST_F(FairnessIntervalTest, ATurnThatIsPutOffComesNext) {
  turns().putOff();
  turns().endPoll(false, false);
  EXPECT_EQ(dequeuesUntilTurn(), 1u);
  EXPECT_EQ(dequeuesUntilTurn(), FairnessInterval::kInterval);
}

// A step is shorter than the time between two turns, as long, or many times as long.
TEST_F(FairnessIntervalTest, OthersHaveAnEighthOfTheTimeHoweverLongTheStepsAre) {
  for (const uint64_t step : {1u, 100u, 1'000u}) {
    for (const uint64_t others : {1u, 100u, 1'000u}) {
      saturate(ticksIn(others));
      percentOfOthers(1'000, ticksIn(step));
      const double percent = percentOfOthers(100'000, ticksIn(step));
      const auto most = static_cast<double>(FairnessInterval::kInterval * others);  // in a row
      EXPECT_GE(percent, std::min(100.0 / 8, 100.0 * most / (most + static_cast<double>(step))) * 0.98)
          << step << " us beside " << others << " us";
      // One of 61 dequeues is theirs in any case.
      EXPECT_LE(percent, std::max(100.0 / 8, 100.0 * static_cast<double>(others) /
                                                 static_cast<double>(others + 60 * step)) +
                             3)
          << step << " us beside " << others << " us";
    }
  }
}

TEST_F(FairnessIntervalTest, WhereStepsAreLongALoneTaskFromOutsideWaitsForTwoOfThem) {
  for (const uint64_t step : {1'000u, 50'000u}) {
    percentOfOthers(200, ticksIn(step));  // nobody waits
    saturate(ticksIn(1));
    EXPECT_LE(dequeuesUntilTurn(ticksIn(step)), 2u) << step << " us";
  }
}

TEST_F(FairnessIntervalTest, WhereStepsBecomeLongTheyAreNoticedWithinAnInterval) {
  percentOfOthers(1'000, ticksIn(1) / 10);
  saturate(ticksIn(1));
  EXPECT_LE(dequeuesUntilTurn(ticksIn(1'000)), FairnessInterval::kInterval);
  EXPECT_LE(dequeuesUntilTurn(ticksIn(1'000)), 1u);
}

TEST_F(FairnessIntervalTest, ShortStepsArePolledEach61AndLongOnesEach) {
  percentOfOthers(1'000, ticksIn(1) / 10);
  EXPECT_EQ(turns().numInSlice(), FairnessInterval::kInterval);
  percentOfOthers(1'000, ticksIn(10));
  EXPECT_GE(turns().numInSlice(), 5u);
  EXPECT_LE(turns().numInSlice(), 10u);
  percentOfOthers(1'000, ticksIn(1'000));
  EXPECT_EQ(turns().numInSlice(), 1u);
  percentOfOthers(1'000, ticksIn(1) / 10);
  EXPECT_EQ(turns().numInSlice(), FairnessInterval::kInterval);
}

// As in a server whose connections have time limits: then there is a poll at each dequeue.
TEST_F(FairnessIntervalTest, WhereStepsAreShortAgainTheSliceGrowsBesideATimerToo) {
  setTimer();
  percentOfOthers(10, ticksIn(1'000));
  EXPECT_EQ(turns().numInSlice(), 1u);
  percentOfOthers(1'000, ticksIn(1) / 10);
  EXPECT_EQ(turns().numInSlice(), FairnessInterval::kInterval);
}

TEST_F(FairnessIntervalTest, AfterASleepASliceIsWhatItWas) {
  percentOfOthers(1'000, ticksIn(1) / 10);
  sleep(ticksIn(1'000'000));
  EXPECT_EQ(turns().numInSlice(), FairnessInterval::kInterval);
  percentOfOthers(1'000, ticksIn(1'000));
  sleep(ticksIn(1'000'000));
  EXPECT_EQ(turns().numInSlice(), 1u);
}

// A task from outside may take hours. The next one does not wait for seven times as long.
TEST_F(FairnessIntervalTest, AVeryLongTaskFromOutsideIsNotHeldAgainstTheNext) {
  saturate(ticksIn(3'600'000'000));
  dequeuesUntilTurn(ticksIn(1'000));
  saturate(ticksIn(1'000));
  EXPECT_LE(dequeuesUntilTurn(ticksIn(2'000)), 61u);
}

TEST_F(FairnessIntervalTest, TheTimeOfASleepIsNobodys) {
  dequeuesUntilTurn(ticksIn(1) / 10);
  sleep(ticksIn(1'000'000));
  EXPECT_EQ(dequeuesUntilTurn(ticksIn(1) / 10), FairnessInterval::kInterval);
}

TEST_F(FairnessIntervalTest, NeitherIsItThatOfTheOthersWhoRanBefore) {
  saturate(ticksIn(10));
  dequeuesUntilTurn(ticksIn(1'000));
  sleep(ticksIn(1'000'000));
  EXPECT_LE(dequeuesUntilTurn(ticksIn(1'000)), 3u);
}

TEST_F(FairnessIntervalTest, LongStepsAfterASleepAreNoticedAtOnce) {
  saturate(ticksIn(1));
  sleep(ticksIn(1'000'000));
  // The first poll is before the first step.
  EXPECT_LE(dequeuesUntilTurn(ticksIn(1'000)), 3u);
}

// A task that had a turn may go on for long, with dequeues of its own. Only the time up to the next poll is
// booked as that of others.
TEST_F(FairnessIntervalTest, WhatATaskFromOutsideDoesAfterThePollIsNotHeldAgainstTheNext) {
  saturate(ticksIn(1'000));
  dequeuesUntilTurn(ticksIn(1'000));
  int numTurns = 0;
  for (int i = 0; i < 100; ++i) {
    turns().notePoll(turns().now() + ticksIn(1'000));
    numTurns += turns().isTurn() ? 1 : 0;
    if (turns().isTurn()) {
      turns().passOver();
    }
    turns().endPoll(false, false);
  }
  EXPECT_GE(numTurns, 50);
}

TEST_F(FairnessIntervalTest, OthersHave61TurnsInARowAtMost) {
  saturate(1);
  uint32_t most = 0, row = 0;
  for (int i = 0; i < 1'000; ++i) {
    row = dequeue(false, ticksIn(50'000)) ? row + 1 : 0;
    most = std::max(most, row);
  }
  EXPECT_EQ(most, FairnessInterval::kInterval);
}

// What others did not use is no burst later.
TEST_F(FairnessIntervalTest, OthersSaveNothingUpWhileNobodyWaits) {
  percentOfOthers(1'000, ticksIn(1'000));
  saturate(ticksIn(1'000));
  int most = 0, row = 0;
  for (int i = 0; i < 1'000; ++i) {
    row = dequeue(false, ticksIn(1'000)) ? row + 1 : 0;
    most = std::max(most, row);
  }
  EXPECT_LE(most, 1);
}

TEST(WindowTest, IsOverOnceInItsLength) {
  Window window(100);
  const uint64_t now = 1'000;
  EXPECT_TRUE(window.hasPassed(now));
  EXPECT_FALSE(window.hasPassed(now + 99));
  EXPECT_TRUE(window.hasPassed(now + 100));
  EXPECT_FALSE(window.hasPassed(now + 199));
  EXPECT_TRUE(window.hasPassed(now + 1'000));
}

}  // namespace
}  // namespace weft::inline v0_1::detail
