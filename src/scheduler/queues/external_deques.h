// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include "weft/detail/base/task_node.h"
#include "weft/detail/queue/stealing_deque.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// The deques of bound threads that fork, from which workers steal as well. A deque is kept until the
// scheduler ends and is used again, since a thief may look into it at any time.
class ExternalDeques {
 public:
  using Deque = StealingDeque<TaskNode>;

  explicit ExternalDeques(Allocator* allocator) : allocator_(allocator) {}
  // Requires: no worker steals any more.
  ~ExternalDeques() {
    // relaxed: the worker threads have ended.
    for (Entry* entry = first_.load(std::memory_order_relaxed); entry != nullptr;) {
      allocator_->destroy(std::exchange(entry, entry->next));
    }
  }
  ExternalDeques(const ExternalDeques&) = delete;
  ExternalDeques& operator=(const ExternalDeques&) = delete;

  // Sets `slot` to the deque of the calling thread.
  void add(Deque*& slot) {
    const std::scoped_lock guard(lock_);
    // relaxed: written under the lock.
    Entry* const first = first_.load(std::memory_order_relaxed);
    for (Entry* entry = first; entry != nullptr; entry = entry->next) {
      if (!std::exchange(entry->isTaken, true)) {
        slot = &entry->deque;
        return;
      }
    }
    auto* entry = allocator_->create<Entry>();
    entry->next = first;
    // (1) release: publishes the deque to the thieves; pairs with (2).
    first_.store(entry, std::memory_order_release);
    slot = &entry->deque;
  }

  // Takes away the deque that add() gave to the calling thread.
  void remove(Deque& deque) {
    const std::scoped_lock guard(lock_);
    // relaxed: written under the lock.
    Entry* entry = first_.load(std::memory_order_relaxed);
    while (&entry->deque != &deque) {
      entry = entry->next;
    }
    entry->isTaken = false;
  }

  // Calls f(), which may read the slots of other threads: add() sets none meanwhile.
  template <class F>
  void withSlots(F&& f) {
    const std::scoped_lock guard(lock_);
    f();
  }

  // Any thread.
  template <class F>
  void forEach(F&& f) {
    // (2) acquire: sees the deque; pairs with (1).
    for (Entry* entry = first_.load(std::memory_order_acquire); entry != nullptr; entry = entry->next) {
      f(entry->deque);
    }
  }

 private:
  struct Entry {
    Deque deque;
    Entry* next = nullptr;
    bool isTaken = true;  // guarded by lock_
  };

  Allocator* const allocator_;
  std::mutex lock_;
  std::atomic<Entry*> first_{nullptr};  // changed under lock_
};

}  // namespace weft::inline v0_1::detail
