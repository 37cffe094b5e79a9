// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/scheduler.h>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/waitgroup.h>

#include "with_scheduler.h"

namespace weft {
namespace {

using tests::scaled;
using tests::smallConfig;

class SchedulerTest : public tests::WithScheduler {
 protected:
  // Runs `f` on `count` threads at once, and joins them.
  template <class F>
  static void onThreads(int count, F f) {
    std::vector<std::thread> threads;
    std::latch start(count);
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        f(i);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(SchedulerTest);

class SchedulerWithoutBindingTest : public tests::WithAllocator {};

std::string nameOfThisThread() {
  char name[64] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

uint64_t sum(const Scheduler::Stats& stats, uint64_t Scheduler::WorkerStats::* member) {
  uint64_t total = 0;
  for (const Scheduler::WorkerStats& worker : stats.workers) {
    total += worker.*member;
  }
  return total;
}

TEST_P(SchedulerTest, IsTheBoundOneUntilItIsUnbound) {
  EXPECT_EQ(Scheduler::get(), &scheduler());
  Scheduler::unbind();
  EXPECT_EQ(Scheduler::get(), nullptr);
  scheduler().bind();
  EXPECT_EQ(Scheduler::get(), &scheduler());
}

TEST_P(SchedulerTest, IsBoundToThatThreadOnlyWhichBoundIt) {
  std::thread([] { EXPECT_EQ(Scheduler::get(), nullptr); }).join();
}

TEST_P(SchedulerTest, IsTheOneThatATaskSees) {
  WaitGroup done(1);
  Scheduler* seen = nullptr;
  schedule([&seen, done] {
    seen = Scheduler::get();
    done.done();
  });
  done.wait();
  EXPECT_EQ(seen, &scheduler());
}

TEST_P(SchedulerTest, EchoesItsConfiguration) {
  EXPECT_EQ(scheduler().config().workerThread.count, numWorkers());
  EXPECT_EQ(scheduler().config().allocator, allocator());
  EXPECT_EQ(scheduler().config().fiberStackSize, smallConfig(0).fiberStackSize);
}

TEST_P(SchedulerTest, RunsEachTaskOnceWithItsArguments) {
  constexpr int kTasks = 1000;
  std::vector<std::atomic<int>> runs(kTasks);
  WaitGroup done(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    schedule(
        [&](int index, const WaitGroup& group) {
          ++runs[static_cast<size_t>(index)];
          group.done();
        },
        i, done);
  }
  done.wait();
  EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& count) { return count == 1; }));
}

TEST_P(SchedulerTest, RunsMoveOnlyCapturesAndArguments) {
  WaitGroup done(2);
  std::atomic<int> total{0};
  schedule([value = std::make_unique<int>(40), &total, done] {
    total += *value;
    done.done();
  });
  schedule(
      [&total](std::unique_ptr<int> value, const WaitGroup& group) {
        total += *value;
        group.done();
      },
      std::make_unique<int>(2), done);
  done.wait();
  EXPECT_EQ(total, 42);
}

TEST_P(SchedulerTest, PassesReferencesThatAreWrapped) {
  int value = 0;
  WaitGroup done(1);
  schedule(
      [](int& target, const WaitGroup& group) {
        target = 7;
        group.done();
      },
      std::ref(value), done);
  done.wait();
  EXPECT_EQ(value, 7);
}

TEST_P(SchedulerTest, IgnoresAnEmptyTask) {
  schedule(Task());
  scheduler().enqueue(Task());
  EXPECT_EQ(sum(scheduler().stats(), &Scheduler::WorkerStats::num), 0u);
}

TEST_P(SchedulerTest, RunsTasksThatTasksSchedule) {
  WaitGroup done(1);
  std::atomic<int> ran{0};
  struct Tree {
    static void grow(int depth, std::atomic<int>& count, const WaitGroup& group) {
      ++count;
      if (depth > 0) {
        group.add(2);
        for (int i = 0; i < 2; ++i) {
          schedule([depth, &count, group] { grow(depth - 1, count, group); });
        }
      }
      group.done();
    }
  };
  schedule([&ran, done] { Tree::grow(11, ran, done); });
  done.wait();
  EXPECT_EQ(ran, 4095);
}

TEST_P(SchedulerTest, RunsTasksOnWorkersOnlyOrWithoutAnyOnTheThreadThatScheduledThem) {
  constexpr int kTasks = 200;
  const std::thread::id self = std::this_thread::get_id();
  WaitGroup done(kTasks);
  std::atomic<int> onSelf{0};
  for (int i = 0; i < kTasks; ++i) {
    schedule([&, done] {
      onSelf += std::this_thread::get_id() == self;
      done.done();
    });
  }
  done.wait();
  EXPECT_EQ(onSelf, numWorkers() == 0 ? kTasks : 0);
}

TEST_P(SchedulerTest, WithoutWorkersRunsATaskOnItsOwnThreadAndNoOther) {
  if (numWorkers() != 0) {
    GTEST_SKIP() << "about schedulers without workers";
  }
  std::atomic<int> elsewhere{0};
  onThreads(4, [&](int) {
    Scheduler::Binding binding(scheduler());
    const std::thread::id self = std::this_thread::get_id();
    WaitGroup done(100);
    for (int i = 0; i < 100; ++i) {
      schedule([&, done] {
        elsewhere += std::this_thread::get_id() != self;
        schedule([&elsewhere, self] { elsewhere += std::this_thread::get_id() != self; });
        done.done();
      });
    }
    done.wait();
  });
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(SchedulerTest, RunsNothingOnABoundThreadBeforeItWaits) {
  if (numWorkers() != 0) {
    GTEST_SKIP() << "about schedulers without workers";
  }
  bool ran = false;
  schedule([&] { ran = true; });
  EXPECT_FALSE(ran);
  Scheduler::unbind();
  EXPECT_TRUE(ran);
  scheduler().bind();
}

TEST_P(SchedulerTest, RunsSameThreadTasksOnTheThreadThatScheduledThem) {
  constexpr int kTasks = 50;
  const std::thread::id self = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  WaitGroup done(2 * kTasks);
  for (int i = 0; i < kTasks; ++i) {
    schedule(Task([&, done] { elsewhere += std::this_thread::get_id() != self, done.done(); }, Task::Flags::SameThread));
    schedule([&, done] {
      const std::thread::id worker = std::this_thread::get_id();
      schedule(Task([&, worker, done] { elsewhere += std::this_thread::get_id() != worker, done.done(); },
                    Task::Flags::SameThread));
    });
  }
  done.wait();
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(SchedulerTest, ResumesABlockedTaskOnTheThreadWhereItBegan) {
  constexpr int kTasks = 200;
  std::vector<Event> events;
  std::atomic<int> moved{0}, started{0};
  WaitGroup done(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    events.emplace_back(Event::Mode::Manual);
    schedule([&moved, &started, done, event = events.back()] {
      const std::thread::id before = std::this_thread::get_id();
      ++started;
      event.wait();
      moved += std::this_thread::get_id() != before;
      done.done();
    });
  }
  WaitGroup signalled(1);
  schedule([events, signalled] {
    for (const Event& event : events) {
      event.signal();
    }
    signalled.done();
  });
  signalled.wait();
  done.wait();
  EXPECT_EQ(moved, 0);
  EXPECT_EQ(started, kTasks);
}

TEST_P(SchedulerTest, RunsAMillionShortTasksFromEightThreadsThatAreBound) {
  const int perThread = scaled(numWorkers() == 0 || numWorkers() == 2 ? 125'000 : 12'500, 1000);
  std::atomic<int64_t> ran{0};
  onThreads(8, [&](int) {
    Scheduler::Binding binding(scheduler());
    WaitGroup done(static_cast<unsigned>(perThread));
    for (int i = 0; i < perThread; ++i) {
      schedule([&ran, done] {
        ran.fetch_add(1, std::memory_order_relaxed);
        done.done();
      });
    }
    done.wait();
  });
  EXPECT_EQ(ran, int64_t{8} * perThread);
}

TEST_P(SchedulerTest, RunsAMillionShortTasksFromEightThreadsThatAreNotBound) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody would run them";
  }
  const int perThread = scaled(numWorkers() == 2 ? 125'000 : 12'500, 1000);
  std::atomic<int64_t> ran{0};
  onThreads(8, [&](int) {
    WaitGroup done(static_cast<unsigned>(perThread));
    for (int i = 0; i < perThread; ++i) {
      scheduler().enqueue(Task([&ran, done] {
        ran.fetch_add(1, std::memory_order_relaxed);
        done.done();
      }));
    }
    done.wait();
  });
  EXPECT_EQ(ran, int64_t{8} * perThread);
}

TEST_P(SchedulerTest, BindsAThousandThreadsAtOnce) {
  const int kThreads = scaled(1000, 100);
  std::atomic<int> ran{0};
  std::latch allBound(kThreads);
  onThreads(kThreads, [&](int) {
    Scheduler::Binding binding(scheduler());
    allBound.arrive_and_wait();
    WaitGroup done(1);
    schedule([&ran, done] {
      ++ran;
      done.done();
    });
    done.wait();
  });
  EXPECT_EQ(ran, kThreads);
}

// Tasks that each hold their system thread until all have started: each needs a worker of its own.
class Rendezvous {
 public:
  explicit Rendezvous(int count) : missing_(count), left_(static_cast<unsigned>(count)) {}

