// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What large programs that were written for marl have come to depend on, each as such a program does it.

#include <marl/conditionvariable.h>
#include <marl/defer.h>
#include <marl/event.h>
#include <marl/finally.h>
#include <marl/future.h>
#include <marl/scheduler.h>
#include <marl/waitgroup.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "waiting.h"

namespace {

using std::chrono::milliseconds;
using weft::tests::awaitThat;
using weft::tests::scaled;
using weft::tests::smallConfig;

class MarlClientsTest : public weft::tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(MarlClientsTest);

// Tests that make schedulers of their own.
class MarlClientsOwnTest : public weft::tests::WithAllocator {};

// A mutex of the system is held across a wait that suspends, and unlocked on the thread that locked it, which
// it insists on.

TEST_P(MarlClientsTest, AnOsMutexIsHeldAcrossASuspensionAndUnlockedOnTheSameThread) {
  constexpr int kTasks = 20;
  const marl::WaitGroup done(kTasks);
  const marl::Event go(marl::Event::Mode::Manual);
  const auto guards = std::make_shared<std::array<std::recursive_mutex, kTasks>>();
  for (size_t i = 0; i < kTasks; ++i) {
    marl::schedule([=] {
      const auto thread = std::this_thread::get_id();
      {
        const std::scoped_lock held((*guards)[i]);
        go.wait();
        EXPECT_FALSE(go.wait_for(milliseconds(0)) && std::this_thread::get_id() != thread);
        EXPECT_TRUE((*guards)[i].try_lock()) << "held by another thread";
        (*guards)[i].unlock();
      }
      done.done();
    });
  }
  marl::schedule([=] { go.signal(); });
  done.wait();
  for (std::recursive_mutex& guard : *guards) {
    ASSERT_TRUE(guard.try_lock()) << "still held";
    guard.unlock();
  }
}

// Two fibers of one worker hand control to each other as a coroutine and its caller do, and read
// thread-locals right after.

thread_local int lastValue = 0;

// A generator of numbers that runs on a fiber, as a renderer runs the invocations of a shader.
class Coroutine {
 public:
  explicit Coroutine(int count) : state_(std::make_shared<State>()) {
    marl::schedule(marl::Task(
        [state = state_, count] {
          state->fiber = marl::Scheduler::Fiber::current();
          for (int i = 1; i <= count; ++i) {
            state->waitForTurn(State::kCallee);
            state->value = lastValue = i;
            state->lastValueHere = &lastValue;
            state->pass(State::kCaller);
          }
        },
        marl::Task::Flags::SameThread));
  }

  int next() {
    state_->caller = marl::Scheduler::Fiber::current();
    state_->pass(State::kCallee);
    state_->waitForTurn(State::kCaller);
    EXPECT_EQ(state_->lastValueHere, &lastValue) << "the two run on one thread";
    return state_->value;
  }

