// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/throttle.h"

#include <gtest/gtest.h>

// How many tasks a worker may start beside its blocked fibers: without a worker.
namespace weft::inline v0_1::detail {
namespace {

using Others = Throttle::Others;

constexpr uint64_t kMany = 1025;  // one more blocked fiber than need no thought

// That whose last task has blocked at once.
struct ThrottleInARow : Throttle {
  ThrottleInARow() : Throttle(true) { noteBlockedAtOnce(); }
};

TEST(ThrottleTest, OnlyARowOfTasksThatBlockAtOnceMayBeHeldBack) {
  ThrottleInARow throttle;
  EXPECT_TRUE(throttle.mayHold(kMany));
  EXPECT_FALSE(throttle.mayHold(kMany - 1));
  throttle.noteEnded();
  EXPECT_FALSE(throttle.mayHold(kMany));
}

TEST(ThrottleTest, ALoneWorkerIsNotHeldBack) {
  Throttle alone(false);
  alone.noteBlockedAtOnce();
  EXPECT_FALSE(alone.mayHold(kMany));
}

TEST(ThrottleTest, FibersThatWaitForIoAreNotCounted) {
  ThrottleInARow throttle;
  throttle.beginIo();
  throttle.beginIo();
  EXPECT_FALSE(throttle.mayHold(kMany + 1));
  EXPECT_TRUE(throttle.mayHold(kMany + 2));
  throttle.endIo();
  EXPECT_TRUE(throttle.mayHold(kMany + 1));
}

TEST(ThrottleTest, AHoldGoesOnUntilItsEndWhereNoFiberEnds) {
  ThrottleInARow throttle;
  ASSERT_TRUE(throttle.beginHold(kMany, 0));
  const TimePoint end = throttle.end();
  ASSERT_TRUE(throttle.beginHold(kMany, 0));
  EXPECT_EQ(throttle.end(), end);
}

TEST(ThrottleTest, WhereFibersHaveEndedAFewTasksStart) {
  ThrottleInARow throttle;
  ASSERT_TRUE(throttle.beginHold(kMany, 10));
  throttle.endHold(kMany, 11, false, Others::Run);
  EXPECT_FALSE(throttle.beginHold(kMany + 4, 11));
  EXPECT_TRUE(throttle.beginHold(kMany + 5, 11));
}

TEST(ThrottleTest, AReadyFiberIsAsGoodAsOneThatHasEnded) {
  ThrottleInARow throttle;
  ASSERT_TRUE(throttle.beginHold(kMany, 10));
  throttle.endHold(kMany, 10, true, Others::AllWait);
  EXPECT_TRUE(throttle.beginHold(kMany + 5, 10));
}

TEST(ThrottleTest, AfterAHoldInVainMoreStart) {
  ThrottleInARow throttle;
  ASSERT_TRUE(throttle.beginHold(kMany, 0));
  throttle.endHold(kMany, 0, false, Others::Run);
  EXPECT_FALSE(throttle.beginHold(kMany + 128, 0));
  EXPECT_TRUE(throttle.beginHold(kMany + 129, 0));
}

TEST(ThrottleTest, WhereAllOtherWorkersWaitTooAsManyStartAgain) {
  ThrottleInARow throttle;
  ASSERT_TRUE(throttle.beginHold(kMany, 0));
  throttle.endHold(kMany, 0, false, Others::AllWait);
  EXPECT_FALSE(throttle.beginHold(2 * kMany, 0));
  EXPECT_TRUE(throttle.beginHold(2 * kMany + 1, 0));
}

TEST(ThrottleTest, EachWakeFromElsewhereLetsEightTasksStart) {
  ThrottleInARow throttle;
  throttle.noteForeignWakes(2);
  EXPECT_FALSE(throttle.beginHold(kMany - 1 + 16, 0));
  EXPECT_TRUE(throttle.beginHold(kMany + 16, 0));
}

TEST(ThrottleTest, TheLimitComesDownAgainWithTheBlockedFibers) {
  ThrottleInARow throttle;
  throttle.noteForeignWakes(100'000);
  EXPECT_FALSE(throttle.beginHold(kMany, 0));
  EXPECT_TRUE(throttle.beginHold(4 * kMany + 1, 0));
}

}  // namespace
}  // namespace weft::inline v0_1::detail
