// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/join.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#include <weft/event.h>
#include <weft/mutex.h>
#include <weft/waitgroup.h>

#include "count_mallocs.h"
#include "in_task.h"
#include "waiting.h"

namespace weft {
namespace {

using tests::awaitThat;
using tests::inTask;
using tests::scaled;

// As in the header.
long fib(int n) {
  if (n < 2) {
    return n;
  }
  auto [a, b] = weft::join([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
  return a + b;
}

class JoinTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(JoinTest);

TEST(JoinUnboundTest, CallsTheFunctionsInOrderWhereNoSchedulerIsBound) {
  std::vector<int> calls;
  join([&] { calls.push_back(1); }, [&] { calls.push_back(2); }, [&] { calls.push_back(3); });
  EXPECT_EQ(calls, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(fib(15), 610);
}

TEST_P(JoinTest, AddsUpOnABoundThreadAndInATask) {
  EXPECT_EQ(fib(20), 6765);
  inTask([] { EXPECT_EQ(fib(20), 6765); });
}

TEST_P(JoinTest, ReturnsTheResultsOfThoseThatHaveAny) {
  int named = 7;
  auto results =
      join([] { return 1; }, [] {}, [] { return std::make_unique<int>(2); }, [&]() -> int& { return named; });
  static_assert(std::is_same_v<decltype(results), std::tuple<int, std::unique_ptr<int>, int&>>);
  EXPECT_EQ(std::get<0>(results), 1);
  EXPECT_EQ(*std::get<1>(results), 2);
  EXPECT_EQ(&std::get<2>(results), &named);

  static_assert(std::is_void_v<decltype(join([] {}, [] {}))>);
  EXPECT_EQ(std::get<0>(join([] { return 5; })), 5);
}

TEST_P(JoinTest, FunctionsMayBeMutableMoveOnlyOrNamed) {
  int sum = 0;
  auto counter = [&sum, n = 0]() mutable { sum += ++n; };
  join(counter, [p = std::make_unique<int>(10)] { EXPECT_EQ(*p, 10); });
  join([] {}, counter);
  EXPECT_EQ(sum, 3);
}

TEST_P(JoinTest, AChildRunsElsewhereWhileTheFirstFunctionWaits) {
  inTask([] {
    const Event begun;
    Fiber* child = nullptr;
    join([&] { begun.wait(); },
         [&] {
           child = Fiber::current();
           begun.signal();
         });
    EXPECT_NE(child, Fiber::current());
  });
}

// The thread is busy, so that only a worker can take the child.
TEST_P(JoinTest, WorkersTakeTheChildrenOfABoundThread) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody else";
  }
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> hasBegun{false};
    std::thread::id other;
    join(
        [&] {
          while (!hasBegun.load()) {
            std::this_thread::yield();
          }
        },
        [&] {
          other = std::this_thread::get_id();
          hasBegun.store(true);
        });
    EXPECT_NE(other, std::this_thread::get_id());
  }
}

// So that the child is not the newest when it is wanted back.
TEST_P(JoinTest, AMutexMayBeHeldAcrossIt) {
  mutex guard;
  int count = 0;
  WaitGroup others(10);
  inTask([&] {
    const Event begun;
    const lock held(guard);
    for (int i = 0; i < 10; ++i) {
      schedule([&, others] {
        {
          const lock own(guard);
          ++count;
        }
        others.done();
      });
    }
    join([&] { begun.wait(); },
         [&] {
           begun.signal();
           EXPECT_EQ(count, 0);
         });
    EXPECT_EQ(count, 0);
  });
  others.wait();
  EXPECT_EQ(count, 10);
}

TEST_P(JoinTest, TheFirstFunctionMayScheduleTasksAndLeaveThem) {
  inTask([] {
    std::atomic<int> numRun{0};
    WaitGroup all(30);
    for (int i = 0; i < 10; ++i) {
      int result = 0;
      join(
          [&] {
            for (int task = 0; task < 3; ++task) {
              schedule([&numRun, all] {
                ++numRun;
                all.done();
              });
            }
          },
          [&] { result = i + 1; });
      EXPECT_EQ(result, i + 1);
    }
    all.wait();
    EXPECT_EQ(numRun.load(), 30);
  });
}

TEST_P(JoinTest, AnExceptionArrivesOnceAllHaveEnded) {
  inTask([] {
    for (int thrower = 0; thrower < 3; ++thrower) {
      bool hasEnded[3] = {};
      const auto function = [&](int index) {
        hasEnded[index] = true;
        if (index == thrower) {
          throw std::runtime_error(std::to_string(index));
        }
      };
      try {
        join([&] { function(0); }, [&] { function(1); }, [&] { function(2); });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), std::to_string(thrower));
      }
      EXPECT_TRUE(hasEnded[0] && hasEnded[1] && hasEnded[2]);
    }
  });
}