 private:
  struct State {
    enum Turn { kNobody, kCaller, kCallee };
    void waitForTurn(Turn mine) const {
      while (turn != mine) {
        marl::Scheduler::Fiber::current()->wait();
      }
    }
    void pass(Turn to) {
      turn = to;
      // A callee that has not started yet looks at the turn when it does.
      if (auto* const next = to == kCaller ? caller : fiber) {
        next->notify();
      }
    }
    Turn turn = kNobody;
    int value = 0;
    int* lastValueHere = nullptr;
    marl::Scheduler::Fiber* caller = nullptr;
    marl::Scheduler::Fiber* fiber = nullptr;
  };
  std::shared_ptr<State> state_;
};

TEST_P(MarlClientsTest, TwoFibersOfAWorkerTakeTurnsAsACoroutineDoes) {
  constexpr int kTasks = 4;
  const int numValues = scaled(500, 100);
  const marl::WaitGroup done(kTasks);
  for (int task = 0; task < kTasks; ++task) {
    marl::schedule([=] {
      const auto thread = std::this_thread::get_id();
      Coroutine numbers(numValues);
      for (int i = 1; i <= numValues; ++i) {
        EXPECT_EQ(numbers.next(), i);
        EXPECT_EQ(std::this_thread::get_id(), thread);
      }
      done.done();
    });
  }
  done.wait();
}

TEST_P(MarlClientsTest, ABoundThreadIsACoroutinesCallerToo) {
  Coroutine numbers(100);
  for (int i = 1; i <= 100; ++i) {
    EXPECT_EQ(numbers.next(), i);
    EXPECT_EQ(lastValue, i);
  }
}

// Threads with nothing bound wait for events, wait groups and condition variables.

TEST_P(MarlClientsTest, ThreadsWithNothingBoundWaitForTasks) {
  const marl::Event event;
  const marl::WaitGroup group(1);
  marl::ConditionVariable variable;
  marl::mutex mutex;
  bool isReady = false;
  std::atomic<int> numPast{0};
  std::thread unbound([&] {
    EXPECT_EQ(marl::Scheduler::get(), nullptr);
    event.wait();
    ++numPast;
    EXPECT_FALSE(event.wait_for(milliseconds(1)));
    EXPECT_FALSE(event.wait_until(std::chrono::system_clock::now() + milliseconds(1)));
    group.wait();
    ++numPast;
    marl::lock held(mutex);
    variable.wait(held, [&] { return isReady; });
    ++numPast;
    EXPECT_FALSE(variable.wait_for(held, milliseconds(1), [&] { return !isReady; }));
  });
  const marl::Event allScheduled;
  marl::schedule([=] { event.signal(); });
  marl::schedule([=] { group.done(); });
  marl::schedule([&, allScheduled] {
    marl::lock held(mutex);
    isReady = true;
    variable.notify_one();
    allScheduled.signal();
  });
  allScheduled.wait();
  unbound.join();
  EXPECT_EQ(numPast, 3);
}

// A bound thread blocks in a condition variable of the standard library, fibers of its own pending meanwhile.

TEST_P(MarlClientsTest, ABoundThreadBlocksInAStdConditionVariableWhileItsFibersPend) {
  const marl::Event first(marl::Event::Mode::Manual), second(marl::Event::Mode::Manual);
  const marl::WaitGroup done(10);
  std::mutex mutex;
  std::condition_variable variable;
  bool isReady = false;
  std::atomic<int> numPending{0};
  std::thread bound([&] {
    scheduler().bind();
    for (int i = 0; i < 10; ++i) {
      marl::schedule(marl::Task(
          [&numPending, first, second, done] {
            ++numPending;
            first.wait();
            second.wait();
            done.done();
          },
          marl::Task::Flags::SameThread));
    }
    // Lets them start, and leaves them in their waits.
    awaitThat([&] { return numPending == 10; });
    {
      std::unique_lock held(mutex);
      variable.wait(held, [&] { return isReady; });
    }
    second.signal();
    done.wait();
    marl::Scheduler::unbind();
  });
  awaitThat([&] { return numPending == 10; });
  first.signal();  // wakes all of them while their thread is in the system
  {
    const std::scoped_lock held(mutex);
    isReady = true;
  }
  variable.notify_one();
  bound.join();
}

// Schedulers are held by shared_ptr, made on demand, and made and destroyed again and again.

std::shared_ptr<marl::Scheduler> sharedScheduler(marl::Allocator* allocator) {
  static std::mutex mutex;
  static std::weak_ptr<marl::Scheduler> current;
  const std::scoped_lock held(mutex);
  std::shared_ptr<marl::Scheduler> scheduler = current.lock();
  if (scheduler == nullptr) {
    scheduler = std::make_shared<marl::Scheduler>(smallConfig(2, allocator));
    current = scheduler;
  }
  return scheduler;
}

TEST_F(MarlClientsOwnTest, SchedulersAreSharedAndMadeAgainAndAgain) {
  for (int round = 0; round < scaled(50, 10); ++round) {
    std::vector<std::thread> devices;
    for (int i = 0; i < 3; ++i) {
      devices.emplace_back([this] {
        const auto scheduler = sharedScheduler(allocator());
        scheduler->bind();
        const marl::WaitGroup done(10);
        for (int task = 0; task < 10; ++task) {
          marl::schedule([=] { done.done(); });
        }
        done.wait();
        marl::Scheduler::unbind();
      });
    }
    for (std::thread& device : devices) {
      device.join();
    }
  }
}

TEST(MarlClientsDeathTest, ASchedulerMayBeDestroyedWhenTheProcessExits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static std::shared_ptr<marl::Scheduler> atExit =
            std::make_shared<marl::Scheduler>(marl::Scheduler::Config().setWorkerThreadCount(2));
        atExit->bind();
        const marl::Event started;
        const marl::Event never;
        for (int i = 0; i < 10; ++i) {
          marl::schedule([=] {
            started.signal();
            never.wait_for(milliseconds(5));
          });
        }
        started.wait();
        marl::Scheduler::unbind();
        std::exit(7);
      },
      testing::ExitedWithCode(7), weft::tests::kSilence);
}

TEST(MarlClientsDeathTest, ASchedulerMayOutliveTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static auto* const leaked = new marl::Scheduler(marl::Scheduler::Config().setWorkerThreadCount(2));
        leaked->bind();
        const marl::Event started;
        for (int i = 0; i < 10; ++i) {
          marl::schedule([=] {
            for (;;) {
              started.signal();
              marl::Event().wait_for(std::chrono::microseconds(1));
            }
          });
        }
        started.wait();
        std::exit(7);
      },
      testing::ExitedWithCode(7), weft::tests::kSilence);
}

// An initializer sets up the floating-point unit of each worker thread. Switches leave that alone, since
// fibers of one thread share it.

#if defined(__SSE__)
bool flushesToZero() {
  volatile float small = 1e-38f;
  volatile float result = small * 0.01f;
  return result == 0.0f;
}