  void meet() {
    missing_.arrive_and_wait();
    left_.done();
  }
  void wait() { left_.wait(); }

 private:
  std::latch missing_;
  WaitGroup left_;
};

TEST_P(SchedulerTest, StartsAsManyTasksAtOnceAsItHasWorkersWhenScheduledFromOutside) {
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

TEST_P(SchedulerTest, StartsAsManyTasksAtOnceAsItHasWorkersWhenScheduledFromOneTask) {
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

TEST_P(SchedulerTest, StartsAsManyTasksAtOnceAsItHasWorkersWhenTheSchedulingTaskIsOneOfThem) {
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

TEST_P(SchedulerTest, StartsAsManyTasksAtOnceAsItHasWorkersWhenScheduledByTasksOfAnotherScheduler) {
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

TEST_P(SchedulerTest, RunsATaskThatAWorkerOfAnotherSchedulerGivesItOnItsOwnWorkers) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody would run them";
  }
  std::atomic<int> wrong{0};
  WaitGroup done(100);
  {
    Scheduler other(smallConfig(2));
    for (int i = 0; i < 100; ++i) {
      other.enqueue(Task([&, done] {
        wrong += Scheduler::get() != &other;
        scheduler().enqueue(Task([&, done] {
          wrong += Scheduler::get() != &scheduler();
          done.done();
        }));
      }));
    }
    done.wait();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(SchedulerTest, LetsTasksOfTwoSchedulersWaitForEachOther) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody would run them";
  }
  constexpr int kPairs = 100;
  WaitGroup done(2 * kPairs);
  Scheduler other(smallConfig(1));
  for (int i = 0; i < kPairs; ++i) {
    Event ping, pong;
    scheduler().enqueue(Task([=] {
      ping.signal();
      pong.wait();
      done.done();
    }));
    other.enqueue(Task([=] {
      ping.wait();
      pong.signal();
      done.done();
    }));
  }
  done.wait();
}

TEST_P(SchedulerTest, StealsTasksOfAWorkerThatIsBusy) {
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
  EXPECT_GE(sum(scheduler().stats(), &Scheduler::WorkerStats::numSteals), static_cast<uint64_t>(numWorkers() - 1));
}

TEST_P(SchedulerTest, CountsNothingQueuedOrBlockedWhenAtRest) {
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

TEST_P(SchedulerTest, CountsBlockedFibers) {
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

TEST_P(SchedulerTest, NamesItsWorkerThreadsByIndex) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "about worker threads";
  }
  std::mutex mutex;
  std::set<std::string> names;
  Rendezvous all(numWorkers());
  for (int i = 0; i < numWorkers(); ++i) {
    schedule([&] {
      {
        std::scoped_lock lock(mutex);
        names.insert(nameOfThisThread());
      }
      all.meet();
    });
  }
  all.wait();
  std::set<std::string> expected;
  for (int i = 0; i < numWorkers(); ++i) {
    expected.insert("weft:" + std::to_string(i));
  }
  EXPECT_EQ(names, expected);
}

TEST_F(SchedulerWithoutBindingTest, CallsTheInitializerOnceOnEachWorkerThreadBeforeItsTasks) {
  constexpr int kWorkers = 8;
  std::vector<std::atomic<int>> calls(kWorkers);
  static thread_local int initializedAs = -1;
  std::atomic<int> tooEarly{0};
  {
    Scheduler scheduler(smallConfig(kWorkers, allocator()).setWorkerThreadInitializer([&](int id) {
      ++calls[static_cast<size_t>(id)];
      initializedAs = id;
      tooEarly += nameOfThisThread() != "weft:" + std::to_string(id);
    }));
    Rendezvous all(kWorkers);
    for (int i = 0; i < kWorkers; ++i) {
      scheduler.enqueue(Task([&] {
        tooEarly += initializedAs == -1;
        all.meet();
      }));
    }
    all.wait();
  }
  EXPECT_EQ(tooEarly, 0);
  EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](const auto& count) { return count == 1; }));
}

TEST_F(SchedulerWithoutBindingTest, LetsTheInitializerScheduleTasks) {
  std::atomic<int> ran{0};
  {
    Scheduler scheduler(smallConfig(4, allocator()).setWorkerThreadInitializer([&](int) { schedule([&] { ++ran; }); }));
  }
  EXPECT_EQ(ran, 4);
}

TEST_F(SchedulerWithoutBindingTest, LetsTheInitializerBlock) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> initialized{0};
    {
      Event go;
      Scheduler scheduler(smallConfig(2, allocator()).setWorkerThreadInitializer([&, go](int id) {
        id == 0 ? go.wait() : go.signal();
        ++initialized;
      }));
    }
    ASSERT_EQ(initialized, 2);
  }
}

