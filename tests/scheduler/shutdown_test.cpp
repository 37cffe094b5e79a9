// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "rounds.h"
#include "scheduler/core/scheduler_core.h"
#include "scheduler/worker/worker.h"
#include "waiting.h"

// How schedulers and bindings end.
namespace weft {
namespace {

using tests::scaled;
using tests::smallConfig;

class ShutdownTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(ShutdownTest);

class ShutdownWithoutBindingTest : public tests::WithAllocator {};

// Schedules itself again until `left` is used up.
struct Chain {
  static void step(std::atomic<int>& ran, int left) {
    ++ran;
    if (left > 1) {
      schedule([&ran, left] { step(ran, left - 1); });
    }
  }
};

TEST_P(ShutdownTest, FinishesWhatWasScheduled) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) {
    schedule([&] { ++ran; });
  }
  destroyScheduler();
  EXPECT_EQ(ran, 1000);
}

TEST_P(ShutdownTest, FinishesTasksThatTheLastTasksSchedule) {
  constexpr int kChains = 10, kSteps = 200;
  std::atomic<int> ran{0};
  for (int i = 0; i < kChains; ++i) {
    schedule([&] { Chain::step(ran, kSteps); });
  }
  destroyScheduler();
  EXPECT_EQ(ran, kChains * kSteps);
}

TEST_P(ShutdownTest, FinishesTasksThatTheDestructorsOfCapturesSchedule) {
  struct SchedulesWhenDestroyed {
    std::atomic<int>* ran;
    explicit SchedulesWhenDestroyed(std::atomic<int>* counter) : ran(counter) {}
    ~SchedulesWhenDestroyed() {
      schedule([counter = ran] { ++*counter; });
    }
  };
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    schedule([last = std::make_unique<SchedulesWhenDestroyed>(&ran)] {});
  }
  destroyScheduler();
  EXPECT_EQ(ran, 100);
}

TEST_P(ShutdownTest, FinishesFibersThatWaitForTasksInFlight) {
  constexpr int kPairs = 200;
  std::atomic<int> ran{0};
  for (int i = 0; i < kPairs; ++i) {
    Event event;
    schedule([&ran, event] {
      event.wait();
      ++ran;
    });
    schedule([&ran, event] {
      schedule([&ran, event] {
        event.signal();
        ++ran;
      });
    });
  }
  destroyScheduler();
  EXPECT_EQ(ran, 2 * kPairs);
}

TEST_P(ShutdownTest, FinishesFibersThatSleep) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) {
    schedule([&ran, i] {
      sleep_for(std::chrono::milliseconds(i % 5));
      schedule([&ran] {
        sleep_for(std::chrono::milliseconds(1));
        ++ran;
      });
    });
  }
  destroyScheduler();
  EXPECT_EQ(ran, 20);
}

TEST_P(ShutdownTest, FinishesAFiberThatAnotherThreadWakes) {
  std::atomic<int> ran{0};
  Event started(Event::Mode::Manual), go(Event::Mode::Manual);
  schedule([&ran, started, go] {
    started.signal();
    go.wait();
    ++ran;
  });
  std::thread other([started, go] {
    started.wait();
    go.signal();
  });
  destroyScheduler();
  EXPECT_EQ(ran, 1);
  other.join();
}

TEST_P(ShutdownTest, UnbindFinishesTheTasksThatOnlyThisThreadMayRun) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    schedule(Task(
        [&] {
          schedule(Task([&] { ++ran; }, Task::Flags::SameThread));
          yield();
          ++ran;
        },
        Task::Flags::SameThread));
  }
  Scheduler::unbind();
  EXPECT_EQ(ran, 200);
}

TEST_P(ShutdownTest, UnbindDrainsTheWorkerOfThisThreadOnly) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "about tasks of workers";
  }
  // What a worker's task waits for may be signalled by this thread once it has unbound: unbind() does not
  // wait for it.
  Event go(Event::Mode::Manual);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    schedule([&ran, go] {
      go.wait();
      ++ran;
    });
  }
  Scheduler::unbind();
  EXPECT_EQ(ran, 0);
  go.signal();
  destroyScheduler();
  EXPECT_EQ(ran, 100);
}

TEST_P(ShutdownTest, UnbindLeavesOtherBoundThreadsAlone) {
  // Another thread stays bound, with a task of its own that waits for what this one signals once it has
  // unbound.
  Event bound, go;
  std::atomic<int> ran{0};
  std::thread other([&] {
    Scheduler::Binding binding(scheduler());
    schedule(Task(
        [&] {
          go.wait();
          ++ran;
        },
        Task::Flags::SameThread));
    bound.signal();
  });
  bound.wait();
  Scheduler::unbind();
  EXPECT_EQ(ran, 0);
  go.signal();
  other.join();
  EXPECT_EQ(ran, 1);
}