TEST_P(JoinTest, TheExceptionOfAChildThatWasTakenArrives) {
  inTask([] {
    const Event begun;
    EXPECT_THROW(join([&] { begun.wait(); },
                      [&]() -> std::unique_ptr<int> {
                        begun.signal();
                        throw std::runtime_error("taken");
                      }),
                 std::runtime_error);
  });
}

TEST_P(JoinTest, OfSeveralExceptionsThatOfTheFirstArgumentArrives) {
  const auto thrower = [](int what) { return [what] { throw what; }; };
  for (int round = 0; round < 100; ++round) {
    int caught = 0;
    try {
      join([] {}, thrower(1), thrower(2), thrower(3));
    } catch (int what) {
      caught = what;
    }
    EXPECT_EQ(caught, 1);
  }
}

TEST_P(JoinTest, JoinsInsideCatchBlocksKeepTheirException) {
  inTask([] {
    const Event begun;
    try {
      throw 1;
    } catch (int) {
      join([&] { begun.wait(); },
           [&] {
             begun.signal();
             EXPECT_EQ(std::current_exception(), nullptr);
           });
      EXPECT_NE(std::current_exception(), nullptr);
    }
  });
}

long sumOfTree(uint64_t seed, int depth, std::atomic<long>& numLeaves) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  if (depth == 0) {
    ++numLeaves;
    return 1;
  }
  switch (seed >> 60) {
    case 0:
      yield();
      break;
    case 1: {
      WaitGroup task(1);
      schedule([task] { task.done(); });
      task.wait();
      break;
    }
    default:
      break;
  }
  if (seed >> 61 == 2) {
    auto [a, b, c] = join([&] { return sumOfTree(seed + 1, depth - 1, numLeaves); },
                          [&] { return sumOfTree(seed + 2, depth / 2, numLeaves); },
                          [&] { return sumOfTree(seed + 3, depth / 2, numLeaves); });
    return a + b + c;
  }
  auto [a, b] = join([&] { return sumOfTree(seed + 1, depth - 1, numLeaves); },
                     [&] { return sumOfTree(seed + 2, depth - 1, numLeaves); });
  return a + b;
}

TEST_P(JoinTest, RandomTreesWhoseNodesWaitAreWalkedWhole) {
  for (uint64_t seed = 0; seed < scaled<uint64_t>(20, 4); ++seed) {
    std::atomic<long> numLeaves{0};
    long sum = 0;
    if (seed % 2 == 0) {
      sum = sumOfTree(seed, 10, numLeaves);
    } else {
      inTask([&] { sum = sumOfTree(seed, 10, numLeaves); });
    }
    EXPECT_EQ(sum, numLeaves.load());
    EXPECT_GE(sum, 100);
  }
}

TEST_P(JoinTest, ManyTasksAndThreadsJoinAtTheSameTime) {
  tests::Crew crew(scheduler());
  for (int i = 0; i < 12; ++i) {
    crew.start(tests::kindOf(i), [] { EXPECT_EQ(fib(14), 377); });
  }
}

TEST_P(JoinTest, CallsNoMallocInTheSteadyState) {
  if (!tests::kCountsMallocs) {
    GTEST_SKIP() << "the sanitizer owns malloc";
  }
  if (numWorkers() > 1) {
    GTEST_SKIP() << "a worker that steals for the first time makes its first fibers";
  }
  EXPECT_EQ(fib(10), 55);
  inTask([] {
    EXPECT_EQ(fib(10), 55);
    const auto before = tests::numMallocs();
    EXPECT_EQ(fib(12), 144);
    EXPECT_EQ(tests::numMallocs(), before);
  });
}

// Each level's fiber waits until all levels below it have ended.
int depthOfWaits(int depth) {
  if (depth == 0) {
    return 0;
  }
  const Event begun;
  auto [below] = join([&] { begun.wait(); },
                      [&] {
                        begun.signal();
                        return depthOfWaits(depth - 1) + 1;
                      });
  return below;
}

