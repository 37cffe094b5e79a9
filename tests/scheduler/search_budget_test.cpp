// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/search_budget.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

thread_local int numSchedYields = 0;

}  // namespace

// Instead of libc's, for the whole program.
extern "C" int sched_yield() noexcept {
  ++numSchedYields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

namespace weft::inline v0_1::detail {
namespace {

using namespace std::chrono_literals;
using Duration = SearchBudget::Duration;

constexpr Duration kLongest = 200us;
constexpr TimePoint kBegin{1h};

struct Requests {
  Duration inVain{0};  // time spent in searches that found nothing
  Duration all{0};
  int numSlept = 0;
};

// Work comes at these gaps, again and again, to a thread that searches and then sleeps.
Requests request(SearchBudget& budget, const std::vector<Duration>& gaps, int rounds) {
  Requests sum;
  for (int round = 0; round < rounds; ++round) {
    for (const Duration gap : gaps) {
      sum.all += gap;
      if (gap >= budget.length(kBegin)) {
        sum.inVain += budget.length(kBegin);
        ++sum.numSlept;
        budget.recordMiss(kBegin);
      }
      budget.recordGap(gap);
    }
  }
  return sum;
}

TEST(SearchBudgetTest, StaysAwakeWhereWorkComesAtShortGaps) {
  for (const Duration gap : {10us, 50us, 100us}) {
    SearchBudget budget(kLongest);
    EXPECT_LE(request(budget, {gap}, 1000).numSlept, 3) << gap.count();
  }
}

TEST(SearchBudgetTest, LearnsFromGapsThatItSleptThrough) {
  SearchBudget budget(kLongest);
  request(budget, {10ms}, 100);
  ASSERT_EQ(budget.length(kBegin), SearchBudget::kShortest);
  EXPECT_LE(request(budget, {80us}, 1000).numSlept, 2);
}

TEST(SearchBudgetTest, SearchesBrieflyWhereWorkIsSparse) {
  for (const Duration gap : {500us, 1000us}) {
    SearchBudget budget(kLongest);
    request(budget, {20us}, 100);
    const Requests sum = request(budget, {gap}, 1000);
    EXPECT_LT(sum.inVain, sum.all / 50) << gap.count();
  }
}

TEST(SearchBudgetTest, GivesUpLongSearchesThatMostlyFail) {
  SearchBudget budget(kLongest);
  const Requests sum = request(budget, {100us, 300us}, 1000);
  EXPECT_LT(sum.inVain, sum.all / 20);
}

TEST(SearchBudgetTest, GoesOnWithLongSearchesThatMostlySucceed) {
  SearchBudget budget(kLongest);
  const Requests sum = request(budget, {80us, 80us, 80us, 80us, 80us, 80us, 80us, 80us, 80us, 2ms}, 1000);
  EXPECT_LT(sum.numSlept, 5000);
}

// As they come from independent sources.
std::vector<Duration> randomGaps(Duration mean) {
  std::mt19937 random(1);
  std::vector<Duration> gaps(20'000);
  for (Duration& gap : gaps) {
    const double part = (static_cast<double>(random()) + 1) / 4'294'967'296.0;
    gap = Duration(static_cast<int64_t>(-std::log(part) * static_cast<double>(mean.count())));
  }
  return gaps;
}

TEST(SearchBudgetTest, StaysAwakeThroughMostRandomGapsOfHalfTheLongestSearch) {
  SearchBudget budget(kLongest);
  EXPECT_LT(request(budget, randomGaps(100us), 1).numSlept, 10'000);
}

TEST(SearchBudgetTest, SearchesLittleWhereRandomGapsAreLongerThanTheLongestSearch) {
  SearchBudget budget(kLongest);
  const Requests sum = request(budget, randomGaps(300us), 1);
  EXPECT_LT(sum.inVain, sum.all / 30);
}

TEST(SearchBudgetTest, GivesItsProcessorAwayBetweenAnyTwoLooks) {
  SearchBudget budget(kLongest);
  TimePoint now = TimePoint::clock::now();
  numSchedYields = 0;
  budget.giveWay(now, true);
  EXPECT_EQ(numSchedYields, 1);
  // Long searches do not pay.
  request(budget, {100us, 300us}, 100);
  budget.giveWay(now, true);
  EXPECT_EQ(numSchedYields, 2);
  budget.giveWay(now, false);
  EXPECT_EQ(numSchedYields, 2);
}

TEST(SearchBudgetTest, SearchesNoFurtherOnceTheProcessorWasTakenAway) {
  SearchBudget budget(kLongest);
  EXPECT_TRUE(budget.recordLooks(kBegin, kBegin + SearchBudget::kTakenAway - 1ns));
  EXPECT_FALSE(budget.recordLooks(kBegin, kBegin + SearchBudget::kTakenAway));
}

TEST(SearchBudgetTest, SleepsAtOnceForAWhileAfterALossThatNothingPaid) {
  SearchBudget budget(kLongest);
  request(budget, {50us}, 10);
  budget.recordLooks(kBegin, kBegin + 4ms);
  const TimePoint end = kBegin + 4ms + 4 * 4ms;
  EXPECT_EQ(budget.length(kBegin + 4ms), 0us);
  // The single looks that it takes meanwhile neither shorten the searches that follow nor lengthen the rest.
  budget.recordMiss(end - 2ns);
  budget.recordLooks(end - 2ns, end + 10ms);
  EXPECT_EQ(budget.length(end - 1ns), 0us);
  EXPECT_EQ(budget.length(end), 100us);
}

TEST(SearchBudgetTest, SearchesOnAfterALossThatSearchesHavePaid) {
  SearchBudget budget(kLongest);
  for (int i = 0; i < 4ms / SearchBudget::kSaved; ++i) {
    budget.recordHit(50us);
  }
  budget.recordLooks(kBegin, kBegin + 4ms);
  EXPECT_EQ(budget.length(kBegin + 4ms), 100us);
  // They pay once.
  budget.recordLooks(kBegin + 5ms, kBegin + 9ms);
  EXPECT_EQ(budget.length(kBegin + 9ms), 0us);
}

TEST(SearchBudgetTest, WhatTheFirstLookFindsPaysForNothing) {
  SearchBudget budget(kLongest);
  for (int i = 0; i < 1'000; ++i) {
    budget.recordHit(0us);
  }
  budget.recordLooks(kBegin, kBegin + 4ms);
  EXPECT_EQ(budget.length(kBegin + 4ms), 0us);
}

// Each time that it gives its processor away, a program that computes takes it.
TEST(SearchBudgetTest, LosesLittleTimeBesideAProgramThatComputes) {
  SearchBudget budget(kLongest);
  TimePoint now = kBegin;
  Duration lost{0};
  const auto passRequests = [&](auto duration) {
    for (const TimePoint end = now + duration; now < end; now += 50us) {
      if (budget.length(now) != 0us) {
        lost += 12ms;
        budget.recordLooks(now, now + 12ms);
        now += 12ms;
      }
      budget.recordGap(50us);
    }
  };
  passRequests(5s);
  lost = 0ms;
  passRequests(100s);
  EXPECT_LT(lost, 100'000ms / 60);
  // It is gone.
  now += 1s;
  EXPECT_EQ(budget.length(now), 100us);
}

TEST(SearchBudgetTest, NeverSearchesForLongerThanTheLongest) {
  for (const Duration longest : {0us, 2us, 1000us}) {
    SearchBudget budget(longest);
    for (int gap = 0; gap < 2000; gap += 7) {
      request(budget, {std::chrono::microseconds(gap)}, 3);
      ASSERT_LE(budget.length(kBegin), longest);
    }
  }
}

}  // namespace
}  // namespace weft::inline v0_1::detail
