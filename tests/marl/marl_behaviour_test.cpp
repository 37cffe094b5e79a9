// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What programs that were written for marl rely on, line by line, as far as weft has it.

#include <weft/weft.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "waiting.h"

namespace weft {
namespace {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::milliseconds;
using tests::scaled;
using tests::smallConfig;

class MarlBehaviourTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(MarlBehaviourTest);

class MarlBehaviourOfSchedulersTest : public tests::WithAllocator {};

// 1. A blocked task resumes on the same thread.

TEST_P(MarlBehaviourTest, ABlockedTaskResumesOnTheSameThread) {
  constexpr int kTasks = 30;
  const Event go(Event::Mode::Manual);
  Crew crew(scheduler());
  for (int i = 0; i < kTasks; ++i) {
    crew.start(Kind::Task, [=] {
      const auto thread = std::this_thread::get_id();
      go.wait();
      EXPECT_EQ(std::this_thread::get_id(), thread);
      sleep_for(std::chrono::microseconds(10));
      EXPECT_EQ(std::this_thread::get_id(), thread);
      yield();
      EXPECT_EQ(std::this_thread::get_id(), thread);
    });
  }
  awaitThat([&] { return tests::numWaiting(go) == kTasks; });
  go.signal();
}

// 2. With workers a waiting bound thread runs no tasks but its own SameThread ones; without, tasks run only
// when it waits or unbinds.

TEST_P(MarlBehaviourTest, AWaitingBoundThreadRunsNoTasksWhereThereAreWorkers) {
  const auto mine = std::this_thread::get_id();
  const int numTasks = scaled(1'000, 200);
  const WaitGroup done(static_cast<unsigned>(numTasks));
  for (int i = 0; i < numTasks; ++i) {
    const bool isPinned = i % 10 == 0;
    schedule(Task(
        [=, this] {
          EXPECT_EQ(std::this_thread::get_id() == mine, isPinned || numWorkers() == 0);
          done.done();
        },
        isPinned ? Task::Flags::SameThread : Task::Flags::None));
  }
  done.wait();
}

TEST_F(MarlBehaviourOfSchedulersTest, WithoutWorkersTasksRunOnlyWhenTheBoundThreadWaitsOrUnbinds) {
  Scheduler scheduler(smallConfig(0, allocator()));
  scheduler.bind();
  int numRun = 0;
  const WaitGroup first(1);
  schedule([&, first] {
    ++numRun;
    first.done();
  });
  EXPECT_EQ(numRun, 0);
  first.wait();
  EXPECT_EQ(numRun, 1);
  schedule([&] { ++numRun; });
  const Event signalled(Event::Mode::Auto, true);
  signalled.wait();
  EXPECT_EQ(numRun, 1) << "a wait that need not wait runs nothing";
  Scheduler::unbind();
  EXPECT_EQ(numRun, 2);
}

// 3. A thousand threads may bind at once. ~Scheduler waits for all of them and drains pending tasks and
// blocked fibers. unbind() is static, but also called through objects.

TEST_P(MarlBehaviourTest, AThousandThreadsMayBindAtOnce) {
  const int numThreads = scaled(1'000, 200);
  std::atomic<int> numRun{0};
  std::latch allBound(numThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < numThreads; ++i) {
    threads.emplace_back([&] {
      scheduler().bind();
      allBound.arrive_and_wait();
      const WaitGroup done(1);
      schedule([&, done] {
        ++numRun;
        done.done();
      });
      done.wait();
      scheduler().unbind();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(numRun, numThreads);
}

TEST_P(MarlBehaviourTest, TheDestructorFinishesPendingTasksAndBlockedFibers) {
  std::atomic<int> numRun{0};
  const Event never, late(Event::Mode::Manual);
  for (int i = 0; i < 50; ++i) {
    schedule([&numRun, never, late, i] {
      if (i == 49) {
        late.signal();
      } else if (i % 2 == 0) {
        late.wait();
      } else {
        EXPECT_FALSE(never.wait_for(milliseconds(1)));
      }
      schedule([&numRun] { ++numRun; });
      ++numRun;
    });
  }
  destroyScheduler();
  EXPECT_EQ(numRun, 100);
}

TEST_F(MarlBehaviourOfSchedulersTest, TheDestructorWaitsForAllToUnbind) {
  for (int numWorkers : {0, 1, 4}) {
    auto scheduler = std::make_unique<Scheduler>(smallConfig(numWorkers, allocator()));
    std::atomic<bool> mayUnbind{false}, hasUnbound{false};
    std::latch isBound(1);
    std::thread bound([&] {
      scheduler->bind();
      isBound.count_down();
      while (!mayUnbind) {
        std::this_thread::yield();
      }
      hasUnbound = true;
      Scheduler::unbind();
    });
    isBound.wait();
    std::thread releaser([&] { mayUnbind = true; });
    delete scheduler.release();
    EXPECT_TRUE(hasUnbound);
    bound.join();
    releaser.join();
  }
}

// 4. enqueue() from a thread that was never bound works where there are workers; else it is an error, in
// release too.

TEST_F(MarlBehaviourOfSchedulersTest, EnqueueWorksOnThreadsThatWereNeverBound) {
  std::atomic<int> numRun{0};
  {
    Scheduler scheduler(smallConfig(2, allocator()));
    const WaitGroup done(100);
    for (int i = 0; i < 100; ++i) {
      scheduler.enqueue(Task([&, done] {
        ++numRun;
        done.done();
      }));
    }
    done.wait();
  }
  EXPECT_EQ(numRun, 100);
}

TEST(MarlBehaviourDeathTest, EnqueueOnAnUnboundThreadWithoutWorkersSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        scheduler.enqueue(Task([] {}));
      },
      "has no worker threads, and the calling thread is not bound");
}

// 5. TrackedAllocator's counts reach 0 (every test with the fixture); config() echoes. useGuards:
// memory_test.

TEST_P(MarlBehaviourTest, ConfigEchoesTheAllocator) {
  EXPECT_EQ(scheduler().config().allocator, allocator());
  EXPECT_EQ(scheduler().config().workerThread.count, numWorkers());
}

TEST_F(MarlBehaviourOfSchedulersTest, NothingStaysAllocatedOnceEverythingIsGone) {
  {
    Scheduler scheduler(smallConfig(2, allocator()));
    Scheduler::Binding bound(scheduler);
    const Event event(Event::Mode::Auto, false, allocator());
    const WaitGroup group(1, allocator());
    const Semaphore semaphore(0, allocator());
    const ConditionVariable variable(allocator());
    schedule([=] {
      event.wait();
      semaphore.release();
      group.done();
    });
    EXPECT_GT(allocator()->stats().bytesAllocated(), 0u);
    event.signal();
    semaphore.acquire();
    group.wait();
  }
  tests::expectNothingAllocated(*allocator());
}

// 6. Assertions run on stacks of 64 KiB, small tasks on 16 KiB; 64 workers start and stop.

TEST_F(MarlBehaviourOfSchedulersTest, SmallTasksRunOnSmallStacks) {
  for (int numWorkers : {0, 1, 2}) {
    std::atomic<int> numRun{0};
    {
      Scheduler scheduler(smallConfig(numWorkers, allocator()).setFiberStackSize(16 * 1024));
      Scheduler::Binding bound(scheduler);
      for (int i = 0; i < 100; ++i) {
        schedule([&] {
          sleep_for(std::chrono::microseconds(1));
          ++numRun;
        });
      }
    }
    EXPECT_EQ(numRun, 100);
  }
}

TEST_F(MarlBehaviourOfSchedulersTest, SixtyFourWorkersStartAndStop) {
  for (int i = 0; i < scaled(20, 5); ++i) {
    Scheduler scheduler(smallConfig(64, allocator()));
  }
}

// 7. Predicates run with the lock held; timed waits are never early by their clock.

TEST_P(MarlBehaviourTest, PredicatesRunWithTheLockHeld) {
  mutex guard;
  ConditionVariable variable;
  bool isTrue = false;
  Fiber* fiber = nullptr;
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    lock held(guard);
    const auto pred = [&] {
      EXPECT_TRUE(held.owns_lock());
      EXPECT_FALSE(guard.try_lock());
      return isTrue;
    };
    variable.wait(held, pred);
    isTrue = false;
    EXPECT_FALSE(Fiber::current()->wait(held, std::chrono::system_clock::now() + milliseconds(1), pred));
    fiber = Fiber::current();
    Fiber::current()->wait(held, pred);
  });
  const auto makeTrue = [&] {
    lock held(guard);
    isTrue = true;
  };
  awaitThat([&] { return tests::numWaiting(variable) == 1; });
  makeTrue();
  variable.notify_one();
  awaitThat([&] {
    lock held(guard);
    return fiber != nullptr;
  });
  makeTrue();
  fiber->notify();
}

TEST_P(MarlBehaviourTest, TimedWaitsAreNeverEarlyByTheSystemClock) {
  for (Kind kind : kKinds) {
    Crew crew(scheduler());
    crew.start(kind, [] {
      using Clock = std::chrono::system_clock;
      mutex guard;
      ConditionVariable variable;
      for (int i = 0; i < 3; ++i) {
        const auto time = Clock::now() + std::chrono::microseconds(500 * i);
        EXPECT_FALSE(Event().wait_until(time));
        EXPECT_GE(Clock::now(), time);
        const auto later = Clock::now() + std::chrono::microseconds(500 * i);
        lock held(guard);
        EXPECT_FALSE(variable.wait_until(held, later, [] { return false; }));
        EXPECT_GE(Clock::now(), later);
      }
    });
  }
}

// 8. All methods of handles are const, since handles are captured by value in const lambdas.

TEST_P(MarlBehaviourTest, HandlesWorkInConstLambdas) {
  const Event event, manual(Event::Mode::Manual);
  const WaitGroup group(1);
  const Semaphore semaphore;
  const auto task = [=] {
    static_assert(std::is_const_v<std::remove_reference_t<decltype((event))>>);
    event.signal();
    event.wait();
    manual.signal();
    manual.clear();
    EXPECT_FALSE(manual.test() || manual.isSignalled() || manual.wait_for(milliseconds(0)));
    group.add(2);
    group.done();
    group.done();
    semaphore.release();
    semaphore.acquire();
    group.done();
  };
  schedule(task);
  group.wait();
}

// 9. Thread::Core is a union with .pthread.index: thread_test. 10. Macros can be tested by the preprocessor.

#if !defined(WEFT_DEBUG_ENABLED) || !defined(WEFT_ADDRESS_SANITIZER_ENABLED) || \
    !defined(WEFT_MEMORY_SANITIZER_ENABLED) || !defined(WEFT_THREAD_SANITIZER_ENABLED)
#error "a macro that programs test is missing"
#endif
static_assert(WEFT_DEBUG_ENABLED == 0 || WEFT_DEBUG_ENABLED == 1);

// 12. SameThread tasks run on a waiting bound thread, workers or not. (Of mutexes weft's differ, on purpose.)

TEST_P(MarlBehaviourTest, SameThreadTasksRunOnAWaitingBoundThread) {
  const Event there, back;
  const auto mine = std::this_thread::get_id();
  for (int i = 0; i < 2; ++i) {
    schedule(Task(
        [=] {
          EXPECT_EQ(std::this_thread::get_id(), mine);
          if (i == 0) {
            there.wait();
            back.signal();
          } else {
            there.signal();
          }
          EXPECT_EQ(std::this_thread::get_id(), mine);
        },
        Task::Flags::SameThread));
  }
  back.wait();
}

TEST_P(MarlBehaviourTest, SameThreadTasksOfATaskRunOnItsThread) {
  const WaitGroup done(10);
  for (int i = 0; i < 10; ++i) {
    schedule([=] {
      const auto mine = std::this_thread::get_id();
      schedule(Task(
          [=] {
            EXPECT_EQ(std::this_thread::get_id(), mine);
            done.done();
          },
          Task::Flags::SameThread));
    });
  }
  done.wait();
}

}  // namespace
}  // namespace weft
