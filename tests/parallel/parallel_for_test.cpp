// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <weft/event.h>
#include <weft/sleep.h>

#include "count_mallocs.h"
#include "in_task.h"
#include "waiting.h"

namespace weft {
namespace {

using tests::inTask;
using tests::scaled;

// How often a loop has come to each of `count` places.
class Visits {
 public:
  explicit Visits(size_t count) : counts_(count) {}
  void operator()(size_t at) { counts_[at].fetch_add(1, std::memory_order_relaxed); }
  void expectEach(int times) const {
    for (size_t at = 0; at < counts_.size(); ++at) {
      ASSERT_EQ(counts_[at].load(), times) << "at " << at << " of " << counts_.size();
    }
  }

 private:
  std::vector<std::atomic<int>> counts_;
};

constexpr size_t kSizes[] = {0, 1, 2, 3, 7, 16, 17, 100, 1023, 1024, 1025, 54321};

class ParallelForTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelForTest);

TEST(ParallelForUnboundTest, IsAPlainLoopWhereNoSchedulerIsBound) {
  std::vector<int> seen;
  parallelFor(3, 7, [&](int i) { seen.push_back(i); });
  EXPECT_EQ(seen, (std::vector<int>{3, 4, 5, 6}));
  parallelFor(autoPartitioner(irange(0, 2), 1), [&](int i) { seen.push_back(i); });
  parallelFor(staticPartitioner(irange(2, 4), 1), [&](int i) { seen.push_back(i); });
  EXPECT_EQ(seen, (std::vector<int>{3, 4, 5, 6, 0, 1, 2, 3}));
}

TEST_P(ParallelForTest, VisitsEachNumberOnceHoweverItIsSplit) {
  const auto visitAll = [] {
    for (const size_t size : kSizes) {
      Visits visits(size);
      parallelFor(size_t{0}, size, visits);
      parallelFor(irange(size_t{0}, size), visits);
      for (const std::ptrdiff_t grain : {1, 7, 100, 1'000'000}) {
        if (size / static_cast<size_t>(grain) <= scaled(100'000u, 2000u)) {
          parallelFor(autoPartitioner(irange(size_t{0}, size), grain), visits);
          parallelFor(staticPartitioner(irange(size_t{0}, size), grain), visits);
        } else {
          parallelFor(size_t{0}, size, visits);
          parallelFor(size_t{0}, size, visits);
        }
      }
      parallelFor(autoPartitioner(irange(size_t{0}, size)), visits);
      parallelFor(staticPartitioner(irange(size_t{0}, size)), visits);
      visits.expectEach(12);
    }
  };
  visitAll();
  inTask(visitAll);
}

TEST_P(ParallelForTest, TakesContainersIteratorsArraysAndLists) {
  inTask([] {
    std::vector<int> vector(1000, 1);
    parallelFor(vector, [](int& element) { ++element; });
    parallelFor(vector.begin(), vector.end(), [](int& element) { ++element; });
    EXPECT_EQ(std::count(vector.begin(), vector.end(), 3), 1000);

    std::list<int> list(999, 1);
    parallelFor(list, [](int& element) { ++element; });
    parallelFor(list.begin(), list.end(), [](int& element) { ++element; });
    parallelFor(autoPartitioner(list, 10), [](int& element) { ++element; });
    EXPECT_EQ(std::count(list.begin(), list.end(), 4), 999);

    std::forward_list<int> forward(7, 1);
    parallelFor(autoPartitioner(forward, 1), [](int& element) { ++element; });
    EXPECT_EQ(std::count(forward.begin(), forward.end(), 2), 7);

    std::set<int> set{1, 2, 3};
    std::atomic<int> sum{0};
    parallelFor(set, [&](const int& element) { sum += element; });
    int array[] = {4, 5, 6};
    parallelFor(array, [&](int& element) { sum += element; });
    parallelFor({7, 8, 9}, [&](int element) { sum += element; });
    EXPECT_EQ(sum.load(), 45);

    std::vector<std::unique_ptr<int>> moveOnly(100);
    parallelFor(autoPartitioner(moveOnly, 3),
                [](std::unique_ptr<int>& element) { element = std::make_unique<int>(1); });
    EXPECT_EQ(std::count(moveOnly.begin(), moveOnly.end(), nullptr), 0);
  });
}

TEST_P(ParallelForTest, CutsAPlaneIntoBlocks) {
  constexpr std::ptrdiff_t kRows = 37, kColumns = 50;
  Visits visits(kRows * kColumns);
  std::atomic<int> numBlocks{0};
  inTask([&] {
    parallelFor(blocks2D({0, kRows, -10, kColumns - 10}, 16, 25), [&](const Block2D& block) {
      ++numBlocks;
      for (std::ptrdiff_t row = block.rowBegin; row < block.rowEnd; ++row) {
        for (std::ptrdiff_t column = block.columnBegin; column < block.columnEnd; ++column) {
          visits(static_cast<size_t>(row * kColumns + column + 10));
        }
      }
    });
  });
  visits.expectEach(1);
  EXPECT_EQ(numBlocks.load(), 3 * 2);
  parallelFor(blocks2D({0, 0, 0, 10}, 1, 1), [](const Block2D&) { FAIL() << "there is no row"; });
  parallelFor(blocks2D({0, 10, 0, 0}, 1, 1), [](const Block2D&) { FAIL() << "there is no column"; });
}

TEST(IRangeTest, CountsUpAndDownInSteps) {
  const auto numbers = [](auto range) {
    using Int = std::remove_cvref_t<decltype(*range.begin())>;
    return std::vector<Int>(range.begin(), range.end());
  };
  EXPECT_EQ(numbers(irange(0, 3)), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(numbers(irange(0, 10, 3)), (std::vector<int>{0, 3, 6, 9}));
  EXPECT_EQ(numbers(irange(10, 0, -3)), (std::vector<int>{10, 7, 4, 1}));
  EXPECT_TRUE(irange(3, 0).empty());
  EXPECT_TRUE(irange(0, 3, -1).empty());
  EXPECT_EQ(numbers(irange(int8_t{-128}, int8_t{127}, 100)), (std::vector<int8_t>{-128, -28, 72}));
  EXPECT_EQ(irange(INT32_MIN, INT32_MAX).size(), UINT32_MAX);
  EXPECT_EQ(irange(INT64_MAX - 1, INT64_MIN, INT64_MIN).size(), 2u);
  EXPECT_EQ(irange(0u, 4'000'000'000u, 2)[1'999'999'999], 3'999'999'998u);
  EXPECT_THROW(irange(0, 3, 0), std::invalid_argument);
  EXPECT_THROW(irange(INT64_MIN, INT64_MAX), std::invalid_argument);
}

TEST(IRangeTest, NumbersOfDifferentSignednessAreComparedAsTheyAre) {
  EXPECT_EQ(irange(0, size_t{3}).size(), 3u);
  EXPECT_TRUE(irange(0u, -1).empty());
  EXPECT_TRUE(irange(-1, 0u, -1).empty());
  EXPECT_EQ(irange(2u, -1, -1).size(), 3u);
  EXPECT_EQ(irange(2u, -2, -2)[1], 0u);
  EXPECT_EQ(irange(-1, 1l).size(), 2u);
  EXPECT_EQ(irange('a', 'd').size(), 3u);
  EXPECT_THROW(irange(-1, 3u), std::invalid_argument);
  EXPECT_THROW(irange(2u, -2, -1), std::invalid_argument);
  int calls = 0;
  parallelFor(3u, -1, [&](unsigned) { ++calls; });
  EXPECT_THROW(parallelFor(-1, size_t{3}, [&](size_t) { ++calls; }), std::invalid_argument);
  EXPECT_EQ(calls, 0);
}

TEST_P(ParallelForTest, RefusesAGrainBelowOne) {
  std::vector<int> elements(3);
  EXPECT_THROW(autoPartitioner(elements, 0), std::invalid_argument);
  EXPECT_THROW(autoPartitioner(elements, -1), std::invalid_argument);
  EXPECT_THROW(staticPartitioner(elements, 0), std::invalid_argument);
  EXPECT_THROW(staticPartitioner(elements, -7), std::invalid_argument);
  EXPECT_THROW(blocks2D({0, 1, 0, 1}, 0, 1), std::invalid_argument);
  EXPECT_THROW(blocks2D({0, 1, 0, 1}, 1, -1), std::invalid_argument);
}

TEST_P(ParallelForTest, RefusesMoreBlocksThanCanBeCounted) {
  constexpr std::ptrdiff_t kLeast = std::numeric_limits<std::ptrdiff_t>::min();
  constexpr std::ptrdiff_t kMost = std::numeric_limits<std::ptrdiff_t>::max();
  EXPECT_THROW(blocks2D({0, std::ptrdiff_t{1} << 62, 0, 4}, 1, 1), std::invalid_argument);
  EXPECT_THROW(blocks2D({-1, kMost, 0, 1}, 1, 1), std::invalid_argument);
  EXPECT_THROW(blocks2D({0, 1, kLeast, kMost}, 1, 1), std::invalid_argument);
  int calls = 0;
  parallelFor(blocks2D({kLeast, -1, 0, kMost}, kMost, kMost), [&](const Block2D&) { ++calls; });
  EXPECT_EQ(calls, 1);
}

// Two threads that meet in a loop: neither goes on before the other has come. They stay busy, lest one of
// them runs both bodies.
class Meeting {
 public:
  void operator()(int) {
    {
      std::scoped_lock guard(mutex_);
      threads_.insert(std::this_thread::get_id());
    }
    while (numThreads() < 2) {
      std::this_thread::yield();
    }
  }

 private:
  size_t numThreads() {
    std::scoped_lock guard(mutex_);
    return threads_.size();
  }

  std::mutex mutex_;
  std::set<std::thread::id> threads_;
};

TEST_P(ParallelForTest, ALoopWithAGrainIsSharedWithAWorker) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody else";
  }
  for (int round = 0; round < 20; ++round) {
    parallelFor(autoPartitioner(irange(0, 2), 1), Meeting());
    parallelFor(staticPartitioner(irange(0, 2), 1), Meeting());
    if (numWorkers() > 1) {
      inTask([] { parallelFor(autoPartitioner(irange(0, 2), 1), Meeting()); });
    }
  }
}

// All of the loop's work lies at one end: the thread that has begun there is helped.
TEST_P(ParallelForTest, ASkewedLoopIsShared) {
  if (numWorkers() < 2) {
    GTEST_SKIP() << "nobody else";
  }
  for (const bool isAtTheEnd : {false, true}) {
    inTask([&] {
      constexpr int kCount = 1000, kHeavy = 10;
      Meeting meeting;
      parallelFor(autoPartitioner(irange(0, kCount), 1), [&](int i) {
        if (isAtTheEnd ? i >= kCount - kHeavy : i < kHeavy) {
          meeting(i);
        }
      });
    });
  }
}

// Nothing says that the iterations are long but the time that they take. The loop ends when two threads have
// met.
TEST_P(ParallelForTest, ALoopWithoutAGrainIsSharedOnceItIsLong) {
  if (numWorkers() < 2) {
    GTEST_SKIP() << "nobody else";
  }
  inTask([] {
    const auto caller = std::this_thread::get_id();
    std::stop_source met;
    parallelFor(
        int64_t{0}, int64_t{1} << 60,
        [&](int64_t) {
          if (std::this_thread::get_id() != caller) {
            met.request_stop();
          }
        },
        met.get_token());
    EXPECT_TRUE(met.stop_requested());
  });
}

TEST_P(ParallelForTest, AStopEndsTheLoopWithoutAnException) {
  for (const size_t stopAt : {0u, 1u, 500u, 999u}) {
    std::stop_source source;
    std::atomic<size_t> numCalls{0};
    const auto body = [&](size_t) {
      if (numCalls.fetch_add(1) == stopAt) {
        source.request_stop();
      }
    };
    parallelFor(autoPartitioner(irange(size_t{0}, size_t{1} << 40), 1), body, source.get_token());
    EXPECT_GT(numCalls.load(), stopAt);
    numCalls = 0;
    parallelFor(size_t{0}, size_t{1} << 40, body, source.get_token());
    parallelFor(staticPartitioner(irange(0u, 100u), 1), body, source.get_token());
    EXPECT_EQ(numCalls.load(), 0u);
  }
}

TEST_P(ParallelForTest, AnExceptionOfABodyArrivesAndTheRestIsLeftOut) {
  const auto throwAndCatch = [] {
    for (const int thrower : {0, 1, 500, 999}) {
      std::atomic<int> numRunning{0};
      const auto body = [&](int i) {
        ++numRunning;
        if (i >= thrower) {
          --numRunning;
          throw std::runtime_error(std::to_string(i));
        }
        --numRunning;
      };
      EXPECT_THROW(parallelFor(0, 1000, body), std::runtime_error);
      EXPECT_THROW(parallelFor(autoPartitioner(irange(0, 1000), 1), body), std::runtime_error);
      EXPECT_THROW(parallelFor(staticPartitioner(irange(0, 1000), 1), body), std::runtime_error);
      EXPECT_EQ(numRunning.load(), 0);
    }
    std::atomic<int> numCalls{0};
    EXPECT_THROW(parallelFor(autoPartitioner(irange(0, 1 << 30), 1),
                             [&](int) {
                               ++numCalls;
                               throw std::runtime_error("first");
                             }),
                 std::runtime_error);
    EXPECT_LT(numCalls.load(), 1000);
  };
  throwAndCatch();
  inTask(throwAndCatch);
}

// The second half is taken, and throws before the first, which has begun: what has not begun by then is left
// out.
TEST_P(ParallelForTest, OfSeveralExceptionsThatOfTheFirstElementArrives) {
  inTask([] {
    for (int round = 0; round < 20; ++round) {
      const Event hasBegun, hasThrown;
      std::string what;
      try {
        parallelFor(autoPartitioner(irange(0, 2), 1), [&](int i) {
          if (i == 0) {
            hasBegun.signal();
            hasThrown.wait();
          } else {
            hasBegun.wait();
            hasThrown.signal();
          }
          throw std::runtime_error(std::to_string(i));
        });
      } catch (const std::runtime_error& error) {
        what = error.what();
      }
      EXPECT_EQ(what, "0");
    }
  });
}

TEST_P(ParallelForTest, BodiesMayWait) {
  inTask([] {
    Visits visits(200);
    mutex held;
    parallelFor(autoPartitioner(irange(0u, 200u), 1), [&](unsigned i) {
      std::scoped_lock guard(held);
      yield();
      visits(i);
    });
    parallelFor(0u, 200u, [&](unsigned i) {
      if (i % 50 == 0) {
        sleep_for(std::chrono::microseconds(100));
      }
      visits(i);
    });
    visits.expectEach(2);
  });
}

// Each of the earlier bodies waits for a later one, which runs since they gave it away before.
TEST_P(ParallelForTest, WithAGrainTheRestRunsWhileABodyWaits) {
  inTask([] {
    const Event secondHasRun;
    parallelFor(autoPartitioner(irange(0, 2), 1),
                [&](int i) { i == 0 ? secondHasRun.wait() : secondHasRun.signal(); });
  });
}

TEST_P(ParallelForTest, LoopsNest) {
  const auto nest = [] {
    constexpr size_t kSide = 40;
    Visits visits(kSide * kSide * kSide);
    parallelFor(autoPartitioner(irange(size_t{0}, kSide), 1), [&](size_t i) {
      parallelFor(size_t{0}, kSide, [&](size_t j) {
        parallelFor(staticPartitioner(irange(size_t{0}, kSide), 10),
                    [&](size_t k) { visits((i * kSide + j) * kSide + k); });
      });
    });
    visits.expectEach(1);
  };
  nest();
  inTask(nest);
}

TEST_P(ParallelForTest, TasksAndThreadsLoopAtTheSameTime) {
  tests::Crew crew(scheduler());
  for (int i = 0; i < 9; ++i) {
    crew.start(tests::kindOf(i), [] {
      Visits visits(2000);
      parallelFor(autoPartitioner(irange(0u, 2000u), 3), visits);
      parallelFor(0u, 2000u, visits);
      visits.expectEach(2);
    });
  }
}

TEST_P(ParallelForTest, BodiesMayScheduleTasksAndLeaveThem) {
  inTask([] {
    std::atomic<int> numRun{0};
    WaitGroup all(100);
    parallelFor(autoPartitioner(irange(0, 100), 1), [&](int) {
      schedule([&numRun, all] {
        ++numRun;
        all.done();
      });
    });
    all.wait();
    EXPECT_EQ(numRun.load(), 100);
  });
}

TEST_P(ParallelForTest, CallsNoMallocInTheSteadyState) {
  std::vector<int> elements(10'000);
  const auto loop = [&] {
    parallelFor(elements, [](int& element) { ++element; });
    parallelFor(autoPartitioner(elements, 100), [](int& element) { ++element; });
    parallelFor(staticPartitioner(elements, 100), [](int& element) { ++element; });
  };
  // Workers make their fibers when they first need them, which may be at any time where there are several.
  inTask([&] {
    loop();
    const auto before = tests::numMallocs();
    loop();
    if (numWorkers() <= 1) {
      EXPECT_EQ(tests::numMallocs(), before);
    }
  });
}

}  // namespace
}  // namespace weft
