// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/park/parker.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "waiting.h"

namespace weft::tests {

struct ParkerState {
  friend constexpr auto member(ParkerState);
};
template struct Expose<ParkerState, &detail::Parker<>::state_>;

}  // namespace weft::tests

namespace weft::inline v0_1::detail {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(ParkerTest, APermitGivenBeforeIsConsumedAndPermitsMerge) {
  Parker<> parker;
  parker.unpark();
  parker.unpark();
  parker.park();
  EXPECT_FALSE(parker.tryPark());
  EXPECT_FALSE(parker.parkUntil(Clock::now() - 1s));
}

TEST(ParkerTest, ParkUntilTimesOutAndNotEarly) {
  Parker<> parker;
  const auto deadline = Clock::now() + 20ms;
  EXPECT_FALSE(parker.parkUntil(deadline));
  EXPECT_GE(Clock::now(), deadline);
  EXPECT_FALSE(parker.parkUntil(TimePoint::min()));
  EXPECT_FALSE(parker.parkUntil(TimePoint()));
  parker.unpark();
  EXPECT_TRUE(parker.parkUntil(TimePoint::min()));
}

TEST(ParkerTest, ParkUntilMaxWaitsForThePermit) {
  Parker<> parker;
  std::atomic<bool> isBack{false};
  std::thread waker([&] {
    while (!isBack && (parker.*member(tests::ParkerState{})).load() == 0) {
      std::this_thread::yield();
    }
    parker.unpark();
  });
  EXPECT_TRUE(parker.parkUntil(TimePoint::max()));
  isBack = true;
  waker.join();
}

// Its owner sleeps by read(), which also ends the ring.
TEST(ParkerTest, NoPermitIsLostWhereOneThreadSleepsElsewhere) {
  Parker<>* first = acquireParker();
  Parker<>* second = acquireParker();
  if (first->wakeFd() < 0) {
    first->setWakeFd(eventfd(0, EFD_CLOEXEC));
  }
  int ball = 0;  // handed over by the permits alone
  constexpr int kRounds = 5'000;
  std::thread other([&] {
    for (int i = 0; i < kRounds; i++) {
      if (first->beginElsewhere()) {
        uint64_t rings = 0;
        ASSERT_EQ(read(first->wakeFd(), &rings, sizeof rings), 8);
        ASSERT_TRUE(first->endElsewhere());
      }
      ball++;
      second->unpark();
    }
  });
  for (int i = 0; i < kRounds; i++) {
    ball++;
    first->unpark();
    second->park();
    ASSERT_EQ(ball, 2 * i + 2);
  }
  other.join();
  releaseParker(second);
  releaseParker(first);
}

TEST(ParkerTest, ASleepElsewhereBeginsNotWhereAPermitIsThereAndConsumesIt) {
  Parker<> parker;
  parker.setWakeFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  parker.unpark();
  EXPECT_FALSE(parker.beginElsewhere());
  EXPECT_TRUE(parker.beginElsewhere());
  EXPECT_FALSE(parker.endElsewhere());
  EXPECT_TRUE(parker.beginElsewhere());
  parker.unpark();
  uint64_t rings = 0;
  EXPECT_EQ(read(parker.wakeFd(), &rings, sizeof rings), 8) << "the wakeFd has rung";
  EXPECT_TRUE(parker.endElsewhere());
  EXPECT_FALSE(parker.tryPark());
  parker.unpark();
  EXPECT_EQ(read(parker.wakeFd(), &rings, sizeof rings), -1) << "nobody sleeps, so that it does not ring";
  close(parker.wakeFd());
}

TEST(ParkerTest, NoPermitIsLostBetweenTwoThreads) {
  Parker<>* first = acquireParker();
  Parker<>* second = acquireParker();
  ASSERT_NE(first, second);
  int ball = 0;  // handed over by the permits alone
  constexpr int kRounds = 5'000;
  std::thread other([&] {
    for (int i = 0; i < kRounds; i++) {
      first->park();
      ball++;
      second->unpark();
    }
  });
  for (int i = 0; i < kRounds; i++) {
    first->unpark();
    second->park();
    ASSERT_EQ(ball, i + 1);
  }
  other.join();
  releaseParker(first);
  releaseParker(second);
}

TEST(ParkerTest, ATimeoutAndAnUnparkNeverBothWin) {
  Parker<>* parker = acquireParker();
  std::atomic<int> round{0};
  constexpr int kRounds = 3'000;
  std::thread waker([&] {
    for (int i = 1; i <= kRounds; i++) {
      while (round.load() != i) {
        std::this_thread::yield();
      }
      parker->unpark();
    }
  });
  for (int i = 1; i <= kRounds; i++) {
    round.store(i);
    if (!parker->parkUntil(Clock::now() + std::chrono::microseconds(i % 50))) {
      parker->park();
    }
    ASSERT_FALSE(parker->tryPark());
  }
  waker.join();
  releaseParker(parker);
}

TEST(ParkerTest, ParkersAreApartAndRecycled) {
  std::set<Parker<>*> parkers;
  for (int i = 0; i < 300; i++) {
    Parker<>* parker = acquireParker();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(parker) % kCacheLine, 0u);
    EXPECT_TRUE(parkers.insert(parker).second);
  }
  for (Parker<>* parker : parkers) {
    releaseParker(parker);
  }
  Parker<>* again = acquireParker();
  EXPECT_EQ(parkers.count(again), 1u);
  // A late unpark of the parker's last owner is no more than a permit.
  again->unpark();
  EXPECT_TRUE(again->tryPark());
  releaseParker(again);
}

