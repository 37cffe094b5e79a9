// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/waitgroup.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>

#include "waiting.h"

namespace weft {
namespace {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kindOf;
using tests::kKinds;
using tests::numWaiting;
using tests::scaled;

class WaitGroupTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(WaitGroupTest);

class UnboundWaitGroupTest : public tests::WithAllocator {};

TEST_F(UnboundWaitGroupTest, WaitReturnsAtOnceWhereNothingIsToBeDone) {
  WaitGroup().wait();
  WaitGroup(0, allocator()).wait();
}

TEST_F(UnboundWaitGroupTest, DoneTellsWhetherItWasTheLast) {
  const WaitGroup group(1, allocator());
  group.add(2);
  EXPECT_FALSE(group.done());
  EXPECT_FALSE(group.done());
  EXPECT_TRUE(group.done());
  group.wait();
  group.add();
  EXPECT_TRUE(group.done());
  group.wait();
}

TEST_F(UnboundWaitGroupTest, TestTellsWhetherTheCountIsZero) {
  const WaitGroup group(0, allocator());
  EXPECT_TRUE(group.test());
  group.add();
  EXPECT_FALSE(group.test());
  group.done();
  EXPECT_TRUE(group.test());
}

TEST_F(UnboundWaitGroupTest, CopiesShareOneCounter) {
  const WaitGroup group(1, allocator());
  const WaitGroup copy = group;
  copy.add();
  EXPECT_FALSE(group.done());
  EXPECT_TRUE(copy.done());
  group.wait();
}

TEST_F(UnboundWaitGroupTest, CountsUpToItsLimit) {
  constexpr unsigned kLimit = (1u << 30) - 1;
  const WaitGroup group(kLimit - 1);
  group.add();
  EXPECT_FALSE(group.done());
  const WaitGroup added;
  added.add(kLimit);
  EXPECT_FALSE(added.done());
}

TEST_P(WaitGroupTest, OfManyDoneExactlyOneIsTheLast) {
  constexpr unsigned kTasks = 200;
  const WaitGroup pending(kTasks), finished(kTasks);
  std::atomic<int> numLast{0};
  for (unsigned i = 0; i < kTasks; ++i) {
    schedule([=, &numLast] {
      if (pending.done()) {
        ++numLast;
      }
      finished.done();
    });
  }
  finished.wait();
  EXPECT_EQ(numLast, 1);
}

TEST_P(WaitGroupTest, WaitReturnsAfterTheLastDone) {
  const int numTasks = scaled(10'000, 1'000);
  WaitGroup group(static_cast<unsigned>(numTasks), allocator());
  std::atomic<int> numDone{0};
  for (int i = 0; i < numTasks; ++i) {
    schedule([&numDone, group] {
      // relaxed: the group orders it.
      numDone.fetch_add(1, std::memory_order_relaxed);
      group.done();
    });
  }
  group.wait();
  EXPECT_EQ(numDone.load(std::memory_order_relaxed), numTasks);
}

TEST_P(WaitGroupTest, WorkIsSeenAfterTheWait) {
  constexpr int kMembers = 12;
  std::vector<int> results(kMembers);
  for (int round = 0; round < scaled(30, 10); ++round) {
    Crew crew(scheduler());
    WaitGroup group(kMembers);
    for (int i = 0; i < kMembers; ++i) {
      crew.start(kindOf(i), [&, i] {
        results[static_cast<size_t>(i)] = round;
        group.done();
      });
    }
    group.wait();
    EXPECT_EQ(results, std::vector<int>(kMembers, round));
  }
}

TEST_P(WaitGroupTest, WakesWaitersOfEveryKind) {
  constexpr int kWaiters = 30;
  WaitGroup group(1);
  std::atomic<bool> isDone{false};
  Crew crew(scheduler());
  for (int i = 0; i < kWaiters; ++i) {
    crew.start(kindOf(i), [&] {
      group.wait();
      EXPECT_TRUE(isDone);
    });
  }
  awaitThat([&] { return numWaiting(group) == kWaiters; });
  isDone = true;
  EXPECT_TRUE(group.done());
}

// On several workers those that were woken race.
class WaitGroupOnOneThreadTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, WaitGroupOnOneThreadTest, ::testing::Values(0, 1));

TEST_P(WaitGroupOnOneThreadTest, WakesFirstInFirstOut) {
  const WaitGroup group(1);
  tests::expectAllWokenFirstInFirstOut([&] { group.wait(); }, [&] { return numWaiting(group); },
                                       [&] { group.done(); });
}

TEST_P(WaitGroupTest, MayBeUsedAgain) {
  WaitGroup group;
  for (int round = 0; round < scaled(500, 100); ++round) {
    group.add(3);
    for (int i = 0; i < 3; ++i) {
      schedule([=] { group.done(); });
    }
    group.wait();
  }
}

// Several share one group: each adds work, and may not be back before its own work is done, whoever's work
// ends meanwhile.
TEST_P(WaitGroupTest, WaitNeverReturnsBeforeTheWorkThatWasAddedBeforeIt) {
  constexpr int kMembers = 6;
  const int rounds = scaled(3'000, 500);
  WaitGroup group;
  Crew crew(scheduler());
  for (int i = 0; i < kMembers; ++i) {
    // Without workers, a thread that is not bound has nobody to run its tasks.
    const Kind kind = numWorkers() == 0 && kindOf(i) == Kind::FreeThread ? Kind::BoundThread : kindOf(i);
    crew.start(kind, [&, kind] {
      const auto isDone = std::make_shared<std::atomic<bool>>();
      for (int round = 0; round < rounds; ++round) {
        isDone->store(false);
        group.add();
        const auto work = [=] {
          isDone->store(true);
          group.done();
        };
        if (kind == Kind::FreeThread) {
          scheduler().enqueue(Task(work));
        } else {
          schedule(work);
        }
        group.wait();
        EXPECT_TRUE(isDone->load());
      }
    });
  }
}

// Work is added between the two steps of a last done(), the count and the wake. It waits for that done(),
// which wakes who waited until then.
TEST_P(WaitGroupTest, AddWaitsForALastDoneThatIsOnItsWay) {
  WaitGroup group(1);
  std::atomic<bool> isAdded{false};
  Crew crew(scheduler());
  crew.start(Kind::Task, [=] { group.wait(); });
  awaitThat([&] { return numWaiting(group) == 1; });
  auto& state = *(group.*member(tests::WaitGroupState{}));
  state.core.end();
  std::thread adder([&] {
    group.add();
    isAdded = true;
  });
  for (int i = 0; i < 100; ++i) {
    std::this_thread::yield();
    EXPECT_FALSE(isAdded);
  }
  state.wakeAllAfterEnd();
  adder.join();
  crew.join();
  EXPECT_EQ(numWaiting(group), 0);
  EXPECT_TRUE(group.done());
}

TEST_P(WaitGroupTest, AWaitThatTimesOutLeavesNothingBehind) {
  for (Kind kind : tests::kKinds) {
    Crew crew(scheduler());
    crew.start(kind, [] {
      const WaitGroup group(1);
      EXPECT_FALSE(group.wait_for(tests::milliseconds(1)));
      EXPECT_FALSE(group.wait_until(std::chrono::system_clock::now() + tests::milliseconds(1)));
      EXPECT_FALSE(group.wait_for(tests::milliseconds(-1)));
      EXPECT_EQ(numWaiting(group), 0);
      group.done();
      EXPECT_TRUE(group.wait_for(tests::milliseconds(-1)));
      EXPECT_TRUE(group.wait_until(std::chrono::steady_clock::now()));
    });
  }
}

// The first of several that wait gives up, one after the other: those that are left are woken in the end.
TEST_P(WaitGroupTest, TheFirstMayGiveUpWhileOthersWait) {
  constexpr int kWaiters = 9;
  WaitGroup group(1);
  std::stop_source sources[kWaiters];
  std::atomic<int> numStopped{0}, numWoken{0};
  Crew crew(scheduler());
  for (int i = 0; i < kWaiters; ++i) {
    crew.start(kindOf(i), [&, i] { (group.wait(sources[i].get_token()) ? numWoken : numStopped) += 1; });
    awaitThat([&] { return numWaiting(group) == i + 1; });
  }
  for (int i : {0, 1, 4, 8, 2}) {
    const int before = numStopped;
    sources[i].request_stop();
    awaitThat([&] { return numStopped == before + 1; });
    EXPECT_EQ(numWaiting(group), kWaiters - numStopped);
  }
  EXPECT_TRUE(group.done());
  crew.join();
  EXPECT_EQ(numWoken, 4);
}

// Between the two steps of a last done(), the count and the wake, the only waiter is stopped: it must not
// leave before that done() has come, which would find the group gone.
TEST_P(WaitGroupTest, TheOnlyWaiterStaysForALastDoneThatIsOnItsWay) {
  WaitGroup group(1);
  std::stop_source source;
  std::atomic<bool> isBack{false};
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    EXPECT_TRUE(group.wait(source.get_token())) << "the count was zero";
    isBack = true;
  });
  awaitThat([&] { return numWaiting(group) == 1; });
  // It is asleep, and so will be told of the stop at once.
  awaitThat([&] {
    uint64_t numBlocked = 0;
    for (const Scheduler::WorkerStats& worker : scheduler().stats().workers) {
      numBlocked += worker.workerId >= 0 ? worker.numBlockedFibers : 0;
    }
    return numWorkers() == 0 || numBlocked == 1;
  });
  auto& state = *(group.*member(tests::WaitGroupState{}));
  state.core.end();
  source.request_stop();
  EXPECT_EQ(numWaiting(group), 1);
  state.wakeAllAfterEnd();
  awaitThat([&] { return isBack.load(); });
  EXPECT_EQ(numWaiting(group), 0);
}

