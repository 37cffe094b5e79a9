// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/queue/steal_gate.h>
#include <weft/detail/queue/stealing_deque.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weft::inline v0_1::detail {
namespace {

using Thief = StealGate<>::Stealer;

TEST(StealingDequeTest, TakeReturnsTheNewest) {
  auto deque = std::make_unique<StealingDeque<int>>();
  StealGate<> gate;
  Thief owner(gate);
  int items[3];
  for (int& item : items) {
    ASSERT_TRUE(deque->push(&item));
  }
  EXPECT_EQ(deque->size(), 3u);
  EXPECT_EQ(deque->take(owner), &items[2]);
  EXPECT_EQ(deque->take(owner), &items[1]);
  EXPECT_EQ(deque->take(owner), &items[0]);
  EXPECT_EQ(deque->take(owner), nullptr);
  EXPECT_EQ(deque->take(owner), nullptr);
  EXPECT_TRUE(deque->empty());
}

TEST(StealingDequeTest, PushBatchAppendsAsManyAsThereIsRoomFor) {
  StealingDeque<int, StdSync, 8> deque;
  StealGate<> gate;
  Thief owner(gate);
  int items[10];
  int* all[10];
  for (int i = 0; i < 10; ++i) {
    all[i] = &items[i];
  }
  EXPECT_EQ(deque.pushBatch(all, 0), 0u);
  EXPECT_EQ(deque.pushBatch(all, 5), 5u);
  EXPECT_EQ(deque.pushBatch(all + 5, 5), 3u);
  EXPECT_EQ(deque.pushBatch(all + 8, 2), 0u);
  EXPECT_FALSE(deque.push(all[8]));
  EXPECT_EQ(deque.takeOldest(), all[0]);
  EXPECT_EQ(deque.takeOldest(), all[1]);
  deque.close();
  EXPECT_EQ(deque.pushBatch(all + 8, 2), 0u);
  deque.open();
  EXPECT_EQ(deque.pushBatch(all + 8, 2), 2u);
  for (int i = 9; i >= 2; --i) {
    EXPECT_EQ(deque.take(owner), all[i]);
  }
  EXPECT_TRUE(deque.empty());
}

TEST(StealingDequeTest, TakeReturnsTheSameBesideThieves) {
  auto deque = std::make_unique<StealingDeque<int>>();
  StealGate<> gate;
  Thief owner(gate);
  Thief thief(gate);
  int items[3];
  for (int& item : items) {
    ASSERT_TRUE(deque->push(&item));
  }
  thief.enter();
  EXPECT_EQ(deque->take(owner), &items[2]);
  EXPECT_EQ(deque->steal().item, &items[0]);
  thief.leave();
  EXPECT_EQ(deque->take(owner), &items[1]);
  EXPECT_EQ(deque->take(owner), nullptr);
  EXPECT_EQ(deque->steal().item, nullptr);
  EXPECT_TRUE(deque->empty());
}

TEST(StealingDequeTest, NewestIsWhatTakeWouldReturn) {
  auto deque = std::make_unique<StealingDeque<int>>();
  StealGate<> gate;
  Thief owner(gate);
  int items[2];
  EXPECT_EQ(deque->newest(), nullptr);
  for (int& item : items) {
    ASSERT_TRUE(deque->push(&item));
    EXPECT_EQ(deque->newest(), &item);
  }
  EXPECT_EQ(deque->take(owner), &items[1]);
  EXPECT_EQ(deque->newest(), &items[0]);
  EXPECT_EQ(deque->takeOldest(), &items[0]);
  EXPECT_EQ(deque->newest(), nullptr);
}

TEST(StealingDequeTest, AFullDequeHasRoomAgainOnceSomethingIsStolen) {
  StealingDeque<int, StdSync, 2> deque;
  StealGate<> gate;
  Thief thief(gate);
  int items[4];
  thief.enter();
  for (int i = 0; i < 3; i++) {
    EXPECT_TRUE(deque.push(&items[i]));
    EXPECT_TRUE(deque.push(&items[3]));
    EXPECT_FALSE(deque.push(&items[3]));
    EXPECT_EQ(deque.steal().item, &items[i]);
    EXPECT_TRUE(deque.push(&items[i]));
    EXPECT_FALSE(deque.push(&items[3]));
    EXPECT_EQ(deque.steal().item, &items[3]);
    EXPECT_EQ(deque.steal().item, &items[i]);
  }
}

TEST(StealGateTest, AThiefCountsOnceUntilItLeaves) {
  StealGate<> gate;
  Thief owner(gate), thief(gate);
  EXPECT_TRUE(owner.isUnseen());
  thief.enter();
  thief.enter();
  EXPECT_FALSE(owner.isUnseen());
  thief.leave();
  EXPECT_TRUE(owner.isUnseen());
  thief.leave();
  EXPECT_TRUE(owner.isUnseen());
  thief.enter();
  EXPECT_FALSE(owner.isUnseen());
}

TEST(StealGateTest, AThiefLeavesAfter2048TakesWithoutATheft) {
  StealGate<> gate;
  Thief owner(gate), thief(gate);
  const auto take = [&](int count) {
    for (int i = 0; i < count; i++) {
      EXPECT_TRUE(thief.isUnseen()) << "it is the only thief itself";
    }
  };
  thief.enter();
  take(2'000);
  EXPECT_FALSE(owner.isUnseen());
  thief.enter();
  take(2'047);
  EXPECT_FALSE(owner.isUnseen());
  take(1);
  EXPECT_TRUE(owner.isUnseen());
}

// Counts the full fences of the parts that are made of it.
struct CountingSync : StdSync {
  static void fence(std::memory_order order) {
    ++numFences;
    StdSync::fence(order);
  }
  static inline int numFences = 0;
};

// As a join does that nobody steals from.
TEST(StealingDequeTest, ATakeMakesAFullFenceOnlyBesideThieves) {
  auto deque = std::make_unique<StealingDeque<int, CountingSync>>();
  StealGate<CountingSync> gate;
  StealGate<CountingSync>::Stealer owner(gate), thief(gate);
  const auto pushAndTake = [&] {
    int items[3];
    for (int& item : items) {
      EXPECT_TRUE(deque->push(&item));
    }
    for (int i = 2; i >= 0; --i) {
      EXPECT_EQ(deque->take(owner), &items[i]);
    }
    EXPECT_EQ(deque->take(owner), nullptr);
  };
  CountingSync::numFences = 0;
  pushAndTake();
  EXPECT_EQ(CountingSync::numFences, 0);
  thief.enter();
  pushAndTake();
  EXPECT_EQ(CountingSync::numFences, 4);
  thief.leave();
  pushAndTake();
  EXPECT_EQ(CountingSync::numFences, 4);
}

// A worker that has stolen and is busy itself since makes its own takes, and those of all others, cheap
// again.
TEST(StealingDequeTest, AThiefThatIsBusyLeaves) {
  StealGate<> gate;
  Thief owner(gate);
  Thief thief(gate);
  thief.enter();
  EXPECT_FALSE(owner.isUnseen());
  for (int i = 0; i < 10'000; ++i) {
    thief.isUnseen();
  }
  EXPECT_TRUE(owner.isUnseen());
  thief.enter();
  EXPECT_FALSE(owner.isUnseen());
}

TEST(StealingDequeTest, StealAndTakeOldestReturnTheOldest) {
  auto deque = std::make_unique<StealingDeque<int>>();
  StealGate<> gate;
  Thief owner(gate);
  int items[3];
  for (int& item : items) {
    ASSERT_TRUE(deque->push(&item));
  }
  const auto stolen = deque->steal();
  EXPECT_EQ(stolen.item, &items[0]);
  EXPECT_FALSE(stolen.lostRace);
  EXPECT_EQ(deque->takeOldest(), &items[1]);
  EXPECT_EQ(deque->take(owner), &items[2]);
  EXPECT_EQ(deque->takeOldest(), nullptr);
  EXPECT_EQ(deque->steal().item, nullptr);
  EXPECT_FALSE(deque->steal().lostRace);
}

TEST(StealingDequeTest, PushFailsWhenFullUntilABatchIsTaken) {
  auto deque = std::make_unique<StealingDeque<int, StdSync, 8>>();
  int items[20];
  int next = 0;
  for (int round = 0; round < 3; round++) {
    while (next < 20 && deque->push(&items[next])) {
      next++;
    }
    EXPECT_EQ(deque->size(), next == 20 ? 6u : 8u);
    int* batch[9] = {};
    const uint32_t count = deque->takeOldestBatch(batch, round == 2 ? 8 : 7);
    EXPECT_EQ(batch[count], nullptr) << "nothing is written beyond what was taken";
    ASSERT_EQ(count, round == 2 ? 6u : 7u);
    for (uint32_t i = 0; i < count; i++) {
      EXPECT_EQ(batch[i], &items[round * 7 + static_cast<int>(i)]);
    }
  }
  EXPECT_EQ(next, 20);
  int* none[1];
  EXPECT_EQ(deque->takeOldestBatch(none, 1), 0u);
  EXPECT_EQ(deque->takeOldestBatch(none, 0), 0u);
}

// Apart, so that no compiler draws conclusions from what the memory held before.
[[gnu::noinline]] StealingDeque<int>* constructAt(unsigned char* memory) {
  return ::new (static_cast<void*>(memory)) StealingDeque<int>();
}

TEST(StealingDequeTest, SlotsAreNotTouchedBeforeTheyAreUsed) {
  using Deque = StealingDeque<int>;
  alignas(Deque) static unsigned char memory[sizeof(Deque)];
  std::fill(std::begin(memory), std::end(memory), static_cast<unsigned char>(0xa5));
  asm volatile("" ::"r"(memory) : "memory");
  Deque* deque = constructAt(memory);
  asm volatile("" ::"r"(memory) : "memory");
  size_t untouched = 0;
  for (const unsigned char byte : memory) {
    untouched += byte == 0xa5;
  }
  EXPECT_GE(untouched, Deque::kCapacity * sizeof(int*));
  deque->~Deque();
}

// One owner that pushes and takes in all its ways, and thieves: each item is taken once.
TEST(StealingDequeTest, EveryItemIsTakenOnceAmongOwnerAndThieves) {
  constexpr int kItems = 200'000;
  constexpr int kThieves = 3;
  auto deque = std::make_unique<StealingDeque<int, StdSync, 64>>();
  std::vector<int> items(kItems, 0);  // written by whoever takes the item, so that TSan sees a double take
  std::atomic<int> numTaken{0};
  StealGate<> members;
  Thief owner(members);

  std::vector<std::thread> thieves;
  for (int i = 0; i < kThieves; i++) {
    thieves.emplace_back([&] {
      uint32_t round = 0;
      Thief self(members);
      while (numTaken.load() < kItems) {
        self.enter();
        if (int* item = deque->steal().item) {
          ++*item;
          numTaken.fetch_add(1);
          round = 0;
        } else {
          self.leave();
          StdSync::relax(round);
        }
      }
      self.leave();
    });
  }
  const auto consume = [&](int* item) {
    ++*item;
    numTaken.fetch_add(1);
  };
  for (int i = 0; i < kItems; i++) {
    items[static_cast<size_t>(i)] = 1;
    while (!deque->push(&items[static_cast<size_t>(i)])) {
      int* batch[32];
      const uint32_t count = deque->takeOldestBatch(batch, 32);
      for (uint32_t j = 0; j < count; j++) {
        consume(batch[j]);
      }
    }
    if (i % 3 == 0) {
      if (int* item = deque->take(owner)) {
        consume(item);
      }
    }
    if (i % 61 == 0) {
      if (int* item = deque->takeOldest()) {
        consume(item);
      }
    }
  }
  while (int* item = deque->take(owner)) {
    consume(item);
  }
  for (auto& thief : thieves) {
    thief.join();
  }
  EXPECT_EQ(numTaken.load(), kItems);
  for (const int count : items) {
    ASSERT_EQ(count, 2);
  }
}

}  // namespace
}  // namespace weft::inline v0_1::detail
