// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "os/single_writer_counter.h"
#include "weft/detail/base/task_node.h"

namespace weft::inline v0_1::detail {

// An unbounded FIFO queue of tasks that one thread uses. It links the tasks themselves, so it takes no
// memory. Any thread may read its size.
//
// Rejected: a ring, as TaskRing. Each thread that binds grows one of its own, and the page faults of that are
// more than half of the time of a schedule() without workers.
class TaskList {
 public:
  TaskList() = default;
  TaskList(const TaskList&) = delete;
  TaskList& operator=(const TaskList&) = delete;

  void pushNewest(TaskNode* node) {
    node->next = nullptr;
    *end_ = node;
    end_ = &node->next;
    ++size_;
  }

  // Returns: null when empty.
  TaskNode* takeOldest() {
    TaskNode* node = oldest_;
    if (node == nullptr) {
      return nullptr;
    }
    oldest_ = node->next;
    if (oldest_ == nullptr) {
      end_ = &oldest_;
    } else {
      // A long queue has left the cache by the time it is run, so fetch the task after the next.
      __builtin_prefetch(oldest_->next);
    }
    --size_;
    return node;
  }

  bool isEmpty() const { return oldest_ == nullptr; }

  // An estimate for other threads.
  uint64_t size() const { return size_.get(); }

 private:
  friend struct LayoutAccess;

  TaskNode* oldest_ = nullptr;
  TaskNode** end_ = &oldest_;  // where the next node is linked
  SingleWriterCounter size_;
};

}  // namespace weft::inline v0_1::detail