TEST_F(SchedulerWithoutBindingTest, StartsWorkersWithTheAffinityOfThePolicy) {
  const Thread::Affinity all = Thread::Affinity::all();
  constexpr int kWorkers = 4;
  std::vector<std::string> wrong;
  std::mutex mutex;
  {
    auto policy = Thread::Affinity::Policy::oneOf(Thread::Affinity::all());
    Scheduler scheduler(
        smallConfig(kWorkers, allocator()).setWorkerThreadAffinityPolicy(policy).setWorkerThreadInitializer([&](int id) {
          const Thread::Affinity own = Thread::Affinity::all();
          if (own.count() != 1 || !(own[0] == all[static_cast<size_t>(id) % all.count()])) {
            std::scoped_lock lock(mutex);
            wrong.push_back("weft:" + std::to_string(id));
          }
        }));
  }
  EXPECT_EQ(wrong, std::vector<std::string>{});
}

TEST_F(SchedulerWithoutBindingTest, LeavesWorkersTheMaskOfTheProcessWhereNoPolicyIsGiven) {
  // marl binds them to processors 0 to n-1.
  std::atomic<int> wrong{0};
  std::thread([&] {
    const Thread::Affinity all = Thread::Affinity::all();
    const Thread::Core last = all[all.count() - 1];
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(last.pthread.index, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    Scheduler scheduler(smallConfig(2, allocator()).setWorkerThreadInitializer([&](int) {
      const Thread::Affinity own = Thread::Affinity::all();
      wrong += own.count() != 1 || !(own[0] == last);
    }));
  }).join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(SchedulerWithoutBindingTest, WorksWithThreeHundredWorkers) {
  constexpr int kWorkers = 300;
  Scheduler scheduler(smallConfig(kWorkers, allocator()));
  Scheduler::Binding binding(scheduler);
  Rendezvous all(kWorkers);
  for (int i = 0; i < kWorkers; ++i) {
    schedule([&all] { all.meet(); });
  }
  all.wait();
}

TEST_F(SchedulerWithoutBindingTest, StartsAndStopsSixtyFourWorkersOverAndOver) {
  std::atomic<int> ran{0};
  for (int i = 0; i < scaled(100, 10); ++i) {
    Scheduler scheduler(smallConfig(64, allocator()));
    scheduler.enqueue(Task([&] { ++ran; }));
  }
  EXPECT_EQ(ran, scaled(100, 10));
}

TEST_F(SchedulerWithoutBindingTest, RunsBesideOtherSchedulers) {
  constexpr int kSchedulers = 5;
  std::vector<std::unique_ptr<Scheduler>> schedulers;
  for (int i = 0; i < kSchedulers; ++i) {
    schedulers.push_back(std::make_unique<Scheduler>(smallConfig(i, allocator())));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (auto& scheduler : schedulers) {
    threads.emplace_back([&, own = scheduler.get()] {
      Scheduler::Binding binding(*own);
      WaitGroup done(100);
      for (int i = 0; i < 100; ++i) {
        schedule([&wrong, own, done] {
          wrong += Scheduler::get() != own;
          done.done();
        });
      }
      done.wait();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(SchedulerWithoutBindingTest, MayBeMadeAndDestroyedInsideATaskOfAnother) {
  Scheduler outer(smallConfig(2, allocator()));
  Scheduler::Binding binding(outer);
  std::atomic<int> ran{0};
  WaitGroup done(1);
  schedule([&, done] {
    {
      Scheduler inner(smallConfig(2, allocator()));
      for (int i = 0; i < 10; ++i) {
        inner.enqueue(Task([&] { ++ran; }));
      }
    }
    done.done();
  });
  done.wait();
  EXPECT_EQ(ran, 10);
}

TEST_F(SchedulerWithoutBindingTest, LeavesItsIdleWorkersAsleepWhileOthersCompute) {
  constexpr int kWorkers = 64;
  Scheduler scheduler(smallConfig(kWorkers, allocator()));
  const auto numAsleep = [&] {
    const Scheduler::Stats stats = scheduler.stats();
    return std::count_if(stats.workers.begin(), stats.workers.end(), [](const auto& worker) { return worker.numParks > 0; });
  };
  while (numAsleep() < kWorkers) {
    std::this_thread::yield();
  }
  // A worker that searched again and again would go to sleep as often. One that dozes off as this begins may count twice.
  const uint64_t parksBefore = sum(scheduler.stats(), &Scheduler::WorkerStats::numParks);
  std::atomic<uint64_t> computed{0};
  for (uint64_t i = 0; i < 20'000'000; ++i) {
    computed.store(i, std::memory_order_relaxed);
  }
  const uint64_t parks = sum(scheduler.stats(), &Scheduler::WorkerStats::numParks) - parksBefore;
  EXPECT_LE(parks, uint64_t{2} * kWorkers);
}

TEST_F(SchedulerWithoutBindingTest, WithAllCoresHasAWorkerForEachUsableProcessor) {
  const int count = Scheduler::Config::allCores().workerThread.count;
  EXPECT_GE(count, 1);
  EXPECT_LE(static_cast<size_t>(count), Thread::Affinity::all().count());
}

TEST_F(SchedulerWithoutBindingTest, WithAllCoresFollowsTheEnvironment) {
  ASSERT_EQ(setenv("WEFT_NUM_THREADS", "3", 1), 0);
  EXPECT_EQ(Scheduler::Config::allCores().workerThread.count, 3);
  ASSERT_EQ(unsetenv("WEFT_NUM_THREADS"), 0);
}

TEST_F(SchedulerWithoutBindingTest, TakesItsSettingsInAChain) {
  const auto policy = Thread::Affinity::Policy::anyOf(Thread::Affinity::all());
  int initialized = -1;
  const Scheduler::Config config = Scheduler::Config()
                                       .setAllocator(allocator())
                                       .setFiberStackSize(123'456)
                                       .setWorkerThreadCount(5)
                                       .setWorkerThreadInitializer([&](int id) { initialized = id; })
                                       .setWorkerThreadAffinityPolicy(policy);
  config.workerThread.initializer(9);
  EXPECT_EQ(config.allocator, allocator());
  EXPECT_EQ(config.fiberStackSize, 123'456u);
  EXPECT_EQ(config.workerThread.count, 5);
  EXPECT_EQ(config.workerThread.affinityPolicy, policy);
  EXPECT_EQ(initialized, 9);
  EXPECT_EQ(Scheduler::Config().workerThread.count, 0);
  EXPECT_EQ(Scheduler::Config().fiberStackSize, size_t{1024} * 1024);
}

TEST_F(SchedulerWithoutBindingTest, RunsSmallTasksOnStacksOfAnySize) {
  // marl crashes with 65,537 bytes.
  for (const size_t size : {size_t{16} * 1024, size_t{65'537}, size_t{1} << 20, size_t{1} << 24}) {
    if (tests::kUnderAsan && size < 65'536) {
      continue;
    }
    Scheduler scheduler(Scheduler::Config().setAllocator(allocator()).setFiberStackSize(size));
    Scheduler::Binding binding(scheduler);
    WaitGroup done(2);
    Event between;
    schedule([=] {
      between.wait();
      done.done();
    });
    schedule([=] {
      between.signal();
      done.done();
    });
    done.wait();
  }
}

}  // namespace
}  // namespace weft
