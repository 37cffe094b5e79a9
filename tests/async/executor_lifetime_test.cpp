// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include <weft/event.h>
#include <weft/executor.h>
#include <weft/future.h>
#include <weft/scheduler.h>

#include "waiting.h"

// Executors of weft's that end before what waits for its turn on them; and loops that end though tasks post
// again.
namespace weft {
namespace {

using tests::scaled;

// What waits for `promise`, when that is set after `executor` has ended.
template <class E, class... Args>
void expectNotExecuted(Args&&... args) {
  Promise<int> promise;
  SharedFuture<int> source = promise.get_future();
  Future<int> end, afterEnd;
  bool hasRun = false;
  {
    const auto executor = std::make_unique<E>(std::forward<Args>(args)...);
    const auto run = [&](int n) {
      hasRun = true;
      return n;
    };
    end = source.then(*executor, run);
    afterEnd = source.then(*executor, run).then(inlineExecutor(), run);
  }
  promise.set_value(1);
  ASSERT_TRUE(end.ready());
  EXPECT_THROW(end.get(), TaskNotExecuted);
  EXPECT_THROW(afterEnd.get(), TaskNotExecuted);
  EXPECT_FALSE(hasRun);
}

// As marl::Scheduler is.
struct DerivedScheduler : Scheduler {
  using Scheduler::Scheduler;
};
static_assert(detail::kIsLinked<DerivedScheduler>,
              "its continuations must not refer to it once it has ended");

// Counts what it is given, so a continuation must not go past it.
struct CountingPool : PoolExecutor {
  using PoolExecutor::PoolExecutor;
  void schedule(TaskHandle task) {
    ++numTasks;
    PoolExecutor::schedule(std::move(task));
  }
  std::atomic<int> numTasks{0};
};

TEST(ExecutorLifetimeTest, TasksThatComeAfterTheEndAreNotExecuted) {
  expectNotExecuted<MainLoopExecutor>();
  expectNotExecuted<PoolExecutor>(size_t{2});
  expectNotExecuted<Scheduler>(tests::smallConfig(2));
  expectNotExecuted<Scheduler>(tests::smallConfig(0));
  expectNotExecuted<DerivedScheduler>(tests::smallConfig(2));
}

TEST(ExecutorLifetimeTest, ADerivedExecutorWithAScheduleOfItsOwnIsAsked) {
  CountingPool pool(1);
  EXPECT_EQ(makeReadyFuture(1).then(pool, [](int n) { return n + 1; }).get(), 2);
  EXPECT_EQ(pool.numTasks, 1);
}

// The end races with the source: a task runs, or is not executed; none is lost.
template <class E, class Use, class... Args>
void expectNoneLost(const Use& use, Args&&... args) {
  for (int round = 0; round < scaled(300, 30); ++round) {
    Promise<int> promise;
    Future<int> end;
    std::thread setter;
    {
      E executor(args...);
      end = promise.get_future().then(executor, [](int n) { return n; });
      setter = std::thread([&] { promise.set_value(round); });
      use(executor);
    }
    if (end.wait(), end.failed()) {
      EXPECT_THROW(end.get(), TaskNotExecuted);
    } else {
      EXPECT_EQ(end.get(), round);
    }
    setter.join();
  }
}

TEST(ExecutorLifetimeTest, NoTaskIsLostThatComesAtTheEnd) {
  expectNoneLost<MainLoopExecutor>([](MainLoopExecutor& loop) { loop.runAll(); });
  expectNoneLost<PoolExecutor>([](PoolExecutor&) {}, size_t{2});
  expectNoneLost<Scheduler>([](Scheduler&) {}, tests::smallConfig(1));
}

// Until its own tasks have ended, a pool takes what they wait for, though it is being destroyed.
TEST(ExecutorLifetimeTest, APoolThatEndsTakesWhatItsTasksWaitFor) {
  for (int round = 0; round < scaled(300, 30); ++round) {
    Promise<int> promise;
    std::thread setter;
    int result = 0;
    {
      PoolExecutor pool(2);
      Event begun;
      (void)async(pool, [&, begun] {
        Future<int> awaited = promise.get_future().then(pool, [](int n) { return n + 1; });
        begun.signal();
        result = awaited.get();
      });
      begun.wait();
      setter = std::thread([&] { promise.set_value(round); });
    }
    setter.join();
    EXPECT_EQ(result, round + 1);
  }
}

TEST(ExecutorLifetimeTest, AMainLoopMayEndInATaskOfItsOwn) {
  auto loop = std::make_unique<MainLoopExecutor>();
  (void)async(*loop, [&] { loop.reset(); });
  Future<void> dropped = async(*loop, [] {});
  EXPECT_EQ(loop->runAll(), 1u);
  EXPECT_THROW(dropped.get(), TaskNotExecuted);
}

// A loop whose task posts itself again, without end.
class RepostingLoopTest : public ::testing::Test {
 protected:
  void SetUp() override { (void)async(loop_, again_); }

