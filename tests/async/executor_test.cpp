// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/executor.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/future.h>
#include <weft/scheduler.h>
#include <weft/thread.h>

#include "waiting.h"

namespace weft::executor_test {
namespace {

using tests::awaitThat;
using tests::scaled;

// Handles are made by weft alone.
static_assert(!std::is_constructible_v<TaskHandle, void*> &&
              !std::is_constructible_v<TaskHandle, detail::TaskNode*>);
static_assert(!std::is_constructible_v<TaskHandle, void (*)()> && !std::is_constructible_v<TaskHandle, Task>);
static_assert(!std::is_copy_constructible_v<TaskHandle> && std::is_nothrow_move_constructible_v<TaskHandle>);
static_assert(std::is_constructible_v<bool, TaskHandle> && !std::is_convertible_v<TaskHandle, bool>);
static_assert(std::is_nothrow_destructible_v<TaskHandle>);

// What is an executor.
struct NoSchedule {};
struct WrongSchedule {
  void schedule(int);
};
static_assert(Executor<Scheduler> && Executor<Scheduler&> && Executor<PoolExecutor&> &&
              Executor<MainLoopExecutor>);
static_assert(Executor<decltype(inlineExecutor())> && Executor<decltype(threadExecutor())> &&
              Executor<ExecutorReference>);
static_assert(!Executor<NoSchedule> && !Executor<WrongSchedule> && !Executor<int>);

struct KeepingExecutor {
  void schedule(TaskHandle task) { tasks.push_back(std::move(task)); }
  std::vector<TaskHandle> tasks;
};

struct ThrowingExecutor {
  void schedule(TaskHandle) { throw std::runtime_error("no room"); }
};

// The examples of executor.h.
struct NextFrame {
  void schedule(weft::TaskHandle task) { tasks.push_back(std::move(task)); }
  std::vector<weft::TaskHandle> tasks;  // run() by the next frame
};

void openDatabase() {}
void closeDatabase() {}
int countRows() { return 3; }
struct Image {};
Image load() { return {}; }
struct Window {
  void show(Image) { isShown = true; }
  bool isOpen() const { return !isShown; }
  void nextFrame() { std::this_thread::yield(); }
  bool isShown = false;
};

TEST(ExecutorExamplesTest, Run) {
  NextFrame frame;
  Future<void> drawn = async(frame, [] {});
  frame.tasks[0].run();
  drawn.get();
  {
    weft::PoolExecutor pool(4, openDatabase, closeDatabase);
    weft::Future<int> count = weft::async(pool, [] { return countRows(); });
    EXPECT_EQ(count.get(), 3);
  }
  Window window;
  {
    weft::MainLoopExecutor mainLoop;
    (void)weft::async(load).then(mainLoop, [&](Image image) { window.show(image); });
    while (window.isOpen()) {
      mainLoop.runAll();
      window.nextFrame();
    }
  }
}

class ExecutorTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ExecutorTest);

TEST_P(ExecutorTest, AsyncUsesTheBoundScheduler) {
  EXPECT_EQ(async([] { return Scheduler::get(); }).get(), &scheduler());
  EXPECT_EQ(async(scheduler(), [] { return Scheduler::get(); }).get(), &scheduler());
}

TEST_P(ExecutorTest, ASchedulerIsAnExecutorForThreadsThatAreNotBound) {
  if (numWorkers() == 0) {
    return;
  }
  std::thread([&] {
    EXPECT_EQ(async(scheduler(), [] { return Scheduler::get(); }).get(), &scheduler());
  }).join();
}

TEST_P(ExecutorTest, ATaskOfOneExecutorMayAwaitThatOfAnother) {
  PoolExecutor pool(2);
  const int sum =
      async([&] {
        return async(pool, [] { return async(threadExecutor(), [] { return 1; }).get() + 1; }).get() + 1;
      }).get();
  EXPECT_EQ(sum, 3);
}

TEST_P(ExecutorTest, AHandleWithoutATaskIsNothingToRun) {
  const auto numQueued = [&] {
    const Scheduler::Stats stats = scheduler().stats();
    return std::accumulate(
        stats.workers.begin(), stats.workers.end(), stats.numInjected,
        [](uint64_t sum, const Scheduler::WorkerStats& worker) { return sum + worker.num; });
  };
  const uint64_t before = numQueued();
  scheduler().schedule(TaskHandle());
  std::thread([&] { scheduler().schedule(TaskHandle()); }).join();
  EXPECT_EQ(numQueued(), before);
  threadExecutor().schedule(TaskHandle());
  MainLoopExecutor loop;
  loop.schedule(TaskHandle());
  EXPECT_FALSE(loop.tryRunOne());
}

// Other fibers of the thread would find the handler.
TEST_P(ExecutorTest, AFiberThatRunsATaskWithAWaitHandlerSuspendsInstead) {
  KeepingExecutor keeper;
  const Event event;
  bool isCalled = false;
  Future<void> future = async(keeper, [=] { event.wait(); });
  schedule([&] { keeper.tasks[0].runWithWaitHandler([&](const WaitHandle&) { isCalled = true; }); });
  schedule([=] { event.signal(); });
  future.get();
  EXPECT_FALSE(isCalled);
}

TEST(TaskHandleTest, RunsOnceAndConvertsToBool) {
  KeepingExecutor executor;
  Future<int> future = async(executor, [] { return 2; });
  TaskHandle task = std::move(executor.tasks[0]);
  EXPECT_FALSE(executor.tasks[0]);
  EXPECT_TRUE(task);
  EXPECT_FALSE(future.ready());
  task.run();
  EXPECT_FALSE(task);
  EXPECT_EQ(future.get(), 2);
  EXPECT_FALSE(TaskHandle());
}

TEST(TaskHandleTest, DroppingOneNeverThrowsAndItsFutureThrows) {
  KeepingExecutor executor;
  bool hasRun = false;
  Future<void> dropped = async(executor, [&] { hasRun = true; });
  Future<void> replaced = async(executor, [&] { hasRun = true; });
  Future<int> next = dropped.then(inlineExecutor(), [] { return 1; });
  executor.tasks[1] = TaskHandle();
  executor.tasks.clear();
  EXPECT_THROW(next.get(), TaskNotExecuted);
  try {
    replaced.get();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const TaskNotExecuted& error) {
    EXPECT_STREQ(error.what(),
                 "weft::TaskNotExecuted: the executor of this task dropped it without having run it");
  }
  EXPECT_FALSE(hasRun);
}

TEST(TaskHandleTest, OneThatIsAssignedToCancelsItsTaskAtOnce) {
  KeepingExecutor executor;
  Future<int> replaced = async(executor, [] { return 1; });
  Future<int> kept = async(executor, [] { return 2; });
  TaskHandle& to = executor.tasks[0];
  TaskHandle& from = executor.tasks[1];
  to = std::move(from);
  ASSERT_TRUE(replaced.ready());
  EXPECT_THROW(replaced.get(), TaskNotExecuted);
  EXPECT_FALSE(from);
  TaskHandle& self = to;
  to = std::move(self);
  ASSERT_TRUE(to);
  EXPECT_FALSE(kept.ready());
  to.run();
  EXPECT_EQ(kept.get(), 2);
}

TEST(TaskHandleTest, GoesThroughAnInterfaceOfC) {
  struct CInterface {
    static void call(void (*function)(void*), void* argument) { function(argument); }
    void schedule(TaskHandle task) const {
      call([](void* pointer) { TaskHandle::fromVoidPointer(pointer).run(); }, task.toVoidPointer());
      EXPECT_FALSE(task);
    }
  };
  EXPECT_EQ(async(CInterface(), [] { return 3; }).get(), 3);
  EXPECT_EQ(TaskHandle().toVoidPointer(), nullptr);
  EXPECT_FALSE(TaskHandle::fromVoidPointer(nullptr));
}

TEST(TaskHandleTest, WhatAnExecutorThrowsArrivesAtTheCallerOfAsync) {
  ThrowingExecutor executor;
  auto token = std::make_shared<int>();
  std::weak_ptr<int> watch = token;
  EXPECT_THROW((void)async(executor, [token = std::move(token)] {}), std::runtime_error);
  EXPECT_TRUE(watch.expired());
}

using TaskHandleDeathTest = tests::DeathTest;

TEST_F(TaskHandleDeathTest, RunTwice) {
  EXPECT_DEATH(
      {
        KeepingExecutor executor;
        (void)async(executor, [] {});
        executor.tasks[0].run();
        executor.tasks[0].run();
      },
      "weft: fatal: TaskHandle::run\\(\\) was called on a handle without a task.*run already");
  EXPECT_DEATH(TaskHandle().runWithWaitHandler(nullptr), "weft: fatal: TaskHandle::runWithWaitHandler\\(\\)");
}

TEST(InlineExecutorTest, RunsAtOnceOnThisThread) {
  const auto here = std::this_thread::get_id();
  Future<std::thread::id> future = async(inlineExecutor(), [] { return std::this_thread::get_id(); });
  EXPECT_TRUE(future.ready());
  EXPECT_EQ(future.get(), here);
}

TEST(ThreadExecutorTest, RunsEachTaskOnAThreadOfItsOwn) {
  std::mutex guard;
  std::set<std::thread::id> threads;
  std::vector<Future<void>> futures;
  Event all(Event::Mode::Manual);
  for (int i = 0; i < 8; ++i) {
    futures.push_back(async(threadExecutor(), [&] {
      {
        std::scoped_lock lock(guard);
        threads.insert(std::this_thread::get_id());
        if (threads.size() == 8) {
          all.signal();
        }
      }
      all.wait();
    }));
  }
  for (auto& future : futures) {
    future.get();
  }
  EXPECT_EQ(threads.size(), 8u);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 0u);
}

