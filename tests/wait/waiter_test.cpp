// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/waiter.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <weft/detail/base/spin_lock.h>
#include <weft/event.h>

#include "waiting.h"

namespace weft::inline v0_1::detail {
namespace {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::scaled;

std::vector<Waiter*> inOrder(const WaitList& list) {
  std::vector<Waiter*> result;
  for (Waiter* waiter = list.front(); waiter != nullptr; waiter = waiter->next) {
    result.push_back(waiter);
  }
  return result;
}

TEST(WaitListTest, IsFirstInFirstOut) {
  Waiter a, b, c;
  WaitList list;
  EXPECT_TRUE(list.isEmpty());
  EXPECT_EQ(list.popFront(), nullptr);
  list.pushBack(a);
  list.pushBack(b);
  list.pushBack(c);
  EXPECT_EQ(list.front(), &a);
  EXPECT_EQ(list.popFront(), &a);
  EXPECT_FALSE(a.isLinked);
  EXPECT_TRUE(b.isLinked);
  EXPECT_EQ(list.popFront(), &b);
  EXPECT_EQ(list.popFront(), &c);
  EXPECT_TRUE(list.isEmpty());
}

TEST(WaitListTest, PushFrontPutsAWaiterFirst) {
  Waiter a, b, c;
  WaitList list;
  list.pushFront(a);
  list.pushBack(b);
  list.pushFront(c);
  EXPECT_EQ(inOrder(list), (std::vector<Waiter*>{&c, &a, &b}));
}

TEST(WaitListTest, RemovesFromAnyPlace) {
  for (int removed = 0; removed < 3; ++removed) {
    Waiter waiters[3];
    WaitList list;
    std::vector<Waiter*> left;
    for (Waiter& waiter : waiters) {
      list.pushBack(waiter);
      if (&waiter != &waiters[removed]) {
        left.push_back(&waiter);
      }
    }
    list.remove(waiters[removed]);
    EXPECT_FALSE(waiters[removed].isLinked);
    EXPECT_EQ(inOrder(list), left);
    list.pushBack(waiters[removed]);
    left.push_back(&waiters[removed]);
    EXPECT_EQ(inOrder(list), left);
  }
}

TEST(WaitListTest, ClaimAllTakesEveryWaiterInOrder) {
  Waiter a, b;
  WaitList list, claimed;
  list.pushBack(a);
  list.pushBack(b);
  claimed.claimAll(list);
  EXPECT_TRUE(list.isEmpty());
  EXPECT_EQ(inOrder(claimed), (std::vector<Waiter*>{&a, &b}));
  EXPECT_FALSE(a.isLinked);
  EXPECT_FALSE(b.isLinked);
  WaitList none;
  none.claimAll(list);
  EXPECT_TRUE(none.isEmpty());
}

TEST(WaitListDeathTest, WaiterThatIsInAListIsNotPutIntoAnother) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Waiter a;
  WaitList first, second;
  first.pushBack(a);
  EXPECT_DEATH(second.pushBack(a), "began another wait");
  EXPECT_DEATH(second.pushFront(a), "began another wait");
}

class WaiterTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(WaiterTest);

TEST_P(WaiterTest, EveryFiberAndThreadHasItsOwn) {
  Waiter* mine = &currentWaiter();
  EXPECT_EQ(&currentWaiter(), mine);
  Crew crew(scheduler());
  for (Kind kind : kKinds) {
    crew.start(kind, [=] {
      EXPECT_NE(&currentWaiter(), mine);
      EXPECT_EQ(&currentWaiter(), &currentWaiter());
    });
  }
}

TEST_P(WaiterTest, WakeBeforeTheBlockIsNotLost) {
  for (Kind kind : kKinds) {
    Crew crew(scheduler());
    crew.start(kind, [] {
      Waiter& self = currentWaiter();
      for (int i = 0; i < 3; ++i) {
        wake(self);
        block(self, "test", nullptr);
        wake(self);
        EXPECT_TRUE(blockUntil(self, std::chrono::steady_clock::now(), "test", nullptr));
        EXPECT_FALSE(blockUntil(self, std::chrono::steady_clock::now(), "test", nullptr));
        EXPECT_FALSE(blockUntil(self, TimePoint::min(), "test", nullptr));
      }
    });
  }
}

// What every primitive does: a list under a lock, a claim owes one wake, a timeout takes itself out of the
// list or has been claimed. Whoever is claimed is woken, and nobody twice.
TEST_P(WaiterTest, TimeoutAgainstClaimHasOneWinner) {
  const int rounds = scaled(3'000, 300);
  for (Kind kind : kKinds) {
    SpinLock lock;
    WaitList list;
    std::atomic<bool> hasEnded{false};
    int numWoken = 0, numClaimed = 0;
    Crew crew(scheduler());
    crew.start(kind, [&] {
      Waiter& self = currentWaiter();
      for (int i = 0; i < rounds; ++i) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(i % 64 * 500);
        numWoken += blockUnless([] { return false; }, lock, list, deadline, "test", nullptr) ? 1 : 0;
        EXPECT_FALSE(self.isLinked);
      }
      hasEnded = true;
    });
    crew.start(Kind::FreeThread, [&] {
      while (!hasEnded) {
        lock.lock();
        Waiter* claimed = list.popFront();
        lock.unlock();
        if (claimed != nullptr) {
          ++numClaimed;
          wake(*claimed);
        }
        yield();
      }
    });
    crew.join();
    EXPECT_EQ(numWoken, numClaimed);
  }
}

TEST_P(WaiterTest, WakeAllWakesAll) {
  constexpr int kWaiters = 12;
  SpinLock lock;
  WaitList list;
  std::atomic<int> numLinked{0};
  Crew crew(scheduler());
  for (int i = 0; i < kWaiters; ++i) {
    crew.start(tests::kindOf(i), [&] {
      Waiter& self = currentWaiter();
      lock.lock();
      list.pushBack(self);
      lock.unlock();
      ++numLinked;
      block(self, "test", nullptr);
    });
  }
  awaitThat([&] { return numLinked == kWaiters; });
  WaitList claimed;
  lock.lock();
  claimed.claimAll(list);
  lock.unlock();
  wakeAll(claimed);
}

// Waits when its thread ends: after the thread's first parker was given back, and maybe taken by another
// thread.
struct WaitsAtThreadEnd {
  ~WaitsAtThreadEnd() {
    there.signal();
    back.wait();
  }
  Event there, back;
};

TEST(ThreadWaiterTest, DestructorsOfThreadLocalObjectsMayWait) {
  for (int i = 0; i < scaled(200, 50); ++i) {
    Event there, back;
    std::thread ending([=] {
      static thread_local WaitsAtThreadEnd atEnd;
      atEnd.there = there;
      atEnd.back = back;
      EXPECT_FALSE(
          Event().wait_for(std::chrono::nanoseconds(1)));  // the parker is taken after atEnd was made
    });
    there.wait();
    // This one takes the parker that the other gave back, if it did. Two that share one steal each other's
    // permits.
    std::thread other([=] {
      Event ping, pong;
      std::thread partner([=] {
        for (int round = 0; round < 20; ++round) {
          ping.wait();
          pong.signal();
        }
      });
      for (int round = 0; round < 20; ++round) {
        ping.signal();
        pong.wait();
        if (round == 10) {
          back.signal();
        }
      }
      partner.join();
    });
    other.join();
    ending.join();
  }
}

}  // namespace
}  // namespace weft::inline v0_1::detail
