// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/taskgroup.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/cancellation.h>
#include <weft/event.h>
#include <weft/future.h>
#include <weft/waitgroup.h>

#include "count_mallocs.h"
#include "in_task.h"
#include "waiting.h"

namespace weft::taskgroup_test {
namespace {

using tests::inTask;
using tests::scaled;

long fib(int n) {
  if (n < 2) {
    return n;
  }
  long a = 0;
  TaskGroup group;
  group.run([&] { a = fib(n - 1); });
  const long b = fib(n - 2);
  group.wait();
  return a + b;
}

class TaskGroupTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(TaskGroupTest);

TEST(TaskGroupUnboundTest, CallsTheFunctionsAtOnceWhereNoSchedulerIsBound) {
  TaskGroup group;
  int n = 0;
  group.run([&] { ++n; });
  EXPECT_EQ(n, 1);
  group.run([] { throw 1; });
  EXPECT_TRUE(group.isCanceled());
  EXPECT_THROW(group.wait(), int);
  group.wait();
  EXPECT_EQ(fib(12), 144);
}

TEST(TaskGroupUnboundTest, MayBeUsedWhereASchedulerIsBoundLater) {
  TaskGroup group;
  std::atomic<int> n{0};
  {
    Scheduler scheduler{Scheduler::Config().setWorkerThreadCount(2)};
    const Scheduler::Binding binding(scheduler);
    group.run([&] { ++n; });
    inTask([&] { group.run([&] { ++n; }); });
    group.wait();
    EXPECT_EQ(n.load(), 2);
  }
  group.run([&] { ++n; });
  group.wait();
  EXPECT_EQ(n.load(), 3);
}

TEST_P(TaskGroupTest, WaitReturnsOnceAllTasksHaveEnded) {
  std::atomic<int> n{0};
  TaskGroup group;
  for (int i = 0; i < 100; ++i) {
    group.run([&] { ++n; });
  }
  group.wait();
  EXPECT_EQ(n.load(), 100);
  group.run([&] { ++n; });
  group.wait();
  EXPECT_EQ(n.load(), 101);
  group.wait();
}

struct Entity {
  bool isUpdated = false;
  void update() { isUpdated = true; }
};

TEST_P(TaskGroupTest, TheExampleInTheHeader) {
  std::vector<Entity> entities(20);
  weft::TaskGroup group;
  for (Entity& entity : entities) {
    group.run([&] { entity.update(); });
  }
  group.wait();
  for (const Entity& entity : entities) {
    EXPECT_TRUE(entity.isUpdated);
  }
}

struct Half {
  bool wasStopped = false;
};
void search(Half& half, const std::stop_token& token) { half.wasStopped = token.stop_requested(); }

TEST_P(TaskGroupTest, TheExampleOfTheDocuments) {
  Half left, right;
  weft::TaskGroup group;
  group.run([&](const std::stop_token& token) { search(left, token); });
  group.run([&](const std::stop_token& token) { search(right, token); });
  group.wait();
  EXPECT_FALSE(left.wasStopped || right.wasStopped);
}

TEST_P(TaskGroupTest, AddsUpOnABoundThreadAndInATask) {
  EXPECT_EQ(fib(18), 2584);
  inTask([] { EXPECT_EQ(fib(18), 2584); });
}

TEST_P(TaskGroupTest, TheDestructorWaits) {
  std::atomic<int> n{0};
  {
    TaskGroup group;
    for (int i = 0; i < 10; ++i) {
      group.run([&] {
        yield();
        ++n;
      });
    }
  }
  EXPECT_EQ(n.load(), 10);
}

TEST_P(TaskGroupTest, TasksMayGiveTheGroupFurtherTasks) {
  std::atomic<int> n{0};
  TaskGroup group;
  std::function<void(int)> spread = [&](int depth) {
    ++n;
    if (depth > 0) {
      group.run([&spread, depth] { spread(depth - 1); });
      yield();
      group.run([&spread, depth] { spread(depth - 1); });
    }
  };
  for (int round = 0; round < scaled(20, 3); ++round) {
    n = 0;
    group.run([&] { spread(8); });
    group.wait();
    EXPECT_EQ(n.load(), 511);
  }
}

TEST_P(TaskGroupTest, OthersMayGiveTheGroupTasksBeforeItIsWaitedFor) {
  std::atomic<int> n{0};
  TaskGroup group;
  {
    tests::Crew crew(scheduler());
    for (int i = 0; i < 9; ++i) {
      crew.start(tests::kindOf(i), [&] {
        for (int task = 0; task < 10; ++task) {
          group.run([&] { ++n; });
        }
      });
    }
  }
  group.wait();
  EXPECT_EQ(n.load(), 90);
}

TEST_P(TaskGroupTest, TasksMayWaitForEachOtherAndForWhoeverWaits) {
  inTask([] {
    const Event a, b;
    TaskGroup group;
    group.run([=] { b.wait(); });
    group.run([=] {
      a.wait();
      b.signal();
    });
    group.run([=] { a.signal(); });
    group.wait();
  });
}

TEST_P(TaskGroupTest, MoreTasksThanTheDequeHolds) {
  inTask([] {
    std::atomic<int> n{0};
    TaskGroup group;
    for (int i = 0; i < 20'000; ++i) {
      group.run([&] { n.fetch_add(1, std::memory_order_relaxed); });
    }
    group.wait();
    EXPECT_EQ(n.load(), 20'000);
  });
  std::atomic<int> n{0};
  TaskGroup group;
  for (int i = 0; i < 20'000; ++i) {
    group.run([&] { n.fetch_add(1, std::memory_order_relaxed); });
  }
  group.wait();
  EXPECT_EQ(n.load(), 20'000);
}

TEST_P(TaskGroupTest, FunctionsOfAnySizeAreTakenOver) {
  int sum = 0;
  TaskGroup group;
  group.run([&sum, p = std::make_unique<int>(1)]() mutable { sum += *p; });
  group.wait();
  group.run([&sum, big = std::array<int64_t, 10>{2}] { sum += static_cast<int>(big[0]); });
  group.wait();
  group.run([&sum, huge = std::array<int64_t, 100>{3}] { sum += static_cast<int>(huge[0]); });
  group.wait();
  struct alignas(64) Aligned {
    int value = 4;
  };
  group.run([&sum, aligned = Aligned{}] {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(&aligned) % 64, 0u);
    sum += aligned.value;
  });
  group.wait();
  EXPECT_EQ(sum, 10);
}

TEST_P(TaskGroupTest, CapturesAreDestroyedBeforeWaitReturns) {
  const auto shared = std::make_shared<int>(0);
  TaskGroup group;
  for (int i = 0; i < 100; ++i) {
    group.run([shared] { yield(); });
  }
  group.wait();
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_P(TaskGroupTest, AConstructorThatThrowsLeavesNothingBehind) {
  struct Thrower {
    Thrower() = default;
    Thrower(const Thrower&) { throw std::runtime_error("copy"); }
    void operator()() const {}
  };
  TaskGroup group;
  const Thrower thrower;
  EXPECT_THROW(group.run(thrower), std::runtime_error);
  group.wait();
}

TEST_P(TaskGroupTest, TheFirstExceptionIsThrownByWaitAndCancelsTheRest) {
  inTask([this] {
    for (int round = 0; round < scaled(50, 10); ++round) {
      std::atomic<int> numThrown{0};
      TaskGroup group;
      const Event failed(Event::Mode::Manual);
      for (int i = 0; i < 20; ++i) {
        group.run([&, i] {
          ++numThrown;
          failed.signal();
          throw i;
        });
      }
      EXPECT_THROW(group.wait(), int);
      EXPECT_GE(numThrown.load(), 1);
      EXPECT_LE(numThrown.load(), 1 + 2 * numWorkers() + 1);
      EXPECT_TRUE(group.isCanceled());
      bool hasRun = false;
      group.run([&] { hasRun = true; });
      group.wait();
      EXPECT_FALSE(hasRun);
    }
  });
}

TEST_P(TaskGroupTest, AnExceptionWakesThoseThatWaitWithTheToken) {
  inTask([] {
    TaskGroup group;
    std::atomic<int> numStopped{0};
    const Event ready;
    for (int i = 0; i < 3; ++i) {
      group.run([&](const std::stop_token& token) {
        const Event never;
        ready.signal();
        EXPECT_FALSE(never.wait(token));
        ++numStopped;
      });
      ready.wait();
    }
    group.run([] { throw std::runtime_error("failed"); });
    EXPECT_THROW(group.wait(), std::runtime_error);
    EXPECT_EQ(numStopped.load(), 3);
  });
}

TEST_P(TaskGroupTest, CancelPassesDownToGroupsMadeWithTheGroupOrItsToken) {
  TaskGroup outer;
  TaskGroup inner(outer);
  TaskGroup innermost(inner.token());
  EXPECT_FALSE(innermost.isCanceled());
  const std::stop_token token = innermost.token();
  inner.cancel();
  EXPECT_FALSE(outer.isCanceled());
  EXPECT_TRUE(innermost.isCanceled());
  EXPECT_TRUE(token.stop_requested());
  outer.cancel();
  TaskGroup late(outer);
  EXPECT_TRUE(late.isCanceled());
  EXPECT_TRUE(late.token().stop_requested());
}

// On a stack of 64 KiB, which has no room for a call of each group.
TEST(TaskGroupUnboundTest, CancelPassesDownToAnyDepth) {
  Scheduler scheduler(Scheduler::Config().setFiberStackSize(64 * 1024));
  const Scheduler::Binding binding(scheduler);
  WaitGroup done(1);
  schedule([done] {
    constexpr size_t kDepth = 16000;
    std::deque<TaskGroup> groups(1);
    while (groups.size() < kDepth) {
      groups.emplace_back(groups.back());
    }
    std::vector<std::stop_token> tokens;
    for (TaskGroup& group : groups) {
      tokens.push_back(group.token());
    }
    // Another group, which a function cancels that a stop deep inside calls, is cancelled at once.
    TaskGroup another;
    const std::stop_token ofAnother = another.token();
    const std::stop_callback inside(groups[kDepth / 2].token(), [&] {
      another.cancel();
      EXPECT_TRUE(ofAnother.stop_requested());
    });
    groups.front().cancel();
    EXPECT_TRUE(ofAnother.stop_requested());
    for (size_t i = 0; i < kDepth; ++i) {
      EXPECT_TRUE(groups[i].isCanceled() && tokens[i].stop_requested()) << "group " << i;
    }
    while (!groups.empty()) {
      groups.pop_back();
    }
    done.done();
  });
  done.wait();
}

TEST_P(TaskGroupTest, ATaskThatEndsAsItWasAskedToIsNoError) {
  for (const bool waits : {false, true}) {
    TaskGroup group;
    const Event begun;
    group.run([=](const std::stop_token& token) {
      begun.signal();
      const Event never;
      (void)never.wait(token);
      interruptionPoint(token);
    });
    begun.wait();
    group.cancel();
    if (waits) {
      EXPECT_NO_THROW(group.wait());
    }
  }
}

TEST_P(TaskGroupTest, AStopSourceCancelsTheGroupsMadeWithItsToken) {
  std::stop_source source;
  std::atomic<int> n{0};
  TaskGroup group(source.get_token());
  group.run([&] { ++n; });
  group.wait();
  source.request_stop();
  group.run([&] { ++n; });
  group.wait();
  EXPECT_EQ(n.load(), 1);
}

TEST_P(TaskGroupTest, NestedGroupsHandTheirExceptionsUp) {
  inTask([] {
    TaskGroup outer;
    for (int i = 0; i < 5; ++i) {
      outer.run([&] {
        TaskGroup inner(outer);
        for (int j = 0; j < 5; ++j) {
          inner.run([j] {
            if (j == 3) {
              throw std::runtime_error("inner");
            }
          });
        }
        inner.wait();
      });
    }
    EXPECT_THROW(outer.wait(), std::runtime_error);
  });
}

TEST_P(TaskGroupTest, AnExceptionThatPassesTheGroupIsKept) {
  EXPECT_THROW(
      {
        TaskGroup group;
        group.run([] { throw std::runtime_error("task"); });
        throw std::logic_error("scope");
      },
      std::logic_error);
}

TEST_P(TaskGroupTest, AGroupMayPassToAnotherTaskThatWaits) {
  auto group = std::make_unique<TaskGroup>();
  std::atomic<int> n{0};
  for (int i = 0; i < 10; ++i) {
    group->run([&] { ++n; });
  }
  inTask([&] {
    group->run([&] { ++n; });
    group->wait();
    EXPECT_EQ(n.load(), 11);
    group.reset();
  });
}

// Its tasks then run on the very fiber on which the group was made.
TEST_P(TaskGroupTest, AGroupMayOutliveTheTaskThatMadeIt) {
  for (int round = 0; round < 100; ++round) {
    std::unique_ptr<TaskGroup> group;
    inTask([&] { group = std::make_unique<TaskGroup>(); });
    std::atomic<bool> hasEnded{false};
    const Event isInside;
    const Event gate;
    group->run([&] {
      isInside.wait();
      group->run([&] {
        gate.wait();
        hasEnded = true;
      });
    });
    isInside.signal();
    schedule([=] { gate.signal(); });
    group->wait();
    EXPECT_TRUE(hasEnded.load());
  }
}

// The first task ends only when all have begun: none may be kept from the workers.
TEST_P(TaskGroupTest, WorkersTakeWhatTheDequeOfABoundThreadHasNoRoomFor) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody else";
  }
  constexpr int kTasks = 6'000;
  std::atomic<int> numRun{0};
  TaskGroup group;
  for (int i = 0; i < kTasks; ++i) {
    group.run([&] { ++numRun; });
  }
  while (numRun.load() < kTasks) {
    std::this_thread::yield();
  }
  group.wait();
}

TEST_P(TaskGroupTest, UnbindLeavesTheTasksToTheWorkers) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody else";
  }
  for (int round = 0; round < 100; ++round) {
    auto group = std::make_unique<TaskGroup>();
    const Event later(Event::Mode::Manual);
    std::thread([&] {
      const Scheduler::Binding bound(scheduler());
      group->run([=] { later.wait(); });
    }).join();
    later.signal();
    group->wait();
  }
}

