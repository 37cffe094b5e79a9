// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/executor.h>
#include <weft/future.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "async/deep_nests.h"
#include "waiting.h"

// MainLoopExecutor::runUntil(future).
namespace weft::main_loop_until_test {
namespace {

using tests::scaled;

constexpr int kDeepest = 8;  // of deepInDestructors(); continuations are put off before

// A task of a loop that posts itself again, until this ends.
class RepostedTask {
 public:
  explicit RepostedTask(MainLoopExecutor& loop) : loop_(loop) { post(); }
  ~RepostedTask() {
    isOver_ = true;
    loop_.runAll();
  }

 private:
  void post() {
    (void)async(loop_, [this] {
      if (!isOver_) {
        post();
      }
    });
  }

  MainLoopExecutor& loop_;
  bool isOver_ = false;
};

class RunUntilFutureTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(RunUntilFutureTest);

TEST_P(RunUntilFutureTest, RunsTasksInOrderAndNoneOnceTheFutureIsReady) {
  MainLoopExecutor loop;
  std::vector<int> order;
  Promise<int> promise;
  const Future<int> future = promise.get_future();
  for (int i = 0; i < 5; ++i) {
    (void)async(loop, [&, i] {
      order.push_back(i);
      if (i == 3) {
        promise.set_value(7);
      }
    });
  }
  EXPECT_EQ(loop.runUntil(future), 4u);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(loop.runUntil(future), 0u) << "it is ready";
  EXPECT_EQ(loop.runAll(), 1u);
  EXPECT_TRUE(future.valid());
}

TEST_P(RunUntilFutureTest, ContinuationsOnTheLoopRunWhileItWaitsForThem) {
  MainLoopExecutor loop;
  const auto here = std::this_thread::get_id();
  SharedFuture<int> sum = async([] { return 1; })
                              .then(loop,
                                    [&](int n) {
                                      EXPECT_EQ(std::this_thread::get_id(), here);
                                      return async([n] { return n + 1; });
                                    })
                              .then(loop, [](int n) { return n + 1; });
  EXPECT_EQ(loop.runUntil(sum), 2u);
  EXPECT_EQ(sum.get(), 3);
}

TEST_P(RunUntilFutureTest, EachFiberThatRunsTheLoopReturnsWhenItsFutureIsReady) {
  MainLoopExecutor loop;
  constexpr int kFibers = 4;
  Promise<void> promises[kFibers];
  WaitGroup ended(kFibers), begun(kFibers);
  for (Promise<void>& promise : promises) {
    schedule([&, ended, begun] {
      const Future<void> future = promise.get_future();
      begun.done();
      loop.runUntil(future);
      EXPECT_TRUE(future.ready());
      ended.done();
    });
  }
  begun.wait();
  for (Promise<void>& promise : promises) {
    async(loop, [] {}).get();  // one of those that still wait runs it
    promise.set_value();
  }
  ended.wait();
}

// With no workers, what makes the future ready is a task of the thread that runs the loop.
TEST_P(RunUntilFutureTest, TasksThatPostThemselvesHoldUpNobodyWhoMakesTheFutureReady) {
  MainLoopExecutor loop;
  const RepostedTask reposted(loop);
  loop.runUntil(async([] {}));
}

// A wake that is lost makes this wait forever.
TEST(MainLoopUntilTest, ATaskOfAnotherThreadWakesTheLoop) {
  const auto here = std::this_thread::get_id();
  for (int round = 0; round < scaled(200, 50); ++round) {
    MainLoopExecutor loop;
    Promise<void> promise;
    const Future<void> future = promise.get_future();
    std::thread other([&] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(async(loop, [] { return std::this_thread::get_id(); }).get(), here);
      }
      promise.set_value();
    });
    EXPECT_EQ(loop.runUntil(future), 20u);
    other.join();
  }
}