// Several wait for the same work, with stops and deadlines of their own; each destroys its handle as soon as
// it is back.
TEST_P(WaitGroupTest, StopAndTimeAgainstTheLastDone) {
  const int rounds = scaled(300, 60);
  for (int round = 0; round < rounds; ++round) {
    auto group = std::make_unique<WaitGroup>(2, tests::heap());
    std::stop_source source;
    WaitGroup back;
    for (int i = 0; i < 4; ++i) {
      back.add();
      schedule([group = *group, token = source.get_token(), back, round, i]() mutable {
        if (!group.wait_for(std::chrono::microseconds((round + 7 * i) % 30), token)) {
          group.wait();
        }
        group = WaitGroup();
        back.done();
      });
    }
    for (int i = 0; i < 2; ++i) {
      schedule([group = *group] { group.done(); });
    }
    schedule([source]() mutable { source.request_stop(); });
    group.reset();
    back.wait();
  }
}

TEST_P(WaitGroupTest, TasksMayWaitForTheirTasks) {
  struct Fib {
    static int of(int n) {
      if (n < 2) {
        return n;
      }
      int left = 0;
      WaitGroup group(1);
      schedule([=, &left] {
        left = of(n - 1);
        group.done();
      });
      const int right = of(n - 2);
      group.wait();
      return left + right;
    }
  };
  int result = 0;
  WaitGroup group(1);
  schedule([=, &result] {
    result = Fib::of(15);
    group.done();
  });
  group.wait();
  EXPECT_EQ(result, 610);
}