TEST_P(TaskGroupTest, TakesOverACopyOfWhatCannotBeChanged) {
  const auto function = [n = 0]() mutable { return ++n; };
  TaskGroup group;
  group.run(function);
  group.wait();
}

TEST_P(TaskGroupTest, TasksThatNobodyWaitsForYetEndBeforeTheScheduler) {
  auto group = std::make_unique<TaskGroup>();
  std::atomic<int> n{0};
  inTask([&] {
    for (int i = 0; i < 10; ++i) {
      group->run([&] { ++n; });
    }
  });
  destroyScheduler();
  EXPECT_EQ(n.load(), 10);
  group->wait();
}

TEST_P(TaskGroupTest, CallsNoMallocInTheSteadyState) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "a worker that steals for the first time makes its first fibers";
  }
  inTask([] {
    EXPECT_EQ(fib(10), 55);
    const auto before = tests::numMallocs();
    EXPECT_EQ(fib(12), 144);
    EXPECT_EQ(tests::numMallocs(), before);
  });
}

using TaskGroupDeathTest = tests::DeathTest;

TEST_F(TaskGroupDeathTest, AnExceptionThatNobodyWaitsForIsReported) {
  EXPECT_DEATH(
      {
        TaskGroup group;
        group.run([] { throw 1; });
      },
      "a TaskGroup was destroyed whose task had let an exception escape: int.*Call wait\\(\\)");
  EXPECT_DEATH(
      {
        TaskGroup group;
        group.run([] { throw std::runtime_error("the disk is full"); });
      },
      "let an exception escape: std::runtime_error: the disk is full. Nobody");
}

