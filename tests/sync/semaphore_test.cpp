// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/semaphore.h>

#include <atomic>
#include <chrono>
#include <cstdint>
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

using SemaphoreDeathTest = tests::DeathTest;

TEST_F(SemaphoreDeathTest, CountBeyondItsLimit) {
  EXPECT_DEATH(Semaphore(kMost + 1), "Semaphore\\(1073741824\\): the count must be 0 to 1073741823");
  EXPECT_DEATH(Semaphore(1).release(kMost), "Semaphore::release\\(1073741823\\) on top of 1");
  EXPECT_DEATH(Semaphore().release(0xffffffffu), "Semaphore::release\\(4294967295\\)");
}

TEST_F(SemaphoreDeathTest, CountsThatAreNegativeOrHaveMoreBitsAreNotCutOff) {
  EXPECT_DEATH(Semaphore(-1), "Semaphore\\(-1\\): the count must be 0 to");
  EXPECT_DEATH(Semaphore(1ull << 32), "Semaphore\\(4294967296\\)");
  EXPECT_DEATH(Semaphore(1).release(-1),
               "Semaphore::release\\(-1\\) on top of 1: release\\(\\) takes 0 or more");
  EXPECT_DEATH(Semaphore(1).release((1ull << 32) + 1), "Semaphore::release\\(4294967297\\) on top of 1");
  EXPECT_DEATH(Semaphore(1).release(PTRDIFF_MAX), "Semaphore::release\\(9223372036854775807\\) on top of 1");
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
