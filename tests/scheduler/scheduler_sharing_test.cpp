// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/join.h>
#include <weft/scheduler.h>
#include <weft/task.h>
#include <weft/waitgroup.h>

#include "with_scheduler.h"
#include "workers.h"

// How the workers of a scheduler share the work: none is left without, and none is counted wrongly.
namespace weft {
namespace {

using tests::Rendezvous;
using tests::scaled;
using tests::smallConfig;
using tests::sum;

using SchedulerSharingTest = tests::WithScheduler;
WEFT_INSTANTIATE_WITH_SCHEDULER(SchedulerSharingTest);

using SchedulerSharingWithoutBindingTest = tests::WithAllocator;

TEST_P(SchedulerSharingTest, StartsAsManyTasksAtOnceAsItHasWorkersWhenScheduledFromOutside) {
  for (int round = 0; round < scaled(50, 5) && numWorkers() > 0; ++round) {
    Rendezvous all(numWorkers());
    for (int i = 0; i < numWorkers(); ++i) {
      schedule([&all] { all.meet(); });
    }
    all.wait();
  }
  if (numWorkers() > 0) {
    Scheduler::unbind();
    Rendezvous all(numWorkers());
    for (int i = 0; i < numWorkers(); ++i) {
      scheduler().enqueue(Task([&all] { all.meet(); }));
    }
    all.wait();
  }
}

TEST_P(SchedulerSharingTest, StartsAsManyTasksAtOnceAsItHasWorkersWhenScheduledFromOneTask) {
  for (int round = 0; round < scaled(50, 5) && numWorkers() > 0; ++round) {
    Rendezvous all(numWorkers());
    schedule([&all, this] {
      for (int i = 0; i < numWorkers(); ++i) {
        schedule([&all] { all.meet(); });
      }
    });
    all.wait();
  }
}

TEST_P(SchedulerSharingTest, StartsAsManyTasksAtOnceAsItHasWorkersWhenTheSchedulingTaskIsOneOfThem) {
  for (int round = 0; round < scaled(50, 5) && numWorkers() > 0; ++round) {
    Rendezvous all(numWorkers());
    schedule([&all, this] {
      for (int i = 1; i < numWorkers(); ++i) {
        schedule([&all] { all.meet(); });
      }
      all.meet();
    });
    all.wait();
  }
}

TEST_P(SchedulerSharingTest, StartsAsManyTasksAtOnceAsItHasWorkersWhenScheduledByTasksOfAnotherScheduler) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody would run them";
  }
  Scheduler other(smallConfig(2));
  for (int round = 0; round < scaled(50, 5); ++round) {
    Rendezvous all(numWorkers());
    for (int i = 0; i < numWorkers(); ++i) {
      other.enqueue(Task([&all, this] { scheduler().enqueue(Task([&all] { all.meet(); })); }));
    }
    all.wait();
  }
}

TEST_P(SchedulerSharingTest, StealsTasksOfAWorkerThatIsBusy) {
  if (numWorkers() < 2) {
    GTEST_SKIP() << "about thieves";
  }
  // All but one are taken from the deque of a worker that is held until they have run.
  Rendezvous all(numWorkers());
  schedule([&all, this] {
    for (int i = 1; i < numWorkers(); ++i) {
      schedule([&all] { all.meet(); });
    }
    all.meet();
  });
  all.wait();
  EXPECT_GE(sum(scheduler().stats(), &Scheduler::WorkerStats::numSteals),
            static_cast<uint64_t>(numWorkers() - 1));
}

TEST_P(SchedulerSharingTest, CountsNothingQueuedOrBlockedWhenAtRest) {
  WaitGroup done(100);
  for (int i = 0; i < 100; ++i) {
    schedule([done] { done.done(); });
  }
  done.wait();
  // The last task may be returning still.
  const auto tasksRun = [&] { return sum(scheduler().stats(), &Scheduler::WorkerStats::numTasksRun); };
  while (tasksRun() < 100) {
    std::this_thread::yield();
  }
  const Scheduler::Stats stats = scheduler().stats();
  EXPECT_EQ(tasksRun(), 100u);
  EXPECT_EQ(stats.numInjected, 0u);
  EXPECT_EQ(sum(stats, &Scheduler::WorkerStats::num), 0u);
  EXPECT_EQ(sum(stats, &Scheduler::WorkerStats::numBlockedFibers), 0u);
  EXPECT_EQ(stats.workers.size(), static_cast<size_t>(numWorkers()) + 1);
  EXPECT_EQ(stats.workers.back().workerId, -1) << "bound threads come last";
}

TEST_P(SchedulerSharingTest, TellsTheThreadOfEachWorker) {
  if (numWorkers() == 0) {
    EXPECT_EQ(scheduler().stats().workers.back().threadId, gettid());
    return;
  }
  WaitGroup done(static_cast<unsigned>(numWorkers()));
  std::vector<int> threads(static_cast<size_t>(numWorkers()));
  for (int i = 0; i < numWorkers(); ++i) {
    scheduler().enqueueOn(i, Task([&threads, i, done] {
                            threads[static_cast<size_t>(i)] = gettid();
                            done.done();
                          }));
  }
  done.wait();
  const Scheduler::Stats stats = scheduler().stats();
  for (size_t i = 0; i < threads.size(); ++i) {
    EXPECT_EQ(stats.workers[i].threadId, threads[i]);
  }
}

