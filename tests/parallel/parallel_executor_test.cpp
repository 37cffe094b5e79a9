// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/parallel.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/executor.h>
#include <weft/taskgroup.h>
#include <weft/waitgroup.h>

#include "in_task.h"
#include "with_scheduler.h"

// What takes an executor as its first argument.
namespace weft {
namespace {

using tests::inTask;

// Runs tasks where `inner` does, and counts them.
template <class E>
struct Counting {
  void schedule(TaskHandle task) {
    ++numTasks;
    inner.schedule(std::move(task));
  }

  E& inner;
  std::atomic<int> numTasks{0};
};

// Where the result depends on what an executor refuses.
struct Dropping {
  void schedule(TaskHandle) {}
};
struct Throwing {
  void schedule(TaskHandle) { throw std::runtime_error("full"); }
};
struct ThrowingAfterwards {
  void schedule(TaskHandle task) {
    task.run();
    throw std::runtime_error("afterwards");
  }
};

template <class E>
void runAllAlgorithms(E& executor) {
  constexpr int kCount = 5000;
  std::vector<int> values(kCount);
  std::iota(values.begin(), values.end(), 0);
  const int sum = kCount * (kCount - 1) / 2;
  std::vector<std::atomic<int>> visits(kCount);
  parallelFor(executor, values, [&](int i) { ++visits[static_cast<size_t>(i)]; });
  parallelFor(executor, 0, kCount, [&](int i) { ++visits[static_cast<size_t>(i)]; });
  parallelFor(executor, {1, 2}, [&](int i) { ++visits[static_cast<size_t>(i)]; });
  parallelFor(executor, staticPartitioner(values, 100), [&](int i) { ++visits[static_cast<size_t>(i)]; });
  EXPECT_EQ(visits[0].load(), 3);
  EXPECT_EQ(visits[1].load(), 4);
  EXPECT_EQ(visits[kCount - 1].load(), 3);

  EXPECT_EQ(parallelReduce(executor, values, 0), sum);
  EXPECT_EQ(parallelReduce(executor, {1, 2, 3}, 0, std::plus<>()), 6);
  EXPECT_EQ(parallelMapReduce(executor, 0, kCount, 0, std::negate<>()), -sum);
  EXPECT_EQ(parallelMapReduce(executor, {1, 2, 3}, 0, std::negate<>()), -6);

  std::vector<int> out(kCount);
  EXPECT_EQ(parallelScan(executor, values, out.begin()), out.end());
  EXPECT_EQ(out.back(), sum);
  parallelScan(executor, {1, 2}, out.begin());
  EXPECT_EQ(out[1], 3);
  parallelExclusiveScan(executor, values.begin(), values.end(), out.begin(), 7);
  EXPECT_EQ(out[0], 7);
  parallelTransform(executor, values, out.begin(), std::negate<>());
  parallelTransform(executor, values, out, out.begin(), std::plus<>());
  EXPECT_EQ(std::count(out.begin(), out.end(), 0), kCount);
  const auto isSmall = [](int x) { return x < 100; };
  EXPECT_EQ(parallelCopyIf(executor, values, out.begin(), isSmall) - out.begin(), 100);
  EXPECT_EQ(parallelCopyIf(executor, {300, 7}, out.begin(), isSmall) - out.begin(), 1);
  EXPECT_EQ(out[0], 7);

  parallelSort(executor, values, std::greater<>());
  EXPECT_EQ(values.front(), kCount - 1);
  parallelStableSort(executor, values.begin(), values.end());
  EXPECT_EQ(values.front(), 0);

  int last = -1;
  parallelPipeline(executor, 3, serialStage([next = 0]() mutable {
                     return next < 100 ? std::optional<int>(next++) : std::nullopt;
                   }),
                   serialStage([&](int i) { last = i; }));
  EXPECT_EQ(last, 99);

  std::atomic<int> numCalls{0};
  parallelInvoke(executor, [&] { ++numCalls; }, [&] { return ++numCalls; });
  parallelInvoke(executor);
  EXPECT_EQ(numCalls.load(), 2);
  int named = 7;
  const auto [number, pointer, reference] = join(
      executor, [] { return 1; }, [] {}, [] { return std::make_unique<int>(2); },
      [&]() -> int& { return named; });
  EXPECT_EQ(number, 1);
  EXPECT_EQ(*pointer, 2);
  EXPECT_EQ(&reference, &named);
}

template <class E>
void runAGroup(E& executor) {
  std::atomic<int> numCalls{0};
  TaskGroup group(executor);
  for (int i = 0; i < 100; ++i) {
    group.run([&] {
      ++numCalls;
      group.run([&](const std::stop_token& token) { numCalls += !token.stop_requested(); });
    });
  }
  group.wait();
  EXPECT_EQ(numCalls.load(), 200);

  TaskGroup failing(executor, group);
  failing.run([] { throw std::runtime_error("task"); });
  EXPECT_THROW(failing.wait(), std::runtime_error);
  EXPECT_TRUE(failing.isCanceled());
  failing.run([] { FAIL() << "the group is cancelled"; });
  failing.wait();
}

class ParallelExecutorTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ParallelExecutorTest);

TEST_P(ParallelExecutorTest, EachKindOfExecutorRunsAllAlgorithmsAndGroups) {
  PoolExecutor pool(2);
  const auto run = [&](auto& executor) {
    runAllAlgorithms(executor);
    runAGroup(executor);
    inTask([&] {
      runAllAlgorithms(executor);
      runAGroup(executor);
    });
    Scheduler::unbind();
    runAllAlgorithms(executor);
    runAGroup(executor);
    scheduler().bind();
  };
  run(pool);
  run(pool.scheduler());
  run(inlineExecutor());
  run(threadExecutor());
  Counting<PoolExecutor> counting{pool};
  run(counting);
  EXPECT_GT(counting.numTasks.load(), 0);
  ExecutorReference any = counting;
  run(any);
  if (numWorkers() != 0) {
    runAllAlgorithms(scheduler());
    runAGroup(scheduler());
    inTask([&] { runAllAlgorithms(scheduler()); });
  }
}

// The caller's own thread takes no part, and two functions that meet need two workers.
TEST(ParallelExecutorUnboundTest, TheWorkersOfAPoolShareTheWork) {
  PoolExecutor pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  const Event first, second;
  std::atomic<int> numHere{0};
  const auto meet = [&](const Event& own, const Event& other) {
    numHere += std::this_thread::get_id() == caller;
    own.signal();
    other.wait();
  };
  join(pool, [&] { meet(first, second); }, [&] { meet(second, first); });
  EXPECT_EQ(numHere.load(), 0);
  parallelFor(pool, autoPartitioner(irange(0, 100), 1), [&](int) {
    numHere += std::this_thread::get_id() == caller || Scheduler::get() != &pool.scheduler();
  });
  EXPECT_EQ(numHere.load(), 0);
  TaskGroup group(pool);
  for (int i = 0; i < 100; ++i) {
    group.run([&] { numHere += Scheduler::get() != &pool.scheduler(); });
  }
  group.wait();
  EXPECT_EQ(numHere.load(), 0);
}

// The only worker would wait for itself, were a new task scheduled and its thread held.
TEST(ParallelExecutorUnboundTest, ATaskOfAPoolMayNameItsOwnPool) {
  PoolExecutor pool(1);
  const long sum = parallelReduce(pool, {1, 2, 3}, 0L, [&](long a, long b) {
    std::atomic<long> total{a};
    parallelFor(pool, 0, 10, [&](int i) { total += b * i; });
    return total.load();
  });
  EXPECT_GT(sum, 0);
}

TEST_P(ParallelExecutorTest, WhatAnExecutorRefusesIsHeard) {
  Dropping dropping;
  Throwing throwing;
  ThrowingAfterwards afterwards;
  const auto check = [&] {
    int numCalls = 0;
    EXPECT_THROW(parallelFor(dropping, 0, 10, [&](int) { ++numCalls; }), TaskNotExecuted);
    EXPECT_THROW(join(dropping, [&] { ++numCalls; }, [&] { ++numCalls; }), TaskNotExecuted);
    EXPECT_THROW((void)parallelReduce(throwing, {1, 2}, 0), std::runtime_error);
    EXPECT_THROW(join(throwing, [&] { ++numCalls; }), std::runtime_error);
    EXPECT_EQ(numCalls, 0);
    EXPECT_THROW(join(afterwards, [&] { ++numCalls; }), std::runtime_error);
    EXPECT_EQ(numCalls, 1);
  };
  check();
  inTask(check);
}

TEST_P(ParallelExecutorTest, WhatAnExecutorOfAGroupRefusesIsAnExceptionOfItsTask) {
  Dropping dropping;
  Throwing throwing;
  const auto check = [&] {
    TaskGroup dropped(dropping);
    dropped.run([] { FAIL() << "the task is dropped"; });
    EXPECT_TRUE(dropped.isCanceled());
    EXPECT_THROW(dropped.wait(), TaskNotExecuted);
    dropped.run([] {});
    dropped.wait();

    TaskGroup thrown(throwing);
    thrown.run([] { FAIL() << "the task is refused"; });
    EXPECT_THROW(thrown.wait(), std::runtime_error);
    thrown.wait();
  };
  check();
  inTask(check);
}

TEST_P(ParallelExecutorTest, TheStopOfAParentEndsAGroupWithAnExecutor) {
  MainLoopExecutor mainLoop;
  TaskGroup parent;
  TaskGroup group(mainLoop, parent);
  bool hasRun = false;
  group.run([&] { hasRun = true; });
  parent.cancel();
  EXPECT_EQ(mainLoop.runAll(), 1u);
  group.wait();
  EXPECT_FALSE(hasRun);
}

// Tasks that never begin are counted as ended when their executor goes.
TEST_P(ParallelExecutorTest, AGroupHearsOfAnExecutorThatGoesWithItsTasks) {
  auto mainLoop = std::make_unique<MainLoopExecutor>();
  TaskGroup group(*mainLoop);
  group.run([] { FAIL() << "the loop never runs"; });
  mainLoop.reset();
  EXPECT_THROW(group.wait(), TaskNotExecuted);
}

// The examples of the headers.
TEST(ParallelExecutorUnboundTest, TheExamplesWork) {
  struct Image {
    int height() const { return 10; }
    int row(int y) const { return y; }
  } image;
  std::atomic<int> sum{0};
  const auto render = [&](int row) { sum += row; };
  weft::parallelFor(weft::defaultExecutor(), 0, image.height(), [&](int y) { render(image.row(y)); });
  EXPECT_EQ(sum.load(), 45);
  const std::function<long(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); };
  // clang-format off
  auto [a, b] = weft::join(weft::defaultExecutor(), [&] { return fib(30); }, [&] { return fib(29); });
  // clang-format on
  EXPECT_EQ(a + b, 1346269);
  weft::TaskGroup group(weft::defaultExecutor());
  group.run([&] { ++sum; });
  group.wait();
  EXPECT_EQ(sum.load(), 46);
}

}  // namespace
}  // namespace weft
