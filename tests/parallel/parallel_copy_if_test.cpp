// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <forward_list>
#include <iterator>
#include <list>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <weft/event.h>

#include "count_mallocs.h"
#include "in_task.h"
#include "live_objects.h"
#include "waiting.h"

namespace weft::parallel_copy_if_test {
namespace {

using tests::inTask;
using tests::LiveObject;

class ParallelCopyIfTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelCopyIfTest);

// Calls check(partition) with `range` in each way to split it.
template <class Range, class F>
void withEachPartition(Range& range, F&& check) {
  check(range);
  check(autoPartitioner(range));
  check(staticPartitioner(range));
  for (const std::ptrdiff_t grain : {1, 100, 1'000'000}) {
    check(autoPartitioner(range, grain));
    check(staticPartitioner(range, grain));
  }
}

// `size` numbers, of which one in `every` is 0.
std::vector<int> randomNumbers(std::mt19937& random, int size, int every) {
  std::vector<int> numbers(static_cast<size_t>(size));
  for (int place = 1; int& number : numbers) {
    number = std::uniform_int_distribution<>(1, every)(random) == 1 ? 0 : place;
    ++place;
  }
  return numbers;
}

constexpr auto kIsNoZero = [](int x) { return x != 0; };

void compareWithSerialCopies() {
  constexpr int kUntouched = -1;
  std::mt19937 random(20'011);
  for (const int every : {1, 2, 50, 1'000'000}) {
    for (const int most : {0, 3, 1000, 60'000}) {
      const int size = std::uniform_int_distribution<>(most / 2, most)(random);
      const std::vector<int> numbers = randomNumbers(random, size, every);
      std::vector<int> expected(numbers.size() + 1, kUntouched);
      const auto count =
          std::copy_if(numbers.begin(), numbers.end(), expected.begin(), kIsNoZero) - expected.begin();
      const auto check = [&](auto&& range) {
        std::vector<int> out(expected.size(), kUntouched);
        EXPECT_EQ(parallelCopyIf(range, out.begin(), kIsNoZero) - out.begin(), count);
        EXPECT_EQ(out, expected);
      };
      withEachPartition(numbers, check);
      check(std::list<int>(numbers.begin(), numbers.end()));
    }
  }
}

TEST_P(ParallelCopyIfTest, CopiesWhatTheStandardLibraryCopies) {
  compareWithSerialCopies();
  inTask(compareWithSerialCopies);
}

TEST(ParallelCopyIfUnboundTest, CopiesWhereNoSchedulerIsBound) { compareWithSerialCopies(); }

TEST_P(ParallelCopyIfTest, CallsThePredicateOnceForEachElement) {
  const auto copy = [] {
    constexpr int kSize = 40'000;
    const auto range = irange(0, kSize);
    withEachPartition(range, [](auto&& partition) {
      std::vector<std::atomic<int>> calls(kSize);
      std::vector<int> out(kSize);
      parallelCopyIf(partition, out.begin(), [&calls](int i) {
        ++calls[static_cast<size_t>(i)];
        return i % 3 == 0;
      });
      EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](const auto& each) { return each == 1; }));
    });
  };
  copy();
  inTask(copy);
}

// The first call waits for one that another thread makes.
TEST_P(ParallelCopyIfTest, SharesTheCallsOfThePredicate) {
  if (numWorkers() < 2) {
    GTEST_SKIP() << "nobody helps";
  }
  inTask([] {
    Event hasBegun;
    std::vector<int> out(2);
    const auto end = parallelCopyIf(staticPartitioner(irange(0, 2), 1), out.begin(), [&](int i) {
      i == 0 ? hasBegun.wait() : hasBegun.signal();
      return i == 1;
    });
    EXPECT_EQ(end - out.begin(), 1);
    EXPECT_EQ(out.front(), 1);
  });
}

TEST_P(ParallelCopyIfTest, MovesWhatCannotBeCopied) {
  using Number = std::unique_ptr<int>;
  const auto copy = [] {
    constexpr int kSize = 40'000;
    std::vector<Number> numbers, even(kSize / 2);
    for (int i = 0; i < kSize; ++i) {
      numbers.push_back(std::make_unique<int>(i));
    }
    const auto end =
        parallelCopyIf(std::make_move_iterator(numbers.begin()), std::make_move_iterator(numbers.end()),
                       even.begin(), [](const Number& number) { return *number % 2 == 0; });
    EXPECT_EQ(end, even.end());
    for (size_t i = 0; i < even.size(); ++i) {
      ASSERT_EQ(*even[i], static_cast<int>(2 * i));
      ASSERT_EQ(numbers[2 * i], nullptr);
      ASSERT_EQ(*numbers[2 * i + 1], static_cast<int>(2 * i + 1));
    }
  };
  copy();
  inTask(copy);
}

