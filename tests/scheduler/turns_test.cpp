// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/turns.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

// When others have their turn, by counts of dequeues: without a worker.
namespace weft::detail {
namespace {

class TurnsTest : public ::testing::Test {
 protected:
  // Counts a dequeue, with a poll where it is time. `hasExpired`: a timer is found due there. Returns:
  // whether others had their turn.
  bool dequeue(bool hasExpired = false) {
    if (--untilPoll_ != 0) {
      return false;
    }
    ++numPolls_;
    const bool isTurn = turns_.beginPoll(hasExpired);
    if (isReactorAwaited_ && turns_.isReactorsTurn()) {
      ++numLooks_;
    }
    turns_.endPoll(isTimerSet_, isReactorAwaited_);
    return isTurn;
  }

  // Returns: the number of dequeues up to the next turn.
  uint32_t dequeuesUntilTurn() {
    uint32_t count = 1;
    while (!dequeue()) {
      ++count;
    }
    return count;
  }

  Turns& turns() { return turns_; }
  uint32_t numPolls() const { return numPolls_; }
  uint32_t numLooks() const { return numLooks_; }  // into the reactor
  // As Worker does when a timer is set.
  void setTimer() {
    isTimerSet_ = true;
    turns_.pollAtEachDequeue();
  }
  // As Worker does when a fiber begins to wait for I/O.
  void awaitReactor() {
    isReactorAwaited_ = true;
    turns_.pollWithin(Turns::kReactorInterval);
  }

 private:
  uint32_t untilPoll_ = 0;
  Turns turns_{untilPoll_};
  bool isTimerSet_ = false;
  bool isReactorAwaited_ = false;
  uint32_t numPolls_ = 0;
  uint32_t numLooks_ = 0;
};

TEST_F(TurnsTest, OthersHaveOneTurnInAnInterval) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(dequeuesUntilTurn(), Turns::kInterval);
  }
  EXPECT_EQ(numPolls(), 3u);
}

TEST_F(TurnsTest, WhileATimerIsSetThereIsAPollAtEachDequeueAndTheTurnsComeAsBefore) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(dequeue());
  }
  setTimer();
  EXPECT_EQ(dequeuesUntilTurn(), Turns::kInterval - 20);
  EXPECT_EQ(numPolls(), Turns::kInterval - 20);
  EXPECT_EQ(dequeuesUntilTurn(), Turns::kInterval);
}

TEST_F(TurnsTest, WhileFibersWaitForIoTheReactorHasOneOf16DequeuesAndTheTurnsComeAsBefore) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(dequeue());
  }
  awaitReactor();
  EXPECT_EQ(dequeuesUntilTurn(), Turns::kInterval - 20);
  EXPECT_EQ(numLooks(), 2u);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(dequeuesUntilTurn(), Turns::kInterval);
  }
  EXPECT_EQ(numLooks(), 2 + Turns::kInterval);
}

// Each of these polls is a dequeue, and a look would make it many times dearer.
TEST_F(TurnsTest, WithATimerToTheReactorIsLookedAtAsSeldomAsWithoutOne) {
  awaitReactor();
  setTimer();
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(dequeuesUntilTurn(), Turns::kInterval);
  }
  EXPECT_EQ(numPolls(), 16 * Turns::kInterval);
  EXPECT_NEAR(numLooks(), Turns::kInterval, 3);
}

TEST_F(TurnsTest, ATurnWaitsForADueTimerOnceOnly) {
  for (uint32_t i = 1; i < Turns::kInterval; ++i) {
    EXPECT_FALSE(dequeue());
  }
  EXPECT_FALSE(dequeue(true)) << "the timer's fiber is first";
  EXPECT_TRUE(dequeue(true)) << "another timer does not put it off again";
  EXPECT_EQ(dequeuesUntilTurn(), Turns::kInterval);
}

TEST_F(TurnsTest, TheOldestHasEach17thTurnAndOfThoseABoundThreadEachFourth) {
  std::vector<Turns::Whose> whose;
  for (uint32_t i = 0; i < 4 * Turns::kTurnsPerOldest; ++i) {
    EXPECT_EQ(turns().isOldestNext(), (i + 1) % Turns::kTurnsPerOldest == 0);
    whose.push_back(turns().next());
  }
  for (uint32_t i = 0; i < whose.size(); ++i) {
    const bool isOldest = (i + 1) % Turns::kTurnsPerOldest == 0;
    const bool isBoundThreads = i + 1 == whose.size();
    EXPECT_EQ(whose[i], isBoundThreads ? Turns::Whose::OldestOfBoundThread
                        : isOldest     ? Turns::Whose::OldestOwn
                                       : Turns::Whose::FromOutside)
        << "turn " << i;
  }
}

TEST_F(TurnsTest, ATurnThatGoesByCountsAndOneThatIsPutOffComesNext) {
  for (uint32_t i = 1; i < Turns::kTurnsPerOldest; ++i) {
    EXPECT_FALSE(turns().isOldestNext());
    turns().pass();
    turns().endPoll(false, false);
  }
  EXPECT_TRUE(turns().isOldestNext());
  turns().putOff();
  turns().endPoll(false, false);
  EXPECT_EQ(dequeuesUntilTurn(), 1u);
  EXPECT_TRUE(turns().isOldestNext()) << "what was put off does not count";
}

}  // namespace
}  // namespace weft::detail