TEST_F(TaskGroupDeathTest, ATaskThatWaitsForItsOwnGroupIsReported) {
  const auto waitInside = [](bool waitsFirst) {
    Scheduler scheduler(tests::smallConfig(1));
    scheduler.bind();
    Event hasBegun(Event::Mode::Manual), go(Event::Mode::Manual);
    TaskGroup group;
    group.run([&] {
      hasBegun.signal();
      if (!waitsFirst) {
        go.wait();
      }
      group.wait();
    });
    hasBegun.wait();
    schedule([&] { go.signal(); });
    group.wait();
  };
  for (const bool waitsFirst : {true, false}) {
    EXPECT_DEATH(waitInside(waitsFirst), "wait\\(\\) was called while somebody waits for the group already");
  }
}

TEST_F(TaskGroupDeathTest, AGroupThatEndsOrIsWaitedForInATaskThatItsExecutorRunsIsReported) {
  const auto waitInside = [] {
    TaskGroup group(inlineExecutor());
    group.run([&] { group.wait(); });
  };
  const auto endInside = [] {
    auto group = std::make_unique<TaskGroup>(inlineExecutor());
    group->run([&] { group.reset(); });
  };
  // The task in place waits for the group, and its waiter, which is within run(), for that task.
  const auto endInPlace = [&] {
    auto group = std::make_unique<TaskGroup>(inlineExecutor());
    group->run([&] { async([&] { group.reset(); }).get(); });
  };
  const auto bound = [](const auto& test) {
    Scheduler scheduler(tests::smallConfig(0));
    const Scheduler::Binding binding(scheduler);
    inTask(test);
  };
  const auto endOnPool = [] {
    PoolExecutor pool(1);
    auto group = std::make_unique<TaskGroup>(pool);
    group->run([&] { group.reset(); });
    Event().wait();
  };
  constexpr const char* kMessage =
      "weft: fatal: TaskGroup .* ended, or wait\\(\\) was called, in one of its own tasks";
  EXPECT_DEATH(endOnPool(), kMessage);
  EXPECT_DEATH(waitInside(), kMessage);
  EXPECT_DEATH(endInside(), kMessage);
  EXPECT_DEATH(bound(waitInside), kMessage);
  EXPECT_DEATH(bound(endInside), kMessage);
  EXPECT_DEATH(bound(endInPlace), kMessage);
}

