// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/barrier.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "stopping.h"
#include "waiting.h"

namespace weft::tests {
struct BarrierBase {
  friend constexpr auto member(BarrierBase);
};
using Phase = detail::BarrierPhase<>;
template struct Expose<BarrierBase, &detail::BarrierBase::phase_>;
inline int numWaiting(Phase& phase);
template struct ExposeWord<Phase, &Phase::word_>;
template <class F>
int numWaiting(Barrier<F>& barrier) {
  // A private base, which only a C-style cast reaches.
  return numWaiting(((detail::BarrierBase&)barrier).*member(BarrierBase{}));
}
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

// For one wait: two are expected, one of them waits.
struct BarrierGate {
  void wait() { barrier.arrive_and_wait(); }
  bool wait(const std::stop_token& token) { return barrier.wait(mine, token); }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token) {
    return barrier.wait_for(mine, duration, token);
  }
  void wakeOne() { (void)barrier.arrive(); }
  int numWaiting() { return tests::numWaiting(barrier); }
  Barrier<> barrier{2};
  Barrier<>::arrival_token mine = barrier.arrive();
};
struct FreshBarrierGate {
  void wait() { barrier.arrive_and_wait(); }
  void wakeOne() { (void)barrier.arrive(); }
  Barrier<> barrier{2};
};

class BarrierTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(BarrierTest);

// The example of the header.
TEST_P(BarrierTest, KeepsTheExampleOfItsHeader) {
  std::vector<int> now(4, 1), next(4);
  const auto compute = [](const std::vector<int>& from, std::vector<int>& to, int part) {
    to[static_cast<size_t>(part)] = from[static_cast<size_t>(part + 1) % 4] + 1;
  };
  WaitGroup done(4);
  Barrier barrier(4, [&]() noexcept { std::swap(now, next); });
  for (int part = 0; part < 4; ++part) {
    schedule([&, part, done] {
      for (int step = 0; step < 100; ++step) {
        compute(now, next, part);
        barrier.arrive_and_wait();
      }
      done.done();
    });
  }
  done.wait();
  EXPECT_EQ(now, std::vector<int>(4, 101));
}

TEST(UnboundBarrierTest, PhasesEndWhenAllHaveArrived) {
  int numPhases = 0;
  Barrier barrier(3, [&]() noexcept { ++numPhases; });
  auto first = barrier.arrive(2);
  EXPECT_FALSE(barrier.wait_for(first, milliseconds(1)));
  EXPECT_FALSE(barrier.wait_until(first, std::chrono::system_clock::now() + milliseconds(1)));
  EXPECT_EQ(numPhases, 0);
  barrier.arrive_and_wait();
  EXPECT_EQ(numPhases, 1);
  EXPECT_TRUE(barrier.wait_for(first, milliseconds(-1)));
  barrier.wait(std::move(first));
  auto second = barrier.arrive(3);
  EXPECT_EQ(numPhases, 2);
  barrier.wait(std::move(second));
  Barrier<>(0);
  Barrier<> largest(Barrier<>::max());
  (void)largest.arrive(Barrier<>::max());
}

TEST(UnboundBarrierTest, WhoDropsIsExpectedNoMore) {
  int numPhases = 0;
  Barrier barrier(3, [&]() noexcept { ++numPhases; });
  barrier.arrive_and_drop();
  barrier.wait(barrier.arrive(2));
  barrier.wait(barrier.arrive(2));
  EXPECT_EQ(numPhases, 2);
  barrier.arrive_and_drop();
  barrier.arrive_and_drop();
  EXPECT_EQ(numPhases, 3);
}

// In each phase each member adds to a sum, which the completion function looks at alone. A stop that comes in
// between changes nothing.
TEST_P(BarrierTest, NobodyIsAPhaseAheadOrBehind) {
  constexpr int kMembers = 9;
  const int phases = scaled(300, 60);
  std::atomic<int> sum{0};
  int numEnded = 0;
  Barrier barrier(kMembers, [&]() noexcept {
    ++numEnded;
    EXPECT_EQ(sum.exchange(0), kMembers);
  });
  Crew crew(scheduler());
  for (int i = 0; i < kMembers; ++i) {
    crew.start(kindOf(i), [&, i] {
      for (int phase = 0; phase < phases; ++phase) {
        ++sum;
        auto arrival = barrier.arrive();
        std::stop_source source;
        if ((phase + i) % 3 == 0) {
          source.request_stop();
          barrier.wait(arrival, source.get_token());
        } else if ((phase + i) % 3 == 1) {
          barrier.wait_for(arrival, std::chrono::microseconds(phase % 20), source.get_token());
        }
        barrier.wait(std::move(arrival));
        EXPECT_EQ(numEnded, phase + 1);
      }
    });
  }
  crew.join();
}

