// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/latch.h>

#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include <weft/scheduler.h>

#include "stopping.h"
#include "waiting.h"

namespace weft::tests {
inline int numWaiting(Latch& latch);
template struct ExposeCore<Latch, &Latch::core_, &detail::LatchCore<>::word_>;
}  // namespace weft::tests

namespace weft {
namespace {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kindOf;
using tests::kKinds;
using tests::milliseconds;
using tests::numWaiting;
using tests::scaled;

// For one wait.
struct LatchGate {
  void wait() { latch.wait(); }
  bool wait(const std::stop_token& token) { return latch.wait(token); }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token) {
    return latch.wait_for(duration, token);
  }
  void wakeOne() { latch.count_down(); }
  int numWaiting() { return tests::numWaiting(latch); }
  Latch latch{1};
};

class LatchTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(LatchTest);

// The example of the header.
TEST_P(LatchTest, KeepsTheExampleOfItsHeader) {
  std::atomic<int> numLoaded{0};
  const auto load = [&](const char*) { ++numLoaded; };
  Latch loaded(3);
  for (const char* name : {"map", "units", "sounds"}) {
    schedule([&load, &loaded, name] {
      load(name);
      loaded.count_down();
    });
  }
  loaded.wait();
  EXPECT_EQ(numLoaded, 3);
}

TEST(UnboundLatchTest, OpensAtZero) {
  Latch latch(5);
  latch.count_down(0);
  latch.count_down(2);
  EXPECT_FALSE(latch.try_wait());
  EXPECT_FALSE(latch.wait_for(milliseconds(1)));
  EXPECT_FALSE(latch.wait_until(std::chrono::system_clock::now() + milliseconds(1)));
  latch.count_down(3);
  EXPECT_TRUE(latch.try_wait());
  latch.wait();
  latch.count_down(0);
  EXPECT_TRUE(latch.wait_for(milliseconds(-1)));
  Latch(0).wait();
  EXPECT_FALSE(Latch(Latch::max()).try_wait());
}

TEST_P(LatchTest, WakesWaitersOfEveryKind) {
  constexpr int kWaiters = 30;
  Latch latch(2);
  std::atomic<bool> isDone{false};
  Crew crew(scheduler());
  for (int i = 0; i < kWaiters; ++i) {
    crew.start(kindOf(i), [&] {
      latch.wait();
      EXPECT_TRUE(isDone);
    });
  }
  awaitThat([&] { return numWaiting(latch) == kWaiters; });
  latch.count_down();
  EXPECT_EQ(numWaiting(latch), kWaiters);
  isDone = true;
  latch.count_down();
}

class LatchOnOneThreadTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, LatchOnOneThreadTest, ::testing::Values(0, 1));

TEST_P(LatchOnOneThreadTest, WakesFirstInFirstOut) {
  Latch latch(1);
  tests::expectAllWokenFirstInFirstOut([&] { latch.wait(); }, [&] { return numWaiting(latch); },
                                       [&] { latch.count_down(); });
}

TEST_P(LatchTest, WhoArrivesAndWaitsSeesWhatAllHaveWritten) {
  constexpr int kMembers = 12;
  for (int round = 0; round < scaled(30, 10); ++round) {
    std::vector<int> results(kMembers);
    Latch latch(kMembers);
    Crew crew(scheduler());
    for (int i = 0; i < kMembers; ++i) {
      crew.start(kindOf(i), [&, i] {
        results[static_cast<size_t>(i)] = round;
        latch.arrive_and_wait();
        EXPECT_EQ(results, std::vector<int>(kMembers, round));
      });
    }
  }
}

TEST_P(LatchTest, StopEndsTheWait) { tests::expectStopEndsTheWait<LatchGate>(scheduler()); }

TEST_P(LatchTest, AStopBeforeTheWaitEndsItAtOnceAndAnOpenLatchWins) {
  tests::expectAStopBeforeTheWaitEndsItAtOnce<LatchGate>(scheduler());
}

TEST_P(LatchTest, TimeEndsTheWaitToo) { tests::expectTimeEndsTheWait<LatchGate>(scheduler()); }

// Whoever was stopped, or whose time was up, finds the latch open later.
TEST_P(LatchTest, StopAndTimeAgainstTheLastCountDown) {
  for (Kind kind : kKinds) {
    const int rounds = kind == Kind::Task ? scaled(500, 100) : scaled(50, 20);
    for (int i = 0; i < rounds; ++i) {
      Latch latch(1);
      std::stop_source source;
      Crew crew(scheduler());
      crew.start(kind, [&] {
        if (!latch.wait_for(std::chrono::microseconds(i % 100), source.get_token())) {
          EXPECT_TRUE(latch.wait(std::stop_token()));
        }
      });
      crew.start(kind, [&] { source.request_stop(); });
      latch.count_down();
    }
  }
}

TEST_P(LatchTest, MayBeDestroyedAsSoonAsWaitReturns) {
  for (Kind kind : kKinds) {
    tests::destroyAsSoonAsWaitReturns<LatchGate>(scheduler(), kind, scaled(2'000, 500));
  }
}

TEST_P(LatchTest, MayBeDestroyedAsSoonAsStopped) {
  tests::destroyAsSoonAsStopped<LatchGate>(scheduler(), scaled(500, 100));
}

using LatchDeathTest = tests::DeathTest;

TEST_F(LatchDeathTest, CountsThatAreOutOfRange) {
  EXPECT_DEATH(Latch(-1), "Latch\\(-1\\): the count must be 0 to 1073741823");
  EXPECT_DEATH(Latch(Latch::max() + 1), "Latch\\(1073741824\\)");
  EXPECT_DEATH(Latch(2).count_down(3), "Latch::count_down\\(3\\): the count is 2");
  EXPECT_DEATH(Latch(2).count_down(-1), "Latch::count_down\\(-1\\): the count is 2");
  EXPECT_DEATH(Latch(0).count_down(), "Latch::count_down\\(1\\): the count is 0");
}

TEST_F(LatchDeathTest, DestroyedWhileSomebodyWaits) {
  EXPECT_DEATH(
      {
        auto* latch = new Latch(1);
        std::thread waiter([=] { latch->wait(); });
        awaitThat([&] { return numWaiting(*latch) == 1; });
        delete latch;
      },
      "Latch was destroyed while somebody waits for it");
}

}  // namespace
}  // namespace weft