// Within run(), but in none of its tasks: the first runs on another thread, and the second has ended.
TEST(TaskGroupExecutorTest, MayBeWaitedForWhereItsExecutorGoesOnWithTasksOfOthers) {
  struct Strand {
    void schedule(TaskHandle task) {
      if (!other.joinable()) {
        other = std::thread([this, kept = std::move(task)]() mutable {
          isWaitedFor.wait();
          kept.run();
        });
      } else {
        task.run();
      }
      goOn();
    }
    std::function<void()> goOn;
    std::thread other;
    Event isWaitedFor{Event::Mode::Manual};
  };
  for (const int numTasks : {1, 2}) {
    Strand strand;
    int numRun = 0;
    auto group = std::make_unique<TaskGroup>(strand);
    strand.goOn = [&, numSeen = 0]() mutable {
      if (++numSeen == numTasks) {
        strand.isWaitedFor.signal();
        group->wait();
        group.reset();
      }
    };
    for (int i = 0; i < numTasks; ++i) {
      group->run([&] { ++numRun; });
    }
    EXPECT_EQ(numRun, numTasks);
    strand.other.join();
  }
}

// A task that waits within run() is none of those that wait for the group.
TEST(TaskGroupExecutorTest, MayBeWaitedForWhileItsTaskWaitsWithinRun) {
  struct Slow {
    void schedule(TaskHandle task) {
      if (!std::exchange(hasKept, true)) {
        kept = std::move(task);
        return;
      }
      hasBegun.signal();
      go.wait();
      task.run();
    }
    bool hasKept = false;
    TaskHandle kept;
    Event hasBegun{Event::Mode::Manual}, go{Event::Mode::Manual};
  } slow;
  Scheduler scheduler(tests::smallConfig(0));
  const Scheduler::Binding binding(scheduler);
  inTask([&] {
    int numRun = 0;
    TaskGroup group(slow);
    group.run([&] { group.run([&] { ++numRun; }); });
    schedule([&] { slow.kept.run(); });
    slow.hasBegun.wait();
    schedule([&] { slow.go.signal(); });
    group.wait();
    EXPECT_EQ(numRun, 1);
  });
}

TEST_F(TaskGroupDeathTest, UnbindingWithinATaskThatWaitCallsIsReported) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        scheduler.bind();
        TaskGroup group;
        group.run([] { Scheduler::unbind(); });
        group.wait();
      },
      "unbind\\(\\) was called inside a task");
}

}  // namespace
}  // namespace weft::taskgroup_test
