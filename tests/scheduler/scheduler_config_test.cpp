// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/latch.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/task.h>
#include <weft/thread.h>
#include <weft/waitgroup.h>

#include "scheduler/core/performance_cores.h"
#include "with_scheduler.h"
#include "workers.h"

// What Scheduler::Config asks for: worker threads, their names and places, and what they run first; stacks.
namespace weft {
namespace {

using tests::Rendezvous;
using tests::smallConfig;

using SchedulerConfigTest = tests::WithScheduler;
WEFT_INSTANTIATE_WITH_SCHEDULER(SchedulerConfigTest);

using SchedulerConfigWithoutBindingTest = tests::WithAllocator;

std::string nameOfThisThread() {
  char name[64] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

TEST_P(SchedulerConfigTest, NamesItsWorkerThreadsByIndex) {
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

TEST_F(SchedulerConfigWithoutBindingTest, CallsTheInitializerOnceOnEachWorkerThreadBeforeItsTasks) {
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

TEST_F(SchedulerConfigWithoutBindingTest, LetsTheInitializerScheduleTasks) {
  std::atomic<int> ran{0};
  {
    Scheduler scheduler(
        smallConfig(4, allocator()).setWorkerThreadInitializer([&](int) { schedule([&] { ++ran; }); }));
  }
  EXPECT_EQ(ran, 4);
}

TEST_F(SchedulerConfigWithoutBindingTest, LetsTheInitializerBlock) {
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

TEST_F(SchedulerConfigWithoutBindingTest, LetsTheFinalizerWait) {
  constexpr int kWorkers = 4;
  Latch all(kWorkers);
  weft::mutex guard;
  int numEnded = 0;
  {
    Scheduler scheduler(smallConfig(kWorkers, allocator()).setWorkerThreadFinalizer([&](int) {
      all.arrive_and_wait();
      sleep_for(std::chrono::microseconds(100));
      std::scoped_lock lock(guard);
      ++numEnded;
    }));
  }
  EXPECT_EQ(numEnded, kWorkers);
}

using FinalizerDeathTest = tests::DeathTest;

TEST_F(FinalizerDeathTest, SchedulingWhereNothingWouldRunAnyMore) {
  EXPECT_DEATH(Scheduler(smallConfig(1).setWorkerThreadFinalizer([](int) { schedule([] {}); })),
               "weft: fatal: schedule\\(\\) was called on a thread to which no scheduler is bound");
  EXPECT_DEATH(
      {
        Scheduler* self = nullptr;
        Scheduler scheduler(
            smallConfig(1).setWorkerThreadFinalizer([&](int) { self->enqueue(Task([] {})); }));
        self = &scheduler;
      },
      "weft: fatal: Scheduler::enqueue\\(\\): a task was given to a scheduler that has ended");
  EXPECT_DEATH(
      {
        Scheduler* self = nullptr;
        Scheduler scheduler(smallConfig(1).setWorkerThreadFinalizer([&](int) {
          Scheduler::Binding bound(*self);
          schedule([] {});
        }));
        self = &scheduler;
      },
      "weft: fatal: Scheduler::bind\\(\\): the scheduler has ended");
}

// Unbinds when the thread ends.
thread_local std::optional<Scheduler::Binding> ownBinding;

TEST_F(SchedulerConfigWithoutBindingTest, IsUnboundByABindingThatIsAThreadsOwn) {
  for (const int numWorkers : {0, 2}) {
    std::atomic<int> numRun{0};
    Scheduler scheduler(smallConfig(numWorkers, allocator()));
    std::thread([&] {
      ownBinding.emplace(scheduler);
      for (int i = 0; i < 100; ++i) {
        schedule(Task(
            [&, i] {
              sleep_for(std::chrono::microseconds(i));
              ++numRun;
            },
            Task::Flags::SameThread));
      }
    }).join();
    EXPECT_EQ(numRun, 100);
  }
}

TEST_F(SchedulerConfigWithoutBindingTest, StartsWorkersWithTheAffinityOfThePolicy) {
  const Thread::Affinity all = Thread::Affinity::all();
  constexpr int kWorkers = 4;
  std::vector<std::string> wrong;
  std::mutex mutex;
  {
    auto policy = Thread::Affinity::Policy::oneOf(Thread::Affinity::all());
    Scheduler scheduler(smallConfig(kWorkers, allocator())
                            .setWorkerThreadAffinityPolicy(policy)
                            .setWorkerThreadInitializer([&](int id) {
                              const Thread::Affinity own = Thread::Affinity::all();
                              if (own.count() != 1 ||
                                  !(own[0] == all[static_cast<size_t>(id) % all.count()])) {
                                std::scoped_lock lock(mutex);
                                wrong.push_back("weft:" + std::to_string(id));
                              }
                            }));
  }
  EXPECT_EQ(wrong, std::vector<std::string>{});
}

#if defined(__cpp_exceptions)
TEST_F(SchedulerConfigWithoutBindingTest, WorkersEndWhereTheAffinityPolicyThrows) {
  struct ThrowsForTheThird : Thread::Affinity::Policy {
    Thread::Affinity get(uint32_t thread, Allocator* allocator) const override {
      if (thread == 2) {
        throw std::runtime_error("no processor for the third");
      }
      return Thread::Affinity(allocator);
    }
  };
  const auto config =
      smallConfig(3, allocator()).setWorkerThreadAffinityPolicy(std::make_shared<ThrowsForTheThird>());
  EXPECT_THROW(Scheduler scheduler(config), std::runtime_error);
}
#endif

TEST_F(SchedulerConfigWithoutBindingTest, LeavesWorkersTheMaskOfTheProcessWhereNoPolicyIsGiven) {
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

TEST_F(SchedulerConfigWithoutBindingTest, WithAllCoresHasAWorkerForEachUsableProcessor) {
  const int count = Scheduler::Config::allCores().workerThread.count;
  EXPECT_GE(count, 1);
  EXPECT_LE(static_cast<size_t>(count), Thread::Affinity::all().count());
}

TEST_F(SchedulerConfigWithoutBindingTest, WithAllCoresFollowsTheEnvironment) {
  ASSERT_EQ(setenv("WEFT_NUM_THREADS", "3", 1), 0);
  EXPECT_EQ(Scheduler::Config::allCores().workerThread.count, 3);
  ASSERT_EQ(unsetenv("WEFT_NUM_THREADS"), 0);
}

TEST_F(SchedulerConfigWithoutBindingTest, WithPerformanceCoresIsWithAllWhereThereIsOneKind) {
  const Scheduler::Config config = Scheduler::Config::performanceCores();
  const bool isOneKind = Thread::Affinity::performanceCores() == Thread::Affinity::all();
  EXPECT_EQ(config.workerThread.affinityPolicy == nullptr, isOneKind);
  EXPECT_GE(config.workerThread.count, 1);
  EXPECT_LE(config.workerThread.count, Scheduler::Config::allCores().workerThread.count);
}

TEST_F(SchedulerConfigWithoutBindingTest, OnSomeCoresHasAWorkerForEachOfThemWhichStaysThere) {
  const Thread::Affinity all = Thread::Affinity::all();
  EXPECT_EQ(detail::configOn(Thread::Affinity::all()).workerThread.affinityPolicy, nullptr);
  if (all.count() < 2) {
    GTEST_SKIP() << "the process may not use a second processor";
  }
  const Thread::Affinity last({all[all.count() - 1]});
  const Scheduler::Config config = detail::configOn(Thread::Affinity(last, Allocator::Default));
  EXPECT_EQ(config.workerThread.count, 1);
  Scheduler scheduler(config);
  std::atomic<bool> isThere{false};
  WaitGroup done(1);
  scheduler.enqueue([&, done] {
    isThere = Thread::Affinity::all() == last;
    done.done();
  });
  done.wait();
  EXPECT_TRUE(isThere);
}

TEST_F(SchedulerConfigWithoutBindingTest, WithPerformanceCoresFollowsTheEnvironment) {
  ASSERT_EQ(setenv("WEFT_NUM_THREADS", "3", 1), 0);
  EXPECT_EQ(Scheduler::Config::performanceCores().workerThread.count, 3);
  ASSERT_EQ(unsetenv("WEFT_NUM_THREADS"), 0);
}

TEST_F(SchedulerConfigWithoutBindingTest, TakesItsSettingsInAChain) {
  const auto policy = Thread::Affinity::Policy::anyOf(Thread::Affinity::all());
  int initialized = -1;
  const Scheduler::Config config = Scheduler::Config()
                                       .setAllocator(allocator())
                                       .setFiberStackSize(123'456)
                                       .setIdleSearch(std::chrono::microseconds(30))
                                       .setWorkerThreadCount(5)
                                       .setWorkerThreadInitializer([&](int id) { initialized = id; })
                                       .setWorkerThreadAffinityPolicy(policy);
  config.workerThread.initializer(9);
  EXPECT_EQ(config.allocator, allocator());
  EXPECT_EQ(config.fiberStackSize, 123'456u);
  EXPECT_EQ(config.idleSearch, std::chrono::microseconds(30));
  EXPECT_EQ(config.workerThread.count, 5);
  EXPECT_EQ(config.workerThread.affinityPolicy, policy);
  EXPECT_EQ(initialized, 9);
  EXPECT_EQ(Scheduler::Config().workerThread.count, 0);
  EXPECT_EQ(Scheduler::Config().fiberStackSize, size_t{1024} * 1024);
}

// Calls itself until its frames fill `bytes`.
[[gnu::noinline]] int fillStack(size_t bytes) {
  volatile char frame[1024];
  frame[0] = 1;
  return bytes < sizeof frame ? frame[0] : fillStack(bytes - sizeof frame) + frame[0];
}

TEST_F(SchedulerConfigWithoutBindingTest, RunsSmallTasksOnStacksOfAnySize) {
  // marl crashes with 65,537 bytes.
  for (const size_t size : {size_t{16} * 1024, size_t{65'537}, size_t{100'001}, size_t{1'000'003},
                            size_t{1} << 20, size_t{1} << 24, size_t{1} << 31}) {
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
      // What a size cut to 31 bits or fewer would not hold.
      EXPECT_GT(fillStack(size < 1'000'000 ? size / 8 : size_t{400'000}), 0);
      between.signal();
      done.done();
    });
    done.wait();
  }
}

}  // namespace
}  // namespace weft
