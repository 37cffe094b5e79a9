// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/due_time.h"

#include <gtest/gtest.h>

#include <chrono>

namespace weft::detail {
namespace {

using Clock = TimePoint::clock;
using std::chrono::microseconds;

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

}  // namespace
}  // namespace weft::detail
