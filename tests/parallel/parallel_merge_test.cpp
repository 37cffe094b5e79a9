// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "count_mallocs.h"
#include "in_task.h"
#include "waiting.h"

namespace weft::parallel_merge_test {
namespace {

using tests::inTask;

class ParallelMergeTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelMergeTest);

// A key, and where it comes from. Neither made without arguments, nor compared with its place.
struct Card {
  Card(int ofKey, int ofPlace) : key(ofKey), place(ofPlace) {}
  friend bool operator==(const Card&, const Card&) = default;
  int key;
  int place;
};

constexpr auto kByKey = [](const Card& a, const Card& b) { return a.key < b.key; };

std::vector<Card> sortedCards(std::mt19937& random, int size, int maxKey, int firstPlace) {
  std::vector<int> keys(static_cast<size_t>(size));
  for (int& key : keys) {
    key = std::uniform_int_distribution<>(0, maxKey)(random);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Card> cards;
  for (const int key : keys) {
    cards.emplace_back(key, firstPlace++);
  }
  return cards;
}

void compareWithSerialMerges() {
  std::mt19937 random(4711);
  constexpr int kSecond = 1'000'000;
  for (const int maxKey : {0, 10, 1'000'000}) {
    for (const auto& [most, mostOfSecond] :
         {std::pair(0, 5), {5, 0}, {40, 40}, {20'000, 3}, {3, 20'000}, {20'000, 20'000}, {50'000, 7'000}}) {
      const auto first = sortedCards(random, std::uniform_int_distribution<>(0, most)(random), maxKey, 0);
      const auto second = sortedCards(random, mostOfSecond, maxKey, kSecond);
      std::vector<Card> expected, out(first.size() + second.size(), Card(-1, -1));
      std::merge(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(expected),
                 kByKey);
      EXPECT_EQ(parallelMerge(first, second, out.begin(), kByKey), out.end());
      EXPECT_EQ(out, expected);
    }
  }
}

TEST_P(ParallelMergeTest, MergesAsTheStandardLibraryDoesAndIsStable) {
  compareWithSerialMerges();
  inTask(compareWithSerialMerges);
}

TEST(ParallelMergeUnboundTest, MergesWhereNoSchedulerIsBound) { compareWithSerialMerges(); }

TEST_P(ParallelMergeTest, MovesWhatCannotBeCopied) {
  using Number = std::unique_ptr<int>;
  const auto less = [](const Number& a, const Number& b) { return *a < *b; };
  inTask([&] {
    constexpr int kSize = 20'000;
    std::vector<Number> even, odd, all(2 * kSize);
    for (int i = 0; i < kSize; ++i) {
      even.push_back(std::make_unique<int>(2 * i));
      odd.push_back(std::make_unique<int>(2 * i + 1));
    }
    const auto moved = [](auto at) { return std::make_move_iterator(at); };
    parallelMerge(moved(even.begin()), moved(even.end()), moved(odd.begin()), moved(odd.end()), all.begin(),
                  less);
    for (int i = 0; i < 2 * kSize; ++i) {
      ASSERT_EQ(*all[static_cast<size_t>(i)], i);
    }
  });
}

TEST_P(ParallelMergeTest, TakesIteratorsNumbersArraysAndExecutors) {
  inTask([this] {
    int array[] = {1, 3, 5};
    const std::vector<int> vector{2, 3, 4};
    std::array<int, 6> out{};
    const auto expect = [&out](auto end, std::array<int, 6> expected) {
      EXPECT_EQ(&*(end - 1), &out.back());
      EXPECT_EQ(std::exchange(out, {}), expected);
    };
    expect(parallelMerge(array, vector, out.begin()), {1, 2, 3, 3, 4, 5});
    expect(parallelMerge(array, array + 3, vector.begin(), vector.end(), out.data()), {1, 2, 3, 3, 4, 5});
    expect(parallelMerge(irange(0, 3), vector, out.begin()), {0, 1, 2, 2, 3, 4});
    expect(parallelMerge(irange(9, 6, -1), irange(8, 5, -1), out.begin(), std::greater<>()),
           {9, 8, 8, 7, 7, 6});
    expect(parallelMerge(scheduler(), array, vector, out.begin()), {1, 2, 3, 3, 4, 5});
    expect(parallelMerge(inlineExecutor(), array, array + 3, vector.begin(), vector.end(), out.begin(),
                         std::less<>()),
           {1, 2, 3, 3, 4, 5});
  });
}

// The ranges have elements of two types, which are compared in one order only.
TEST_P(ParallelMergeTest, ComparesOneOfTheSecondWithOneOfTheFirst) {
  inTask([] {
    std::vector<Card> cards;
    std::vector<int> keys(20'000);
    std::iota(keys.begin(), keys.end(), 0);
    for (const int key : keys) {
      cards.emplace_back(key, 1);
    }
    struct Place {
      Place& operator=(const Card& card) {
        key = card.key;
        isCard = true;
        return *this;
      }
      Place& operator=(int of) {
        key = of;
        isCard = false;
        return *this;
      }
      int key;
      bool isCard;
    };
    std::vector<Place> out(2 * keys.size());
    parallelMerge(cards, keys, out.begin(), [](int key, const Card& card) { return key < card.key; });
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i].key, static_cast<int>(i / 2));
      ASSERT_EQ(out[i].isCard, i % 2 == 0);
    }
  });
}

TEST_P(ParallelMergeTest, ExceptionsArriveOnceNobodyMergesAnyMore) {
  inTask([] {
    std::vector<int> numbers(20'000);
    std::iota(numbers.begin(), numbers.end(), 0);
    for (const int thrower : {0, 10'000, 19'999}) {
      std::vector<int> out(2 * numbers.size(), -1);
      std::atomic<bool> hasEnded{false};
      const auto less = [&, thrower](int a, int b) {
        EXPECT_FALSE(hasEnded);
        return b == thrower ? throw std::runtime_error("less") : a < b;
      };
      EXPECT_THROW(parallelMerge(numbers, numbers, out.begin(), less), std::runtime_error);
      hasEnded = true;
      EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](int x) { return x >= -1 && x < 20'000; }));
    }
  });
}

TEST_P(ParallelMergeTest, CallsNoMallocInTheSteadyState) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "workers make their fibers when they first need them";
  }
  inTask([] {
    std::vector<int> numbers(20'000), out(40'000);
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto merge = [&] { parallelMerge(numbers, numbers, out.begin()); };
    merge();
    const auto before = tests::numMallocs();
    merge();
    EXPECT_EQ(tests::numMallocs(), before);
  });
}

}  // namespace
}  // namespace weft::parallel_merge_test