TEST_P(JoinTest, WaitsNestAHundredThousandDeep) {
  const bool isDear = tests::kUnderTsan || tests::kUnderAsan;
  const int depth = isDear ? tests::kMaxTsanFibers / 2 : scaled(100'000, 10'000);
  inTask([&] { EXPECT_EQ(depthOfWaits(depth), depth); });
}

// A tree whose first functions wait for their siblings to begin, with some 30 fibers for its depth; opened
// breadth first it would have thousands, and more forks than a deque holds.
TEST_P(JoinTest, TreesThatWaitAreOpenedDepthFirst) {
  struct Tree {
    static long walk(int depth) {
      if (depth == 0) {
        return 1;
      }
      const Event begun;
      auto [a, b] = join(
          [&] {
            begun.wait();
            return walk(depth - 1);
          },
          [&] {
            begun.signal();
            return walk(depth - 1);
          });
      return a + b;
    }
  };
  constexpr int kDepth = 12;
  inTask([] { EXPECT_EQ(Tree::walk(kDepth), 1 << kDepth); });
  if (numWorkers() == 1) {
    for (const Scheduler::WorkerStats& worker : scheduler().stats().workers) {
      EXPECT_LE(worker.numFibers, 200u);
    }
  }
}

// Without workers the order is the same each time: a task runs before the siblings of the functions that have
// scheduled it and wait for it, since it is newer than they are.
TEST_P(JoinTest, ATaskOfAFunctionIsNewerThanTheFunctionsSiblings) {
  if (numWorkers() != 0) {
    GTEST_SKIP() << "workers may take either at any time";
  }
  std::vector<int> calls;
  inTask([&] {
    join(
        [&] {
          const Event begun;
          schedule([&, begun] {
            calls.push_back(1);
            begun.signal();
          });
          begun.wait();
        },
        [&] { calls.push_back(2); });
  });
  EXPECT_EQ(calls, (std::vector<int>{1, 2}));
}

// A task that the bound thread ran would keep it from going on.
TEST_P(JoinTest, ABoundThreadThatForksRunsItsChildrenOnly) {
  if (numWorkers() != 1) {
    GTEST_SKIP() << "needs one worker, which is kept busy";
  }
  std::atomic<bool> isBusy{false}, mayEnd{false};
  schedule([&] {
    isBusy = true;
    while (!mayEnd.load()) {
      std::this_thread::yield();
    }
  });
  while (!isBusy.load()) {
    std::this_thread::yield();
  }
  const auto self = std::this_thread::get_id();
  const WaitGroup done(1);
  schedule([=] {
    EXPECT_NE(std::this_thread::get_id(), self);
    done.done();
  });
  const Event last(Event::Mode::Manual);
  join([&] { last.wait(); }, [&] { last.wait(); }, [&] { last.signal(); });
  mayEnd = true;
  done.wait();
}

template <class AtEnd>
long sumOfRow(int n, const AtEnd& atEnd) {
  if (n == 0) {
    atEnd();
    return 0;
  }
  auto [rest, one] = join([&] { return sumOfRow(n - 1, atEnd); }, [] { return 1L; });
  return rest + one;
}

// Deeper than the deque is long, by far; the stack of the first fiber alone grows.
TEST_P(JoinTest, NestsAMillionDeep) {
  if (tests::kUnderAsan && numWorkers() > 8) {
    GTEST_SKIP() << "AddressSanitizer keeps 23 MB for each fiber with such a stack";
  }
  Scheduler::Config config = scheduler().config();
  destroyScheduler();
  // Leak checkers read all of each stack.
  Scheduler deep(config.setFiberStackSize(size_t{1} << scaled(30, 27)));
  Scheduler::Binding bound(deep);
  inTask([] {
    // ThreadSanitizer follows 65,536 calls, of which one level of this takes a dozen.
    for (const int depth : {5'000, tests::kUnderTsan ? 5'000 : scaled(1'000'000, 20'000)}) {
      EXPECT_EQ(sumOfRow(depth, [] {}), depth);
    }
    // More open forks than the deque holds, in a fiber that suspends.
    const Event bottom;
    schedule([bottom] { bottom.signal(); });
    EXPECT_EQ(sumOfRow(5'000, [&] { bottom.wait(); }), 5'000);
  });
}

}  // namespace
}  // namespace weft
