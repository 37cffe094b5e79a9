// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include <weft/event.h>
#include <weft/executor.h>
#include <weft/future.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>
#include <weft/waithandler.h>

#include "waiting.h"

// What threads do instead of blocking.
namespace weft {
namespace {

using std::chrono::milliseconds;
using tests::scaled;

// Sets a handler for the time of a test.
struct WithHandler {
  explicit WithHandler(WaitHandler handler) : before(setThreadWaitHandler(std::move(handler))) {}
  ~WithHandler() { setThreadWaitHandler(std::move(before)); }
  WaitHandler before;
};

TEST(WaitHandlerTest, SetReturnsTheOneBefore) {
  EXPECT_EQ(setThreadWaitHandler([](WaitHandle) {}), nullptr);
  EXPECT_NE(setThreadWaitHandler(nullptr), nullptr);
  EXPECT_EQ(setThreadWaitHandler(nullptr), nullptr);
}

TEST(WaitHandlerTest, IsCalledInsteadOfBlocking) {
  MainLoopExecutor loop;
  int numCalls = 0;
  WithHandler set([&](WaitHandle wait) {
    ++numCalls;
    EXPECT_EQ(wait.deadline(), detail::TimePoint::max());
    while (!wait.ready()) {
      loop.tryRunOne();
    }
  });
  // Would wait for ever if the thread blocked: only the thread itself can run the task.
  EXPECT_EQ(async(loop, [] { return 5; }).get(), 5);
  EXPECT_EQ(numCalls, 1);
  EXPECT_EQ(makeReadyFuture(1).get(), 1);
  EXPECT_EQ(numCalls, 1) << "there was nothing to wait for";
}

TEST(WaitHandlerTest, ServesOtherPrimitivesToo) {
  MainLoopExecutor loop;
  WithHandler set([&](WaitHandle wait) {
    while (!wait.ready()) {
      loop.tryRunOne();
    }
  });
  Event event;
  (void)async(loop, [=] { event.signal(); });
  event.wait();
  WaitGroup group(1);
  (void)async(loop, [=] { group.done(); });
  group.wait();
}

// A queue of messages, as a UI thread has one.
struct Messages {
  void post() {
    std::scoped_lock lock(guard);
    ++count;
    changed.notify_all();
  }
  void take() {
    std::unique_lock lock(guard);
    changed.wait(lock, [this] { return count > 0; });
    --count;
  }
  std::mutex guard;
  std::condition_variable changed;
  int count = 0;
};

TEST(WaitHandlerTest, IsToldWhenTheWaitIsOver) {
  for (int round = 0; round < scaled(2'000, 200); ++round) {
    Messages messages;
    WithHandler set([&](WaitHandle wait) {
      wait.onReady([] {});  // is replaced
      wait.onReady([&] { messages.post(); });
      while (!wait.ready()) {
        messages.take();
      }
    });
    EXPECT_EQ(async([round] { return round; }).get(), round);
  }
}

TEST(WaitHandlerTest, MayReturnEarly) {
  std::atomic<int> numCalls{0};
  std::atomic<bool> isSignaled{false};
  WithHandler set([&](WaitHandle wait) {
    wait.onReady([] {});
    EXPECT_FALSE(wait.ready());
    ++numCalls;
  });
  Event goOn;
  std::thread waker([&, goOn] {
    tests::awaitThat([&] { return numCalls == 1; });
    isSignaled = true;
    goOn.signal();
  });
  goOn.wait();
  EXPECT_TRUE(isSignaled);
  waker.join();
  EXPECT_EQ(numCalls, 1) << "the thread blocks for the rest of the wait";
}

// What the function has captured may use what the wait's caller destroys after the wait.
TEST(WaitHandlerTest, TheFunctionThatItLeavesIsGoneWhenTheWaitReturns) {
  for (int round = 0; round < scaled(200, 20); ++round) {
    std::atomic<bool> isLeft{false}, isGone{false};
    WithHandler set([&](WaitHandle wait) {
      std::shared_ptr<void> last(nullptr, [&](void*) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));  // a thread that does not wait overtakes
        isGone = true;
      });
      wait.onReady([last = std::move(last)] {});
      isLeft = true;
      tests::awaitThat([&] { return wait.ready(); });
    });
    Event goOn;
    std::thread waker([&, goOn] {
      tests::awaitThat([&] { return isLeft.load(); });
      goOn.signal();
    });
    goOn.wait();
    EXPECT_TRUE(isGone);
    waker.join();
  }
}

