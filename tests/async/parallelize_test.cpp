// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallelize.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>

#include "count_mallocs.h"
#include "waiting.h"

namespace weft {
namespace {

using tests::Crew;
using tests::Kind;
using tests::scaled;

class ParallelizeTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelizeTest);

TEST_P(ParallelizeTest, CallsEachFunctionOnce) {
  int results[6] = {};
  parallelize([&] { ++results[0]; }, [&] { ++results[1]; }, [&] { ++results[2]; }, [&] { ++results[3]; },
              [&] { ++results[4]; }, [&] { ++results[5]; });
  for (int result : results) {
    EXPECT_EQ(result, 1);
  }
  parallelize([&] { ++results[0]; });
  EXPECT_EQ(results[0], 2);
}

TEST_P(ParallelizeTest, TheFirstRunsOnTheCaller) {
  Fiber* const caller = Fiber::current();
  Fiber* first = nullptr;
  Fiber* second = nullptr;
  parallelize([&] { first = Fiber::current(); }, [&] { second = Fiber::current(); });
  EXPECT_EQ(first, caller);
  EXPECT_NE(second, caller);
}

TEST_P(ParallelizeTest, FunctionsMayBeMutableMoveOnlyOrNamed) {
  int sum = 0;
  const auto constant = [&] { sum += 1; };
  auto counter = [&sum, n = 0]() mutable { sum += ++n * 10; };
  parallelize(counter);
  parallelize(constant, [] {});
  std::function<void()> erased = constant;
  parallelize([] {}, erased);
  int own = 0;
  parallelize([p = std::make_unique<int>(1), &sum]() mutable { sum += ++*p; },
              [p = std::make_unique<int>(2), &own]() mutable { own += ++*p; });
  parallelize([] {}, counter);
  EXPECT_EQ(sum, 10 + 1 + 1 + 2 + 20);
  EXPECT_EQ(own, 3);
}

TEST_P(ParallelizeTest, FunctionsMayWaitForEachOther) {
  const Event a, b, c;
  parallelize(
      [=] {
        a.signal();
        c.wait();
      },
      [=] {
        a.wait();
        b.signal();
      },
      [=] {
        b.wait();
        c.signal();
      });
}

TEST_P(ParallelizeTest, MayBeNested) {
  struct Sum {
    static int64_t of(const std::vector<int>& numbers, size_t begin, size_t end) {
      if (end - begin < 20) {
        return std::accumulate(&numbers[begin], &numbers[end - 1] + 1, int64_t{0});
      }
      const size_t middle = begin + (end - begin) / 2;
      int64_t left = 0, right = 0;
      parallelize([&] { left = of(numbers, begin, middle); }, [&] { right = of(numbers, middle, end); });
      return left + right;
    }
  };
  std::vector<int> numbers(static_cast<size_t>(scaled(20'000, 2'000)));
  std::iota(numbers.begin(), numbers.end(), 1);
  const auto count = static_cast<int64_t>(numbers.size());
  EXPECT_EQ(Sum::of(numbers, 0, numbers.size()), count * (count + 1) / 2);
}

TEST_P(ParallelizeTest, AnExceptionIsThrownOnceAllHaveReturned) {
  for (int thrower = 0; thrower < 3; ++thrower) {
    std::atomic<int> numReturned{0};
    const auto function = [&](int i) {
      return [&numReturned, thrower, i] {
        yield();
        ++numReturned;
        if (i == thrower) {
          throw std::runtime_error(std::to_string(i));
        }
      };
    };
    try {
      parallelize(function(0), function(1), function(2));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::to_string(thrower));
    }
    EXPECT_EQ(numReturned, 3);
  }
}

TEST_P(ParallelizeTest, OfSeveralExceptionsTheFirstArgumentsIsThrown) {
  for (int round = 0; round < 20; ++round) {
    try {
      parallelize([] {}, [] { throw 1; }, [] { throw 2; }, [] { throw 3; });
      ADD_FAILURE() << "nothing was thrown";
    } catch (int which) {
      EXPECT_EQ(which, 1);
    }
  }
  EXPECT_THROW(parallelize([] { throw 1; }), int);
}

TEST_P(ParallelizeTest, ManyMayCallAtOnce) {
  std::atomic<int> sum{0};
  {
    Crew crew(scheduler());
    for (int i = 0; i < 20; ++i) {
      crew.start(i % 2 == 0 ? Kind::Task : Kind::BoundThread, [&] {
        for (int round = 0; round < scaled(200, 30); ++round) {
          parallelize([&] { ++sum; }, [&] { ++sum; });
        }
      });
    }
  }
  EXPECT_EQ(sum, 20 * 2 * scaled(200, 30));
}

TEST_P(ParallelizeTest, CallsNoMallocInTheSteadyState) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "which worker needs another fiber is a matter of luck";
  }
  const Event done;
  schedule([&, done] {
    const auto run = [] {
      for (int i = 0; i < 100; ++i) {
        parallelize([] {}, [] {}, [] {});
      }
    };
    run();
    const uint64_t before = tests::numMallocs();
    run();
    EXPECT_EQ(tests::numMallocs(), before);
    done.signal();
  });
  done.wait();
}

void sort(std::vector<int>& numbers) { std::sort(numbers.begin(), numbers.end()); }

TEST_P(ParallelizeTest, TheExampleOfTheHeaderSorts) {
  std::vector<int> left{3, 1, 2}, right{6, 5, 4};
  weft::parallelize([&] { sort(left); }, [&] { sort(right); });
  EXPECT_EQ(left, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(right, (std::vector<int>{4, 5, 6}));
}

class ParallelizeDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ParallelizeDeathTest, NoScheduler) {
  EXPECT_DEATH(parallelize([] {}, [] {}),
               "schedule\\(\\) was called on a thread to which no scheduler is bound");
  parallelize([] {});
}

}  // namespace
}  // namespace weft
