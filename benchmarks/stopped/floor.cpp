// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A stack whose push is a compare-exchange, which holds nobody up, and a vector under a std::mutex, which
// does.

#include <mutex>

#include "problem.h"

namespace {

// Treiber's stack (IBM RJ 5118, 1986), taken whole.
class Stack {
 public:
  struct Item {
    Item* next;
  };
  void push(Item* item) {
    item->next = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(item->next, item, std::memory_order_acq_rel,
                                          std::memory_order_relaxed)) {
    }
  }
  uint64_t takeAll() {
    if (newest_.load(std::memory_order_relaxed) == nullptr) {
      return 0;
    }
    // As the inbox does: the oldest first.
    Item* oldest = nullptr;
    for (Item* item = newest_.exchange(nullptr, std::memory_order_acquire); item != nullptr;) {
      Item* next = item->next;
      item->next = oldest;
      oldest = item;
      item = next;
    }
    uint64_t count = 0;
    for (; oldest != nullptr; oldest = oldest->next) {
      count++;
    }
    return count;
  }

 private:
  std::atomic<Item*> newest_{nullptr};
};

class LockedVector {
 public:
  struct Item {};
  void push(Item* item) {
    const std::lock_guard<std::mutex> lock(mutex_);
    items_.push_back(item);
  }
  uint64_t takeAll() {
    if (!mutex_.try_lock()) {
      stopped::noteWait();
      mutex_.lock();
    }
    std::swap(items_, taken_);
    mutex_.unlock();
    const uint64_t count = taken_.size();
    taken_.clear();
    return count;
  }

 private:
  std::mutex mutex_;
  std::vector<Item*> items_;
  std::vector<Item*> taken_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(
      argc, argv, "stopped", "floor",
      {{"stack", {2}, stopped::measure<Stack>}, {"mutex", {2}, stopped::measure<LockedVector>}});
}
