// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The test must fail with each of these in the code (see README.md):
// Seeded bug: queue/segmented_queue.h:1:relaxed
// Seeded bug: queue/segmented_queue.h:2:relaxed
// Seeded bug: queue/segmented_queue.h:3:relaxed
// Seeded bug: queue/segmented_queue.h:3:split
// Seeded bug: queue/segmented_queue.h:4:relaxed
// Seeded bug: queue/segmented_queue.h:5:relaxed
// Seeded bug: queue/segmented_queue.h:6:relaxed
// Seeded bug: queue/segmented_queue_consumer.h:1:relaxed
// Seeded bug: queue/segmented_queue_consumer.h:2:split
// Seeded bug: queue/segmented_queue_consumer.h:3:split

#include <cstdlib>

#include <weft/detail/queue/segmented_queue.h>

#include "explore.h"
#include "model_allocator.h"

namespace weft::model {
namespace {

struct Item {
  RelacySync::Var<int> payload{0};
  RelacySync::Var<int> numTaken{0};
  int producer = 0;
  int number = 0;
};

// Producers 0 and 1 push two or three items each, one after another or as a batch; two consumers take them.
template <uint32_t MaxSpares>
struct QueueSuite {
  static constexpr uint32_t kProducers = 2;
  static constexpr uint32_t kItems = 3;
  using Queue = detail::SegmentedQueue<Item*, RelacySync, 2>;
  using Consumer = Queue::Consumer;

  Queue queue{&allocator, MaxSpares};
  Item items[kProducers][kItems];

  Item* prepare(uint32_t producer, uint32_t number) {
    Item& item = items[producer][number];
    item.producer = static_cast<int>(producer);
    item.number = static_cast<int>(number);
    item.payload.set(42);
    return &item;
  }

  void pushSingly(uint32_t producer, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
      queue.push(prepare(producer, i));
    }
  }

  void pushAsBatch(uint32_t producer, uint32_t count) {
    Item* batch[kItems];
    for (uint32_t i = 0; i < count; i++) {
      batch[i] = prepare(producer, i);
    }
    queue.pushBatch(batch, count);
  }

  // `last` holds the number of each producer's last item that this consumer got.
  void consume(Item* item, int (&last)[kProducers]) {
    check(item != nullptr, "an item is not null");
    check(item->payload.get() == 42, "the payload is there");
    item->numTaken.set(item->numTaken.get() + 1);
    check(last[item->producer] < item->number, "a producer's order is kept");
    last[item->producer] = item->number;
  }

  void drain(uint32_t count0, uint32_t count1) {
    int last[kProducers] = {-1, -1};
    Item* item = nullptr;
    Consumer consumer(queue);
    while (consumer.pop(item)) {
      consume(item, last);
    }
    check(queue.empty(), "it has been emptied");
    const uint32_t counts[kProducers] = {count0, count1};
    for (uint32_t producer = 0; producer < kProducers; producer++) {
      for (uint32_t i = 0; i < counts[producer]; i++) {
        check(items[producer][i].numTaken.get() == 1, "an item is taken exactly once");
      }
    }
  }
};

struct Singly : rl::test_suite<Singly, 4>, QueueSuite<0> {
  void thread(unsigned index) {
    if (index < 2) {
      pushSingly(index, 2);
      return;
    }
    int last[kProducers] = {-1, -1};
    Consumer consumer(queue);
    for (int i = 0; i < 2; i++) {
      if (Item* item = nullptr; consumer.pop(item)) {
        consume(item, last);
      }
    }
  }
  void after() { drain(2, 2); }
};

struct Batches : rl::test_suite<Batches, 3>, QueueSuite<0> {
  void thread(unsigned index) {
    if (index == 0) {
      pushAsBatch(0, 3);
      pushSingly(1, 1);
      return;
    }
    int last[kProducers] = {-1, -1};
    Consumer consumer(queue);
    for (int i = 0; i < 3; i++) {
      Item* out[2];
      const uint32_t count = consumer.popBatch(out, 2);
      for (uint32_t j = 0; j < count; j++) {
        consume(out[j], last);
      }
    }
  }
  void after() { drain(3, 1); }
};

// Segments come back into use while slow threads of their former life are about.
struct Reuse : rl::test_suite<Reuse, 3>, QueueSuite<1> {
  void thread(unsigned index) {
    int last[kProducers] = {-1, -1};
    Item* item = nullptr;
    Consumer consumer(queue);
    if (index == 0) {
      for (uint32_t i = 0; i < 3; i++) {
        queue.push(prepare(0, i));
        if (i == 1 && consumer.pop(item)) {
          consume(item, last);
        }
      }
      if (consumer.pop(item)) {
        consume(item, last);
      }
    } else if (index == 1) {
      pushSingly(1, 2);
    } else {
      for (int i = 0; i < 3; i++) {
        if (consumer.pop(item)) {
          consume(item, last);
        }
      }
    }
  }
  void after() { drain(3, 2); }
};

// A consumer that knows that an item was pushed gets one.
struct NotFalselyEmpty : rl::test_suite<NotFalselyEmpty, 3>, QueueSuite<0> {
  RelacySync::Atomic<int> pushed{0};

  void thread(unsigned index) {
    int last[kProducers] = {-1, -1};
    if (index == 0) {
      pushSingly(0, 3);
      pushed.store(1, std::memory_order_release);
      return;
    }
    if (pushed.load(std::memory_order_acquire) == 1) {
      Item* item = nullptr;
      Consumer consumer(queue);
      check(consumer.pop(item), "three items for two consumers");
      consume(item, last);
    }
  }
  void after() { drain(3, 0); }
};

// One item is known to have been pushed, perhaps behind one that is being written: the queue is not empty.
struct KnownBehindAnother : rl::test_suite<KnownBehindAnother, 3>, QueueSuite<1> {
  RelacySync::Atomic<int> pushed{0};

  void thread(unsigned index) {
    if (index < 2) {
      pushSingly(index, 1);
      if (index == 1) {
        pushed.store(1, std::memory_order_release);
      }
      return;
    }
    Consumer consumer(queue);
    while (pushed.load(std::memory_order_acquire) == 0) {
      RelacySync::pause();
    }
    int last[kProducers] = {-1, -1};
    Item* item = nullptr;
    check(!consumer.empty(), "an item was pushed");
    check(consumer.pop(item), "an item was pushed");
    consume(item, last);
  }
  void after() { drain(1, 1); }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Singly>("singly", 200'000) && explore<Batches>("batches", 200'000) &&
           explore<Reuse>("reuse", 200'000) && explore<NotFalselyEmpty>("not falsely empty", 200'000) &&
           explore<KnownBehindAnother>("known behind another", 200'000);
  });
}
