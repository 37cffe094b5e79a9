// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/base/task_scope.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/fiberlocal.h>
#include <weft/future.h>
#include <weft/mutex.h>
#include <weft/once.h>
#include <weft/recursivemutex.h>
#include <weft/scheduler.h>
#include <weft/sharedmutex.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>

#include "in_task.h"
#include "with_scheduler.h"

// Tasks that are run in place, on the fiber of the one that waits for them, unless a thief comes first:
// nothing but speed may tell.
namespace weft {
namespace {

using std::chrono::steady_clock;
using tests::inTask;

// What calls f() as a task of its own, in place where it can, and waits for it.
void byAsync(const std::function<void()>& f) { async(f).get(); }
void byGroup(const std::function<void()>& f) {
  TaskGroup group;
  group.run(f);
  group.wait();
}
using Way = void (*)(const std::function<void()>&);
constexpr Way kWays[] = {&byAsync, &byGroup};

bool hasPermit() { return Fiber::current()->wait(steady_clock::now()); }

class InPlaceTest : public tests::WithScheduler {
 protected:
  // Calls test(way) in a task, for each way.
  template <class F>
  static void forEachWay(F&& test) {
    for (const Way way : kWays) {
      inTask([&] { test(way); });
    }
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(InPlaceTest);

// Far more tasks in place than lie between two turns of others.
constexpr int kManyTasks = 20'000;

// Runs tasks in place until isOver(). How many hangs on when the system runs other threads.
void runUntil(Way way, const std::function<bool()>& isOver) {
  while (!isOver()) {
    way([] {});
  }
}

TEST_P(InPlaceTest, FibersThatAreReadyRunBesideTasksInPlace) {
  forEachWay([](Way way) {
    Event go, hasRun;
    schedule(Task(
        [=] {
          go.wait();
          hasRun.signal();
        },
        Task::Flags::SameThread));
    yield();
    go.signal();
    int numTasks = 0;
    for (; !hasRun.isSignalled() && numTasks < kManyTasks; ++numTasks) {
      way([] {});
    }
    EXPECT_LT(numTasks, kManyTasks);
    hasRun.wait();
  });
}

TEST_P(InPlaceTest, OlderTasksOfTheSameThreadRunBesideTasksInPlace) {
  forEachWay([](Way way) {
    Event hasRun;
    schedule(Task([=] { hasRun.signal(); }, Task::Flags::SameThread));
    int numTasks = 0;
    for (; !hasRun.isSignalled() && numTasks < kManyTasks; ++numTasks) {
      way([] {});
    }
    EXPECT_LT(numTasks, kManyTasks);
    hasRun.wait();
  });
}

// Another worker may steal the older task, and be preempted before it runs it: hence no bound in tasks.
TEST_P(InPlaceTest, OlderTasksRunBesideTasksInPlace) {
  forEachWay([](Way way) {
    Event hasRun;
    schedule([=] { hasRun.signal(); });
    runUntil(way, [&] { return hasRun.isSignalled(); });
    hasRun.wait();
  });
}

TEST_P(InPlaceTest, TimersExpireBesideTasksInPlace) {
  forEachWay([](Way way) {
    Event hasSlept(Event::Mode::Manual);
    schedule(Task(
        [=] {
          sleep_for(std::chrono::milliseconds(1));
          hasSlept.signal();
        },
        Task::Flags::SameThread));
    yield();
    runUntil(way, [&] { return hasSlept.isSignalled(); });
    hasSlept.wait();
  });
}

TEST_P(InPlaceTest, WakesFromOtherThreadsArriveBesideTasksInPlace) {
  forEachWay([](Way way) {
    Event isWoken(Event::Mode::Manual), wake;
    schedule(Task(
        [=] {
          wake.wait();
          isWoken.signal();
        },
        Task::Flags::SameThread));
    yield();
    std::thread other([=] { wake.signal(); });
    runUntil(way, [&] { return isWoken.isSignalled(); });
    other.join();
    isWoken.wait();
  });
}

TEST_P(InPlaceTest, TasksFromOutsideBeginBesideTasksInPlace) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "only its bound thread may schedule there";
  }
  forEachWay([this](Way way) {
    std::atomic<bool> hasRun{false};
    std::thread([&] { scheduler().enqueue(Task([&] { hasRun = true; })); }).join();
    runUntil(way, [&] { return hasRun.load(); });
  });
}

TEST_P(InPlaceTest, ManyTasksOfOneGroupLetOthersRunToo) {
  inTask([] {
    Event go(Event::Mode::Manual);
    std::atomic<int> numBefore{0};
    std::atomic<bool> hasRun{false};
    schedule(Task(
        [&, go] {
          go.wait();
          hasRun = true;
        },
        Task::Flags::SameThread));
    yield();
    // What thieves run while this thread is preempted says nothing of it.
    const std::thread::id thread = std::this_thread::get_id();
    TaskGroup group;
    for (int i = 0; i < 3'000; ++i) {
      group.run([&, thread] { numBefore += !hasRun && std::this_thread::get_id() == thread ? 1 : 0; });
    }
    go.signal();
    group.wait();
    EXPECT_LT(numBefore, 3'000);
    while (!hasRun) {
      yield();
    }
  });
}

TEST_P(InPlaceTest, ATaskHasAFiberOfItsOwn) {
  forEachWay([](Way way) {
    Fiber* const outer = Fiber::current();
    way([=] {
      Fiber* const inner = Fiber::current();
      EXPECT_NE(inner, outer);
      way([=] {
        EXPECT_NE(Fiber::current(), inner);
        EXPECT_NE(Fiber::current(), outer);
      });
      yield();
      EXPECT_EQ(Fiber::current(), inner);
    });
    EXPECT_EQ(Fiber::current(), outer);
  });
}

TEST_P(InPlaceTest, ThePermitThatATaskLeavesIsNotItsWaitersPermit) {
  forEachWay([](Way way) {
    way([] { Fiber::current()->notify(); });
    EXPECT_FALSE(hasPermit());
    way([] { EXPECT_FALSE(hasPermit()) << "nor that of the next one"; });
  });
}

TEST_P(InPlaceTest, ATaskDoesNotTakeThePermitOfWhoeverWaitsForIt) {
  forEachWay([](Way way) {
    Fiber* const outer = Fiber::current();
    outer->notify();
    way([=] {
      EXPECT_FALSE(hasPermit());
      way([=] {
        outer->notify();
        EXPECT_FALSE(hasPermit());
      });
    });
    EXPECT_TRUE(hasPermit());
    EXPECT_FALSE(hasPermit());
  });
}

TEST_P(InPlaceTest, ANotifyEndsTheWaitOfItsOwnTaskOnly) {
  forEachWay([](Way way) {
    Fiber* const outer = Fiber::current();
    way([=] {
      Fiber* const inner = Fiber::current();
      std::atomic<bool> mayEnd{false};
      Event isOver;
      schedule([&, isOver] {
        outer->notify();
        for (int i = 0; i < 100; ++i) {
          yield();
        }
        mayEnd = true;
        inner->notify();
        isOver.signal();
      });
      inner->wait();
      EXPECT_TRUE(mayEnd);
      isOver.wait();
    });
    EXPECT_TRUE(hasPermit());
  });
}

TEST_P(InPlaceTest, NotifiesFromOtherThreadsReachEveryTaskOfAFiber) {
  forEachWay([](Way way) {
    constexpr int kRounds = 300;
    Fiber* const outer = Fiber::current();
    std::atomic<Fiber*> inner{nullptr};
    std::atomic<int> begun{0}, notified{0}, mayEnd{0};
    const auto await = [](std::atomic<int>& count, int least) {
      while (count < least) {
        std::this_thread::yield();
      }
    };
    std::thread other([&] {
      for (int i = 1; i <= kRounds; ++i) {
        await(begun, i);
        outer->notify();
        mayEnd = i;
        inner.load()->notify();
        notified = i;
      }
    });
    for (int i = 1; i <= kRounds; ++i) {
      way([&] {
        inner = Fiber::current();
        begun = i;
        while (mayEnd < i) {
          Fiber::current()->wait();
        }
        await(notified, i);
      });
      outer->wait();
    }
    other.join();
  });
}

TEST_P(InPlaceTest, ATaskHasFiberLocalsOfItsOwn) {
  forEachWay([](Way way) {
    FiberLocal<int> value([] { return 7; });
    *value = 1;
    for (int i = 0; i < 3; ++i) {
      way([&] {
        EXPECT_EQ(*value, 7);
        *value = 2;
        yield();
        way([&] {
          EXPECT_EQ(*value, 7);
          *value = 3;
        });
        EXPECT_EQ(*value, 2);
      });
      EXPECT_EQ(*value, 1);
    }
  });
}

TEST_P(InPlaceTest, TheTasksOfOneGroupShareNoFiberLocals) {
  const auto test = [] {
    FiberLocal<int> value;
    *value = 1;
    TaskGroup group;
    for (int i = 0; i < 10; ++i) {
      group.run([&] { EXPECT_EQ((*value)++, 0); });
    }
    group.wait();
    EXPECT_EQ(*value, 1);
  };
  inTask(test);
  test();
}

TEST_P(InPlaceTest, FiberLocalsAreDestroyedByTheTimeTheSchedulerEnds) {
  struct Alive {
    explicit Alive(std::atomic<int>& counter) : alive(counter) { ++alive; }
    Alive(Alive&&) = delete;
    ~Alive() { --alive; }
    std::atomic<int>& alive;
  };
  std::atomic<int> alive{0};
  FiberLocal<Alive> value([&] { return Alive(alive); });
  forEachWay([&](Way way) {
    way([&] {
      (void)value.get();
      (void)Fiber::current();
    });
  });
  destroyScheduler();
  EXPECT_EQ(alive, 0);
}

TEST_P(InPlaceTest, LocksThatTheWaiterHoldsAreNotTheTasks) {
  forEachWay([](Way way) {
    RecursiveMutex recursive;
    SharedMutex shared;
    weft::mutex plain;
    recursive.lock();
    shared.lock();
    plain.lock();
    way([&] {
      const bool mayEnter = recursive.try_lock();
      EXPECT_FALSE(mayEnter);
      EXPECT_FALSE(recursive.try_lock_for(std::chrono::milliseconds(1)));
      EXPECT_FALSE(shared.isHeldByCaller());
      EXPECT_FALSE(shared.try_lock_for(std::chrono::milliseconds(1)));
      EXPECT_FALSE(plain.try_lock());
      if (mayEnter) {
        recursive.unlock();
      }
    });
    EXPECT_TRUE(recursive.try_lock());
    EXPECT_TRUE(shared.isHeldByCaller());
    recursive.unlock();
    recursive.unlock();
    shared.unlock();
    plain.unlock();
  });
}

TEST_P(InPlaceTest, EveryTaskHasANumberOfItsOwn) {
  inTask([] {
    const uint64_t outer = detail::currentTaskNumber();
    weft::mutex guard;
    std::set<uint64_t> numbers{outer};
    const auto add = [&] {
      const uint64_t number = detail::currentTaskNumber();
      yield();
      EXPECT_EQ(detail::currentTaskNumber(), number);
      weft::lock held(guard);
      EXPECT_TRUE(numbers.insert(number).second);
    };
    for (const Way way : kWays) {
      for (int i = 0; i < 3; ++i) {
        way([&] {
          add();
          way(add);
        });
        EXPECT_EQ(detail::currentTaskNumber(), outer);
      }
    }
    TaskGroup group;
    for (int i = 0; i < 10; ++i) {
      group.run(add);
    }
    group.wait();
    EXPECT_EQ(numbers.size(), 23u);
  });
}

// Each with 0 workers, where all is in place, and with some, where thieves take what they get.
class InPlaceDeathTest : public tests::DeathTest {
 protected:
  // Ends the program by itself if nothing else does.
  static void run(int numWorkers, const std::function<void()>& test) {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::seconds(20));
      std::_Exit(0);
    }).detach();
    Scheduler scheduler(tests::smallConfig(numWorkers));
    scheduler.bind();
    inTask(test);
    Scheduler::unbind();
  }
};