TEST_F(MarlClientsOwnTest, AnInitializerSetsFlushToZeroForAllTasksOfAWorker) {
  ASSERT_FALSE(flushesToZero());
  std::atomic<int> numInitialized{0};
  {
    marl::Scheduler scheduler(smallConfig(4, allocator()).setWorkerThreadInitializer([&](int) {
      _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
      ++numInitialized;
    }));
    scheduler.bind();
    defer(marl::Scheduler::unbind());
    const marl::WaitGroup done(100);
    for (int i = 0; i < 100; ++i) {
      marl::schedule([=] {
        EXPECT_TRUE(flushesToZero());
        for (int j = 0; j < 5; ++j) {
          EXPECT_FALSE(marl::Event().wait_for(std::chrono::microseconds(1)));
          EXPECT_TRUE(flushesToZero());
        }
        done.done();
      });
    }
    done.wait();
    EXPECT_FALSE(flushesToZero()) << "the bound thread has its own";
  }
  EXPECT_EQ(numInitialized, 4);
}
#endif

// Event::any over many events, of which some are gone already.

TEST_P(MarlClientsTest, AnyOfManyEventsIsSignalledByWhicheverIsFirst) {
  for (const auto mode : {marl::Event::Mode::Auto, marl::Event::Mode::Manual}) {
    std::vector<marl::Event> fences(500);
    const marl::Event any = marl::Event::any(mode, fences.begin(), fences.end());
    EXPECT_FALSE(any.isSignalled());
    fences.erase(fences.begin() + 100, fences.begin() + 400);
    const marl::Event one = fences[123];
    fences.clear();
    marl::schedule([=] { one.signal(); });
    any.wait();
    EXPECT_EQ(any.isSignalled(), mode == marl::Event::Mode::Manual);
    EXPECT_TRUE(one.isSignalled()) << "its signal is not used up";
  }
}

TEST_P(MarlClientsTest, EventsOutliveTheAnyThatLookedAtThem) {
  std::vector<marl::Event> fences(50);
  for (int i = 0; i < 100; ++i) {
    const marl::Event any = marl::Event::any(fences.begin(), fences.end());
    EXPECT_FALSE(any.wait_for(std::chrono::microseconds(1)));
  }
  for (const marl::Event& fence : fences) {
    fence.signal();
    EXPECT_TRUE(fence.test());
  }
}

// done() says who was the last, and exactly one is.

TEST_P(MarlClientsTest, DoneTellsTheLastOne) {
  constexpr unsigned kTasks = 200;
  const marl::WaitGroup pending(kTasks), finished(kTasks);
  std::atomic<int> numLast{0};
  for (unsigned i = 0; i < kTasks; ++i) {
    marl::schedule([=, &numLast] {
      if (pending.done()) {
        ++numLast;
      }
      finished.done();
    });
  }
  finished.wait();
  EXPECT_EQ(numLast, 1);
}

// Values are signalled, through copies in lambdas, as a fork of marl's has it.

TEST_P(MarlClientsTest, AFutureCarriesAValueOverATask) {
  const marl::Future<std::vector<int>> future;
  EXPECT_FALSE(future.test());
  marl::schedule([future] { future.signal(3u, 7); });
  EXPECT_EQ(future.wait(), std::vector<int>(3, 7));
  EXPECT_TRUE(future.isSignalled());
  future.wait().push_back(1);
  EXPECT_EQ(future.wait().size(), 4u);
  future.clear();
  EXPECT_FALSE(future.test());
}

// Handles are captured by value in const lambdas, and what they hold goes with the last of those.

TEST_P(MarlClientsTest, WhatLambdasCaptureLivesAsLongAsTheyDo) {
  const marl::Event finished;
  auto released = std::make_shared<marl::Event>();
  std::shared_ptr<marl::Finally> finally = marl::make_shared_finally([finished] { finished.signal(); });
  for (int i = 0; i < 20; ++i) {
    const auto task = [finally, released] {};
    marl::schedule(task);
  }
  finally.reset();
  finished.wait();
}

// Frames of half a mebibyte on stacks of one.

[[gnu::noinline]] int useLargeFrame(int seed) {
  char frame[512 * 1024];
  for (size_t i = 0; i < sizeof frame; i += 1024) {
    frame[i] = static_cast<char>(seed + static_cast<int>(i / 1024));
  }
  const marl::Event event;
  marl::schedule([=] { event.signal(); });
  event.wait();
  int sum = 0;
  for (size_t i = 0; i < sizeof frame; i += 1024) {
    sum += frame[i] == static_cast<char>(seed + static_cast<int>(i / 1024)) ? 1 : 0;
  }
  return sum;
}

TEST_F(MarlClientsOwnTest, FramesOfHalfAMebibyteFitTheDefaultStack) {
  for (int numWorkers : {0, 1, 4}) {
    marl::Scheduler scheduler(
        marl::Scheduler::Config().setWorkerThreadCount(numWorkers).setAllocator(allocator()));
    scheduler.bind();
    defer(marl::Scheduler::unbind());
    const marl::WaitGroup done(8);
    for (int i = 0; i < 8; ++i) {
      marl::schedule([=] {
        EXPECT_EQ(useLargeFrame(i), 512);
        done.done();
      });
    }
    done.wait();
  }
}

TEST(MarlClientsDeathTest, AFutureTakesNoNullAllocator) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(const marl::Future<int> future(nullptr), "weft: fatal: marl::Future: the allocator is null");
}

}  // namespace