TEST_P(BarrierTest, MembersMayDropOneByOne) {
  constexpr int kMembers = 12;
  std::atomic<int> numArrived{0};
  std::vector<int> arrivals;
  Crew crew(scheduler());
  Barrier barrier(kMembers, [&]() noexcept { arrivals.push_back(numArrived.exchange(0)); });
  for (int i = 0; i < kMembers; ++i) {
    crew.start(kindOf(i), [&, i] {
      for (int phase = 0; phase < i; ++phase) {
        ++numArrived;
        barrier.arrive_and_wait();
      }
      ++numArrived;
      barrier.arrive_and_drop();
    });
  }
  crew.join();
  std::vector<int> expected(kMembers);
  std::iota(expected.rbegin(), expected.rend(), 1);
  EXPECT_EQ(arrivals, expected);
}

TEST_P(BarrierTest, TheCompletionFunctionMaySuspend) {
  Event mayEnd;
  Crew crew(scheduler());
  std::atomic<bool> hasEnded{false};
  Barrier barrier(3, [&]() noexcept {
    mayEnd.wait();
    hasEnded = true;
  });
  for (int i = 0; i < 3; ++i) {
    crew.start(kindOf(i), [&] {
      barrier.arrive_and_wait();
      EXPECT_TRUE(hasEnded);
    });
  }
  awaitThat([&] { return tests::numWaiting(mayEnd) == 1; });
  EXPECT_FALSE(hasEnded);
  mayEnd.signal();
  crew.join();
}

TEST_P(BarrierTest, StopEndsTheWait) { tests::expectStopEndsTheWait<BarrierGate>(scheduler()); }

TEST_P(BarrierTest, AStopBeforeTheWaitEndsItAtOnceAndAPhaseThatHasEndedWins) {
  tests::expectAStopBeforeTheWaitEndsItAtOnce<BarrierGate>(scheduler());
}

TEST_P(BarrierTest, TimeEndsTheWaitToo) { tests::expectTimeEndsTheWait<BarrierGate>(scheduler()); }

TEST_P(BarrierTest, AnArrivalStandsWhenItsWaitIsStopped) {
  for (Kind kind : kKinds) {
    Barrier<> barrier(2);
    std::stop_source source;
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_FALSE(barrier.arrive_and_wait(source.get_token())); });
    awaitThat([&] { return numWaiting(barrier) == 1; });
    source.request_stop();
    crew.join();
    EXPECT_EQ(numWaiting(barrier), 0);
    barrier.arrive_and_wait();
  }
}

TEST_P(BarrierTest, MayBeDestroyedAsSoonAsWaitReturns) {
  for (Kind kind : kKinds) {
    tests::destroyAsSoonAsWaitReturns<FreshBarrierGate>(scheduler(), kind, scaled(2'000, 500));
  }
}

TEST_P(BarrierTest, MayBeDestroyedAsSoonAsStopped) {
  tests::destroyAsSoonAsStopped<BarrierGate>(scheduler(), scaled(500, 100));
}

using BarrierDeathTest = tests::DeathTest;

TEST_F(BarrierDeathTest, CountsThatAreOutOfRange) {
  EXPECT_DEATH(Barrier<>(-1), "Barrier\\(-1\\): the count must be 0 to 2147483647");
#if PTRDIFF_MAX > INT32_MAX
  EXPECT_DEATH(Barrier<>(Barrier<>::max() + 1), "Barrier\\(2147483648\\)");
#endif
}

TEST_F(BarrierDeathTest, MoreArriveThanAreExpected) {
  EXPECT_DEATH((void)Barrier<>(2).arrive(3),
               "Barrier::arrive\\(\\): 3 arrive where fewer are still expected");
  EXPECT_DEATH((void)Barrier<>(2).arrive(-1), "Barrier::arrive\\(\\): -1 arrive where fewer");
  EXPECT_DEATH(Barrier<>(0).arrive_and_wait(), "Barrier::arrive_and_wait\\(\\): 1 arrive where fewer");
  EXPECT_DEATH(Barrier<>(0).arrive_and_drop(), "arrive_and_drop\\(\\): nobody is expected any more");
}

TEST_F(BarrierDeathTest, WaitingWithAnArrivalThatIsNotItsOwn) {
  EXPECT_DEATH(
      {
        Barrier<> one(1);
        Barrier<> other(1);
        one.wait(other.arrive());
      },
      "Barrier::wait\\(\\) was called with an arrival of another barrier");
  EXPECT_DEATH(
      {
        Barrier<> barrier(1);
        auto arrival = barrier.arrive();
        barrier.wait(std::move(arrival));
        barrier.wait(std::move(arrival));
      },
      "or one that was waited with or moved from");
}

TEST_F(BarrierDeathTest, DestroyedWhileSomebodyWaits) {
  EXPECT_DEATH(
      {
        auto* barrier = new Barrier<>(2);
        std::thread waiter([=] { barrier->arrive_and_wait(); });
        awaitThat([&] { return numWaiting(*barrier) == 1; });
        delete barrier;
      },
      "Barrier was destroyed while somebody waits for it");
}

}  // namespace
}  // namespace weft
