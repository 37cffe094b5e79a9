// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include <weft/event.h>

#include "count_mallocs.h"
#include "in_task.h"
#include "waiting.h"

namespace weft::parallel_find_test {
namespace {

using tests::inTask;

class ParallelFindTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelFindTest);

// Calls check(partition) with `range` in each way to split it.
template <class Range, class F>
void withEachPartition(Range& range, F&& check) {
  check(range);
  check(autoPartitioner(range));
  check(staticPartitioner(range));
  for (const std::ptrdiff_t grain : {1, 3, 100, 1'000'000}) {
    check(autoPartitioner(range, grain));
    check(staticPartitioner(range, grain));
  }
}

// `size` numbers from 0 to `most`.
std::vector<int> randomNumbers(std::mt19937& random, int size, int most) {
  std::vector<int> numbers(static_cast<size_t>(size));
  for (int& number : numbers) {
    number = std::uniform_int_distribution<>(0, most)(random);
  }
  return numbers;
}

// Calls check(numbers) with numbers of which few, some or many are 0.
template <class F>
void withRandomNumbers(F&& check) {
  std::mt19937 random(20'011);
  for (const int most : {2, 50, 5000, 1'000'000}) {
    for (const int longest : {3, 40, 3000}) {
      check(randomNumbers(random, std::uniform_int_distribution<>(0, longest)(random), most));
    }
  }
}

constexpr auto kIsZero = [](int x) { return x == 0; };

void compareWithSerialSearches() {
  withRandomNumbers([](const std::vector<int>& numbers) {
    const auto expected = std::find_if(numbers.begin(), numbers.end(), kIsZero);
    const auto expectedIndex = expected - numbers.begin();
    const auto numZeros = static_cast<size_t>(std::count(numbers.begin(), numbers.end(), 0));
    withEachPartition(numbers, [&](auto&& range) {
      EXPECT_EQ(parallelFind(range, kIsZero), expected);
      EXPECT_EQ(parallelCountIf(range, kIsZero), numZeros);
      EXPECT_EQ(parallelAnyOf(range, kIsZero), numZeros != 0);
      EXPECT_EQ(parallelNoneOf(range, kIsZero), numZeros == 0);
      EXPECT_EQ(parallelAllOf(range, std::not_fn(kIsZero)), numZeros == 0);
      EXPECT_EQ(parallelAllOf(range, kIsZero), numZeros == numbers.size());
    });
    const std::list<int> list(numbers.begin(), numbers.end());
    EXPECT_EQ(std::distance(list.begin(), parallelFind(list, kIsZero)), expectedIndex);
    const auto size = static_cast<int>(numbers.size());
    const auto isZeroAt = [&numbers](int i) { return numbers[static_cast<size_t>(i)] == 0; };
    EXPECT_EQ(parallelFind(0, size, isZeroAt), expectedIndex);
    EXPECT_EQ(parallelFind(irange(0, size), isZeroAt) - irange(0, size).begin(), expectedIndex);
  });
}

TEST_P(ParallelFindTest, FindsWhatASerialSearchFinds) {
  compareWithSerialSearches();
  inTask(compareWithSerialSearches);
}

TEST(ParallelFindUnboundTest, FindsWhatASerialSearchFindsWhereNoSchedulerIsBound) {
  compareWithSerialSearches();
}

// Each call lets others run, so that parts behind the first match find theirs before it is reached.
TEST_P(ParallelFindTest, FindsTheFirstOfManyMatchesWhoeverIsFirst) {
  inTask([] {
    for (const int first : {0, 1, 77, 498, 499}) {
      const auto isMatch = [first](int i) {
        yield();
        return i >= first;
      };
      EXPECT_EQ(parallelFind(autoPartitioner(irange(0, 500), 1), isMatch) - irange(0, 500).begin(), first);
      EXPECT_EQ(*parallelFind(staticPartitioner(irange(0, 500), 7), isMatch), first);
    }
  });
}

TEST(ParallelFindUnboundTest, LooksAtNoElementBehindTheMatchWhereNobodyHelps) {
  constexpr int kMatch = 1234;
  const std::vector<int> numbers = [] {
    std::vector<int> result(100'000, 1);
    result[kMatch] = result.back() = 0;
    return result;
  }();
  int numCalls = 0;
  const auto isMatch = [&numCalls](int x) {
    ++numCalls;
    return x == 0;
  };
  withEachPartition(numbers, [&](auto&& range) {
    numCalls = 0;
    EXPECT_EQ(parallelFind(range, isMatch) - numbers.begin(), kMatch);
    EXPECT_EQ(std::exchange(numCalls, 0), kMatch + 1);
    EXPECT_TRUE(parallelAnyOf(range, isMatch));
    EXPECT_EQ(std::exchange(numCalls, 0), kMatch + 1);
    EXPECT_FALSE(parallelNoneOf(range, isMatch));
    EXPECT_EQ(std::exchange(numCalls, 0), kMatch + 1);
    EXPECT_FALSE(parallelAllOf(range, std::not_fn(std::ref(isMatch))));
    EXPECT_EQ(numCalls, kMatch + 1);
  });
}

constexpr int kPiece = 5'000'000;

// The first call matches once the second piece runs, which is so long that it must end early.
TEST_P(ParallelFindTest, EndsPiecesThatRunBehindTheMatch) {
  inTask([] {
    const auto search = [](auto&& find) {
      Event hasBegun;
      std::atomic<int> numCalls{0};
      find(staticPartitioner(irange(0, 2 * kPiece), kPiece), [&](int i) {
        if (i == 0) {
          hasBegun.wait();
          return true;
        }
        if (numCalls.fetch_add(1) == 0) {
          hasBegun.signal();
        }
        yield();
        return false;
      });
      EXPECT_LT(numCalls, kPiece);
    };
    search([](auto&& range, auto&& isMatch) { EXPECT_EQ(*parallelFind(range, isMatch), 0); });
    search([](auto&& range, auto&& isMatch) { EXPECT_TRUE(parallelAnyOf(range, isMatch)); });
  });
}

// The second piece matches while the first call waits for it. The rest of the first piece is left out.
TEST_P(ParallelFindTest, AnyMatchEndsPiecesBeforeIt) {
  inTask([] {
    Event hasBegun;
    std::atomic<int> numCalls{0};
    EXPECT_TRUE(parallelAnyOf(staticPartitioner(irange(0, 2 * kPiece), kPiece), [&](int i) {
      if (i == 0) {
        hasBegun.wait();
      } else if (i == kPiece) {
        hasBegun.signal();
      }
      numCalls.fetch_add(1);
      yield();
      return i == kPiece;
    }));
    EXPECT_LT(numCalls, kPiece);
  });
}

// The second piece matches while the first call waits for it. The first piece then goes on to its own match.
TEST_P(ParallelFindTest, AMatchLeavesNoElementBeforeItOut) {
  inTask([] {
    Event hasMatched;
    const auto range = irange(0, 200);
    EXPECT_EQ(*parallelFind(staticPartitioner(range, 100),
                            [&](int i) {
                              if (i == 0) {
                                hasMatched.wait();
                              } else if (i == 100) {
                                hasMatched.signal();
                              }
                              return i == 50 || i == 100;
                            }),
              50);
  });
}

// Goes to the next number only.
struct Stepped {
  using iterator_category = std::forward_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = const int*;
  using reference = const int&;
  const int& operator*() const { return *at; }
  Stepped& operator++() {
    ++numSteps;
    ++at;
    return *this;
  }
  Stepped operator++(int) { return std::exchange(*this, Stepped{at + 1}); }
  friend bool operator==(const Stepped& a, const Stepped& b) { return a.at == b.at; }
  const int* at;
  static inline std::atomic<int> numSteps{0};
};

// Steps to the middle of the whole, of its first half, and so on.
TEST_P(ParallelFindTest, SplitsNothingBehindTheMatch) {
  if (numWorkers() != 0) {
    GTEST_SKIP() << "others may be ahead";
  }
  inTask([] {
    const std::vector<int> zeros(1024);
    Stepped::numSteps = 0;
    const Stepped first{zeros.data()};
    EXPECT_EQ(parallelFind(Partition<Stepped>{first, zeros.size(), 1, true}, kIsZero), first);
    EXPECT_LE(Stepped::numSteps, 1024);
  });
}

// With a grain, threads share a range from its beginning, and step to its middle to cut it. For 256 elements
// that is 8 * 128 steps, and 256 to look at all of them.
TEST_P(ParallelFindTest, AMatchNearTheBeginningOfALongRangeCostsLittle) {
  inTask([] {
    const std::vector<int> zeros(1'000'000);
    Stepped::numSteps = 0;
    const Stepped first{zeros.data()};
    EXPECT_EQ(parallelFind(Partition<Stepped>{first, zeros.size(), 1, false}, kIsZero), first);
    EXPECT_LE(Stepped::numSteps, 1280);
  });
}

TEST(ParallelFindUnboundTest, AStretchIsAsLongAsAllBeforeIt) {
  struct Loop {
    void lazily(const int*, size_t count, size_t, std::optional<int>&) { lengths.push_back(count); }
    std::vector<size_t> lengths;
  };
  const std::vector<int> numbers(3000);
  std::optional<int> found;
  Loop loop, coarse;
  detail::inGrowingStretches(loop, numbers.data(), numbers.size(), 0, std::stop_token(), found);
  EXPECT_EQ(loop.lengths, (std::vector<size_t>{256, 256, 512, 1024, 952}));
  detail::inGrowingStretches(coarse, numbers.data(), numbers.size(), 1000, std::stop_token(), found);
  EXPECT_EQ(coarse.lengths, (std::vector<size_t>{1000, 1000, 1000}));
}

TEST_P(ParallelFindTest, ExceptionsArrive) {
  inTask([] {
    const auto range = irange(0, 1000);
    withEachPartition(range, [](auto&& partition) {
      for (const int thrower : {0, 1, 500, 999}) {
        const auto isMatch = [thrower](int i) {
          return i == thrower ? throw std::runtime_error("predicate") : false;
        };
        EXPECT_THROW((void)parallelFind(partition, isMatch), std::runtime_error);
        EXPECT_THROW((void)parallelAnyOf(partition, isMatch), std::runtime_error);
        EXPECT_THROW((void)parallelAllOf(partition, std::not_fn(isMatch)), std::runtime_error);
        EXPECT_THROW((void)parallelNoneOf(partition, isMatch), std::runtime_error);
        EXPECT_THROW((void)parallelCountIf(partition, isMatch), std::runtime_error);
      }
      const auto less = [](int, int) -> bool { throw std::runtime_error("less"); };
      EXPECT_THROW((void)parallelMinElement(partition, less), std::runtime_error);
      EXPECT_THROW((void)parallelMaxElement(partition, less), std::runtime_error);
    });
  });
}

TEST_P(ParallelFindTest, AStopEndsTheSearch) {
  inTask([] {
    std::stop_source source;
    std::atomic<int> numCalls{0};
    const auto range = autoPartitioner(irange(0, 5'000'000), 1);
    const auto stopAndGoOn = [&](int) {
      ++numCalls;
      return source.request_stop() && false;
    };
    EXPECT_EQ(*parallelFind(range, stopAndGoOn, source.get_token()), 5'000'000);
    EXPECT_LT(numCalls, 5'000'000);
    const auto stopAfterwards = [&source](int i) { return i == 3 && (source.request_stop(), true); };
    source = std::stop_source();
    EXPECT_EQ(parallelFind(0, 10, stopAfterwards, source.get_token()), 3);
  });
}

// Calls search(predicate, token), where the predicate requests a stop and returns `result`.
// Returns: what the search has returned.
template <class Search>
bool stoppedEarly(bool result, Search&& search) {
  const std::stop_source source;
  std::atomic<int> numCalls{0};
  const bool found = search(
      [&](int) {
        ++numCalls;
        std::stop_source(source).request_stop();
        return result;
      },
      source.get_token());
  EXPECT_LT(numCalls, 5'000'000);
  return found;
}

TEST_P(ParallelFindTest, AStopLeavesWhatIsKnownByThen) {
  inTask([this] {
    const auto range = autoPartitioner(irange(0, 5'000'000), 1);
    const auto anyOf = [&](auto is, auto&& token) { return parallelAnyOf(range, is, token); };
    const auto allOf = [&](auto is, auto&& token) { return parallelAllOf(0, 5'000'000, is, token); };
    const auto noneOf = [&](auto is, auto&& token) { return parallelNoneOf(scheduler(), range, is, token); };
    EXPECT_FALSE(stoppedEarly(false, anyOf));
    EXPECT_TRUE(stoppedEarly(true, anyOf));
    EXPECT_FALSE(stoppedEarly(false, allOf));
    EXPECT_TRUE(stoppedEarly(true, allOf));
    EXPECT_TRUE(stoppedEarly(false, noneOf));
    EXPECT_FALSE(stoppedEarly(true, noneOf));
    const std::stop_token never;
    EXPECT_TRUE(parallelAnyOf({0, 1}, kIsZero, never));
    EXPECT_FALSE(parallelAllOf({0, 1}, kIsZero, never));
    EXPECT_FALSE(parallelNoneOf({0, 1}, kIsZero, never));
  });
}

// Neither copied nor made without an argument.
struct Only {
  explicit Only(int of) : value(of) {}
  Only(Only&&) = default;
  Only& operator=(Only&&) = default;
  friend bool operator<(const Only& a, const Only& b) { return a.value < b.value; }
  int value;
};

TEST_P(ParallelFindTest, ElementsMayBeMoveOnlyWithoutADefault) {
  inTask([] {
    std::vector<Only> all;
    for (int i = 0; i < 1000; ++i) {
      all.emplace_back(i % 500);
    }
    const auto isLarge = [](const Only& only) { return only.value >= 300; };
    withEachPartition(all, [&](auto&& range) {
      EXPECT_EQ(parallelFind(range, isLarge) - all.begin(), 300);
      EXPECT_EQ(parallelCountIf(range, isLarge), 400u);
      EXPECT_TRUE(parallelAnyOf(range, isLarge));
      EXPECT_EQ(parallelMinElement(range), all.begin());
      EXPECT_EQ(parallelMaxElement(range) - all.begin(), 499);
    });
  });
}

TEST_P(ParallelFindTest, TakesTheFirstOfEqualExtremes) {
  const auto compare = [] {
    withRandomNumbers([](const std::vector<int>& numbers) {
      const auto smallest = std::min_element(numbers.begin(), numbers.end());
      const auto largest = std::max_element(numbers.begin(), numbers.end());
      const auto last = std::min_element(numbers.begin(), numbers.end(), std::greater<>());
      withEachPartition(numbers, [&](auto&& range) {
        EXPECT_EQ(parallelMinElement(range), smallest);
        EXPECT_EQ(parallelMaxElement(range), largest);
        EXPECT_EQ(parallelMinElement(range, std::greater<>()), last);
      });
      EXPECT_EQ(parallelMaxElement(numbers.begin(), numbers.end()), largest);
      const std::list<int> list(numbers.begin(), numbers.end());
      EXPECT_EQ(std::distance(list.begin(), parallelMinElement(list)), smallest - numbers.begin());
      const std::vector<int> equal(numbers.size(), 7);
      EXPECT_EQ(parallelMinElement(autoPartitioner(equal, 1)), equal.begin());
      EXPECT_EQ(parallelMaxElement(autoPartitioner(equal, 1)), equal.begin());
    });
  };
  compare();
  inTask(compare);
}

TEST_P(ParallelFindTest, TakesIteratorsNumbersArraysAndExecutors) {
  inTask([this] {
    int array[] = {3, 1, 2};
    std::vector<int> numbers{3, 1, 2};
    const auto isSmall = [](int x) { return x < 3; };
    EXPECT_EQ(parallelFind(array, isSmall), array + 1);
    EXPECT_EQ(parallelFind(array, array + 3, isSmall), array + 1);
    EXPECT_EQ(parallelFind(array, array + 1, isSmall), array + 1);
    EXPECT_EQ(*parallelFind(std::span(numbers), isSmall), 1);
    EXPECT_EQ(parallelFind(4, 9, isSmall), 9);
    EXPECT_EQ(parallelFind(9, 4, isSmall), 4);
    EXPECT_EQ(parallelFind(scheduler(), numbers, isSmall), numbers.begin() + 1);
    EXPECT_EQ(parallelFind(inlineExecutor(), array, array + 3, isSmall, std::stop_token()), array + 1);
    EXPECT_TRUE(parallelAnyOf({3, 1}, isSmall));
    EXPECT_FALSE(parallelAllOf(array, array + 3, isSmall));
    EXPECT_TRUE(parallelNoneOf(inlineExecutor(), {3, 4}, isSmall));
    EXPECT_TRUE(parallelAllOf(std::vector<int>{}, isSmall));
    EXPECT_EQ(parallelCountIf({3, 1, 2}, isSmall), 2u);
    EXPECT_EQ(parallelCountIf(scheduler(), 0, 10, isSmall), 3u);
    EXPECT_EQ(parallelCountIf(std::vector<bool>{true, false, true}, [](bool x) { return x; }), 2u);
    EXPECT_EQ(parallelMinElement(array), array + 1);
    EXPECT_EQ(parallelMinElement(array, array + 1), array);
    EXPECT_EQ(parallelMinElement(array, array + 3, std::greater<>()), array);
    EXPECT_EQ(parallelMaxElement(array, std::greater<>()), array + 1);
    EXPECT_EQ(parallelMaxElement(inlineExecutor(), numbers), numbers.begin());
    EXPECT_EQ(parallelMaxElement(3, 9), 8);
    EXPECT_EQ(parallelMaxElement(9, 3), 3);
  });
}

TEST_P(ParallelFindTest, CallsNoMallocInTheSteadyState) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "workers make their fibers when they first need them";
  }
  inTask([] {
    const std::vector<int> numbers(10'000, 1);
    const auto search = [&] {
      EXPECT_EQ(parallelFind(autoPartitioner(numbers, 10), kIsZero), numbers.end());
      EXPECT_FALSE(parallelAnyOf(autoPartitioner(numbers, 10), kIsZero));
      EXPECT_EQ(parallelCountIf(autoPartitioner(numbers, 10), kIsZero), 0u);
      EXPECT_EQ(parallelMinElement(autoPartitioner(numbers, 10)), numbers.begin());
    };
    search();
    const auto before = tests::numMallocs();
    search();
    EXPECT_EQ(tests::numMallocs(), before);
  });
}

}  // namespace
}  // namespace weft::parallel_find_test
