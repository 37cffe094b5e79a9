// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/histogram.h>

#include <chrono>
#include <cstddef>

#include <gtest/gtest.h>

#include <weft/scheduler.h>

#include "scheduler/worker/duration_counter.h"

namespace weft {
namespace {

using std::chrono::nanoseconds;

TEST(HistogramTest, EachBucketBeginsWhereTheOneBeforeEnds) {
  EXPECT_EQ(Histogram::bucketOf(nanoseconds(-1)), 0u);
  EXPECT_EQ(Histogram::bucketOf(nanoseconds(0)), 0u);
  for (size_t i = 0; i + 1 < Histogram::kBuckets; ++i) {
    EXPECT_LT(Histogram::bound(i), Histogram::bound(i + 1));
    EXPECT_EQ(Histogram::bucketOf(Histogram::bound(i) - nanoseconds(1)), i);
    EXPECT_EQ(Histogram::bucketOf(Histogram::bound(i)), i + 1);
  }
  EXPECT_EQ(Histogram::bucketOf(nanoseconds::max()), Histogram::kBuckets - 1);
}

TEST(HistogramTest, ABucketIsAtMostAThirdAsWideAsItsBound) {
  for (size_t i = 2; i + 1 < Histogram::kBuckets; ++i) {
    EXPECT_LE((Histogram::bound(i) - Histogram::bound(i - 1)) * 3, Histogram::bound(i)) << i;
  }
  EXPECT_EQ(Histogram::bound(0), nanoseconds(64));
  EXPECT_GT(Histogram::bound(Histogram::kBuckets - 2), std::chrono::minutes(3));
}

TEST(HistogramTest, TheStatisticsHaveOneOfEachWorker) {
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1));
  size_t numBuckets = 0;
  const auto print = [&](nanoseconds, uint64_t count) { numBuckets += count == 0 ? 1 : 0; };
  const weft::Histogram delays = scheduler.stats().workers[0].wakeDelays;
  for (size_t i = 0; i < weft::Histogram::kBuckets; ++i) {
    print(weft::Histogram::bound(i), delays.counts[i]);
  }
  EXPECT_EQ(numBuckets, weft::Histogram::kBuckets);
}

TEST(HistogramTest, CountsDurations) {
  detail::DurationCounter counter;
  counter.add(nanoseconds(10));
  counter.add(nanoseconds(1000));
  counter.add(nanoseconds(900));
  const Histogram seen = counter.get();
  EXPECT_EQ(seen.count(), 3u);
  EXPECT_EQ(seen.sum, nanoseconds(1910));
  EXPECT_EQ(seen.longest, nanoseconds(1000));
  EXPECT_EQ(seen.counts[0], 1u);
  EXPECT_EQ(seen.counts[Histogram::bucketOf(nanoseconds(1000))], 2u);
}

}  // namespace
}  // namespace weft
