// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "count_mallocs.h"
#include "in_task.h"
#include "waiting.h"

namespace weft::parallel_reduce_test {
namespace {

using tests::inTask;

constexpr int kSizes[] = {0, 1, 2, 3, 17, 100, 1001, 30'000};
constexpr std::ptrdiff_t kGrains[] = {1, 3, 100, 1'000'000};

class ParallelReduceTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelReduceTest);

// Calls check(partition) with `range` in each way to split it.
template <class Range, class F>
void withEachPartition(const Range& range, F&& check) {
  check(range);
  check(autoPartitioner(range));
  check(staticPartitioner(range));
  for (const std::ptrdiff_t grain : kGrains) {
    check(autoPartitioner(range, grain));
    check(staticPartitioner(range, grain));
  }
}

std::vector<std::string> letters(int size) {
  std::vector<std::string> result;
  for (int i = 0; i < size; ++i) {
    result.emplace_back(1, static_cast<char>('a' + i % 26));
  }
  return result;
}

TEST(ParallelReduceUnboundTest, WorksWhereNoSchedulerIsBound) {
  EXPECT_EQ(parallelReduce(std::vector<int>{1, 2, 3}, 10), 16);
  EXPECT_EQ(parallelReduce(staticPartitioner(irange(0, 5), 2), 0), 10);
  EXPECT_EQ(parallelReduce(std::vector<int>{}, 10), 10);
  std::vector<int> out(3);
  parallelScan(std::vector<int>{1, 2, 3}, out.begin());
  EXPECT_EQ(out, (std::vector<int>{1, 3, 6}));
}

// Joining strings is associative but not commutative, and shows how often the initial value was applied.
TEST_P(ParallelReduceTest, KeepsTheOrderAndAppliesTheInitialValueOnce) {
  const auto reduceAll = [] {
    for (const int size : {0, 1, 2, 3, 17, 100, 1001}) {
      const std::vector<std::string> range = letters(size);
      const std::string expected = std::accumulate(range.begin(), range.end(), std::string("("));
      withEachPartition(
          range, [&](auto&& partition) { EXPECT_EQ(parallelReduce(partition, std::string("(")), expected); });
      const std::list<std::string> list(range.begin(), range.end());
      withEachPartition(
          list, [&](auto&& partition) { EXPECT_EQ(parallelReduce(partition, std::string("(")), expected); });
      EXPECT_EQ(parallelReduce(range.begin(), range.end(), std::string("("), std::plus<>()), expected);
    }
  };
  reduceAll();
  inTask(reduceAll);
}

TEST_P(ParallelReduceTest, MapsAndReduces) {
  inTask([] {
    for (const int size : kSizes) {
      const long expected = long{size} * (size - 1) + 7;
      withEachPartition(irange(0, size), [&](auto&& partition) {
        EXPECT_EQ(parallelMapReduce(partition, 7L, [](int i) { return 2L * i; }, std::plus<>()), expected);
      });
      EXPECT_EQ(parallelMapReduce(0, size, 7L, [](int i) { return 2L * i; }, std::plus<>()), expected);
      EXPECT_EQ(parallelReduce(0, size, -1, [](int a, int b) { return std::max(a, b); }), size - 1);
    }
  });
}

TEST_P(ParallelReduceTest, AddsUnlessToldOtherwise) {
  inTask([] {
    const std::vector<int> values{1, 2, 3};
    const int array[] = {4, 5, 6};
    const auto twice = [](int x) { return 2 * x; };
    EXPECT_EQ(parallelReduce(values, 10), 16);
    EXPECT_EQ(parallelReduce(values.begin(), values.end(), 10), 16);
    EXPECT_EQ(parallelReduce(0, 4, 10), 16);
    EXPECT_EQ(parallelReduce(array, 1), 16);
    EXPECT_EQ(parallelReduce(array, 1, std::multiplies<>()), 120);
    EXPECT_EQ(parallelReduce(array, array + 2, 1), 10);
    EXPECT_EQ(parallelReduce(array, array + 2, 1.5), 10.5);
    EXPECT_EQ(parallelMapReduce(values, 1, twice), 13);
    EXPECT_EQ(parallelMapReduce(values.begin(), values.end(), 1, twice), 13);
    EXPECT_EQ(parallelMapReduce(0, 4, 1, twice), 13);
    EXPECT_EQ(parallelMapReduce(array, 1, twice), 31);
    EXPECT_EQ(parallelMapReduce(array, 1, twice, std::multiplies<>()), 960);
  });
}

TEST_P(ParallelReduceTest, ResultsMayBeMoveOnly) {
  using Number = std::unique_ptr<long>;
  inTask([] {
    withEachPartition(irange(0, 1000), [](auto&& partition) {
      const Number sum = parallelMapReduce(
          partition, std::make_unique<long>(1), [](int i) { return std::make_unique<long>(i); },
          [](Number a, Number b) {
            *a += *b;
            return a;
          });
      EXPECT_EQ(*sum, 499'501);
    });
  });
}

// Sums of floats depend on where the parentheses are.
TEST_P(ParallelReduceTest, ForAFixedGrainTheResultIsTheSameEachTime) {
  std::vector<float> values(20'011);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(i)) * std::pow(10.0f, static_cast<float>(i % 9));
  }
  for (const std::ptrdiff_t grain : {7, 1000}) {
    Scheduler::unbind();
    const float expected = parallelReduce(autoPartitioner(values, grain), 0.5f);
    scheduler().bind();
    for (int round = 0; round < 20; ++round) {
      EXPECT_EQ(parallelReduce(autoPartitioner(values, grain), 0.5f), expected);
      EXPECT_EQ(parallelReduce(staticPartitioner(values, grain), 0.5f), expected);
    }
    inTask([&] { EXPECT_EQ(parallelReduce(autoPartitioner(values, grain), 0.5f), expected); });
  }
}

TEST_P(ParallelReduceTest, ExceptionsArrive) {
  inTask([] {
    withEachPartition(irange(0, 1000), [](auto&& partition) {
      for (const int thrower : {0, 1, 500, 999}) {
        const auto map = [thrower](int i) {
          return i == thrower ? throw std::runtime_error("map") : std::string(1, 'x');
        };
        EXPECT_THROW(parallelMapReduce(partition, std::string(), map, std::plus<>()), std::runtime_error);
      }
      EXPECT_THROW(parallelReduce(partition, 0, [](int, int) -> int { throw std::runtime_error("reduce"); }),
                   std::runtime_error);
    });
  });
}

TEST_P(ParallelReduceTest, MappingMayWait) {
  inTask([] {
    const auto map = [](int i) {
      yield();
      return i;
    };
    EXPECT_EQ(parallelMapReduce(autoPartitioner(irange(0, 100), 1), 0, map, std::plus<>()), 4950);
  });
}

TEST_P(ParallelReduceTest, CallsNoMallocInTheSteadyState) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "workers make their fibers when they first need them";
  }
  inTask([] {
    const std::vector<int> values(10'000, 1);
    const auto reduce = [&] {
      EXPECT_EQ(parallelReduce(values, 0), 10'000);
      EXPECT_EQ(parallelReduce(autoPartitioner(values, 10), 0), 10'000);
    };
    reduce();
    const auto before = tests::numMallocs();
    reduce();
    EXPECT_EQ(tests::numMallocs(), before);
  });
}

class ParallelScanTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelScanTest);

TEST_P(ParallelScanTest, ScansAsTheStandardLibraryDoes) {
  const auto scanAll = [] {
    for (const int size : kSizes) {
      std::vector<int> values(static_cast<size_t>(size));
      std::iota(values.begin(), values.end(), 1);
      std::vector<long> out(values.size()), expected(values.size());
      withEachPartition(values, [&](auto&& partition) {
        std::inclusive_scan(values.begin(), values.end(), expected.begin(), std::plus<>(), 5L);
        EXPECT_EQ(parallelScan(partition, out.begin(), std::plus<>(), 5L), out.end());
        EXPECT_EQ(out, expected);
        std::exclusive_scan(values.begin(), values.end(), expected.begin(), -3L);
        EXPECT_EQ(parallelExclusiveScan(partition, out.begin(), -3L), out.end());
        EXPECT_EQ(out, expected);
        std::inclusive_scan(values.begin(), values.end(), expected.begin());
        EXPECT_EQ(parallelScan(partition, out.begin()), out.end());
        EXPECT_EQ(out, expected);
      });
    }
  };
  scanAll();
  inTask(scanAll);
}

TEST_P(ParallelScanTest, KeepsTheOrderAndMayWriteWhereItReads) {
  inTask([] {
    const std::vector<std::string> values = letters(200);
    std::vector<std::string> expected(values.size());
    for (const std::ptrdiff_t grain : {1, 7, 1000}) {
      std::vector<std::string> inPlace = values;
      std::inclusive_scan(values.begin(), values.end(), expected.begin());
      parallelScan(autoPartitioner(inPlace, grain), inPlace.begin());
      EXPECT_EQ(inPlace, expected);
      inPlace = values;
      std::exclusive_scan(values.begin(), values.end(), expected.begin(), std::string("("));
      parallelExclusiveScan(autoPartitioner(inPlace, grain), inPlace.begin(), std::string("("));
      EXPECT_EQ(inPlace, expected);
    }
    std::list<int> list{1, 2, 3, 4};
    std::list<int> out(4);
    parallelScan(autoPartitioner(list, 1), out.begin());
    EXPECT_EQ(out, (std::list<int>{1, 3, 6, 10}));
  });
}

TEST_P(ParallelScanTest, TakesIteratorsNumbersAndArrays) {
  inTask([] {
    const std::list<int> list{1, 2, 3};
    const int array[] = {1, 2, 3};
    int out[3] = {};
    const auto expect = [&out](const int* end, std::vector<int> expected) {
      EXPECT_EQ(end, out + 3);
      EXPECT_EQ(std::vector<int>(out, out + 3), expected);
    };
    expect(parallelScan(list.begin(), list.end(), out), {1, 3, 6});
    expect(parallelScan(list.begin(), list.end(), out, std::multiplies<>()), {1, 2, 6});
    expect(parallelScan(array, array + 3, out), {1, 3, 6});
    expect(parallelScan(array, array + 3, out, std::multiplies<>()), {1, 2, 6});
    expect(parallelScan(array, array + 3, out, std::multiplies<>(), 2), {2, 4, 12});
    expect(parallelScan(1, 4, out), {1, 3, 6});
    expect(parallelScan(array, out), {1, 3, 6});
    expect(parallelScan(array, out, std::multiplies<>()), {1, 2, 6});
    expect(parallelScan(array, out, std::multiplies<>(), 2), {2, 4, 12});
    expect(parallelExclusiveScan(list.begin(), list.end(), out, 5), {5, 6, 8});
    expect(parallelExclusiveScan(1, 4, out, 2, std::multiplies<>()), {2, 2, 4});
    expect(parallelExclusiveScan(array, array + 3, out, 5), {5, 6, 8});
    expect(parallelExclusiveScan(array, array + 3, out, 2, std::multiplies<>()), {2, 2, 4});
    expect(parallelExclusiveScan(array, out, 5), {5, 6, 8});
    expect(parallelExclusiveScan(array, out, 2, std::multiplies<>()), {2, 2, 4});
  });
}

// A number that converts to an int, so that the sum of two is an int.
struct Counted {
  Counted(int of) : value(of) {}          // NOLINT(google-explicit-constructor): that is the point
  operator int() const { return value; }  // NOLINT(google-explicit-constructor): that is the point
  int value;
};

TEST_P(ParallelScanTest, TakesOperationsThatGiveAnotherTypeOrNeedATemporary) {
  const auto append = [](std::string&& to, const std::string& what) { return std::move(to += what); };
  inTask([&] {
    const std::vector<Counted> numbers{1, 2, 3};
    std::vector<Counted> sums(3, 0);
    const std::vector<std::string> given{"a", "b", "c"};
    std::vector<std::string> words(3);
    for (const std::ptrdiff_t grain : {1, 10}) {
      parallelScan(autoPartitioner(numbers, grain), sums.begin());
      EXPECT_EQ(int{sums[2]}, 6);
      parallelExclusiveScan(autoPartitioner(numbers, grain), sums.begin(), Counted(1));
      EXPECT_EQ(int{sums[2]}, 4);
      parallelScan(autoPartitioner(given, grain), words.begin(), append);
      EXPECT_EQ(words[2], "abc");
      parallelExclusiveScan(autoPartitioner(given, grain), words.begin(), std::string("-"), append);
      EXPECT_EQ(words, (std::vector<std::string>{"-", "-a", "-ab"}));
    }
  });
}

TEST_P(ParallelScanTest, ExceptionsArrive) {
  inTask([] {
    std::vector<int> values(1000, 1);
    const auto thrower = [](int a, int b) { return a + b == 600 ? throw std::runtime_error("scan") : a + b; };
    EXPECT_THROW(parallelScan(autoPartitioner(values, 10), values.begin(), thrower), std::runtime_error);
  });
}

class ParallelTransformTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelTransformTest);

TEST_P(ParallelTransformTest, TransformsOneRangeOrTwo) {
  const auto transformAll = [] {
    for (const int size : kSizes) {
      const auto count = static_cast<size_t>(size);
      std::vector<int> a(count);
      std::iota(a.begin(), a.end(), 0);
      const std::list<int> b(a.rbegin(), a.rend());
      std::vector<long> out(count);
      withEachPartition(a, [&](auto&& partition) {
        EXPECT_EQ(parallelTransform(partition, out.begin(), [](int x) { return 2L * x; }), out.end());
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(out[i], 2L * a[i]);
        }
        EXPECT_EQ(parallelTransform(partition, b, out.begin(), std::plus<>()), out.end());
        EXPECT_EQ(std::count(out.begin(), out.end(), size - 1), size);
      });
      parallelTransform(a.begin(), a.end(), out.begin(), [](int x) { return -x; });
      EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0L), -long{size} * (size - 1) / 2);
      parallelTransform(a, a.begin(), [](int x) { return x + 1; });
      EXPECT_TRUE(a.empty() || a.back() == size);
    }
  };
  transformAll();
  inTask(transformAll);
}

