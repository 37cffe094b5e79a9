// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/poll_pace.h"

#include <gtest/gtest.h>

// When the requests of a poll source are tested: without a source, at times that the tests choose.
namespace weft::inline v0_1::detail {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

struct PollPaceTest : testing::Test {
  // A round at `began` takes `cost`. Returns: how long after its end the next one comes.
  PollPace::Nanoseconds gapAfter(milliseconds began, microseconds cost, bool hasHappened = false) {
    const TimePoint from = TimePoint() + began;
    return pace.next(1, 1, from, from + cost, hasHappened) - (from + cost);
  }

  PollPace pace;
};

TEST_F(PollPaceTest, ARoundComesAfterAnEighthOfTheQuietTimeAndAMillisecondAtMost) {
  gapAfter(milliseconds(0), microseconds(0), true);
  EXPECT_EQ(gapAfter(milliseconds(4), microseconds(0)), microseconds(500));
  EXPECT_EQ(gapAfter(milliseconds(80), microseconds(0)), milliseconds(1));
}

TEST_F(PollPaceTest, RoundsThatTakeLongTakeA32ndOfAProcessor) {
  gapAfter(milliseconds(0), microseconds(100), true);
  EXPECT_EQ(gapAfter(milliseconds(80), microseconds(100)), microseconds(3200));
}

TEST_F(PollPaceTest, ARoundThatLostTheProcessorDoesNotPostponeTheNext) {
  gapAfter(milliseconds(0), microseconds(1), true);
  EXPECT_EQ(gapAfter(milliseconds(80), milliseconds(4)), milliseconds(1));
}

TEST_F(PollPaceTest, RequestsThatTakeLongerThanEarlierOnesAreMeasuredAnew) {
  gapAfter(milliseconds(0), microseconds(1), true);
  gapAfter(milliseconds(10), microseconds(100), true);
  EXPECT_EQ(gapAfter(milliseconds(80), microseconds(100)), microseconds(3200));
}

}  // namespace
}  // namespace weft::inline v0_1::detail
