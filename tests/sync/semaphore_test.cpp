// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/semaphore.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "waiting.h"

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

constexpr uint32_t kMost = (1u << 30) - 1;

class SemaphoreTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(SemaphoreTest);

class UnboundSemaphoreTest : public tests::WithAllocator {};

TEST_F(UnboundSemaphoreTest, GivesAsManyPermitsAsItHas) {
  const Semaphore semaphore(2, allocator());
  semaphore.acquire();
  EXPECT_TRUE(semaphore.try_acquire());
  EXPECT_FALSE(semaphore.try_acquire());
  EXPECT_FALSE(semaphore.try_acquire_for(milliseconds(1)));
  semaphore.release(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(semaphore.try_acquire());
  }
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST_F(UnboundSemaphoreTest, ReleasingNothingChangesNothing) {
  const Semaphore semaphore;
  semaphore.release(0);
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST_F(UnboundSemaphoreTest, CountsUpToItsLimit) {
  const Semaphore semaphore(kMost - 1);
  semaphore.release();
  EXPECT_TRUE(semaphore.try_acquire());
  semaphore.release();
  const Semaphore other;
  other.release(kMost);
  EXPECT_TRUE(other.try_acquire());
}

TEST_F(UnboundSemaphoreTest, CopiesAreOneSemaphoreAndMovesKeepIt) {
  Semaphore semaphore(0, allocator());
  const Semaphore copy = semaphore;
  const Semaphore moved = std::move(semaphore);
  copy.release();
  EXPECT_TRUE(moved.try_acquire());
}

TEST_P(SemaphoreTest, ReleaseWakesAWaiterOfEachKind) {
  for (Kind kind : kKinds) {
    Semaphore semaphore;
    Crew crew(scheduler());
    crew.start(kind, [&] { semaphore.acquire(); });
    awaitThat([&] { return numWaiting(semaphore) == 1; });
    semaphore.release();
    crew.join();
    EXPECT_FALSE(semaphore.try_acquire());
  }
}

TEST_P(SemaphoreTest, WakesFirstInFirstOut) {
  tests::expectFirstInFirstOut<tests::SemaphoreGate>(scheduler());
}

TEST_P(SemaphoreTest, TwoReleasesWakeTwoWaiters) {
  for (Kind first : kKinds) {
    for (Kind second : kKinds) {
      tests::expectTwoWakesWakeTwo<tests::SemaphoreGate>(scheduler(), first, second);
    }
  }
}

TEST_P(SemaphoreTest, ReleaseOfManyServesTheWaitersFirst) {
  constexpr int kWaiters = 6;
  Semaphore semaphore;
  Crew crew(scheduler());
  for (int i = 0; i < kWaiters; ++i) {
    crew.start(kindOf(i), [&] { semaphore.acquire(); });
  }
  awaitThat([&] { return numWaiting(semaphore) == kWaiters; });
  semaphore.release(4);
  EXPECT_EQ(numWaiting(semaphore), 2);
  EXPECT_FALSE(semaphore.try_acquire());
  semaphore.release(5);
  EXPECT_EQ(numWaiting(semaphore), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(semaphore.try_acquire());
  }
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST_P(SemaphoreTest, WaitThatTimesOutLeavesNothingBehindAndTakesNothing) {
  for (Kind kind : kKinds) {
    Crew crew(scheduler());
    crew.start(kind, [] {
      const Semaphore semaphore;
      EXPECT_FALSE(semaphore.try_acquire_for(milliseconds(1)));
      EXPECT_FALSE(semaphore.try_acquire_until(std::chrono::system_clock::now() + milliseconds(1)));
      EXPECT_FALSE(semaphore.try_acquire_until(std::chrono::steady_clock::now() - milliseconds(1)));
      EXPECT_EQ(numWaiting(semaphore), 0);
      semaphore.release();
      EXPECT_TRUE(semaphore.try_acquire_for(milliseconds(-1)));
      EXPECT_FALSE(semaphore.try_acquire());
    });
  }
}

TEST_P(SemaphoreTest, TimeoutAgainstReleaseLosesNoPermit) {
  const int rounds = scaled(2'000, 300);
  for (Kind kind : kKinds) {
    const Semaphore semaphore;
    Event next;
    Crew crew(scheduler());
    crew.start(kind, [=] {
      for (int i = 0; i < rounds; ++i) {
        if (!semaphore.try_acquire_for(std::chrono::microseconds(i % 50))) {
          semaphore.acquire();
        }
        next.signal();
      }
    });
    for (int i = 0; i < rounds; ++i) {
      semaphore.release();
      next.wait();
    }
    crew.join();
    EXPECT_FALSE(semaphore.try_acquire());
  }
}

TEST_P(SemaphoreTest, LetsNoMoreInThanItHasPermits) {
  constexpr int kPermits = 3;
  const int rounds = scaled(600, 100);
  const Semaphore semaphore(kPermits);
  std::atomic<int> numInside{0};
  Crew crew(scheduler());
  for (int i = 0; i < 12; ++i) {
    crew.start(kindOf(i), [&, i] {
      for (int round = 0; round < rounds; ++round) {
        if (round % 3 == 0) {
          while (!semaphore.try_acquire_for(std::chrono::microseconds(i))) {
          }
        } else {
          semaphore.acquire();
        }
        EXPECT_LE(++numInside, kPermits);
        if (round % 16 == i) {
          yield();
        }
        --numInside;
        semaphore.release();
      }
    });
  }
  crew.join();
  for (int i = 0; i < kPermits; ++i) {
    EXPECT_TRUE(semaphore.try_acquire());
  }
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST_F(UnboundSemaphoreTest, AcquiresSeveralAtOnceOrNone) {
  const Semaphore semaphore(5, allocator());
  EXPECT_FALSE(semaphore.try_acquire(6));
  EXPECT_FALSE(semaphore.try_acquire_for(6, milliseconds(1)));
  EXPECT_FALSE(semaphore.try_acquire_until(6, std::chrono::system_clock::now() + milliseconds(1)));
  semaphore.acquire(2);
  EXPECT_FALSE(semaphore.try_acquire(4));
  EXPECT_TRUE(semaphore.try_acquire(3));
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST_F(UnboundSemaphoreTest, AcquiresNothingAtOnce) {
  const Semaphore semaphore;
  std::stop_source stop;
  stop.request_stop();
  semaphore.acquire(0);
  EXPECT_TRUE(semaphore.try_acquire(0));
  EXPECT_TRUE(semaphore.acquire(0, stop.get_token()));
  EXPECT_TRUE(semaphore.try_acquire_for(0, milliseconds(-1)));
  EXPECT_FALSE(semaphore.acquire(1, stop.get_token()));
}

TEST_P(SemaphoreTest, AWaiterForSeveralGetsThemAllAtOnce) {
  for (Kind kind : kKinds) {
    Semaphore semaphore(1);
    std::atomic<bool> hasThem{false};
    Crew crew(scheduler());
    crew.start(kind, [&] {
      semaphore.acquire(4);
      hasThem = true;
    });
    awaitThat([&] { return numWaiting(semaphore) == 1; });
    semaphore.release(2);
    EXPECT_EQ(numWaiting(semaphore), 1);
    EXPECT_FALSE(hasThem);
    semaphore.release(2);
    EXPECT_EQ(numWaiting(semaphore), 0);
    crew.join();
    EXPECT_TRUE(hasThem);
    EXPECT_TRUE(semaphore.try_acquire());
    EXPECT_FALSE(semaphore.try_acquire());
  }
}

TEST_P(SemaphoreTest, NobodyPassesAWaiterForSeveral) {
  for (Kind kind : kKinds) {
    Semaphore semaphore(2);
    Crew crew(scheduler());
    crew.start(kind, [&] { semaphore.acquire(3); });
    awaitThat([&] { return numWaiting(semaphore) == 1; });
    EXPECT_FALSE(semaphore.try_acquire());
    crew.start(kind, [&] { semaphore.acquire(); });
    awaitThat([&] { return numWaiting(semaphore) == 2; });
    semaphore.release();
    EXPECT_EQ(numWaiting(semaphore), 1);
    semaphore.release();
    EXPECT_EQ(numWaiting(semaphore), 0);
    crew.join();
    EXPECT_FALSE(semaphore.try_acquire());
  }
}

TEST_P(SemaphoreTest, AWaiterThatGivesUpLeavesItsPermitsToThoseBehind) {
  for (Kind kind : kKinds) {
    Semaphore semaphore(2);
    std::stop_source stop;
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_FALSE(semaphore.acquire(4, stop.get_token())); });
    awaitThat([&] { return numWaiting(semaphore) == 1; });
    crew.start(kind, [&] { EXPECT_TRUE(semaphore.acquire(1, std::stop_token())); });
    awaitThat([&] { return numWaiting(semaphore) == 2; });
    stop.request_stop();
    crew.join();
    EXPECT_TRUE(semaphore.try_acquire());
    EXPECT_FALSE(semaphore.try_acquire());
  }
}

TEST_P(SemaphoreTest, ATimeoutOfAWaiterForSeveralGivesBackWhatWasKeptForIt) {
  for (Kind kind : kKinds) {
    const Semaphore semaphore(2);
    Crew crew(scheduler());
    crew.start(kind, [=] {
      EXPECT_FALSE(semaphore.try_acquire_for(3, milliseconds(1)));
      EXPECT_TRUE(semaphore.try_acquire(2));
    });
    crew.join();
  }
}

TEST_P(SemaphoreTest, WaitersForDifferentNumbersExcludeEachOther) {
  constexpr int kPermits = 4;
  const int rounds = scaled(400, 60);
  const Semaphore semaphore(kPermits);
  std::atomic<int> numInside{0};
  Crew crew(scheduler());
  for (int i = 0; i < 9; ++i) {
    crew.start(kindOf(i), [&, i] {
      const int count = i % kPermits + 1;
      for (int round = 0; round < rounds; ++round) {
        while (!semaphore.try_acquire_for(count, std::chrono::microseconds(round % 7 == 0 ? i : 1'000'000))) {
        }
        EXPECT_LE(numInside += count, kPermits);
        if (round % 16 == i) {
          yield();
        }
        numInside -= count;
        semaphore.release(count);
      }
    });
  }
  crew.join();
  EXPECT_TRUE(semaphore.try_acquire(kPermits));
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST_P(SemaphoreTest, HandlesInTasksOutliveTheFrameThatMadeThem) {
  Event last;
  {
    Semaphore semaphore(0, allocator());
    schedule([=] {
      semaphore.acquire();
      last.signal();
    });
    schedule([=] { semaphore.release(); });
  }
  last.wait();
}

TEST_P(SemaphoreTest, MayBeDestroyedAsSoonAsAcquireReturns) {
  tests::destroyAtOnce<tests::SemaphoreGate>(scheduler(), numWorkers());
}

TEST_F(UnboundSemaphoreTest, APermitIsGivenBackAtTheEndOfItsScope) {
  const Semaphore semaphore(3, allocator());
  {
    const Semaphore::Permit one = semaphore.hold();
    const auto two = semaphore.hold(2);
    EXPECT_EQ(one.count(), 1);
    EXPECT_EQ(two.count(), 2);
    EXPECT_FALSE(semaphore.try_acquire());
  }
  EXPECT_TRUE(semaphore.try_acquire(3));
}

TEST_F(UnboundSemaphoreTest, APermitIsGivenBackAfterAnException) {
  const Semaphore semaphore(1, allocator());
  const auto fail = [&] {
    const auto permit = semaphore.hold();
    throw std::runtime_error("within");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_TRUE(semaphore.try_acquire());
}

TEST_F(UnboundSemaphoreTest, APermitThatWasNotThereIsEmpty) {
  const Semaphore semaphore(1, allocator());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(semaphore.tryHold(2));
  const auto permit = semaphore.tryHold();
  EXPECT_TRUE(permit);
  EXPECT_FALSE(semaphore.tryHold());
  EXPECT_FALSE(semaphore.hold(stop.get_token()));
  EXPECT_FALSE(semaphore.hold(2, stop.get_token()));
  EXPECT_TRUE(semaphore.hold(0, stop.get_token()));
  EXPECT_EQ(Semaphore::Permit().count(), 0);
}

TEST_F(UnboundSemaphoreTest, APermitIsGivenBackOnceHoweverOftenItIsMovedAndReleased) {
  const Semaphore semaphore(4, allocator());
  auto first = semaphore.hold(3);
  auto second = std::move(first);
  EXPECT_FALSE(first);
  first.release();
  EXPECT_FALSE(semaphore.try_acquire(2));
  auto third = semaphore.hold();
  third = std::move(second);  // gives its own back
  EXPECT_EQ(third.count(), 3);
  EXPECT_TRUE(semaphore.try_acquire());
  EXPECT_FALSE(semaphore.try_acquire());
  third.release();
  EXPECT_FALSE(third);
  EXPECT_EQ(third.count(), 0);
  third.release();
  EXPECT_TRUE(semaphore.try_acquire(3));
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST_F(UnboundSemaphoreTest, APermitTakesOverWhatWasAcquired) {
  const Semaphore semaphore(2, allocator());
  EXPECT_TRUE(semaphore.try_acquire_for(2, milliseconds(1)));
  {
    const auto permit = Semaphore::Permit::adopt(semaphore, 2);
  }
  EXPECT_TRUE(semaphore.try_acquire(2));
}

TEST_P(SemaphoreTest, APermitMayEndInATaskAndOutliveTheSemaphoresOtherHandles) {
  Event last;
  {
    Semaphore semaphore(1, allocator());
    schedule([permit = semaphore.hold()] {});
    schedule([semaphore, last] {
      semaphore.acquire();
      last.signal();
    });
  }
  last.wait();
  const auto permit = Semaphore(1, allocator()).hold();
  EXPECT_TRUE(permit);
}

using SemaphoreDeathTest = tests::DeathTest;

TEST_F(SemaphoreDeathTest, CountBeyondItsLimit) {
  EXPECT_DEATH(Semaphore(kMost + 1), "Semaphore\\(1073741824\\): the count must be 0 to 1073741823");
  EXPECT_DEATH(Semaphore(1).release(kMost), "Semaphore::release\\(1073741823\\) on top of 1");
}

TEST_F(SemaphoreDeathTest, CountsThatAreNegativeAreNotCutOff) {
  EXPECT_DEATH(Semaphore(-1), "Semaphore\\(-1\\): the count must be 0 to");
  EXPECT_DEATH(Semaphore(1).release(-1),
               "Semaphore::release\\(-1\\) on top of 1: release\\(\\) takes 0 or more");
  EXPECT_DEATH(Semaphore(1).release(PTRDIFF_MAX),
               "Semaphore::release\\(" + std::to_string(PTRDIFF_MAX) + "\\) on top of 1");
}

#if PTRDIFF_MAX > INT32_MAX
TEST_F(SemaphoreDeathTest, CountsThatHaveMoreBitsAreNotCutOff) {
  EXPECT_DEATH(Semaphore().release(0xffffffffu), "Semaphore::release\\(4294967295\\)");
  EXPECT_DEATH(Semaphore(1ull << 32), "Semaphore\\(4294967296\\)");
  EXPECT_DEATH(Semaphore(1).release((1ull << 32) + 1), "Semaphore::release\\(4294967297\\) on top of 1");
  EXPECT_DEATH((void)Semaphore(1).acquire(1ll << 32, std::stop_token()), "4294967296 permits");
}
#endif

TEST_F(SemaphoreDeathTest, AcquiringANumberBeyondItsLimit) {
  const Semaphore semaphore(1);
  EXPECT_DEATH(semaphore.acquire(-1), "-1 permits were to be acquired: the number must be 0 to 1073741823");
  EXPECT_DEATH((void)semaphore.try_acquire(kMost + 1), "1073741824 permits were to be acquired");
  EXPECT_DEATH((void)semaphore.try_acquire_for(-2, milliseconds(1)), "-2 permits were to be acquired");
}

TEST_F(SemaphoreDeathTest, ReleaseBeyondTheLimitWhileSomebodyWaits) {
  EXPECT_DEATH(
      {
        const Semaphore semaphore(2);
        std::thread waiter([=] { semaphore.acquire(kMost); });
        awaitThat([&] { return numWaiting(semaphore) == 1; });
        semaphore.release(kMost - 1);
      },
      "Semaphore::release\\(1073741822\\) on top of 2");
}

// Each of them alone is within the limit.
TEST_F(SemaphoreDeathTest, ReleasesThatRaceGoBeyondTheLimit) {
  EXPECT_DEATH(
      for (int round = 0; round < 10'000; ++round) {
        const Semaphore semaphore;
        std::thread other([=] { semaphore.release(kMost / 2 + 2); });
        semaphore.release(kMost / 2 + 2);
        other.join();
      },
      "Semaphore::release\\(536870913\\) on top of 536870913");
}

TEST_F(SemaphoreDeathTest, DestroyedWhileSomebodyWaits) {
  EXPECT_DEATH(
      {
        auto* semaphore = new Semaphore();
        std::thread waiter([=] { semaphore->acquire(); });
        awaitThat([&] { return numWaiting(*semaphore) == 1; });
        delete semaphore;
      },
      "Semaphore was destroyed while somebody waits for it");
}

}  // namespace
}  // namespace weft