TEST(PoolExecutorTest, PrerunAndPostrunOnceAWorkerBeforeItsFirstAndAfterItsLastTask) {
  static thread_local int stage;  // of the thread: 1 after prerun, 2 after postrun
  std::atomic<int> numPreruns{0}, numPostruns{0}, numTasks{0}, numWrong{0};
  {
    PoolExecutor pool(
        4,
        [&] {
          numWrong += stage != 0;
          stage = 1;
          ++numPreruns;
        },
        [&] {
          numWrong += stage != 1;
          stage = 2;
          ++numPostruns;
        });
    for (int i = 0; i < 1'000; ++i) {
      (void)async(pool, [&] {
        numWrong += stage != 1;
        if (++numTasks % 10 == 0) {
          (void)async([&] {
            numWrong += stage != 1;
            ++numTasks;
          });
        }
      });
    }
  }
  EXPECT_EQ(numPreruns, 4);
  EXPECT_EQ(numPostruns, 4);
  EXPECT_GE(numTasks, 1'000) << "its end waits for all";
  EXPECT_EQ(numWrong, 0);
}

TEST(PoolExecutorTest, OtherThreadsMayBeBoundToIt) {
  PoolExecutor pool(2);
  Scheduler::Binding bound(pool.scheduler());
  EXPECT_EQ(async([] { return Scheduler::get(); }).get(), &pool.scheduler());
}

using PoolExecutorDeathTest = tests::DeathTest;

TEST_F(PoolExecutorDeathTest, WithoutWorkers) {
  EXPECT_DEATH(PoolExecutor(0), "weft: fatal: PoolExecutor\\(0\\): from 1 to 4096 worker threads");
  EXPECT_DEATH(PoolExecutor(static_cast<size_t>(-1)), "PoolExecutor\\(-1\\): from 1 to 4096 worker threads");
}

TEST_F(PoolExecutorDeathTest, PostrunThatThrows) {
  EXPECT_DEATH(PoolExecutor(1, nullptr, [] { throw std::runtime_error("late"); }),
               "weft: fatal: an exception escaped from the finalizer of worker thread "
               "0.*setWorkerThreadFinalizer.*late");
}

TEST(MainLoopExecutorTest, RunsTasksInOrderWhenItsOwnerSaysSo) {
  MainLoopExecutor loop;
  std::vector<int> order;
  EXPECT_FALSE(loop.tryRunOne());
  for (int i = 0; i < 5; ++i) {
    (void)async(loop, [&, i] { order.push_back(i); });
  }
  EXPECT_TRUE(order.empty());
  EXPECT_TRUE(loop.tryRunOne());
  EXPECT_EQ(order, (std::vector<int>{0}));
  (void)async(loop, [&] {
    order.push_back(5);
    (void)async(loop, [&] { order.push_back(6); });
  });
  EXPECT_EQ(loop.runAll(), 6u);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(loop.runAll(), 0u);
}

TEST(MainLoopExecutorTest, TakesTasksFromAnyThread) {
  MainLoopExecutor loop;
  const auto here = std::this_thread::get_id();
  const int perThread = scaled(10'000, 1'000);
  int numRun = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < perThread; ++k) {
        (void)async(loop, [&] { numRun += std::this_thread::get_id() == here; });
      }
    });
  }
  size_t ran = 0;
  awaitThat([&] { return (ran += loop.runAll()) == 3u * static_cast<size_t>(perThread); });
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(numRun, 3 * perThread);
}

