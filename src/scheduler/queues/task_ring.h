// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/base/task_node.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// An unbounded queue of tasks that one thread uses at both ends. It is a ring that doubles when it is full
// and keeps its memory. Any thread may read its size.
class TaskRing {
 public:
  explicit TaskRing(Allocator* allocator) : allocator_(allocator) {}
  TaskRing(const TaskRing&) = delete;
  TaskRing& operator=(const TaskRing&) = delete;
  ~TaskRing() {
    if (memory_.ptr != nullptr) {
      allocator_->free(memory_);
    }
  }

  void pushNewest(TaskNode* node) {
    if (newest_ - oldest_ == capacity_) [[unlikely]] {
      grow();
    }
    slots()[newest_++ & (capacity_ - 1)] = node;
    publishSize();
  }

  // Requires: not empty.
  TaskNode* takeNewest() {
    TaskNode* node = slots()[--newest_ & (capacity_ - 1)];
    publishSize();
    return node;
  }

  // Returns: null when empty.
  TaskNode* takeOldest() {
    if (isEmpty()) {
      return nullptr;
    }
    TaskNode* node = slots()[oldest_++ & (capacity_ - 1)];
    // A long queue has left the cache by the time it is run, so fetch the task after the next.
    if (newest_ - oldest_ > 1) {
      __builtin_prefetch(slots()[(oldest_ + 1) & (capacity_ - 1)]);
    }
    publishSize();
    return node;
  }

  // Requires: not empty.
  TaskNode* newest() const { return slots()[(newest_ - 1) & (capacity_ - 1)]; }

  bool isEmpty() const { return oldest_ == newest_; }

  // The tasks have the indices from beginIndex() to endIndex(), the oldest first.
  int64_t beginIndex() const { return static_cast<int64_t>(oldest_); }
  int64_t endIndex() const { return static_cast<int64_t>(newest_); }

  // relaxed: an estimate for other threads.
  uint64_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  friend struct LayoutAccess;

  TaskNode** slots() const { return static_cast<TaskNode**>(memory_.ptr); }

  // relaxed: see size().
  void publishSize() { size_.store(newest_ - oldest_, std::memory_order_relaxed); }

  [[gnu::noinline]] void grow() {
    const uint64_t newCapacity = capacity_ == 0 ? 64 : capacity_ * 2;
    const Allocation grown =
        allocator_->allocate(detail::requestFor<TaskNode*>(newCapacity, Allocation::Usage::Vector));
    auto** to = static_cast<TaskNode**>(grown.ptr);
    for (uint64_t i = oldest_; i != newest_; ++i) {
      to[i & (newCapacity - 1)] = slots()[i & (capacity_ - 1)];
    }
    if (memory_.ptr != nullptr) {
      allocator_->free(memory_);
    }
    memory_ = grown;
    capacity_ = newCapacity;
  }

  Allocator* const allocator_;
  Allocation memory_;
  uint64_t capacity_ = 0;  // a power of two, or none yet
  uint64_t oldest_ = 0;
  uint64_t newest_ = 0;  // one past the newest
  std::atomic<uint64_t> size_{0};
};

}  // namespace weft::inline v0_1::detail
