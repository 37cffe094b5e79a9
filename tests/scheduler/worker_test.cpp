// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/worker/worker.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/thread.h>
#include <weft/waitgroup.h>

#include "fake_machine.h"
#include "os/registers.h"
#include "scheduler/core/scheduler_core.h"
#include "scheduler/policy/victim_order.h"
#include "with_scheduler.h"
#include "workers.h"

namespace weft::inline v0_1::detail {

// What the tests see of a worker.
struct WorkerTestAccess {
  static std::chrono::nanoseconds searchBudget(Worker& worker) { return worker.idler_.search_.length({}); }
  static void steal(Worker& worker) {
    TaskNode* task = worker.stealer_.steal();
    ASSERT_NE(task, nullptr);
    worker.runInPlace(task);
  }
  // One that has not stolen yet.
  static Stealer newStealer(Worker& worker) {
    return Stealer(worker.group_, worker, worker.id_, worker.localDeque().stealer);
  }
  static TaskNode* trySteal(Worker& worker) { return worker.stealer_.steal(); }
  static const VictimOrder& victimsOf(const Worker& worker) { return worker.stealer_.victims(); }
  static void* savedStackPointer(Worker& worker) { return worker.fibers().current().os.sp; }
};

struct SchedulerTestAccess {
  // Has the workers believe that all is done.
  static void end(SchedulerCore& core) {
    core.isDone_ = true;
    core.isStopping = true;
  }
};

}  // namespace weft::inline v0_1::detail

namespace weft {
namespace {

using detail::Worker;
using Access = detail::WorkerTestAccess;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using tests::Rendezvous;
using tests::smallConfig;

// One bound thread without workers, so that each step is the test's own.
class WorkerTest : public tests::WithAllocator {
 protected:
  void SetUp() override {
    scheduler_.bind();
    worker_ = Worker::current();
  }
  void TearDown() override {
    if (Scheduler::get() != nullptr) {
      Scheduler::unbind();
    }
  }

  Worker& worker() { return *worker_; }
  Scheduler::WorkerStats stats() { return worker_->stats(); }

  // Starts a task that runs f() up to its first wait.
  template <class F>
  void start(F f) {
    schedule(f);
    Event started;
    schedule([started] { started.signal(); });
    started.wait();
  }