TEST_P(ParallelCopyIfTest, TakesIteratorsNumbersArraysAndExecutors) {
  inTask([this] {
    int array[] = {1, 2, 3, 4};
    const std::vector<int> vector{1, 2, 3, 4};
    std::array<int, 4> out{};
    const auto isEven = [](int x) { return x % 2 == 0; };
    const auto expect = [&out](auto end, std::array<int, 4> expected) {
      EXPECT_EQ(&*end, &out[2]);
      EXPECT_EQ(std::exchange(out, {}), expected);
    };
    expect(parallelCopyIf(array, out.begin(), isEven), {2, 4});
    expect(parallelCopyIf(array, array + 4, out.data(), isEven), {2, 4});
    expect(parallelCopyIf(vector.begin(), vector.end(), out.begin(), isEven), {2, 4});
    expect(parallelCopyIf(1, 5, out.begin(), isEven), {2, 4});
    expect(parallelCopyIf({1, 2, 3, 4}, out.begin(), isEven), {2, 4});
    expect(parallelCopyIf(std::vector<bool>{true, false, true}, out.begin(), [](bool x) { return x; }),
           {1, 1});
    expect(parallelCopyIf(scheduler(), vector, out.begin(), isEven), {2, 4});
    expect(parallelCopyIf(inlineExecutor(), array, array + 4, out.begin(), isEven), {2, 4});
    expect(parallelCopyIf(inlineExecutor(), {1, 2, 3, 4}, out.begin(), isEven), {2, 4});
    std::forward_list<int> list(4);
    EXPECT_EQ(std::distance(parallelCopyIf(vector, list.begin(), isEven), list.end()), 2);
    EXPECT_EQ(list, (std::forward_list<int>{2, 4, 0, 0}));
    EXPECT_EQ(parallelCopyIf(9, 4, out.begin(), isEven), out.begin());
  });
}

TEST_P(ParallelCopyIfTest, ExceptionsOfThePredicateArriveOnceNobodyCopiesAnyMore) {
  const auto copy = [] {
    constexpr int kSize = 40'000;
    const auto range = irange(0, kSize);
    withEachPartition(range, [](auto&& partition) {
      for (const int thrower : {0, 20'000, kSize - 1}) {
        std::vector<int> out(kSize, -1);
        std::atomic<bool> hasEnded{false};
        const auto predicate = [&, thrower](int i) {
          EXPECT_FALSE(hasEnded);
          return i == thrower ? throw std::runtime_error("predicate") : i % 2 == 0;
        };
        EXPECT_THROW(parallelCopyIf(partition, out.begin(), predicate), std::runtime_error);
        hasEnded = true;
        for (size_t i = 0; i < out.size(); ++i) {
          ASSERT_TRUE(out[i] == -1 || out[i] == static_cast<int>(2 * i));
        }
      }
    });
  };
  copy();
  inTask(copy);
}

// Its assignment from a number throws if that is `thrower`.
struct Assigned : LiveObject {
  using LiveObject::LiveObject;
  Assigned& operator=(int number) {
    if (number == thrower) {
      throw std::runtime_error("assignment");
    }
    value = number;
    return *this;
  }
  static inline std::atomic<int> thrower{-1};
};

TEST_P(ParallelCopyIfTest, ExceptionsOfACopyArriveAndLoseNoElement) {
  const auto copy = [] {
    constexpr int kSize = 60'000;
    std::vector<Assigned> out(kSize);
    for (const int thrower : {0, 30'000, kSize - 2}) {
      for (Assigned& each : out) {
        each.value = -1;
      }
      Assigned::thrower = thrower;
      EXPECT_THROW(parallelCopyIf(0, kSize, out.begin(), [](int i) { return i % 2 == 0; }),
                   std::runtime_error);
      Assigned::thrower = -1;
      for (size_t i = 0; i < out.size(); ++i) {
        ASSERT_TRUE(out[i].value == -1 || out[i].value == static_cast<int>(2 * i));
      }
      EXPECT_EQ(out[static_cast<size_t>(thrower / 2)].value, -1);
      EXPECT_EQ(LiveObject::numAlive, kSize);
    }
  };
  copy();
  inTask(copy);
}

TEST_P(ParallelCopyIfTest, CallsNoMallocWhereNobodyHelps) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "workers may help";
  }
  inTask([] {
    std::vector<int> numbers(20'000), out(20'000);
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto copy = [&] {
      EXPECT_EQ(parallelCopyIf(numbers, out.begin(), kIsNoZero) - out.begin(), 19'999);
      EXPECT_EQ(parallelCopyIf(autoPartitioner(numbers, 10), out.begin(), kIsNoZero) - out.begin(), 19'999);
    };
    copy();
    const auto before = tests::numMallocs();
    copy();
    EXPECT_EQ(tests::numMallocs(), before);
  });
}

}  // namespace
}  // namespace weft::parallel_copy_if_test
