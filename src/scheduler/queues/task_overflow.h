// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "weft/detail/base/sync.h"
#include "weft/detail/base/task_node.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// The tasks for which the deques of a scheduler's workers had no room, in batches: an unbounded queue that
// any thread uses at both ends. Whoever runs dry takes the newest batch, so that a recursion stays depth
// first however wide it is.
//
// The lock is taken twice for a batch, and guards a few instructions.
//
// Rejected: the injector. Its tasks have turns, by which each of them would open a subtree beside those that
// are open.
class TaskOverflow {
 public:
  static constexpr uint32_t kBatch = 64;  // tasks, at most

  // Keeps the memory of up to a million tasks for reuse.
  explicit TaskOverflow(Allocator* allocator) : allocator_(allocator) {}
  TaskOverflow(const TaskOverflow&) = delete;
  TaskOverflow& operator=(const TaskOverflow&) = delete;
  // Requires: no thread uses the queue any more. Tasks left in it are dropped.
  ~TaskOverflow() {
    destroyAll(newest_);
    destroyAll(spare_);
  }

  // Adds up to kBatch tasks, the oldest first, above all others.
  // Memory ordering: whoever gets a task sees what came before the push.
  void push(TaskNode* const* tasks, uint32_t count) {
    Batch* batch = takeSpare();
    std::copy_n(tasks, count, batch->tasks);
    batch->begin = 0;
    batch->end = count;
    batch->newer = nullptr;
    const std::scoped_lock guard(lock_);
    batch->older = newest_;
    (newest_ != nullptr ? newest_->newer : oldest_) = batch;
    newest_ = batch;
    addToSize(count);
  }

  // Removes the newest batch, whose tasks it writes to `tasks`, the oldest first. There is room for kBatch.
  // Returns: how many they are; zero where there are none.
  uint32_t takeNewest(TaskNode** tasks) {
    Batch* batch = unlinkNewest();
    if (batch == nullptr) {
      return 0;
    }
    const uint32_t count = batch->end - batch->begin;
    std::copy_n(batch->tasks + batch->begin, count, tasks);
    giveBack(batch);
    return count;
  }

  // Removes the oldest task.
  // Returns: null where there is none.
  TaskNode* takeOldest() {
    auto [task, usedUp] = unlinkOldest();
    if (usedUp != nullptr) {
      giveBack(usedUp);
    }
    return task;
  }

  // Any thread: how many tasks there were. relaxed: an estimate; the lock orders the tasks.
  uint64_t size() const { return size_.load(std::memory_order_relaxed); }
  bool isEmpty() const { return size() == 0; }

 private:
  friend struct LayoutAccess;

  static constexpr uint32_t kMaxSpares = (1u << 20) / kBatch;

  struct Batch {
    Batch* older = nullptr;  // or the next spare
    Batch* newer = nullptr;
    uint32_t begin = 0, end = 0;  // of the tasks that are left
    TaskNode* tasks[kBatch];
  };

  Batch* unlinkNewest() {
    const std::scoped_lock guard(lock_);
    Batch* batch = newest_;
    if (batch != nullptr) {
      newest_ = batch->older;
      (newest_ != nullptr ? newest_->newer : oldest_) = nullptr;
      addToSize(int64_t{batch->begin} - int64_t{batch->end});
    }
    return batch;
  }

  // Returns: the oldest task, and its batch if it was the last of that, or null each.
  std::pair<TaskNode*, Batch*> unlinkOldest() {
    const std::scoped_lock guard(lock_);
    Batch* batch = oldest_;
    if (batch == nullptr) {
      return {};
    }
    TaskNode* task = batch->tasks[batch->begin++];
    addToSize(-1);
    if (batch->begin != batch->end) {
      return {task, nullptr};
    }
    oldest_ = batch->newer;
    (oldest_ != nullptr ? oldest_->older : newest_) = nullptr;
    return {task, batch};
  }

  Batch* takeSpare() {
    {
      const std::scoped_lock guard(lock_);
      if (Batch* spare = spare_) {
        spare_ = spare->older;
        --numSpares_;
        return spare;
      }
    }
    return allocator_->create<Batch>();
  }

  void giveBack(Batch* batch) {
    {
      const std::scoped_lock guard(lock_);
      if (numSpares_ < kMaxSpares) {
        batch->older = std::exchange(spare_, batch);
        ++numSpares_;
        return;
      }
    }
    allocator_->destroy(batch);
  }

  void destroyAll(Batch* batch) {
    while (batch != nullptr) {
      allocator_->destroy(std::exchange(batch, batch->older));
    }
  }

  // With the lock. relaxed: see size().
  void addToSize(int64_t number) {
    size_.store(size() + static_cast<uint64_t>(number), std::memory_order_relaxed);
  }

  Allocator* const allocator_;
  alignas(kCacheLine) StdSync::Lock lock_;  // guards what follows
  Batch* newest_ = nullptr;
  Batch* oldest_ = nullptr;
  Batch* spare_ = nullptr;
  uint32_t numSpares_ = 0;
  std::atomic<uint64_t> size_{0};  // may be read without
};

}  // namespace weft::inline v0_1::detail