TEST(MainLoopExecutorTest, WhatIsLeftIsCanceled) {
  Future<int> left;
  {
    MainLoopExecutor loop;
    left = async(loop, [] { return 1; });
  }
  EXPECT_THROW(left.get(), TaskNotExecuted);
}

TEST(DefaultExecutorTest, IsUsedWhereNothingIsBound) {
  Scheduler* pool = async([] { return Scheduler::get(); }).get();
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(async(defaultExecutor(), [] { return Scheduler::get(); }).get(), pool);
  EXPECT_EQ(pool->config().workerThread.count, Scheduler::Config::allCores().workerThread.count);
}

TEST(DefaultExecutorTest, MayBeReplaced) {
  PoolExecutor own(1);
  EXPECT_FALSE(setDefaultExecutor(own).has_value());
  EXPECT_EQ(async([] { return Scheduler::get(); }).get(), &own.scheduler());
  KeepingExecutor keeper;
  const auto before = setDefaultExecutor(keeper);
  Future<int> future = async([] { return 1; });
  ASSERT_EQ(keeper.tasks.size(), 1u);
  keeper.tasks[0].run();
  EXPECT_EQ(future.get(), 1);
  setDefaultExecutor(before);
  EXPECT_EQ(async([] { return Scheduler::get(); }).get(), &own.scheduler());
  setDefaultExecutor(std::nullopt);
  EXPECT_NE(async([] { return Scheduler::get(); }).get(), &own.scheduler());
}

// Programs that end while tasks of the default executor run, wait or are queued: they end, and at once.
class ProcessEndTest : public tests::DeathTest {};

TEST_F(ProcessEndTest, TheDefaultExecutorDoesNotHoldItUp) {
  EXPECT_EXIT(
      {
        alarm(60);
        Event never;
        Event begun;
        for (int i = 0; i < 100; ++i) {
          (void)async([=] { never.wait(); });
        }
        (void)async([=] {
          begun.signal();
          for (;;) {
            yield();
          }
        });
        begun.wait();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(ProcessEndTest, WEFT_NUM_THREADSSizesIt) {
  EXPECT_EXIT(
      {
        setenv("WEFT_NUM_THREADS", "3", 1);
        std::exit(async([] { return Scheduler::get()->config().workerThread.count; }).get());
      },
      ::testing::ExitedWithCode(3), "");
}

TEST_F(ProcessEndTest, TheThreadExecutorDoesNotHoldItUp) {
  EXPECT_EXIT(
      {
        alarm(60);
        Event never;
        Event begun;
        (void)async(threadExecutor(), [=] {
          begun.signal();
          never.wait();
        });
        begun.wait();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace weft::executor_test
