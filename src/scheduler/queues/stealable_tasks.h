// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

#include "scheduler/policy/oldest_watch.h"
#include "scheduler/queues/task_overflow.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/detail/queue/segmented_queue_consumer.h"
#include "weft/detail/queue/steal_gate.h"
#include "weft/detail/queue/stealing_deque.h"

namespace weft::inline v0_1::detail {

// The tasks that one worker shares with others: those of its deque, and those of the injector and the
// overflow, which it takes in batches. What its deque has no room for goes to the overflow.
//
// For the worker's own thread, except for size() and for thieves, which use the deque itself.
class StealableTasks {
 public:
  using Deque = StealingDeque<TaskNode>;
  using Injector = SegmentedQueue<TaskNode*>;

  // What the workers of a scheduler share.
  struct Shared {
    Injector& injector;
    TaskOverflow& overflow;
    IdleSet<>& idle;
    StealGate<>& gate;
    int numWorkers;
  };

  // `takesShared`: whether the worker takes from the injector and the overflow. Workers with a thread do.
  StealableTasks(const Shared& shared, bool takesShared);

  // Requires, both: there is a deque.
  void push(TaskNode* node) {
    if (!local.deque->push(node)) [[unlikely]] {
      overflow(node);
    }
  }
  void pushBatch(TaskNode* const* nodes, uint32_t count);

  // Each of the following removes the task that it returns. It returns null where there is none.

  // Requires, both: there is a deque.
  TaskNode* takeNewest() {
    TaskNode* node = local.deque->take(local.stealer);
    // A task that is pushed after this is not part of the batch.
    batchEnd_ = std::min(batchEnd_, local.deque->endIndex());
    return node;
  }
  TaskNode* takeOldest();
  // The oldest that was scheduled outside of the workers' tasks.
  TaskNode* takeOldestInjected();
  // Takes a batch from the overflow, or one from the injector, of `most` tasks at most. Its first task is
  // returned, and the rest enters the deque. (One task at a time would make a task from outside 29 % dearer
  // for a lone worker.) With `prefersOldest`, of the overflow only its oldest task.
  // Requires: takesShared; the deque is empty; most > 0.
  TaskNode* takeBatch(uint32_t most, bool prefersOldest);
  // The task whose turn it is, or null: see OldestWatch.
  // Requires: doesOldestStarve().
  TaskNode* takeInTurn();

  // At a turn of others, and where `endsWindow`: see TaskQueues::watchOldest().
  void watchOldest(bool endsWindow, OldestWatch::Now now);
  bool doesOldestStarve() const { return watch_.starves(); }

  // Moves the tasks of the deque to the overflow. Returns: whether there were any.
  bool giveAway() { return local.deque != nullptr && moveToOverflow(Deque::kCapacity); }

  // Returns: whether takeOldestInjected() would find a task.
  bool hasInjected() { return takesShared_ && (numLeftOfBatch() != 0 || !injected_.empty()); }
  // Returns: whether the newest task is the oldest of a batch from the injector.
  bool isBatchNext() const { return local.deque != nullptr && isBatchNext(numLeftOfBatch()); }
  // Returns: whether takeBatch() would find a task.
  bool seesBatch() { return !overflow_.isEmpty() || !injected_.empty(); }
  // Of the deque.
  bool isEmpty() const { return local.deque == nullptr || local.deque->empty(); }
  // Any thread, an estimate.
  uint64_t size() const { return local.deque != nullptr ? local.deque->size() : 0; }

  // The thread's side of the deque, for code that forks. It has no deque until one is given to it.
  LocalDeque local;

 private:
  void overflow(TaskNode* node);
  bool moveToOverflow(uint32_t wanted);
  bool hasOverflowed() const { return takesShared_ && !overflow_.isEmpty(); }
  TaskNode* takeOldestOverflowed() { return hasOverflowed() ? overflow_.takeOldest() : nullptr; }
  TaskNode* takeNewestUnlessForked();
  TaskNode* takeOldestOfDeque();
  TaskNode* takeOverflowed();
  TaskNode* takeInjected(uint32_t most);
  uint32_t numLeftOfBatch() const;
  // `numLeft`: of the batch. Returns: whether it lies at the newer end.
  bool isBatchNext(uint32_t numLeft) const { return numLeft != 0 && batchEnd_ == local.deque->endIndex(); }
  TaskNode* liftBatch(uint32_t count);

  int64_t batchBegin_ = 0, batchEnd_ = 0;  // see numLeftOfBatch()
  OldestWatch watch_;
  const bool takesShared_;
  const int numWorkers_;
  TaskOverflow& overflow_;
  Injector::Consumer injected_;
};

}  // namespace weft::inline v0_1::detail