TEST_P(ShutdownTest, LetsAThreadBindAgain) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    schedule([&] { ++ran; });
    Scheduler::unbind();
    scheduler().bind();
  }
  destroyScheduler();
  EXPECT_EQ(ran, 100);
}

TEST_P(ShutdownTest, WaitsForEveryThreadToUnbind) {
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  tests::Tokens numBound;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      Scheduler::Binding binding(scheduler());
      numBound.give();
      Event yielded;
      for (int task = 0; task < 10; ++task) {
        schedule([&ran] { ++ran; });
      }
      schedule([yielded] { yielded.signal(); });
      yielded.wait();
    });
  }
  for (int i = 0; i < 8; ++i) {
    numBound.take();
  }
  destroyScheduler();
  EXPECT_EQ(ran, 80);
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_P(ShutdownTest, RunsTasksInLargeNumbersThatWereQueuedBeforeIt) {
  const int kTasks = scaled(50'000, 10'000);
  std::atomic<int> ran{0};
  schedule([&] {
    for (int i = 0; i < kTasks; ++i) {
      schedule([&] { ran.fetch_add(1, std::memory_order_relaxed); });
    }
  });
  destroyScheduler();
  EXPECT_EQ(ran, kTasks);
}

bool wantsAllRounds() { return std::getenv("WEFT_TEST_ALL_ROUNDS") != nullptr; }

// 110,000 rounds together. With a sanitizer there are fewer, unless the environment asks for all: the test
// last_moments does, for the night. Each starts and ends threads.
tests::Rounds lastMoments(int all, int fewer) {
  return wantsAllRounds() ? tests::Rounds(all, std::chrono::hours(1))
                          : tests::Rounds(scaled(all, fewer), std::chrono::microseconds(scaled(400, 4000)));
}

// The last task ends and the scheduler is destroyed at once, while whoever woke that task is still on its way
// back from doing so. The wakers belong to a second scheduler, or are plain threads, and so outlive the
// first.
class LastMomentTest : public tests::WithAllocator {
 protected:
  // Each round: a task on a fresh scheduler with `numWorkers` waits for `wake(round's event)`, which runs
  // elsewhere.
  template <class Wake>
  void run(int numWorkers, tests::Rounds round, Wake wake) {
    int ran = 0;
    while (round.next()) {
      Scheduler scheduler(smallConfig(numWorkers, allocator()));
      Event event;
      scheduler.enqueue(Task([&ran, event] {
        event.wait();
        ++ran;
      }));
      wake(event);
    }
    EXPECT_EQ(ran, round.count());
  }
};

TEST_F(LastMomentTest, AWakerOnAWorkerOfAnotherSchedulerMayStillBeReturning) {
  Scheduler wakers(smallConfig(1));
  run(1, lastMoments(30'000, 1'500),
      [&](const Event& event) { wakers.enqueue(Task([event] { event.signal(); })); });
}