TEST(WaitHandlerTest, KnowsTheDeadline) {
  Promise<int> promise;
  Future<int> future = promise.get_future();
  detail::TimePoint deadline;
  bool wasCalled = false;
  WithHandler set([&](WaitHandle wait) {
    wasCalled = true;
    EXPECT_EQ(wait.deadline(), deadline);
    while (!wait.ready()) {
      std::this_thread::yield();
    }
  });
  // There is nothing to wait for where the thread comes only after the deadline.
  for (milliseconds time(1);; time *= 2) {
    deadline = detail::TimePoint::clock::now() + time;
    EXPECT_FALSE(future.wait_until(deadline));
    if (wasCalled) {
      break;
    }
  }
}

TEST(WaitHandlerTest, MayWaitItself) {
  MainLoopExecutor loop;
  int depth = 0, deepest = 0;
  WithHandler set([&](WaitHandle wait) {
    deepest = std::max(deepest, ++depth);
    while (!wait.ready()) {
      loop.tryRunOne();
    }
    --depth;
  });
  Future<int> outer = async(loop, [&] {
    return async(loop, [&] { return async(threadExecutor(), [] { return 1; }).get(); }).get();
  });
  EXPECT_EQ(outer.get(), 1);
  EXPECT_GE(deepest, 2);
}

TEST(WaitHandlerTest, AStopThatTheHandlerRequestsEndsTheWait) {
  Promise<int> promise;
  Future<int> future = promise.get_future();
  std::stop_source stop;
  WithHandler set([&](WaitHandle wait) {
    stop.request_stop();
    EXPECT_TRUE(wait.ready());
  });
  EXPECT_FALSE(future.wait(stop.get_token()));
}

TEST(WaitHandlerTest, IsNotCalledForAMutex) {
  WithHandler set([](WaitHandle) { ADD_FAILURE() << "a mutex is to be waited for by blocking"; });
  mutex guard;
  guard.lock();
  std::atomic<bool> isTrying{false};
  std::thread other([&] {
    WithHandler setThere([](WaitHandle) { ADD_FAILURE() << "a mutex is to be waited for by blocking"; });
    isTrying = true;
    lock held(guard);
  });
  tests::awaitThat([&] { return isTrying.load() && tests::numWaiting(guard) == 1; });
  guard.unlock();
  other.join();
}

TEST(WaitHandlerTest, FibersNeverCallOne) {
  Scheduler scheduler(tests::smallConfig(0));
  Scheduler::Binding bound(scheduler);
  WithHandler set([](WaitHandle) { ADD_FAILURE() << "the thread runs its fibers"; });
  EXPECT_EQ(async([] { return async([] { return 2; }).get(); }).get(), 2);
}

TEST(WaitHandlerTest, RunWithWaitHandlerRestoresTheOneBefore) {
  struct Keeper {
    void schedule(TaskHandle task) { tasks.push_back(std::move(task)); }
    std::vector<TaskHandle> tasks;
  } keeper;
  int numOuter = 0, numInner = 0, numInnermost = 0;
  std::atomic<int> numCalls{0};
  const auto counting = [&](int& count) {
    return [&](WaitHandle) {
      ++count;
      ++numCalls;
    };
  };
  // For something that ends once a handler has been called.
  const auto wait = [&] {
    async(threadExecutor(), [&, before = numCalls.load()] {
      tests::awaitThat([&] { return numCalls > before; });
    }).get();
  };
  WithHandler set(counting(numOuter));
  Future<void> innermost = async(keeper, [&] {
    wait();
    throw std::runtime_error("after a wait");
  });
  Future<void> inner = async(keeper, [&] {
    wait();
    keeper.tasks[0].runWithWaitHandler(counting(numInnermost));
    numInner = 0;
    wait();
  });
  keeper.tasks[1].runWithWaitHandler(counting(numInner));
  EXPECT_THROW(innermost.get(), std::runtime_error);
  inner.get();
  EXPECT_EQ(numInner, 1) << "restored after the exception";
  EXPECT_EQ(numInnermost, 1);
  EXPECT_EQ(numOuter, 0);
  wait();
  EXPECT_EQ(numOuter, 1);
}