TEST_P(ParallelTransformTest, ResultsMayBeMoveOnlyAndWrittenToLists) {
  inTask([] {
    const int array[] = {1, 2, 3};
    std::list<std::unique_ptr<int>> out(3);
    parallelTransform(array, out.begin(), [](int x) { return std::make_unique<int>(x); });
    EXPECT_EQ(*out.back(), 3);
    int sums[3];
    parallelTransform(array, array, sums, std::plus<>());
    EXPECT_EQ(sums[2], 6);
    EXPECT_EQ(parallelTransform(array, array + 2, array + 1, sums, std::plus<>()), sums + 2);
    EXPECT_EQ(sums[1], 5);
    EXPECT_EQ(parallelTransform(array, array + 2, sums, [](int x) { return -x; }), sums + 2);
    EXPECT_EQ(sums[1], -2);
    parallelTransform(0, 3, array, sums, std::plus<>());
    EXPECT_EQ(sums[2], 5);
  });
}

TEST_P(ParallelTransformTest, RefusesASecondRangeThatIsShorter) {
  std::vector<int> a(3), b(2), out(3);
  EXPECT_THROW(parallelTransform(a, b, out.begin(), std::plus<>()), std::invalid_argument);
}

TEST_P(ParallelTransformTest, ExceptionsArrive) {
  inTask([] {
    std::vector<int> values(1000, 1);
    const auto thrower = [](int) -> int { throw std::runtime_error("transform"); };
    EXPECT_THROW(parallelTransform(values, values.begin(), thrower), std::runtime_error);
    EXPECT_THROW(parallelTransform(autoPartitioner(values, 1), values.begin(), thrower), std::runtime_error);
  });
}

}  // namespace
}  // namespace weft::parallel_reduce_test