TEST_F(LastMomentTest, AWakerMayStillBeReturningWhenThereAreSeveralWorkers) {
  Scheduler wakers(smallConfig(2));
  run(3, lastMoments(5'000, 500),
      [&](const Event& event) { wakers.enqueue(Task([event] { event.signal(); })); });
}

// One thread that signals what it is given, without a scheduler.
class WakerThread {
 public:
  WakerThread() : thread_([this] { run(); }) {}
  ~WakerThread() {
    isNext_.give();  // without an event: it was the last
    thread_.join();
  }
  // Requires: what it was given before has been signalled.
  void wake(const Event& event) {
    next_ = new Event(event);
    isNext_.give();
  }

 private:
  void run() {
    for (;;) {
      isNext_.take();
      const std::unique_ptr<Event> event(next_.exchange(nullptr));
      if (event == nullptr) {
        return;
      }
      event->signal();
    }
  }

  tests::Tokens isNext_;
  std::atomic<Event*> next_{nullptr};
  std::thread thread_;
};

TEST_F(LastMomentTest, AWakerOnAThreadWithNothingBoundMayStillBeReturning) {
  WakerThread waker;
  run(1, lastMoments(30'000, 1'500), [&](const Event& event) { waker.wake(event); });
}

TEST_F(LastMomentTest, AWakerMayStillBeReturningWhenABoundThreadUnbindsAndDestroysTheScheduler) {
  WakerThread waker;
  tests::Rounds round = lastMoments(30'000, 3'000);
  int ran = 0;
  while (round.next()) {
    Scheduler scheduler(smallConfig(0, allocator()));
    Scheduler::Binding binding(scheduler);
    Event event;
    waker.wake(event);
    schedule([&ran, event] {
      event.wait();
      ++ran;
    });
  }
  EXPECT_EQ(ran, round.count());
}

TEST_F(LastMomentTest, AThreadThatEnqueuedTheLastTaskMayStillBeReturning) {
  tests::Rounds round = lastMoments(10'000, 1'000);
  Scheduler feeders(smallConfig(1));
  int ran = 0;
  while (round.next()) {
    Event done;
    {
      Scheduler scheduler(smallConfig(1, allocator()));
      feeders.enqueue(Task([&scheduler, &ran, done] {
        scheduler.enqueue(Task([&ran, done] {
          ++ran;
          done.signal();
        }));
      }));
      done.wait();
    }
  }
  EXPECT_EQ(ran, round.count());
}

TEST_F(LastMomentTest, AThreadThatUnboundMayBeTheLastUserOfTheScheduler) {
  tests::Rounds round = lastMoments(5'000, 500);
  int ran = 0;
  while (round.next()) {
    auto scheduler = std::make_unique<Scheduler>(smallConfig(0, allocator()));
    tests::Tokens isBound;
    std::thread other([&] {
      Scheduler::Binding binding(*scheduler);
      isBound.give();
      schedule([&ran] { ++ran; });
    });
    isBound.take();
    scheduler.reset();
    other.join();
  }
  EXPECT_EQ(ran, round.count());
}

TEST_F(ShutdownWithoutBindingTest, EndsASchedulerThatNobodyHasUsed) {
  for (const int numWorkers : {0, 1, 2, 4, 8, 64}) {
    Scheduler scheduler(smallConfig(numWorkers, allocator()));
  }
}

TEST_F(ShutdownWithoutBindingTest, EndsASchedulerWhoseWorkersAreStillStarting) {
  // Those that have started look for work among all, the others' queues included.
  for (tests::Rounds round(scaled(1000, 100), std::chrono::milliseconds(4)); round.next();) {
    std::atomic<int> ran{0};
    {
      Scheduler scheduler(smallConfig(8, allocator()));
      for (int i = 0; i < 16; ++i) {
        scheduler.enqueue(Task([&] { Chain::step(ran, 3); }));
      }
    }
    ASSERT_EQ(ran, 48);
  }
}

TEST_F(ShutdownWithoutBindingTest, WaitsForInitializersThatSleep) {
  // Some threads may not have begun when the scheduler is destroyed and the first finds nothing left to do.
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> initialized{0};
    {
      Scheduler scheduler(smallConfig(8, allocator()).setWorkerThreadInitializer([&](int id) {
        if (id > 0) {
          sleep_for(std::chrono::microseconds(100));
        }
        ++initialized;
      }));
    }
    ASSERT_EQ(initialized, 8);
  }
}

TEST_F(ShutdownWithoutBindingTest, FinishesTasksOnAFiberThatIsNotTheMainOne) {
  // Blocking moves the loop off the thread's main fiber, which is resumed to end the thread.
  for (const int numWorkers : {1, 2}) {
    std::atomic<int> ran{0};
    {
      Scheduler scheduler(smallConfig(numWorkers, allocator()));
      Event first, second;
      scheduler.enqueue(Task([&, first] { first.wait(), ++ran; }));
      scheduler.enqueue(Task([&, first, second] { first.signal(), second.wait(), ++ran; }));
      scheduler.enqueue(Task([&, second] { second.signal(), ++ran; }));
    }
    EXPECT_EQ(ran, 3);
  }
}

TEST_F(ShutdownWithoutBindingTest, RunsDestructorsOfThreadLocalsOfWorkers) {
  static std::atomic<int> destroyed{0};
  struct Local {
    ~Local() { ++destroyed; }
    int value = 1;
  };
  {
    Scheduler scheduler(smallConfig(1, allocator()));
    scheduler.enqueue(Task([] {
      static thread_local Local local;
      local.value = 2;
    }));
  }
  EXPECT_EQ(destroyed, 1);
}

// An allocator that may take long.
struct SlowAllocator final : Allocator {
  Allocation allocate(const Allocation::Request& request) override { return Default->allocate(request); }
  void free(const Allocation& allocation) override {
    if (std::exchange(isSlowHere, false)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      wasLate = isSchedulerGone.load();
    }
    Default->free(allocation);
  }
  static inline thread_local bool isSlowHere = false;  // the next time
  std::atomic<bool> isSchedulerGone{false}, wasLate{false};
};

// The workers may end once the thread has counted its tasks. But it still uses the scheduler.
TEST_F(ShutdownWithoutBindingTest, WaitsUntilAThreadThatATaskHasStartedIsUnbound) {
  SlowAllocator slow;
  std::thread other;
  std::atomic<bool> isBound{false};
  {
    Scheduler scheduler(smallConfig(1, &slow));
    scheduler.enqueue(Task([&] {
      // ~Scheduler has seen that no thread is bound.
      tests::awaitThat([] { return detail::Worker::current()->group().isStopping.load(); });
      other = std::thread([&] {
        Scheduler::Binding binding(scheduler);
        isBound = true;
        SlowAllocator::isSlowHere = true;
      });
      tests::awaitThat([&] { return isBound.load(); });
    }));
  }
  slow.isSchedulerGone = true;
  other.join();
  EXPECT_FALSE(slow.wasLate);
}

}  // namespace
}  // namespace weft
