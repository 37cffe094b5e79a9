// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/queue/segmented_queue.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weft::inline v0_1::detail {
namespace {

// Also expects each segment to come back with the request that it was made for.
class CountingAllocator : public Allocator {
 public:
  Allocation allocate(const Allocation::Request& request) override {
    numAllocations++;
    numAlive++;
    EXPECT_GE(request.alignment, kCacheLine);
    EXPECT_EQ(request.usage, Allocation::Usage::List);
    return Allocator::Default->allocate(request);
  }
  void free(const Allocation& allocation) override {
    numAlive--;
    EXPECT_GE(allocation.request.alignment, kCacheLine);
    EXPECT_EQ(allocation.request.usage, Allocation::Usage::List);
    EXPECT_GT(allocation.request.size, 0u);
    Allocator::Default->free(allocation);
  }

  std::atomic<int> numAllocations{0};
  std::atomic<int> numAlive{0};
};

TEST(BlockQueueTest, ItemsComeOutInTheirOrder) {
  SegmentedQueue<int*> queue;
  SegmentedQueue<int*>::Consumer consumer(queue);
  std::vector<int> items(1'000);
  int* item = nullptr;
  EXPECT_FALSE(consumer.pop(item));
  for (int& i : items) {
    queue.push(&i);
  }
  EXPECT_EQ(queue.size(), items.size());
  for (int& i : items) {
    ASSERT_TRUE(consumer.pop(item));
    ASSERT_EQ(item, &i);
  }
  EXPECT_FALSE(consumer.pop(item));
  EXPECT_TRUE(queue.empty());
}

TEST(BlockQueueTest, BatchesOfAnySizeKeepTheOrder) {
  SegmentedQueue<int*> queue;
  SegmentedQueue<int*>::Consumer consumer(queue);
  std::vector<int> items(10'000);
  std::vector<int*> pointers;
  for (int& i : items) {
    pointers.push_back(&i);
  }
  std::vector<int*> out(300);
  size_t pushed = 0;
  size_t popped = 0;
  for (uint32_t size = 1; popped < items.size(); size = size % 299 + 1) {
    const auto count = static_cast<uint32_t>(std::min<size_t>(size, items.size() - pushed));
    queue.pushBatch(&pointers[pushed], count);
    pushed += count;
    ASSERT_EQ(queue.size(), pushed - popped);
    const uint32_t taken = consumer.popBatch(out.data(), (size * 7) % 131 + 1);
    for (uint32_t i = 0; i < taken; i++) {
      ASSERT_EQ(out[i], pointers[popped++]);
    }
  }
  EXPECT_EQ(consumer.popBatch(out.data(), 300), 0u);
  queue.pushBatch(pointers.data(), 0);
  EXPECT_TRUE(queue.empty());
}

TEST(BlockQueueTest, SteadyStateDoesNotAllocateAndNothingStays) {
  CountingAllocator allocator;
  {
    SegmentedQueue<int*> queue(&allocator);
    SegmentedQueue<int*>::Consumer consumer(queue);
    int x = 0;
    int* item = nullptr;
    const auto fillAndDrain = [&](int count) {
      for (int i = 0; i < count; i++) {
        queue.push(&x);
      }
      while (consumer.pop(item)) {
      }
    };
    fillAndDrain(10'100);  // a segment more, since the next fills may begin in the middle of one
    const int before = allocator.numAllocations;
    for (int i = 0; i < 20; i++) {
      fillAndDrain(10'000);
    }
    EXPECT_EQ(allocator.numAllocations, before);
    for (int i = 0; i < 1'000; i++) {
      queue.push(&x);  // left inside
    }
  }
  EXPECT_EQ(allocator.numAlive, 0);
}

TEST(BlockQueueTest, BlocksBeyondTheSparesAreGivenBack) {
  CountingAllocator allocator;
  SegmentedQueue<int*> queue(&allocator, 4);
  SegmentedQueue<int*>::Consumer consumer(queue);
  int x = 0;
  int* item = nullptr;
  for (int i = 0; i < 10'000; i++) {
    queue.push(&x);
  }
  EXPECT_GT(allocator.numAlive, 100);
  while (consumer.pop(item)) {
  }
  EXPECT_EQ(allocator.numAlive, 5) << "four spares, and the one in use";
  // The spares are used, again and again.
  const int before = allocator.numAllocations;
  for (int i = 0; i < 10'000; i++) {
    queue.push(&x);
    ASSERT_TRUE(consumer.pop(item));
  }
  EXPECT_EQ(allocator.numAllocations, before);
}

// A consumer that lags holds on to the segment that it stands in, and to no other; it goes to the oldest item
// at once.
TEST(BlockQueueTest, AConsumerThatLagsCatchesUp) {
  CountingAllocator allocator;
  SegmentedQueue<int*> queue(&allocator, 0);
  SegmentedQueue<int*>::Consumer lagging(queue);
  std::vector<int> items(10'000);
  int* item = nullptr;
  {
    SegmentedQueue<int*>::Consumer consumer(queue);
    for (size_t i = 0; i < items.size() - 2; i++) {
      queue.push(&items[i]);
      ASSERT_TRUE(consumer.pop(item));
      ASSERT_EQ(item, &items[i]);
    }
    EXPECT_LE(allocator.numAlive, 3);
    queue.push(&items[9'998]);
    queue.push(&items[9'999]);
    EXPECT_EQ(queue.size(), 2u);
    EXPECT_EQ(lagging.size(), 2u);
    ASSERT_TRUE(lagging.pop(item));
    EXPECT_EQ(item, &items[9'998]);
    EXPECT_FALSE(consumer.empty());
    ASSERT_TRUE(consumer.pop(item));
    EXPECT_EQ(item, &items[9'999]);
    EXPECT_TRUE(lagging.empty());
    EXPECT_FALSE(lagging.pop(item));
    EXPECT_TRUE(queue.empty());
  }
  EXPECT_LE(allocator.numAlive, 2);
}

TEST(BlockQueueTest, BlocksOfAnySizeKeepTheOrder) {
  for (const uint32_t segmentSize : {1u, 2u, 3u, 63u, 64u, 1'000u}) {
    SCOPED_TRACE(segmentSize);
    using Queue = SegmentedQueue<int*, StdSync, 0, Producers::InTurn>;
    Queue queue(Allocator::Default, 2, segmentSize);
    Queue::Consumer first(queue);
    Queue::Consumer second(queue);
    std::vector<int> items(1'000);
    for (int& i : items) {
      queue.push(&i);
    }
    EXPECT_EQ(queue.size(), items.size());
    int* item = nullptr;
    for (size_t i = 0; i < items.size(); i++) {
      Queue::Consumer& consumer = i % 5 < 3 ? first : second;
      ASSERT_EQ(consumer.size(), items.size() - i);
      ASSERT_TRUE(consumer.pop(item));
      ASSERT_EQ(item, &items[i]);
    }
    EXPECT_FALSE(first.pop(item));
    EXPECT_FALSE(second.pop(item));
  }
}

// The last item may be the last moment of the queue, whatever else its producers had to do.
TEST(BlockQueueTest, EndsAsSoonAsItsLastItemHasBeenTaken) {
  constexpr int kProducers = 3;
  constexpr int kItems = 4;
  using Queue = SegmentedQueue<int*, StdSync, 2>;
  for (int round = 0; round < 300; round++) {
    auto queue = std::make_unique<Queue>();
    int x = 0;
    std::vector<std::thread> producers;
    for (int p = 0; p < kProducers; p++) {
      producers.emplace_back([&x, raw = queue.get()] {
        for (int i = 0; i < kItems; i++) {
          raw->push(&x);
        }
      });
    }
    {
      Queue::Consumer consumer(*queue);
      int* item = nullptr;
      uint32_t rounds = 0;
      for (int numTaken = 0; numTaken < kProducers * kItems;) {
        if (consumer.pop(item)) {
          numTaken++;
        } else {
          StdSync::relax(rounds);
        }
      }
    }
    queue.reset();
    for (auto& producer : producers) {
      producer.join();
    }
  }
}

struct Item {
  int producer = 0;
  int number = 0;
  int numTaken = 0;
};

// Producers and consumers, singly and in batches, with few spares, so that segments are freed all the time:
// each item is taken once, and a consumer sees each producer's items in their order.
template <class Queue>
void takeEveryItemOnceAndInOrder(Queue& queue, int producers, uint32_t batch) {
  constexpr int kConsumers = 3;
  const int each = 90'000 / producers;
  std::vector<std::vector<Item>> items(static_cast<size_t>(producers),
                                       std::vector<Item>(static_cast<size_t>(each)));
  std::atomic<int> numTaken{0};
  std::vector<std::thread> threads;
  for (int p = 0; p < producers; p++) {
    threads.emplace_back([&, p] {
      std::vector<Item*> pending;
      for (int i = 0; i < each; i++) {
        Item& item = items[static_cast<size_t>(p)][static_cast<size_t>(i)];
        item.producer = p;
        item.number = i;
        pending.push_back(&item);
        if (pending.size() == batch || i + 1 == each) {
          queue.pushBatch(pending.data(), static_cast<uint32_t>(pending.size()));
          pending.clear();
        }
      }
    });
  }
  for (int c = 0; c < kConsumers; c++) {
    threads.emplace_back([&] {
      typename Queue::Consumer consumer(queue);
      std::vector<int> last(static_cast<size_t>(producers), -1);
      std::vector<Item*> out(batch);
      uint32_t round = 0;
      while (numTaken.load() < producers * each) {
        const uint32_t count = consumer.popBatch(out.data(), batch);
        for (uint32_t i = 0; i < count; i++) {
          out[i]->numTaken++;
          int& before = last[static_cast<size_t>(out[i]->producer)];
          EXPECT_LT(before, out[i]->number);
          before = out[i]->number;
        }
        numTaken.fetch_add(static_cast<int>(count));
        if (count == 0) {
          StdSync::relax(round);
        }
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (const auto& ofOne : items) {
    for (const Item& item : ofOne) {
      ASSERT_EQ(item.numTaken, 1);
    }
  }
  EXPECT_TRUE(queue.empty());
}

class BlockQueueStressTest : public testing::TestWithParam<uint32_t> {};

TEST_P(BlockQueueStressTest, EveryItemOfProducersAtOnceIsTakenOnceAndInOrder) {
  CountingAllocator allocator;
  {
    SegmentedQueue<Item*> queue(&allocator, 1);
    takeEveryItemOnceAndInOrder(queue, 3, GetParam());
  }
  EXPECT_EQ(allocator.numAlive, 0);
}

TEST_P(BlockQueueStressTest, EveryItemOfOneProducerIsTakenOnceAndInOrder) {
  CountingAllocator allocator;
  {
    SegmentedQueue<Item*, StdSync, 0, Producers::InTurn> queue(&allocator, 1, 62);
    takeEveryItemOnceAndInOrder(queue, 1, GetParam());
  }
  EXPECT_EQ(allocator.numAlive, 0);
}

INSTANTIATE_TEST_SUITE_P(Batches, BlockQueueStressTest, testing::Values(1u, 7u, 62u, 200u));

}  // namespace
}  // namespace weft::inline v0_1::detail