// Sets a handler when the thread ends, and waits for what only that handler brings.
struct SetsHandlerAtTheEnd {
  ~SetsHandlerAtTheEnd() {
    if (token != nullptr) {
      Event goOn;
      const auto handler = [kept = token, goOn](WaitHandle) {
        *kept += 1;
        goOn.signal();
      };
      EXPECT_EQ(setThreadWaitHandler(handler), nullptr);
      goOn.wait();
    }
  }
  std::shared_ptr<int> token;
};
thread_local SetsHandlerAtTheEnd setsHandlerAtTheEnd;

TEST(WaitHandlerTest, AThreadThatEndsMaySetOneAnew) {
  const auto numCalls = std::make_shared<int>(0);
  std::thread([&] {
    setsHandlerAtTheEnd.token = numCalls;  // made first, so that it is destroyed after the handler
    setThreadWaitHandler([kept = numCalls](WaitHandle) { *kept += 100; });
  }).join();
  EXPECT_EQ(*numCalls, 1);
  EXPECT_EQ(numCalls.use_count(), 1) << "handlers go with their thread";
}

TEST(WaitHandlerTest, IsNotCopiedByAWait) {
  static bool mayBeCopied = true;
  struct Handler {
    explicit Handler(Event by) : event(std::move(by)) {}
    Handler(const Handler& other) : event(other.event) {
      if (!mayBeCopied) {
        throw std::runtime_error("no further copy");
      }
    }
    void operator()(WaitHandle) const { event.signal(); }
    Event event;
  };
  const Event event;
  const WithHandler set{Handler(event)};
  mayBeCopied = false;
  event.wait();
  mayBeCopied = true;
}

TEST(WaitHandlerTest, ThatIsReplacedWhileItRunsStaysUntilItReturns) {
  const auto kept = std::make_shared<int>(0);
  const Event event;
  {
    const WithHandler set([kept, event](WaitHandle) {
      setThreadWaitHandler([](WaitHandle) { ADD_FAILURE() << "nobody waits"; });
      setThreadWaitHandler(nullptr);
      EXPECT_GT(kept.use_count(), 1);
      event.signal();
    });
    event.wait();
    EXPECT_EQ(kept.use_count(), 1);
  }
  EXPECT_EQ(setThreadWaitHandler(nullptr), nullptr);
}

using WaitHandlerDeathTest = tests::DeathTest;

TEST_F(WaitHandlerDeathTest, OneThatThrows) {
  EXPECT_DEATH(
      {
        setThreadWaitHandler([](WaitHandle) { throw std::runtime_error("no window"); });
        Event().wait();
      },
      "weft: fatal: an exception escaped from a wait handler: .*no window");
}

// The example of waithandler.h.
struct Window {
  void postEmptyMessage() {
    const std::lock_guard guard(mutex);
    ++numMessages;
    changed.notify_one();
  }
  void dispatchOneMessage() {
    std::unique_lock guard(mutex);
    changed.wait(guard, [this] { return numMessages != 0; });
    --numMessages;
  }

  std::mutex mutex;
  std::condition_variable changed;
  int numMessages = 0;
};

TEST(WaitHandlerTest, WindowOfTheExampleGoesOn) {
  Window window;
  WithHandler restore(nullptr);
  weft::setThreadWaitHandler([&window](weft::WaitHandle wait) {
    wait.onReady([&window] { window.postEmptyMessage(); });
    while (!wait.ready()) {
      window.dispatchOneMessage();
    }
  });
  Event event;
  std::thread signaller([event] { event.signal(); });
  event.wait();
  signaller.join();
}

}  // namespace
}  // namespace weft