TEST_P(WaitGroupTest, HandlesInTasksOutliveTheFrameThatMadeThem) {
  Event last;
  {
    WaitGroup group(2, allocator());
    schedule([=] {
      group.wait();
      last.signal();
    });
    schedule([=] { group.done(); });
    schedule([=] { group.done(); });
  }
  last.wait();
}

TEST_P(WaitGroupTest, MayBeDestroyedAsSoonAsWaitReturns) {
  tests::destroyAtOnce<tests::WaitGroupGate>(scheduler(), numWorkers());
}

// The last of two done() must not touch the group once the waiter is back, though the other comes just
// before.
TEST_P(WaitGroupTest, MayBeDestroyedAsSoonAsWaitReturnsFromTwo) {
  const int rounds = scaled(1'000, 300);
  for (int i = 0; i < rounds; ++i) {
    auto group = std::make_unique<WaitGroup>(2, tests::heap());
    for (int j = 0; j < 2; ++j) {
      schedule([group = group.get()] { group->done(); });
    }
    group->wait();
  }
}

using WaitGroupDeathTest = tests::DeathTest;

TEST_F(WaitGroupDeathTest, DoneBelowZero) {
  EXPECT_DEATH(WaitGroup().done(),
               "done\\(\\) called too many times: it was called more often than add\\(\\)");
  EXPECT_DEATH(
      {
        WaitGroup group(1);
        group.done();
        group.done();
      },
      "done\\(\\) called too many times: it was called more often than add\\(\\)");
}

TEST_F(WaitGroupDeathTest, CountBeyondItsLimit) {
  EXPECT_DEATH(WaitGroup(1u << 30), "WaitGroup\\(1073741824\\): the count must be 0 to 1073741823");
  EXPECT_DEATH(WaitGroup(1).add((1u << 30) - 1), "WaitGroup::add\\(1073741823\\) on top of 1");
}

TEST_F(WaitGroupDeathTest, CountsThatAreNegativeAreNotCutOff) {
  const int minusOne = -1;
  EXPECT_DEATH(WaitGroup{minusOne}, "WaitGroup\\(-1\\): the count must be 0 to");
  EXPECT_DEATH(WaitGroup(1).add(minusOne), "WaitGroup::add\\(-1\\) on top of 1: add\\(\\) takes 0 or more");
  EXPECT_DEATH(WaitGroup(1).add(PTRDIFF_MAX),
               "WaitGroup::add\\(" + std::to_string(PTRDIFF_MAX) + "\\) on top of 1");
}

#if PTRDIFF_MAX > INT32_MAX
TEST_F(WaitGroupDeathTest, CountsThatHaveMoreBitsAreNotCutOff) {
  EXPECT_DEATH(WaitGroup().add(0xffffffffu), "WaitGroup::add\\(4294967295\\)");
  EXPECT_DEATH(WaitGroup(1ull << 32), "WaitGroup\\(4294967296\\)");
  EXPECT_DEATH(WaitGroup(1).add((1ull << 32) + 1), "WaitGroup::add\\(4294967297\\) on top of 1");
}
#endif

TEST_F(WaitGroupDeathTest, DestroyedWhileSomebodyWaits) {
  EXPECT_DEATH(
      {
        auto* group = new WaitGroup(1);
        std::thread waiter([=] { group->wait(); });
        awaitThat([&] { return numWaiting(*group) == 1; });
        delete group;
      },
      "WaitGroup was destroyed while somebody waits for it");
}

}  // namespace
}  // namespace weft
