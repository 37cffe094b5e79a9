// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fair/bridge.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/detail/base/node_pool.h>
#include <weft/event.h>
#include <weft/future.h>
#include <weft/latch.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "with_scheduler.h"

namespace weft::inline v0_1::fair {
namespace {

using namespace std::chrono_literals;

class FairBridgeTest : public tests::WithScheduler {
 protected:
  TaskScheduler fairScheduler_{"fair", 2};
};
WEFT_INSTANTIATE_WITH_SCHEDULER(FairBridgeTest);

TEST_P(FairBridgeTest, AFiberWaitsForTheEndOfATask) {
  int left = 10;
  const Event ended;
  Task task([&](Task* self) {
    if (--left > 0) {
      fairScheduler_.post(self);
    } else {
      ended.signal();
    }
  });
  const WaitGroup seen(1);
  schedule([&] {
    fairScheduler_.post(&task);
    ended.wait();
    EXPECT_EQ(left, 0);
    seen.done();
  });
  seen.wait();
  fairScheduler_.waitEmpty();
}

TEST_P(FairBridgeTest, ATaskMayBeDestroyedAsSoonAsTheSignalOfItsLastStepHasCome) {
  const WaitGroup done(1);
  schedule([&, done] {
    for (int round = 0; round < tests::scaled(2'000, 300); ++round) {
      const Event ended;
      auto task = std::make_unique<Task>([ended, left = 2](Task* self) mutable {
        if (--left > 0) {
          TaskScheduler::current()->post(self);
        } else {
          ended.signal();
        }
      });
      fairScheduler_.post(task.get());
      ended.wait();
    }
    done.done();
  });
  done.wait();
}

TEST_P(FairBridgeTest, FibersSignalTasksAndTasksSignalFibers) {
  const Event toFiber;
  int numSignals = 0;
  Task task([&](Task* self) {
    if (self->receiveSignal()) {
      ++numSignals;
      toFiber.signal();
    }
    if (numSignals < 20) {
      fairScheduler_.postWait(self);
    }
  });
  const WaitGroup done(1);
  schedule([&] {
    fairScheduler_.post(&task);
    for (int i = 0; i < 20; ++i) {
      fairScheduler_.signal(&task);
      toFiber.wait();
      EXPECT_EQ(numSignals, i + 1);
    }
    done.done();
  });
  done.wait();
  fairScheduler_.waitEmpty();
}

TEST_P(FairBridgeTest, EventsAndWaitGroupsSignalTasks) {
  const Event event;
  const WaitGroup group(2);
  int data = 0;
  int numSignals = 0;
  Task task([&](Task* self) {
    if (!self->receiveSignal()) {
      fairScheduler_.postWait(self);
      return;
    }
    EXPECT_EQ(data, ++numSignals);
  });
  fairScheduler_.post(&task);
  PendingSignal signal = signalAfter(event, fairScheduler_, &task);
  data = 1;
  event.signal();
  // With no worker thread, this thread's waits run the fiber that passes the signal on.
  while (!fairScheduler_.waitEmpty(0s)) {
    weft::yield();
  }
  signal = signalAfter(group, fairScheduler_, &task);
  fairScheduler_.postDelay(&task, 1h);
  group.done();
  data = 2;
  group.done();
  while (!fairScheduler_.waitEmpty(0s)) {
    weft::yield();
  }
  EXPECT_EQ(numSignals, 2);
}

// Waits for `source` as a step would: with a signal. Returns: what the step has made of it.
template <class Source, class Look>
auto lookWhenSignaled(TaskScheduler& fairScheduler, Source&& source, Look look) {
  std::optional<decltype(look())> seen;
  CoroTask task([](Look& lookAt, auto& result) -> Coro<> {
    EXPECT_TRUE(co_await receiveSignal());
    result = lookAt();
  }(look, seen));
  const PendingSignal signal = signalAfter(std::forward<Source>(source), fairScheduler, &task);
  fairScheduler.post(&task);
  task.wait();
  return *seen;
}

TEST_P(FairBridgeTest, LatchesSignalTasks) {
  Latch latch(2);
  int data = 0;
  schedule([&] {
    data = 1;
    latch.count_down();
  });
  latch.count_down();
  EXPECT_EQ(lookWhenSignaled(fairScheduler_, latch, [&] { return data; }), 1);
}

TEST_P(FairBridgeTest, FuturesSignalTasksAndStayTheCallers) {
  Future<int> ofTask = weft::async([] { return 7; });
  EXPECT_EQ(lookWhenSignaled(fairScheduler_, ofTask, [&] { return ofTask.get(); }), 7);
  Future<int> ready = makeReadyFuture(8);
  EXPECT_EQ(lookWhenSignaled(fairScheduler_, ready, [&] { return ready.get(); }), 8);
  const SharedFuture<std::string> shared = weft::async([] { return std::string("nine"); });
  EXPECT_EQ(lookWhenSignaled(fairScheduler_, shared, [&] { return shared.get(); }), "nine");
  EXPECT_TRUE(shared.valid());
}

TEST_P(FairBridgeTest, FuturesThatFailSignalTasksToo) {
  Future<int> broken = Promise<int>().get_future();
  EXPECT_TRUE(lookWhenSignaled(fairScheduler_, broken, [&] { return broken.exception() != nullptr; }));
  Future<void> thrown = weft::async([] { throw std::runtime_error("failed"); });
  EXPECT_TRUE(lookWhenSignaled(fairScheduler_, thrown, [&] { return thrown.exception() != nullptr; }));
}

TEST_P(FairBridgeTest, ManyFuturesSignalManyTasks) {
  constexpr int kTasks = 100;
  std::vector<std::unique_ptr<CoroTask>> tasks;
  std::atomic<int> sum{0};
  const auto body = [](TaskScheduler& owner, int i, std::atomic<int>& to) -> Coro<> {
    Promise<int> promise;
    Future<int> future = promise.get_future();
    const PendingSignal signal = signalAfter(future, owner, co_await self());
    owner.postOneShot([i, taken = std::move(promise)]() mutable { taken.set_value(i); });
    EXPECT_TRUE(co_await receiveSignal());
    to += future.get();
  };
  for (int i = 0; i < kTasks; ++i) {
    tasks.push_back(std::make_unique<CoroTask>(body(fairScheduler_, i, sum)));
    fairScheduler_.post(tasks.back().get());
  }
  for (const auto& task : tasks) {
    task->wait();
  }
  EXPECT_EQ(sum, kTasks * (kTasks - 1) / 2);
}

TEST_P(FairBridgeTest, FibersAndThreadsWaitForTheEndOfACoroutine) {
  const auto body = [](TaskScheduler& owner, int& result) -> Coro<> {
    for (int i = 0; i < 10; ++i) {
      co_await yield();
      owner.wakeup(co_await self());
      co_await wait();
    }
    result = 42;
  };
  for (int round = 0; round < tests::scaled(50, 10); ++round) {
    int result = 0;
    CoroTask task(body(fairScheduler_, result));
    const WaitGroup done(2);
    for (int i = 0; i < 2; ++i) {
      schedule([&, done] {
        task.wait();
        EXPECT_EQ(result, 42);
        done.done();
      });
    }
    std::thread thread([&] {
      task.wait();
      EXPECT_EQ(result, 42);
    });
    fairScheduler_.post(&task);
    task.wait();
    EXPECT_EQ(result, 42);
    thread.join();
    done.wait();
  }
}

TEST_P(FairBridgeTest, ACoroutinesTaskMayBeDestroyedAsSoonAsItsEndWasWaitedFor) {
  const auto body = []() -> Coro<> { co_await yield(); };
  const WaitGroup done(1);
  schedule([&, done] {
    for (int round = 0; round < tests::scaled(2'000, 300); ++round) {
      auto task = std::make_unique<CoroTask>(body());
      fairScheduler_.post(task.get());
      task->wait();
    }
    done.done();
  });
  done.wait();
}

using FairBridgeDeathTest = tests::DeathTest;

TEST_F(FairBridgeDeathTest, ACoroutinesTaskIsDestroyedWhileItsEndIsWaitedFor) {
  EXPECT_DEATH(
      {
        Scheduler fibers(tests::smallConfig(0));
        fibers.bind();
        const auto body = []() -> Coro<> { co_return; };
        auto task = std::make_unique<CoroTask>(body());
        schedule([&] { task->wait(); });
        schedule([&] { task.reset(); });  // once the other has suspended
        Scheduler::unbind();
      },
      "a fair::CoroTask was destroyed while somebody waits for its end");
}

Coro<int> half(int n) {
  co_await weft::fair::yield();
  co_return n / 2;
}
Coro<std::unique_ptr<int>> owned(int n) { co_return std::make_unique<int>(co_await half(n)); }
Coro<> fails() {
  co_await weft::fair::yield();
  throw std::runtime_error("failed");
}

TEST_P(FairBridgeTest, ACoroutinesResultArrivesThroughAFuture) {
  Future<int> value = async(fairScheduler_, half(84));
  EXPECT_EQ(value.get(), 42);
  EXPECT_EQ(*async(fairScheduler_, owned(10)).get(), 5);
  EXPECT_THROW(async(fairScheduler_, fails()).get(), std::runtime_error);
  const WaitGroup done(1);
  schedule([&, done] {
    EXPECT_EQ(async(fairScheduler_, half(2)).get(), 1);
    done.done();
  });
  done.wait();
}

}  // namespace

// Its move number `throwAt` throws. Not in the anonymous namespace: a coroutine of a header has a member of
// this type, of which gcc warns.
struct Heavy {
  explicit Heavy(int throwAt) : movesLeft(throwAt) {}
  Heavy(Heavy&& other) : movesLeft(other.movesLeft - 1) {
    if (movesLeft == 0) {
      throw std::length_error("move");
    }
  }
  int movesLeft;
};

namespace {

Coro<Heavy> heavy(int throwAt) { co_return Heavy(throwAt); }

TEST_P(FairBridgeTest, AMoveOfACoroutinesResultThatThrowsArrivesThroughTheFuture) {
  for (int throwAt = 1; throwAt <= 4; ++throwAt) {
    EXPECT_THROW(async(fairScheduler_, heavy(throwAt)).get(), std::length_error) << throwAt;
  }
  EXPECT_NO_THROW(async(fairScheduler_, heavy(10)).get());
}

TEST_P(FairBridgeTest, ACoroutineThatHasNotEndedIsDestroyedWithItsScheduler) {
  const auto token = std::make_shared<int>(0);
  const auto body = [](std::shared_ptr<int>) -> Coro<> { co_await wait(); };
  Future<void> waiting, queued;
  {
    TaskScheduler brief("brief");
    waiting = async(brief, body(token));
    brief.stop();
    queued = async(brief, body(token));
    EXPECT_TRUE(brief.takeBack().empty()) << "they belong to the scheduler";
    brief.start();
  }
  EXPECT_THROW(waiting.get(), BrokenPromise);
  EXPECT_THROW(queued.get(), BrokenPromise);
  EXPECT_EQ(token.use_count(), 1);
}

// The end of the scheduler destroys the coroutine, and the coroutine the task, which waits as well.
TEST_P(FairBridgeTest, ACoroutineThatOwnsAWaitingTaskIsDestroyedWithItsScheduler) {
  const auto body = [](int numTasks) -> Coro<> {
    std::vector<std::unique_ptr<Task>> owned;
    for (int i = 0; i < numTasks; ++i) {
      owned.push_back(std::make_unique<Task>([] { ADD_FAILURE() << "nobody wakes it"; }));
      TaskScheduler::current()->postWait(owned.back().get());
    }
    co_await wait();
  };
  Future<void> ended;
  {
    TaskScheduler brief("brief");
    ended = async(brief, body(100));
    const WaitGroup begun(1);
    brief.postOneShot([begun] { begun.done(); });
    begun.wait();
  }
  EXPECT_THROW(ended.get(), BrokenPromise);
}

// The continuation is posted while the scheduler is being destroyed.
TEST_P(FairBridgeTest, AContinuationOfABrokenPromiseIsDroppedWithItsScheduler) {
  Future<void> continued;
  {
    TaskScheduler brief("brief");
    const auto body = []() -> Coro<> { co_await wait(); };
    continued = async(brief, body()).then(brief, [](Future<void>) { ADD_FAILURE() << "nobody runs it"; });
    brief.waitEmpty(1ms);
  }
  EXPECT_THROW(continued.get(), TaskNotExecuted);
}

static_assert(Executor<TaskScheduler>);

TEST_P(FairBridgeTest, TheSchedulerIsAnExecutor) {
  Future<TaskScheduler*> ran = weft::async(fairScheduler_, [] { return TaskScheduler::current(); });
  EXPECT_EQ(ran.get(), &fairScheduler_);
  Future<int> chained = weft::async([] { return 20; }).then(fairScheduler_, [&](int n) {
    EXPECT_EQ(TaskScheduler::current(), &fairScheduler_);
    return n + 1;
  });
  EXPECT_EQ(chained.get(), 21);
  EXPECT_THROW(weft::async(fairScheduler_, [] { throw std::runtime_error("failed"); }).get(),
               std::runtime_error);
  const ExecutorReference erased(fairScheduler_);
  EXPECT_EQ(weft::async(erased, [] { return 5; }).get(), 5);
}

TEST_P(FairBridgeTest, FuturesOfTasksThatNeverRanSaySo) {
  Future<int> dropped, continued;
  {
    TaskScheduler stopped("stopped");
    stopped.stop();
    dropped = weft::async(stopped, [] { return 1; });
    continued = makeReadyFuture(1).then(stopped, [](int n) { return n; });
  }
  EXPECT_THROW(dropped.get(), TaskNotExecuted);
  EXPECT_THROW(continued.get(), TaskNotExecuted);
}

// No scheduler has the task, so that a signal stays.
TEST_P(FairBridgeTest, ASignalThatIsWithdrawnDoesNotCome) {
  Task task([] {});
  Promise<int> promise;
  const Future<int> future = promise.get_future();
  const Event event;
  {
    const PendingSignal ofFuture = signalAfter(future, fairScheduler_, &task);
    PendingSignal ofEvent = signalAfter(event, fairScheduler_, &task);
    // The destructor does the same.
    ofEvent.withdraw();
    ofEvent.withdraw();
  }
  promise.set_value(1);
  event.signal();
  // Where the fiber that waits for the event has not ended, this waits for it.
  destroyScheduler();
  EXPECT_FALSE(task.receiveSignal());
}

TEST_P(FairBridgeTest, TheFiberThatWaitsEndsWhenItsSignalIsWithdrawn) {
  Task task([] {});
  const Event never;
  const WaitGroup neither(1);
  PendingSignal signal = signalAfter(never, fairScheduler_, &task);
  PendingSignal other = signalAfter(neither, fairScheduler_, &task);
  signal = std::move(other);  // withdraws what it had
  signal.withdraw();
  destroyScheduler();
  EXPECT_FALSE(task.receiveSignal());
  neither.done();
}

TEST_P(FairBridgeTest, ASchedulerMayEndBeforeTheFutureThatACoroutineWaitsFor) {
  const auto body = [](Future<int> awaited, TaskScheduler& owner, Event waits) -> Coro<int> {
    const PendingSignal signal = signalAfter(awaited, owner, co_await self());
    waits.signal();
    EXPECT_TRUE(co_await receiveSignal());
    co_return awaited.get();
  };
  Promise<int> promise;
  Future<int> result;
  {
    const Event waits;
    TaskScheduler brief("brief");
    result = async(brief, body(promise.get_future(), brief, waits));
    waits.wait();
  }
  EXPECT_THROW((void)result.get(), BrokenPromise);
  promise.set_value(1);
}

TEST_P(FairBridgeTest, SignalsThatAreWithdrawnLeaveNothingWithAFutureThatIsNeverReady) {
  Task task([] {});
  Promise<int> promise;
  const SharedFuture<int> future = promise.get_future().share();
  const auto wait = [&](int times) {
    for (int i = 0; i < times; ++i) {
      (void)signalAfter(future, fairScheduler_, &task);
    }
  };
  wait(1'000);
  const size_t chunks = detail::numNodeChunks();
  wait(tests::scaled(100'000, 20'000));
  EXPECT_EQ(detail::numNodeChunks(), chunks);
}

// The task is gone as soon as its signal is withdrawn, at whatever moment the signal comes.
TEST_P(FairBridgeTest, ATaskMayBeDestroyedOnceItsSignalIsWithdrawn) {
  for (int round = 0; round < tests::scaled(2'000, 300); ++round) {
    Promise<int> promise;
    const Future<int> future = promise.get_future();
    const Event event;
    auto task = std::make_unique<Task>([] {});
    PendingSignal ofFuture = signalAfter(future, fairScheduler_, task.get());
    PendingSignal ofEvent = signalAfter(event, fairScheduler_, task.get());
    fairScheduler_.postOneShot([&promise, event] {
      promise.set_value(1);
      event.signal();
    });
    ofFuture.withdraw();
    ofEvent.withdraw();
    task.reset();
    fairScheduler_.waitEmpty();
  }
}

// On threads to which no Scheduler is bound, such as those of a fair::TaskScheduler.
TEST(FairBridgeWithoutSchedulerTest, StepsHaveTasksSignaled) {
  TaskScheduler scheduler("alone");
  const Event event;
  const auto body = [](TaskScheduler& owner, const Event& awaited) -> Coro<> {
    PendingSignal signal = signalAfter(awaited, owner, co_await self());
    owner.postOneShot([&] { awaited.signal(); });
    EXPECT_TRUE(co_await receiveSignal());
    Future<int> future = weft::async(owner, [] { return 3; });
    signal = signalAfter(future, owner, co_await self());
    EXPECT_TRUE(co_await receiveSignal());
    EXPECT_EQ(future.get(), 3);
  };
  CoroTask task(body(scheduler, event));
  scheduler.post(&task);
  task.wait();
}

}  // namespace
}  // namespace weft::inline v0_1::fair