TEST(ParkerTest, EveryThreadHasItsOwnParker) {
  Parker<>* own = &threadParker();
  EXPECT_EQ(own, &threadParker());
  Parker<>* ofOther = nullptr;
  std::thread([&] { ofOther = &threadParker(); }).join();
  EXPECT_NE(own, ofOther);
}

struct ParksAtThreadExit {
  ~ParksAtThreadExit() {
    threadParker().unpark();
    threadParker().park();
  }
};

TEST(ParkerTest, ThreadLocalDestructorsMayPark) {
  std::thread([] {
    // Constructed first, so destroyed after the thread's parker has been given back.
    static thread_local ParksAtThreadExit late;
    (void)&late;
    threadParker().unpark();
    threadParker().park();
  }).join();
}

// Otherwise each such thread would keep a parker for ever.
TEST(ParkerTest, AThreadGivesBackAParkerThatItGotWhileItEnded) {
  const auto anyParker = [] {
    Parker<>* parker = acquireParker();
    releaseParker(parker);
    return parker;
  };
  struct ParksWhenDestroyed {
    ~ParksWhenDestroyed() {
      threadParker().unpark();
      threadParker().park();
    }
  };
  Parker<>* const next = anyParker();
  std::thread([] {
    static thread_local ParksWhenDestroyed late;  // made before the thread has a parker, destroyed afterwards
    (void)&late;
    threadParker().unpark();
    threadParker().park();
  }).join();
  EXPECT_EQ(anyParker(), next);
}

// Dekker's pattern over the asymmetric fences: one of the two sees the other.
TEST(SyncTest, LightAndHeavyFenceOrderAStoreBeforeALoad) {
  constexpr int kRounds = 3'000;
  std::atomic<int> light{0}, heavy{0}, arrived{0};
  std::vector<int> seenByLight(kRounds + 1), seenByHeavy(kRounds + 1);
  const auto meet = [&](int i) {
    arrived.fetch_add(1);
    uint32_t round = 0;
    while (arrived.load() < 2 * i) {
      StdSync::relax(round);
    }
  };
  std::thread other([&] {
    for (int i = 1; i <= kRounds; i++) {
      meet(i);
      light.store(i, std::memory_order_relaxed);
      StdSync::lightFence();
      seenByLight[static_cast<size_t>(i)] = heavy.load(std::memory_order_relaxed);
    }
  });
  for (int i = 1; i <= kRounds; i++) {
    meet(i);
    heavy.store(i, std::memory_order_relaxed);
    StdSync::heavyFence();
    seenByHeavy[static_cast<size_t>(i)] = light.load(std::memory_order_relaxed);
  }
  other.join();
  for (size_t i = 1; i <= kRounds; i++) {
    EXPECT_TRUE(seenByLight[i] >= static_cast<int>(i) || seenByHeavy[i] >= static_cast<int>(i)) << i;
  }
}

}  // namespace
}  // namespace weft::inline v0_1::detail