TEST_P(SchedulerSharingTest, CountsEachQueueOfAWorker) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "about worker threads";
  }
  Event counted;
  Scheduler::WorkerStats stats;
  const auto sample = [&, counted] {
    const auto worker = static_cast<size_t>(Scheduler::workerId());
    schedule(Task([] {}, Task::Flags::SameThread));
    schedule(Task([] {}, Task::Flags::SameThread));
    stats = scheduler().stats().workers[worker];
    counted.signal();
  };
  scheduler().enqueueOn(0, Task(sample));
  counted.wait();
  EXPECT_EQ(stats.numPinnedTasks, 2u);
  EXPECT_EQ(stats.num, stats.numReadyFibers + stats.numTasks + stats.numPinnedTasks);
}

TEST_P(SchedulerSharingTest, CountsTimersAndSearches) {
  Event go(Event::Mode::Manual);
  WaitGroup done(3);
  for (int i = 0; i < 3; ++i) {
    schedule([go, done] {
      (void)go.wait_for(std::chrono::hours(1));
      done.done();
    });
  }
  const auto timers = [&] { return sum(scheduler().stats(), &Scheduler::WorkerStats::numTimers); };
  while (timers() != 3) {
    weft::yield();
  }
  go.signal();
  done.wait();
  EXPECT_EQ(timers(), 0u);
  // A worker searches before it sleeps, and a bound thread before it sleeps in a wait.
  Event late;
  std::thread waker([&, late] {
    while (sum(scheduler().stats(), &Scheduler::WorkerStats::numParks) == 0) {
      std::this_thread::yield();
    }
    late.signal();
  });
  late.wait();
  waker.join();
  const Scheduler::Stats stats = scheduler().stats();
  EXPECT_GE(sum(stats, &Scheduler::WorkerStats::numSearches), 1u);
}

TEST_P(SchedulerSharingTest, CountsTheBytesOfStacks) {
  constexpr unsigned kTasks = 20;
  Event go(Event::Mode::Manual);
  WaitGroup done(kTasks);
  WaitGroup started(kTasks);
  for (unsigned i = 0; i < kTasks; ++i) {
    schedule([=] {
      started.done();
      go.wait();
      done.done();
    });
  }
  started.wait();
  const Scheduler::Stats stats = scheduler().stats();
  go.signal();
  done.wait();
  EXPECT_GE(stats.stackBytesInUse, (kTasks - 1) * scheduler().config().fiberStackSize);
  EXPECT_GE(stats.stackBytesMapped, stats.stackBytesInUse);
  EXPECT_GE(stats.stackBytesPeak, stats.stackBytesInUse);
  EXPECT_GE(scheduler().stats().stackBytesPeak, stats.stackBytesPeak);
}

TEST_P(SchedulerSharingTest, CountsBlockedFibers) {
  constexpr int kTasks = 20;
  Event go(Event::Mode::Manual);
  WaitGroup done(kTasks);
  WaitGroup started(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    schedule([=] {
      started.done();
      go.wait();
      done.done();
    });
  }
  started.wait();
  const auto blocked = [&] { return sum(scheduler().stats(), &Scheduler::WorkerStats::numBlockedFibers); };
  while (numWorkers() > 0 && blocked() < kTasks) {
    std::this_thread::yield();
  }
  // With no workers the last of them may not have suspended when this thread's own fiber went on.
  EXPECT_GE(blocked(), static_cast<uint64_t>(numWorkers() == 0 ? kTasks - 1 : kTasks));
  go.signal();
  done.wait();
}

// A bound thread gets a deque at its first fork. For ThreadSanitizer, only the scheduler's locks order the
// two threads.
TEST_F(SchedulerSharingWithoutBindingTest, CountsWhileABoundThreadForksForTheFirstTime) {
  Scheduler scheduler(smallConfig(1, allocator()));
  std::atomic<int> numForked{0}, numSeen{0};
  constexpr int kRounds = 10;
  std::thread forking([&] {
    for (int round = 1; round <= kRounds; ++round) {
      Scheduler::Binding binding(scheduler);
      join([] {}, [] {});
      numForked.store(round, std::memory_order_relaxed);
      while (numSeen.load(std::memory_order_relaxed) < round) {
        std::this_thread::yield();
      }
    }
  });
  for (int seen = 0; seen < kRounds;) {
    seen = numForked.load(std::memory_order_relaxed);
    EXPECT_LE(sum(scheduler.stats(), &Scheduler::WorkerStats::num), 1u);
    numSeen.store(seen, std::memory_order_relaxed);
  }
  forking.join();
}

TEST_F(SchedulerSharingWithoutBindingTest, WorksWithThreeHundredWorkers) {
  constexpr int kWorkers = 300;
  Scheduler scheduler(smallConfig(kWorkers, allocator()));
  Scheduler::Binding binding(scheduler);
  Rendezvous all(kWorkers);
  for (int i = 0; i < kWorkers; ++i) {
    schedule([&all] { all.meet(); });
  }
  all.wait();
}

TEST_F(SchedulerSharingWithoutBindingTest, StartsAndStopsSixtyFourWorkersOverAndOver) {
  std::atomic<int> ran{0};
  for (int i = 0; i < scaled(100, 10); ++i) {
    Scheduler scheduler(smallConfig(64, allocator()));
    scheduler.enqueue(Task([&] { ++ran; }));
  }
  EXPECT_EQ(ran, scaled(100, 10));
}

}  // namespace
}  // namespace weft