  MainLoopExecutor loop_;
  size_t count_ = 0;
  std::stop_source stop_;
  std::function<void()> again_ = [this] {
    if (++count_ % 10 == 0) {
      stop_.request_stop();
    }
    (void)async(loop_, again_);
  };
};

TEST_F(RepostingLoopTest, ABudgetEndsIt) {
  EXPECT_EQ(loop_.runFor(std::chrono::milliseconds(0)), 1u) << "one task at least, so that a loop gets on";
  EXPECT_EQ(loop_.runFor(std::chrono::hours(-1)), 1u);
  const size_t numRun = loop_.runFor(std::chrono::microseconds(100));
  EXPECT_EQ(numRun, count_ - 2);
}

TEST_F(RepostingLoopTest, ADeadlineEndsIt) {
  EXPECT_EQ(loop_.runUntil(std::chrono::steady_clock::now() - std::chrono::hours(1)), 1u);
  EXPECT_EQ(loop_.runUntil(std::chrono::system_clock::time_point::min()), 1u);
  const size_t numRun = loop_.runUntil(std::chrono::system_clock::now() + std::chrono::microseconds(100));
  EXPECT_EQ(numRun, count_ - 2);
}

TEST_F(RepostingLoopTest, AStopEndsIt) {
  EXPECT_EQ(loop_.runUntil(stop_.get_token()), 10u);
  EXPECT_EQ(loop_.runUntil(stop_.get_token()), 0u);
}

TEST(MainLoopRunTest, EndsWhenNoTaskIsLeft) {
  MainLoopExecutor loop;
  std::stop_source never;
  EXPECT_EQ(loop.runFor(tests::kThreeHundredYears), 0u);
  EXPECT_EQ(loop.runUntil(never.get_token()), 0u);
  for (int i = 0; i < 3; ++i) {
    (void)async(loop, [&] { (void)async(loop, [] {}); });
  }
  EXPECT_EQ(loop.runFor(tests::kThreeHundredYears), 6u);
  for (int i = 0; i < 3; ++i) {
    (void)async(loop, [] {});
  }
  EXPECT_EQ(loop.runUntil(std::chrono::steady_clock::time_point::max()), 3u);
}

using ExecutorLifetimeDeathTest = tests::DeathTest;

TEST_F(ExecutorLifetimeDeathTest, APoolThatItsOwnTaskDestroys) {
  EXPECT_DEATH(
      {
        auto pool = std::make_shared<PoolExecutor>(1);
        Event isLastOwner;
        Future<void> future = async(*pool, [pool, isLastOwner]() mutable {
          isLastOwner.wait();
          pool.reset();
        });
        pool.reset();
        isLastOwner.signal();
        future.wait();
      },
      "weft: fatal: ~PoolExecutor was called in a task of the pool.*capture");
  EXPECT_DEATH(
      {
        PoolExecutor pool(1);
        pool.scheduler().bind();
      },
      "weft: fatal: ~PoolExecutor was called on a thread that is still bound to it.*unbind");
}

}  // namespace
}  // namespace weft