TEST(MainLoopUntilTest, AFutureThatAnotherThreadMakesReadyWakesTheLoop) {
  for (int round = 0; round < scaled(2'000, 300); ++round) {
    MainLoopExecutor loop;
    EXPECT_EQ(loop.runUntil(async(threadExecutor(), [] {})), 0u);
  }
}

// Continuations of the future that wait until runUntil() has returned.
TEST(MainLoopUntilTest, AContinuationThatWaitsHoldsUpNoLoop) {
  MainLoopExecutor loop;
  Promise<void> promise;
  Event isAwaited, hasReturned;
  const SharedFuture<void> future = promise.get_future().share();
  const Future<void> before = future.then(inlineExecutor(), [&] { hasReturned.wait(); });
  (void)async(loop, [&] { isAwaited.signal(); });
  std::thread other([&] {
    isAwaited.wait();
    promise.set_value();
  });
  EXPECT_EQ(loop.runUntil(future), 1u);
  hasReturned.signal();
  other.join();
  EXPECT_TRUE(before.ready());
}

// Where continuations are nested deeply, the call that makes the future ready puts off its continuations.
TEST(MainLoopUntilTest, ItEndsWhereContinuationsAreNestedDeeply) {
  for (int depth = 1; depth < kDeepest; ++depth) {
    MainLoopExecutor loop;
    Promise<void> promise;
    Event isAwaited, hasReturned;
    const Future<void> future = promise.get_future();
    (void)async(loop, [&] { isAwaited.signal(); });
    std::thread other([&] {
      tests::deepInDestructors(depth, [&] {
        isAwaited.wait();
        promise.set_value();
        hasReturned.wait();
      });
    });
    EXPECT_EQ(loop.runUntil(future), 1u);
    hasReturned.signal();
    other.join();
  }
}

TEST(MainLoopUntilTest, TasksWithoutEndDoNotHoldUpContinuationsThatWerePutOff) {
  for (int depth = 1; depth < kDeepest; ++depth) {
    MainLoopExecutor loop;
    const RepostedTask reposted(loop);
    tests::deepInDestructors(depth, [&] {
      Promise<void> promise;
      const Future<void> next = promise.get_future().then(inlineExecutor(), [] {});
      promise.set_value();
      loop.runUntil(next);
      EXPECT_TRUE(next.ready());
    });
  }
}

TEST(MainLoopUntilTest, ATaskMayRunTheLoopUntilAnotherFutureIsReady) {
  MainLoopExecutor loop;
  std::vector<int> order;
  const Future<void> outer = async(loop, [&] {
    order.push_back(1);
    const Future<void> inner = async(loop, [&] { order.push_back(3); });
    EXPECT_EQ(loop.runUntil(inner), 2u);
    order.push_back(4);
  });
  (void)async(loop, [&] { order.push_back(2); });
  EXPECT_EQ(loop.runUntil(outer), 1u);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(MainLoopUntilTest, ATaskMayUseUpTheFuture) {
  MainLoopExecutor loop;
  Promise<int> promise;
  Future<int> future = promise.get_future();
  (void)async(loop, [&] {
    promise.set_value(1);
    EXPECT_EQ(future.get(), 1);
    promise = Promise<int>();
  });
  EXPECT_EQ(loop.runUntil(future), 1u);
  EXPECT_FALSE(future.valid());
}

TEST(MainLoopUntilTest, ATaskMayDestroyTheLoop) {
  auto loop = std::make_unique<MainLoopExecutor>();
  Promise<void> promise;
  const Future<void> future = promise.get_future();
  Future<void> dropped;
  Event isDestroyed;
  (void)async(*loop, [&] {
    dropped = async(*loop, [] {});
    loop.reset();
    isDestroyed.signal();
  });
  std::thread other([&] {
    isDestroyed.wait();
    promise.set_value();
  });
  EXPECT_EQ(loop->runUntil(future), 1u);
  EXPECT_TRUE(future.ready());
  EXPECT_THROW(dropped.get(), TaskNotExecuted);
  other.join();
}

TEST(MainLoopUntilTest, ABrokenPromiseEndsIt) {
  MainLoopExecutor loop;
  auto promise = std::make_unique<Promise<int>>();
  Future<int> future = promise->get_future();
  (void)async(loop, [&] { promise.reset(); });
  EXPECT_EQ(loop.runUntil(future), 1u);
  EXPECT_THROW(future.get(), BrokenPromise);
}

// The example of executor.h.
struct Window {
  weft::Future<void> whenClosed() {
    return weft::async([] {});
  }
};
TEST(MainLoopUntilTest, TheExampleOfTheHeaderRuns) {
  MainLoopExecutor mainLoop;
  Window window;
  weft::Future<void> closed = window.whenClosed();
  mainLoop.runUntil(closed);
  closed.get();
}

using MainLoopUntilDeathTest = tests::DeathTest;

TEST_F(MainLoopUntilDeathTest, AFutureWithoutState) {
  EXPECT_DEATH(MainLoopExecutor().runUntil(Future<int>()),
               "weft: fatal: MainLoopExecutor::runUntil\\(\\) of a Future without state");
}

}  // namespace
}  // namespace weft::main_loop_until_test
