// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/block_queue.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weft::detail {
namespace {

class CountingAllocator : public Allocator {
 public:
  Allocation allocate(const Allocation::Request& request) override {
    numAllocations++;
    numAlive++;
    return Allocator::Default->allocate(request);
  }
  void free(const Allocation& allocation) override {
    numAlive--;
    Allocator::Default->free(allocation);
  }

  std::atomic<int> numAllocations{0};
  std::atomic<int> numAlive{0};
};

TEST(BlockQueueTest, ItemsComeOutInTheirOrder) {
  BlockQueue<int*> queue;
  std::vector<int> items(1'000);
  int* item = nullptr;
  EXPECT_FALSE(queue.pop(item));
  for (int& i : items) queue.push(&i);
  EXPECT_EQ(queue.size(), items.size());
  for (int& i : items) {
    ASSERT_TRUE(queue.pop(item));
    ASSERT_EQ(item, &i);
  }
  EXPECT_FALSE(queue.pop(item));
  EXPECT_TRUE(queue.empty());
}

TEST(BlockQueueTest, BatchesOfAnySizeKeepTheOrder) {
  BlockQueue<int*> queue;
  std::vector<int> items(10'000);
  std::vector<int*> pointers;
  for (int& i : items) pointers.push_back(&i);
  std::vector<int*> out(300);
  size_t pushed = 0;
  size_t popped = 0;
  for (uint32_t size = 1; popped < items.size(); size = size % 299 + 1) {
    const auto count = static_cast<uint32_t>(std::min<size_t>(size, items.size() - pushed));
    queue.pushBatch(&pointers[pushed], count);
    pushed += count;
    ASSERT_EQ(queue.size(), pushed - popped);
    const uint32_t taken = queue.popBatch(out.data(), (size * 7) % 131 + 1);
    for (uint32_t i = 0; i < taken; i++) ASSERT_EQ(out[i], pointers[popped++]);
  }
  EXPECT_EQ(queue.popBatch(out.data(), 300), 0u);
  queue.pushBatch(pointers.data(), 0);
  EXPECT_TRUE(queue.empty());
}

TEST(BlockQueueTest, SteadyStateDoesNotAllocateAndNothingStays) {
  CountingAllocator allocator;
  {
    BlockQueue<int*> queue(&allocator);
    int x = 0;
    int* item = nullptr;
    const auto fillAndDrain = [&](int count) {
      for (int i = 0; i < count; i++) queue.push(&x);
      while (queue.pop(item)) {
      }
    };
    fillAndDrain(10'100);  // a block more, since the next fills may begin in the middle of one
    const int before = allocator.numAllocations;
    for (int i = 0; i < 20; i++) fillAndDrain(10'000);
    EXPECT_EQ(allocator.numAllocations, before);
    for (int i = 0; i < 1'000; i++) queue.push(&x);  // left inside
  }
  EXPECT_EQ(allocator.numAlive, 0);
}

TEST(BlockQueueTest, BlocksBeyondTheSparesAreGivenBack) {
  CountingAllocator allocator;
  BlockQueue<int*> queue(&allocator, 4);
  int x = 0;
  int* item = nullptr;
  for (int i = 0; i < 10'000; i++) queue.push(&x);
  EXPECT_GT(allocator.numAlive, 100);
  while (queue.pop(item)) {
  }
  EXPECT_LE(allocator.numAlive, 6);
}

struct Item {
  int producer = 0;
  int number = 0;
  int numTaken = 0;
};

// Producers and consumers, singly and in batches, with few spares, so that blocks are freed all the time:
// each item is taken once, and a consumer sees each producer's items in their order.
class BlockQueueStressTest : public testing::TestWithParam<uint32_t> {};

TEST_P(BlockQueueStressTest, EveryItemIsTakenOnceAndInOrder) {
  constexpr int kProducers = 3;
  constexpr int kConsumers = 3;
  constexpr int kItems = 30'000;
  const uint32_t batch = GetParam();
  CountingAllocator allocator;
  {
    BlockQueue<Item*> queue(&allocator, 1);
    std::vector<std::vector<Item>> items(kProducers, std::vector<Item>(kItems));
    std::atomic<int> numTaken{0};
    std::vector<std::thread> threads;
    for (int p = 0; p < kProducers; p++) {
      threads.emplace_back([&, p] {
        std::vector<Item*> pending;
        for (int i = 0; i < kItems; i++) {
          Item& item = items[static_cast<size_t>(p)][static_cast<size_t>(i)];
          item.producer = p;
          item.number = i;
          pending.push_back(&item);
          if (pending.size() == batch || i + 1 == kItems) {
            queue.pushBatch(pending.data(), static_cast<uint32_t>(pending.size()));
            pending.clear();
          }
        }
      });
    }
    for (int c = 0; c < kConsumers; c++) {
      threads.emplace_back([&] {
        int last[kProducers] = {-1, -1, -1};
        std::vector<Item*> out(batch);
        uint32_t round = 0;
        while (numTaken.load() < kProducers * kItems) {
          const uint32_t count = queue.popBatch(out.data(), batch);
          for (uint32_t i = 0; i < count; i++) {
            out[i]->numTaken++;
            EXPECT_LT(last[out[i]->producer], out[i]->number);
            last[out[i]->producer] = out[i]->number;
          }
          numTaken.fetch_add(static_cast<int>(count));
          if (count == 0) StdSync::relax(round);
        }
      });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& ofOne : items) {
      for (const Item& item : ofOne) ASSERT_EQ(item.numTaken, 1);
    }
    EXPECT_TRUE(queue.empty());
  }
  EXPECT_EQ(allocator.numAlive, 0);
}

INSTANTIATE_TEST_SUITE_P(Batches, BlockQueueStressTest, testing::Values(1u, 7u, 62u, 200u));

}  // namespace
}  // namespace weft::detail
