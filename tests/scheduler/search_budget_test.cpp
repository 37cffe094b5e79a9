// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/search_budget.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace weft::detail {
namespace {

using namespace std::chrono_literals;
using Duration = SearchBudget::Duration;

constexpr Duration kLongest = 200us;

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
      if (gap >= budget.length()) {
        sum.inVain += budget.length();
        ++sum.numSlept;
        budget.noteVain();
      }
      budget.noteWork(gap);
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
  ASSERT_EQ(budget.length(), SearchBudget::kShortest);
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
  EXPECT_LT(sum.inVain, sum.all / 5);
}

TEST(SearchBudgetTest, GoesOnWithLongSearchesThatMostlySucceed) {
  SearchBudget budget(kLongest);
  const Requests sum = request(budget, {80us, 80us, 80us, 80us, 80us, 80us, 80us, 80us, 80us, 2ms}, 1000);
  EXPECT_LT(sum.numSlept, 5000);
}

// Each time that it gives its processor away, a program that computes takes it.
TEST(SearchBudgetTest, KeepsItsProcessorBesideAProgramThatComputes) {
  SearchBudget budget(kLongest);
  int numTakenAway = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (budget.yields()) {
      ++numTakenAway;
      budget.noteTakenAway();
    }
    budget.noteWork(50us);
  }
  EXPECT_LT(numTakenAway, 25);
  // It is gone.
  request(budget, {50us}, 1100);
  EXPECT_TRUE(budget.yields());
  EXPECT_EQ(budget.length(), 100us);
}

TEST(SearchBudgetTest, NeverSearchesForLongerThanTheLongest) {
  for (const Duration longest : {0us, 2us, 1000us}) {
    SearchBudget budget(longest);
    for (int gap = 0; gap < 2000; gap += 7) {
      request(budget, {std::chrono::microseconds(gap)}, 3);
      ASSERT_LE(budget.length(), longest);
    }
  }
}

}  // namespace
}  // namespace weft::detail