 private:
  Scheduler scheduler_{smallConfig(0)};
  Worker* worker_ = nullptr;
};

TEST_F(WorkerTest, SuspendSwitchesToAResumableFiber) {
  Event go, back;
  Fiber* before = nullptr;
  Fiber* after = nullptr;
  Scheduler::WorkerStats inside;
  start([&, go, back] {
    before = Fiber::current();
    go.wait();
    after = Fiber::current();
    inside = stats();
    back.signal();
  });
  // Both are there: the fiber comes first.
  bool taskRan = false;
  schedule([&] { taskRan = true; });
  go.signal();
  const Scheduler::WorkerStats outside = stats();
  EXPECT_EQ(outside.num, 2u);
  back.wait();
  EXPECT_EQ(after, before);
  EXPECT_EQ(inside.numFibers, outside.numFibers);
  EXPECT_EQ(inside.numIdleFibers, outside.numIdleFibers);
  EXPECT_EQ(inside.num, 1u) << "the task is queued still";
  EXPECT_FALSE(taskRan);
  start([] {});
  EXPECT_TRUE(taskRan);
}

TEST_F(WorkerTest, SuspendSwitchesToAnIdleFiberWhenOnlyATaskIsThere) {
  Fiber* idle = nullptr;
  Event first;
  schedule([&, first] {
    idle = Fiber::current();
    first.signal();
  });
  first.wait();
  ASSERT_EQ(stats().numIdleFibers, 1u);
  const uint64_t fibers = stats().numFibers;
  Fiber* used = nullptr;
  Scheduler::WorkerStats inside;
  Event second;
  schedule([&, second] {
    used = Fiber::current();
    inside = stats();
    second.signal();
  });
  second.wait();
  EXPECT_EQ(used, idle);
  EXPECT_EQ(inside.numFibers, fibers);
  EXPECT_EQ(inside.numIdleFibers, 0u);
}

TEST_F(WorkerTest, SuspendSwitchesToANewFiberThatBeginsInRunWhenNoneIsIdle) {
  ASSERT_EQ(stats().numFibers, 0u);
  Event done;
  Event go;
  Scheduler::WorkerStats inside[2];
  // The first task runs on a new fiber; so does the second, since the first one waits.
  schedule([&, go] {
    inside[0] = stats();
    go.wait();
  });
  schedule([&, go, done] {
    inside[1] = stats();
    go.signal();
    done.signal();
  });
  done.wait();
  EXPECT_EQ(inside[0].numFibers, 1u);
  EXPECT_EQ(inside[0].numIdleFibers, 0u);
  EXPECT_EQ(inside[1].numFibers, 2u);
  EXPECT_EQ(inside[1].numIdleFibers, 0u);
  EXPECT_EQ(inside[1].numBlockedFibers, 2u) << "the thread's own and the first task's";
}

TEST_F(WorkerTest, AFiberThatIsItselfNextReturnsWithoutSwitching) {
  Event done;
  schedule([done] { done.signal(); });
  done.wait();
  // The stack pointer is saved by a switch only, and differs from one call depth to another.
  const auto atAnotherDepth = [this]() __attribute__((noinline)) {
    volatile char room[1000];
    room[0] = 0;
    yield();
    return Access::savedStackPointer(worker()) == nullptr || room[0] != 0;
  };
  void* const before = Access::savedStackPointer(worker());
  ASSERT_NE(before, nullptr);
  EXPECT_FALSE(atAnotherDepth());
  EXPECT_EQ(Access::savedStackPointer(worker()), before);
}

#if defined(__OPTIMIZE__) && !defined(WEFT_UCONTEXT)  // whose context lies at the top
// The fewer lines of a stack lie between its top and a task, the less a switch to one of very many fibers has
// to fetch.
TEST_F(WorkerTest, LittleOfItsStackIsInUseWhenATaskBegins) {
  constexpr int kNumTasks = 64;  // stacks begin at 16 different distances from their tops
  uintptr_t least = UINTPTR_MAX;
  Event go(Event::Mode::Manual);
  WaitGroup done(kNumTasks);
  for (int i = 0; i < kNumTasks; ++i) {
    schedule([&, done, go] {
      const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
      least = std::min(least, worker().fibers().current().stack().top() - here);
      go.wait();
      done.done();
    });
  }
  schedule([go] { go.signal(); });
  done.wait();
  constexpr size_t kCalls = 3;  // to the task, of which each has room for what it calls on some processors
  EXPECT_LT(least, 640u + kCalls * detail::processor::kBelowCfa);
}
#endif

TEST_F(WorkerTest, TasksThatDoNotBlockShareAFiber) {
  std::vector<Fiber*> fibers;
  WaitGroup done(100);
  for (int i = 0; i < 100; ++i) {
    schedule([&fibers, done] {
      fibers.push_back(Fiber::current());
      done.done();
    });
  }
  done.wait();
  EXPECT_TRUE(std::all_of(fibers.begin(), fibers.end(), [&](Fiber* fiber) { return fiber == fibers[0]; }));
  EXPECT_EQ(stats().numFibers, 1u);
}

TEST_F(WorkerTest, IdleFibersAreReused) {
  for (int i = 0; i < 100; ++i) {
    Event go, done;
    start([go, done] {
      go.wait();
      done.signal();
    });
    go.signal();
    done.wait();
  }
  EXPECT_LE(stats().numFibers, 2u);
}

TEST_F(WorkerTest, CountsQueuedTasksAndResumableFibers) {
  Event go(Event::Mode::Manual);
  for (int i = 0; i < 3; ++i) {
    start([go] { go.wait(); });
  }
  EXPECT_EQ(stats().num, 0u);
  EXPECT_EQ(stats().numBlockedFibers, 3u);
  for (int i = 0; i < 4; ++i) {
    schedule([] {});
  }
  EXPECT_EQ(stats().num, 4u);
  EXPECT_EQ(stats().numPinnedTasks, 4u) << "no other thread could run them";
  go.signal();
  EXPECT_EQ(stats().num, 7u);
  EXPECT_EQ(stats().numReadyFibers, 3u);
  EXPECT_EQ(stats().numBlockedFibers, 3u) << "they are inside suspend() until they run";
  Event done;
  schedule([done] { done.signal(); });
  done.wait();
  EXPECT_EQ(stats().num, 0u);
  EXPECT_EQ(stats().numBlockedFibers, 0u);
  EXPECT_EQ(stats().numTasksRun, 3u + 3u + 4u + 1u);
  EXPECT_EQ(stats().numIdleFibers, stats().numFibers);
}

TEST_F(WorkerTest, FibersWokenByAnotherThreadResumeInTheOrderOfTheirWakes) {
  constexpr int kFibers = 100;
  std::vector<Event> events;
  std::vector<int> order;
  WaitGroup done(kFibers);
  for (int i = 0; i < kFibers; ++i) {
    events.emplace_back();
    schedule([&order, i, done, event = events.back()] {
      event.wait();
      order.push_back(i);
      done.done();
    });
  }
  start([] {});
  std::thread([&] {
    for (int i = kFibers - 1; i >= 0; --i) {
      events[static_cast<size_t>(i)].signal();
    }
  }).join();
  done.wait();
  std::vector<int> expected(kFibers);
  std::iota(expected.rbegin(), expected.rend(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(WorkerTest, AThreadThatIsUnboundHasNoWorker) {
  EXPECT_EQ(Worker::current(), &worker());
  EXPECT_EQ(worker().mode(), Worker::Mode::SingleThreaded);
  Scheduler::unbind();
  EXPECT_EQ(Worker::current(), nullptr);
}

// Workers with threads of their own.
class WorkerThreadTest : public tests::WithAllocator {
 protected:
  static Scheduler::WorkerStats statsOf(const Scheduler& scheduler, size_t worker) {
    return scheduler.stats().workers[worker];
  }

  // Waits until the worker has gone to sleep since `numParks`.
  static void waitUntilAsleep(const Scheduler& scheduler, uint64_t numParks) {
    while (statsOf(scheduler, 0).numParks <= numParks) {
      std::this_thread::yield();
    }
  }
};

TEST_F(WorkerThreadTest, ASleepingWorkerIsWokenByATask) {
  Scheduler scheduler(smallConfig(1, allocator()));
  for (int i = 0; i < 20; ++i) {
    const uint64_t parks = statsOf(scheduler, 0).numParks;
    Event ran;
    scheduler.enqueue(Task([ran] { ran.signal(); }));
    ran.wait();
    waitUntilAsleep(scheduler, parks);
  }
}

TEST_F(WorkerThreadTest, ASleepingWorkerIsWokenByAFiberThatBecomesReady) {
  Scheduler scheduler(smallConfig(1, allocator()));
  for (int i = 0; i < 20; ++i) {
    Event go, done;
    const uint64_t parks = statsOf(scheduler, 0).numParks;
    scheduler.enqueue(Task([go, done] {
      go.wait();
      done.signal();
    }));
    waitUntilAsleep(scheduler, parks);
    go.signal();
    done.wait();
  }
}

TEST_F(WorkerThreadTest, ASleepingWorkerIsWokenByATimeout) {
  Scheduler scheduler(smallConfig(1, allocator()));
  Event done;
  const uint64_t parks = statsOf(scheduler, 0).numParks;
  // A thread that is preempted for longer finds the timer due before it sleeps.
  for (auto time = milliseconds(2); statsOf(scheduler, 0).numParks == parks; time *= 2) {
    scheduler.enqueue(Task([done, time] {
      sleep_for(time);
      done.signal();
    }));
    done.wait();
  }
}

TEST_F(WorkerThreadTest, SearchesForNoLongerThanTheConfigurationSays) {
  Scheduler scheduler(smallConfig(1, allocator()).setIdleSearch(microseconds(0)));
  Scheduler::Binding binding(scheduler);
  std::chrono::nanoseconds ofWorker{-1};
  for (int i = 0; i < 100; ++i) {
    Event done;
    schedule([&ofWorker, done] {
      ofWorker = Access::searchBudget(*detail::Worker::current());
      done.signal();
    });
    done.wait();
    ASSERT_EQ(ofWorker.count(), 0);
    ASSERT_EQ(Access::searchBudget(*detail::Worker::current()).count(), 0);
  }
}

TEST_F(WorkerThreadTest, ASleepingWorkerIsWokenByShutdown) {
  Scheduler scheduler(smallConfig(1, allocator()));
  waitUntilAsleep(scheduler, 0);
}

// Whether this runs on the stack that the system has given to the thread, as the main fiber does.
bool isOnThreadStack() {
  pthread_attr_t attributes;
  void* lowest = nullptr;
  size_t size = 0;
  EXPECT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  EXPECT_EQ(pthread_attr_getstack(&attributes, &lowest, &size), 0);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - reinterpret_cast<uintptr_t>(lowest) < size;
}

TEST_F(WorkerThreadTest, TheThreadEndsOnItsMainFiberAlsoWhenTheLoopEndedOnAnother) {
  std::atomic<int> numBegunOnMain{0}, numTasksOnMain{0}, numEndedOnMain{0};
  {
    Scheduler::Config config = smallConfig(1, allocator());
    config.setWorkerThreadInitializer([&](int) { numBegunOnMain += isOnThreadStack() ? 1 : 0; });
    config.setWorkerThreadFinalizer([&](int) { numEndedOnMain += isOnThreadStack() ? 1 : 0; });
    Scheduler scheduler(config);
    Event first;
    // The loop goes on on another fiber while the first task waits, and ends on either.
    scheduler.enqueue(Task([&, first] {
      first.wait();
      numTasksOnMain += isOnThreadStack() ? 1 : 0;
    }));
    scheduler.enqueue(Task([&, first] {
      numTasksOnMain += isOnThreadStack() ? 1 : 0;
      first.signal();
      yield();
    }));
  }
  EXPECT_EQ(numBegunOnMain, 1);
  EXPECT_EQ(numTasksOnMain, 0);
  EXPECT_EQ(numEndedOnMain, 1);
}

TEST_F(WorkerThreadTest, ThievesTakeTheOldestAndOneAtATime) {
  constexpr int kTasks = 50;
  Scheduler scheduler(smallConfig(2, allocator()));
  std::vector<int> order;
  std::latch stolen(kTasks);
  std::vector<Worker*> thieves;
  Event done;
  scheduler.enqueue(Task([&, done] {
    for (int i = 0; i < kTasks; ++i) {
      schedule([&, i] {
        order.push_back(i);
        thieves.push_back(Worker::current());
        stolen.count_down();
      });
    }
    // Holds the thread, so that the other worker has to run them all.
    stolen.wait();
    thieves.push_back(Worker::current());
    done.signal();
  }));
  done.wait();
  std::vector<int> expected(kTasks);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
  EXPECT_EQ(std::count(thieves.begin(), thieves.end(), thieves.back()), 1) << "the owner ran none of them";
  const Scheduler::Stats stats = scheduler.stats();
  EXPECT_EQ(stats.workers[0].numSteals + stats.workers[1].numSteals, static_cast<uint64_t>(kTasks));
}

// One after the other they steal, while all have tasks: the victim is the one that each looks at first.
TEST_F(WorkerThreadTest, WorkersBeginTheirStealingAtDifferentVictims) {
  constexpr size_t kWorkers = 4;
  constexpr size_t kSteals = 100;
  // The last tasks still look at it when the test has seen enough.
  std::vector<size_t>* found = nullptr;  // of the worker whose turn it is
  Scheduler scheduler(smallConfig(kWorkers, allocator()));
  std::vector<std::vector<size_t>> victims(kWorkers);
  std::barrier all(kWorkers);
  WaitGroup done(kWorkers);
  for (size_t i = 0; i < kWorkers; ++i) {
    scheduler.enqueue(Task([&, i, done] {
      all.arrive_and_wait();
      for (size_t task = 0; task < kWorkers * kSteals; ++task) {
        schedule([&found, i] {
          if (found != nullptr) {
            found->push_back(i);
          }
        });
      }
      for (size_t turn = 0; turn < kWorkers; ++turn) {
        all.arrive_and_wait();
        if (turn == i) {
          found = &victims[i];
          for (size_t steal = 0; steal < kSteals; ++steal) {
            Access::steal(*Worker::current());
          }
          found = nullptr;
        }
      }
      all.arrive_and_wait();
      done.done();
    }));
  }
  done.wait();
  for (size_t i = 0; i < kWorkers; ++i) {
    EXPECT_EQ(victims[i].size(), kSteals);
    const std::set<size_t> different(victims[i].begin(), victims[i].end());
    EXPECT_EQ(different.count(i), 0u);
    EXPECT_EQ(different.size(), kWorkers - 1) << "worker " << i << " passes some over";
  }
}

// The test does not end where a worker searches for ever, which is never parked, or searches again and again,
// which goes to sleep as often.
TEST_F(WorkerThreadTest, IdleWorkersStayAsleepWhileOthersCompute) {
  constexpr int kWorkers = 64;
  Scheduler scheduler(smallConfig(kWorkers, allocator()));
  std::vector<Worker*> workers;
  std::mutex guard;
  Rendezvous known(kWorkers);
  for (int i = 0; i < kWorkers; ++i) {
    scheduler.enqueue(Task([&] {
      {
        const std::scoped_lock lock(guard);
        workers.push_back(Worker::current());
      }
      known.meet();
    }));
  }
  known.wait();
  const auto numParks = [&] {
    for (const Worker* worker : workers) {
      while (!worker->isWaiting()) {
        std::this_thread::yield();
      }
    }
    return tests::sum(scheduler.stats(), &Scheduler::WorkerStats::numParks);
  };
  // At first some doze off again, and each wakes a few times to give memory back.
  std::atomic<uint64_t> computed{0};
  uint64_t parksBefore = 0;
  uint64_t parks = numParks();
  do {
    parksBefore = parks;
    for (uint64_t i = 0; i < 20'000'000; ++i) {
      computed.store(i, std::memory_order_relaxed);
    }
    parks = numParks();
  } while (parks != parksBefore);
}

// Two tasks wait while one worker is held: one in the deque of that worker, one in the injector.
// Returns: the one that the other worker runs first.
std::string firstOfStolenAndInjected(Scheduler& scheduler) {
  std::latch areHeld(2), isScheduled(1), isQueued(1), bothRan(2);
  std::string first;
  const auto run = [&](const char* name) {
    first = first.empty() ? name : first;
    bothRan.count_down();
  };
  WaitGroup done(2);
  scheduler.enqueue(Task([&, done] {
    areHeld.arrive_and_wait();
    schedule([&] { run("stolen"); });
    isScheduled.count_down();
    bothRan.wait();
    done.done();
  }));
  scheduler.enqueue(Task([&, done] {
    areHeld.arrive_and_wait();
    isQueued.wait();
    done.done();
  }));
  isScheduled.wait();
  scheduler.enqueue(Task([&] { run("injected"); }));
  isQueued.count_down();
  done.wait();
  return first;
}

// Where the other worker was kept off its processor for milliseconds, the task in the deque is stranded, and
// may come first: then again. The test does not end where thefts always come first.
TEST_F(WorkerThreadTest, TakesFromTheInjectorBeforeItSteals) {
  Scheduler scheduler(smallConfig(2, allocator()));
  while (firstOfStolenAndInjected(scheduler) != "injected") {
  }
}

TEST_F(WorkerThreadTest, ThievesBeginWithDifferentVictims) {
  constexpr int kThieves = 8;
  Scheduler scheduler(smallConfig(kThieves, allocator()));
  std::mutex guard;
  std::set<std::string> starts;
  Rendezvous all(kThieves);
  for (int i = 0; i < kThieves; ++i) {
    scheduler.enqueue(Task([&] {
      detail::Stealer thief = Access::newStealer(*Worker::current());
      std::string own;
      for (int k = 0; k < 8; ++k) {
        own += std::to_string(thief.nextStart());
      }
      {
        const std::scoped_lock lock(guard);
        starts.insert(own);
      }
      all.meet();
    }));
  }
  all.wait();
  EXPECT_EQ(starts.size(), static_cast<size_t>(kThieves));
}

// Workers without threads, of which worker 0 steals. Its order has the rings {3}, {1, 4} and {2}.
class OrderedThiefTest : public tests::WithAllocator {
 protected:
  OrderedThiefTest() {
    detail::VictimOrder order(allocator());
    order.victims.assign({3, 1, 4, 2});
    order.ringEnds.assign({1, 3, 4});
    core_->workers[0]->setVictims(std::move(order));
  }
  void TearDown() override {
    core_.reset();
    WithAllocator::TearDown();
  }

  void giveTaskTo(int worker) { ASSERT_TRUE(core_->workers[worker]->deque().push(&tasks_[worker])); }
  // Returns: whom worker 0 robs; 0 for nobody.
  int steal() {
    const detail::TaskNode* const stolen = Access::trySteal(*core_->workers[0]);
    return stolen != nullptr ? static_cast<int>(stolen - tasks_) : 0;
  }

  static constexpr int kWorkers = 5;

 private:
  detail::TaskNode tasks_[kWorkers] = {};
  std::unique_ptr<detail::SchedulerCore> core_ =
      std::make_unique<detail::SchedulerCore>(smallConfig(kWorkers, allocator()));
};

TEST_F(OrderedThiefTest, TriesEachVictimInEachSearch) {
  EXPECT_EQ(steal(), 0);
  for (int round = 0; round < 20; ++round) {
    for (int victim = 1; victim < kWorkers; ++victim) {
      giveTaskTo(victim);
      EXPECT_EQ(steal(), victim);
      EXPECT_EQ(steal(), 0);
    }
  }
}

TEST_F(OrderedThiefTest, TriesTheNearestFirstAndBeginsAtARandomOneOfARing) {
  std::set<std::vector<int>> seen;
  for (int round = 0; round < 64; ++round) {
    for (int victim = 1; victim < kWorkers; ++victim) {
      giveTaskTo(victim);
    }
    seen.insert({steal(), steal(), steal(), steal()});
  }
  EXPECT_EQ(seen, (std::set<std::vector<int>>{{3, 1, 4, 2}, {3, 4, 1, 2}}));
}

class VictimsOfSchedulerTest : public tests::WithAllocator {
 protected:
  // The victims of worker 0 of four whose processors are `policy`'s, on a machine where each has a cache.
  std::vector<int> victimsWith(const std::shared_ptr<Thread::Affinity::Policy>& policy) {
    const tests::FakeMachine machine;
    for (const int cpu : tests::indicesOf(Thread::Affinity::all())) {
      machine.addCpu({cpu, 0, cpu, std::to_string(cpu), std::to_string(cpu)});
    }
    detail::SchedulerCore core(smallConfig(4, allocator()).setWorkerThreadAffinityPolicy(policy));
    const auto [started, error] = core.startWorkers(machine.root());
    EXPECT_EQ(started, 4) << error;
    const auto& victims = Access::victimsOf(*core.workers[0]).victims;
    std::vector<int> result(victims.begin(), victims.end());
    core.shutDown();
    return result;
  }

  void SetUp() override {
    if (Thread::Affinity::all().count() < 2) {
      GTEST_SKIP() << "the process may not use a second processor";
    }
  }
};

TEST_F(VictimsOfSchedulerTest, AreOrderedByTheAffinitiesOfItsWorkers) {
  const Thread::Affinity all = Thread::Affinity::all();
  EXPECT_EQ(victimsWith(Thread::Affinity::Policy::oneOf({all[0], all[1]})), (std::vector<int>{2, 1, 3}));
}

TEST_F(VictimsOfSchedulerTest, AreNotOrderedWhereWorkersAreNotBoundToOneCache) {
  EXPECT_EQ(victimsWith(nullptr), std::vector<int>{});
  EXPECT_EQ(victimsWith(Thread::Affinity::Policy::anyOf(Thread::Affinity())), std::vector<int>{});
  EXPECT_EQ(victimsWith(Thread::Affinity::Policy::anyOf(Thread::Affinity::all())), std::vector<int>{});
}

// More than its deque holds, while it is in one task.
TEST_F(WorkerThreadTest, WhatOverflowsADequeIsThereForTheOtherWorkers) {
  constexpr int kTasks = 10'000;
  Scheduler scheduler(smallConfig(2, allocator()));
  std::latch allRan(kTasks);
  uint64_t numInjected = 0;
  Event done;
  scheduler.enqueue(Task([&, done] {
    std::latch isHeld(1), mayGoOn(1);
    scheduler.enqueue(Task([&] {
      isHeld.count_down();
      mayGoOn.wait();
    }));
    isHeld.wait();
    for (int i = 0; i < kTasks; ++i) {
      schedule([&] { allRan.count_down(); });
    }
    numInjected = scheduler.stats().numInjected;
    mayGoOn.count_down();
    allRan.wait();
    done.signal();
  }));
  done.wait();
  EXPECT_GT(numInjected, 0u);
}

TEST_F(WorkerThreadTest, IdleFibersOfABurstAreGivenBackAfterwards) {
  constexpr int kFibers = 1000;
  Scheduler scheduler(smallConfig(1, allocator()));
  Event go(Event::Mode::Manual);
  WaitGroup waiting(kFibers), done(kFibers);
  for (int i = 0; i < kFibers; ++i) {
    scheduler.enqueue(Task([=] {
      waiting.done();
      go.wait();
      done.done();
    }));
  }
  waiting.wait();
  EXPECT_GE(statsOf(scheduler, 0).numFibers, static_cast<uint64_t>(kFibers) - 1);
  go.signal();
  done.wait();
  while (statsOf(scheduler, 0).numFibers > 100) {
    std::this_thread::yield();
  }
  // Those that are left work still.
  Event again;
  scheduler.enqueue(Task([again] { again.signal(); }));
  again.wait();
}

using WorkerDeathTest = tests::DeathTest;

TEST_F(WorkerDeathTest, AWaitAfterAllTasksHaveEndedIsReported) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        scheduler.enqueue(Task([] {
          detail::SchedulerTestAccess::end(detail::coreOf(*Worker::current()));
          Event().wait();
        }));
      },
      "weft: fatal: a fiber waits after its scheduler has ended all tasks.*before ~Scheduler");
}

}  // namespace
}  // namespace weft
