// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include <weft/event.h>
#include <weft/executor.h>
#include <weft/taskgroup.h>

#include "count_mallocs.h"
#include "in_task.h"
#include "live_objects.h"
#include "waiting.h"

// Groups with a limit on how many tasks run or are queued.
namespace weft::taskgroup_limit_test {
namespace {

using tests::Crew;
using tests::inTask;
using tests::Kind;
using tests::kindOf;
using tests::kKinds;
using tests::LiveObject;
using tests::scaled;

using Limit = TaskGroup::Limit;

class TaskGroupLimitTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(TaskGroupLimitTest);

struct ThrowsWhenCopied {
  ThrowsWhenCopied() = default;
  ThrowsWhenCopied(const ThrowsWhenCopied&) { throw std::runtime_error("copy"); }
  void operator()() const {}
};

TEST_P(TaskGroupLimitTest, NoMoreTasksThanTheLimitRunOrAreQueued) {
  for (const Kind kind : {Kind::Task, Kind::BoundThread}) {
    for (const int limit : {1, 3}) {
      Crew crew(scheduler());
      crew.start(kind, [limit] {
        std::atomic<int> numEnded{0};
        TaskGroup group(Limit{limit});
        for (int i = 1; i <= 100; ++i) {
          group.run([&] {
            yield();
            ++numEnded;
          });
          EXPECT_LE(i - numEnded, limit);
        }
        group.wait();
        EXPECT_EQ(numEnded, 100);
      });
    }
  }
}

TEST_P(TaskGroupLimitTest, AllPlacesMayBeTakenAtATime) {
  constexpr int kLimit = 4;
  TaskGroup group(Limit{kLimit});
  std::atomic<int> numBegun{0};
  for (int i = 0; i < kLimit; ++i) {
    group.run([&] {
      ++numBegun;
      tests::awaitThat([&] { return numBegun == kLimit; });
    });
  }
  group.wait();
}

TEST_P(TaskGroupLimitTest, ManyCallersKeepTheLimitTogether) {
  constexpr int kLimit = 2;
  const int numRuns = scaled(200, 40);
  std::atomic<int> numRunning{0}, numEnded{0};
  TaskGroup group(Limit{kLimit});
  {
    Crew crew(scheduler());
    for (int i = 0; i < 6; ++i) {
      crew.start(kindOf(i), [&] {
        std::atomic<int> numOwnEnded{0};
        for (int run = 0; run < numRuns; ++run) {
          group.run([&] {
            EXPECT_LE(++numRunning, kLimit);
            yield();
            --numRunning;
            ++numEnded;
            ++numOwnEnded;
          });
        }
        // Without workers only this thread runs them, and it may be about to block.
        tests::awaitThat([&] { return numOwnEnded == numRuns; });
      });
    }
  }
  group.wait();
  EXPECT_EQ(numEnded, 6 * numRuns);
}

TEST_P(TaskGroupLimitTest, TryRunLeavesTheFunctionAtTheLimit) {
  Event go(Event::Mode::Manual);
  TaskGroup group(Limit{2});
  group.run([&] { go.wait(); });
  EXPECT_TRUE(group.tryRun([&] { go.wait(); }));
  auto value = std::make_unique<int>(1);
  auto function = [value = std::move(value), go] { go.wait(); };
  EXPECT_FALSE(group.tryRun(std::move(function)));
  go.signal();
  group.wait();
  EXPECT_TRUE(group.tryRun(std::move(function)));
  group.wait();
}

TEST_P(TaskGroupLimitTest, TryRunAlwaysRunsWhereThereIsNoLimit) {
  std::atomic<int> numRun{0};
  TaskGroup group;
  TaskGroup onExecutor(defaultExecutor());
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(group.tryRun([&] { ++numRun; }));
    EXPECT_TRUE(onExecutor.tryRun([&](const std::stop_token&) { ++numRun; }));
  }
  group.wait();
  onExecutor.wait();
  EXPECT_EQ(numRun, 200);
}

TEST_P(TaskGroupLimitTest, TasksOfTheGroupMayCallTryRun) {
  std::atomic<int> numInner{0}, numRefused{0};
  TaskGroup group(Limit{2});
  group.run([&] {
    Event go(Event::Mode::Manual);
    EXPECT_TRUE(group.tryRun([&numInner, go] {
      go.wait();
      ++numInner;
    }));
    numRefused += group.tryRun([] {}) ? 0 : 1;
    go.signal();
  });
  group.wait();
  EXPECT_EQ(numInner, 1);
  EXPECT_EQ(numRefused, 1);
}

TEST_P(TaskGroupLimitTest, CancelEndsTheWaitForAPlaceAndDropsTheFunction) {
  for (const Kind kind : kKinds) {
    LiveObject::numAlive = 0;
    Event go(Event::Mode::Manual), hasBegun, isAboutToWait;
    std::atomic<int> numRun{0};
    TaskGroup group(Limit{1});
    group.run([go, hasBegun] {
      hasBegun.signal();
      go.wait();
    });
    hasBegun.wait();
    {
      Crew crew(scheduler());
      crew.start(kind, [&] {
        isAboutToWait.signal();
        group.run([&, object = LiveObject()] { ++numRun; });
        group.run([&, object = LiveObject()] { ++numRun; });
      });
      isAboutToWait.wait();
      group.cancel();
    }
    EXPECT_EQ(LiveObject::numAlive, 0);
    EXPECT_FALSE(group.tryRun([] {}));
    go.signal();
    group.wait();
    EXPECT_EQ(numRun, 0);
  }
}

TEST_P(TaskGroupLimitTest, AStopOfTheParentEndsTheWaitForAPlace) {
  Event go(Event::Mode::Manual);
  TaskGroup parent;
  TaskGroup group(Limit{1}, parent);
  group.run([go] { go.wait(); });
  parent.run([&parent] { parent.cancel(); });
  group.run([] { ADD_FAILURE() << "ran"; });
  go.signal();
  group.wait();
  EXPECT_TRUE(group.isCanceled());
  parent.wait();
}

TEST_P(TaskGroupLimitTest, AnExceptionCancelsTheGroupAndGivesItsPlaceBack) {
  TaskGroup group(Limit{1});
  for (int i = 0; i < 3; ++i) {
    group.run([] { throw std::runtime_error("task"); });
  }
  EXPECT_THROW(group.wait(), std::runtime_error);
  EXPECT_TRUE(group.tryRun([] { ADD_FAILURE() << "ran"; }));
  group.wait();
}

TEST_P(TaskGroupLimitTest, AFunctionThatCannotBeCopiedTakesNoPlace) {
  TaskGroup group(Limit{1});
  const ThrowsWhenCopied thrower;
  EXPECT_THROW(group.run(thrower), std::runtime_error);
  EXPECT_THROW((void)group.tryRun(thrower), std::runtime_error);
  EXPECT_TRUE(group.tryRun([] {}));
  group.wait();
}

TEST_P(TaskGroupLimitTest, AnExecutorRunsNoMoreThanTheLimit) {
  PoolExecutor pool(4);
  std::atomic<int> numRunning{0}, numEnded{0};
  std::stop_source stop;
  TaskGroup group(pool, Limit{2}, stop.get_token());
  for (int i = 0; i < 50; ++i) {
    group.run([&] {
      EXPECT_LE(++numRunning, 2);
      --numRunning;
      ++numEnded;
    });
  }
  group.wait();
  EXPECT_EQ(numEnded, 50);
}

TEST(TaskGroupLimitUnboundTest, AnExecutorThatFailsGivesThePlaceBack) {
  struct Failing {
    void schedule(TaskHandle) { throw std::runtime_error("full"); }
  } failing;
  TaskGroup group(failing, Limit{1});
  group.run([] {});
  EXPECT_TRUE(group.tryRun([] {}));
  EXPECT_THROW(group.wait(), std::runtime_error);
}

TEST(TaskGroupLimitUnboundTest, CallsTheFunctionsAtOnceWhereNoSchedulerIsBound) {
  TaskGroup group(Limit{2});
  int numRun = 0;
  for (int i = 0; i < 5; ++i) {
    group.run([&] {
      ++numRun;
      group.run([&] {
        ++numRun;
        EXPECT_FALSE(group.tryRun([] {}));
      });
    });
  }
  EXPECT_EQ(numRun, 10);
  group.wait();
}

TEST_P(TaskGroupLimitTest, CallsNoMallocInTheSteadyState) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "a worker that steals for the first time makes its first fibers";
  }
  inTask([] {
    TaskGroup group(Limit{2});
    const auto runMany = [&] {
      for (int i = 0; i < 20; ++i) {
        group.run([] { yield(); });
      }
      group.wait();
    };
    runMany();
    const auto before = tests::numMallocs();
    runMany();
    EXPECT_EQ(tests::numMallocs(), before);
  });
}

using TaskGroupLimitDeathTest = tests::DeathTest;

TEST_F(TaskGroupLimitDeathTest, ATaskThatWaitsForAPlaceOfItsOwnGroupIsReported) {
  constexpr const char* kMessage =
      "one of its tasks called run\\(\\) while as many tasks as the group's limit";
  const auto runInside = [] {
    TaskGroup group(Limit{1});
    group.run([&] { group.run([] {}); });
    group.wait();
  };
  EXPECT_DEATH(runInside(), kMessage);
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(1));
        scheduler.bind();
        runInside();
      },
      kMessage);
}

TEST_F(TaskGroupLimitDeathTest, ALimitThatIsNoNumberOfTasksIsReported) {
  EXPECT_DEATH(TaskGroup(Limit{0}), "a limit of 0 tasks. It must be 1 to 1073741823");
  EXPECT_DEATH(TaskGroup(Limit{-1}), "a limit of -1 tasks");
  EXPECT_DEATH(TaskGroup(Limit{1 << 30}), "a limit of 1073741824 tasks");
}

}  // namespace
}  // namespace weft::taskgroup_limit_test
