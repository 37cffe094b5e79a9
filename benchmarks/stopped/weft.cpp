// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The two queues of weft whose push is not lock-free in the strict sense.

#include "problem.h"
#include "weft/detail/queue/inbox.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/detail/queue/segmented_queue_consumer.h"

namespace {

using namespace weft::detail;

// Notes when the consumer begins to wait for a producer.
struct TimedSync : StdSync {
  static void relax(uint32_t& round) {
    stopped::noteWait();
    StdSync::relax(round);
  }
};

class InboxQueue {
 public:
  struct Item {
    InboxLink<Item, TimedSync> inboxNext;
  };
  void push(Item* item) { inbox_.push(item); }
  uint64_t takeAll() {
    uint64_t count = 0;
    for (Item* item = inbox_.popAll(); item != nullptr; item = item->inboxNext.get()) {
      count++;
    }
    return count;
  }

 private:
  Inbox<Item, TimedSync> inbox_;
};

class Segments {
 public:
  struct Item {};
  void push(Item* item) { queue_.push(item); }
  uint64_t takeAll() {
    Item* items[64];
    uint64_t count = 0;
    while (const uint32_t taken = consumer_.popBatch(items, 64)) {
      count += taken;
    }
    return count;
  }

 private:
  SegmentedQueue<Item*, TimedSync> queue_;
  SegmentedQueue<Item*, TimedSync>::Consumer consumer_{queue_};
};

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(
      argc, argv, "stopped", "weft",
      {{"inbox", {2}, stopped::measure<InboxQueue>}, {"segments", {2}, stopped::measure<Segments>}});
}