TEST_F(InPlaceDeathTest, ATaskThatWaitsForItsOwnGroup) {
  const auto direct = [] {
    TaskGroup group;
    group.run([&] { group.wait(); });
    group.wait();
  };
  const auto withOthers = [] {
    TaskGroup group;
    for (int i = 0; i < 3; ++i) {
      group.run([&] { group.wait(); });
    }
    group.wait();
  };
  const auto nestedTask = [] {
    TaskGroup group;
    group.run([&] { byAsync([&] { group.wait(); }); });
    group.wait();
  };
  const auto childGroup = [] {
    TaskGroup group;
    group.run([&] {
      TaskGroup child;
      child.run([&] { group.wait(); });
      child.wait();
    });
    group.wait();
  };
  const auto childGroupTaken = [] {
    TaskGroup group;
    group.run([&] {
      TaskGroup child;
      child.run([&] { group.wait(); });
      yield();  // lets others have it
      child.wait();
    });
    group.wait();
  };
  for (const int numWorkers : {0, 1, 4}) {
    for (const std::function<void()>& test :
         std::vector<std::function<void()>>{direct, withOthers, nestedTask, childGroup, childGroupTaken}) {
      EXPECT_DEATH(run(numWorkers, test), "wait\\(\\) was called while somebody waits for the group already");
    }
  }
}

TEST_F(InPlaceDeathTest, ATaskThatWaitsForItsOwnGroupWhereNothingIsBound) {
  EXPECT_DEATH(
      {
        TaskGroup group;
        group.run([&] { group.wait(); });
      },
      "wait\\(\\) was called while somebody waits for the group already");
}

TEST_F(InPlaceDeathTest, ATaskThatLocksWhatItsWaiterHolds) {
  for (const Way way : kWays) {
    EXPECT_DEATH(run(0,
                     [way] {
                       weft::mutex held;
                       weft::lock lock(held);
                       way([&] { weft::lock again(held); });
                     }),
                 "mutex .* was locked .* by a task that waits for the caller");
    EXPECT_DEATH(run(0,
                     [way] {
                       RecursiveMutex held;
                       held.lock();
                       way([&] { held.lock(); });
                     }),
                 "RecursiveMutex .* was locked .* by a task that waits for the caller");
    EXPECT_DEATH(run(0,
                     [way] {
                       Once once;
                       once.call([&] { way([&] { once.call([] {}); }); });
                     }),
                 "Once .* within the function that it calls");
  }
}

}  // namespace
}  // namespace weft
