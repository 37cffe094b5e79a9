// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "fair/dispatcher.h"

namespace weft::inline v0_1::detail {

// How one thread takes from the queues of a Dispatcher: what is due first, with a turn for the other tasks
// now and then. Only the thread itself uses it.
class FairConsumer {
 public:
  explicit FairConsumer(Dispatcher& dispatcher) : due_(dispatcher.due_), ready_(dispatcher.ready_) {}

  // A hint.
  bool isEmpty() { return due_.empty() && ready_.empty(); }

  // Returns: null also while it is the turn of the other tasks.
  FairTask* pop() {
    if (!due_.empty()) [[unlikely]] {
      if (FairTask* const task = popDue()) {
        return task;
      }
    }
    return ready_.empty() ? nullptr : popReady();
  }
  // The same with the dispatcher lock. `hasBacklog`: then it may be the backlog's turn.
  [[gnu::noinline]] FairTask* popQueued(bool hasBacklog) {
    FairTask* task = popDue();
    task = task == nullptr ? popReady() : task;
    if (task == nullptr) {
      endTurn();
      task = hasBacklog ? nullptr : popDue();
    }
    return task;
  }
  // It was the turn of the other tasks, of which there were none, or one that was in no queue.
  void endTurn() { dueInARow_ = 0; }

 private:
  // Due tasks that run in a row before one from the ready queue.
  static constexpr uint32_t kDueInARow = 16;

  [[gnu::noinline]] FairTask* popDue() {
    FairTask* task = nullptr;
    if (dueInARow_ >= kDueInARow || !due_.pop(task)) {
      return nullptr;  // even if pop() has seen a task that another thread took
    }
    ++dueInARow_;
    return task;
  }
  [[gnu::noinline]] FairTask* popReady() {
    FairTask* task = nullptr;
    if (!ready_.pop(task)) {
      return nullptr;
    }
    endTurn();
    return task;
  }

  Dispatcher::Queue::Consumer due_, ready_;
  uint32_t dueInARow_ = 0;
};

}  // namespace weft::inline v0_1::detail
