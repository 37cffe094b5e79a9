// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>

#include "scheduler/policy/oldest_watch.h"
#include "scheduler/queues/task_list.h"
#include "scheduler/queues/task_overflow.h"
#include "scheduler/queues/task_ring.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/detail/queue/segmented_queue_consumer.h"
#include "weft/detail/queue/steal_gate.h"
#include "weft/detail/queue/stealing_deque.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// The tasks of one worker that have not begun. This class decides which of them comes next. It moves tasks
// for which its deque has no room to the overflow, and batches from there and from the injector to its deque.
//
// For the worker's own thread, except for size() and for thieves, which use the deque itself.
class TaskQueues {
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

  // `takesShared`: whether the worker runs tasks from the injector and the overflow. Workers that have a
  // thread do.
  TaskQueues(const Shared& shared, bool takesShared, Allocator* allocator);
  TaskQueues(const TaskQueues&) = delete;
  TaskQueues& operator=(const TaskQueues&) = delete;

  // The thread's side of the deque, for code that forks. It has no deque until one is given to
  // it.
  LocalDeque& localDeque() { return localDeque_; }
  const LocalDeque& localDeque() const { return localDeque_; }

  // Queues a task that any worker may run.
  // Requires: there is a deque.
  void push(TaskNode* node) {
    if (!localDeque_.deque->push(node)) [[unlikely]] {
      overflow(node);
    }
  }
  // The same for several, in their order.
  void pushBatch(TaskNode* const* nodes, uint32_t count);
  // push(), where the deque is full.
  void overflow(TaskNode* node);
  // Queues a task for this thread only.
  void pushPinned(TaskNode* node, bool isOfTask) {
    if (isOfTask) {
      pinnedLifo_.pushNewest(node);
    } else {
      pinnedFifo_.pushNewest(node);
    }
  }
  // Queues a task that was placed on this worker.
  void pushPlaced(TaskNode* node) { pinnedFifo_.pushNewest(node); }
  // Queues a forked task for which the deque has no room.
  void pushElsewhere(TaskNode* node);

  // From now on next() returns the newest of the tasks that tasks have scheduled, or the oldest.
  void preferNewest() { prefersOldest_ = false; }
  void preferOldest() { prefersOldest_ = true; }

  // Each of the following removes the task that it returns. It returns null where there is none.

  // Tasks for this thread come first: those that tasks have scheduled, then those from outside of tasks and
  // those that were placed here.
  TaskNode* next() {
    if (!pinnedLifo_.isEmpty()) {
      return prefersOldest_ ? pinnedLifo_.takeOldest() : pinnedLifo_.takeNewest();
    }
    if (!pinnedFifo_.isEmpty()) {
      return pinnedFifo_.takeOldest();
    }
    if (localDeque_.deque == nullptr || localDeque_.deque->empty()) {
      return nullptr;
    }
    return prefersOldest_ ? nextOldest() : takeNewestOfDeque();
  }
  // At a turn of others: notes how long the oldest tasks have been the oldest. `endsWindow`: some 8 ms
  // have passed since the last call with true. now.next: Other, where a fiber is ready, or a task in place
  // goes first; Piece; or else Newest, for whatever next() takes.
  void watchOldest(bool endsWindow, OldestWatch::Now now);
  // Returns: whether a task that only newer ones keep from running starves.
  bool doesOldestStarve() const { return pinnedWatch_.starves() || dequeWatch_.starves(); }
  // The oldest task that starves, or the newest: see OldestWatch. Where both this thread's own tasks and
  // those that thieves may take do, that of both, by turns.
  TaskNode* oldestInTurn();
  // Returns: whether next() gives the task that oldestFromOutside() would give.
  bool isOutsideNext() const {
    return pinnedLifo_.isEmpty() &&
           (!pinnedFifo_.isEmpty() || (localDeque_.deque != nullptr && isBatchNext(numLeftOfBatch())));
  }
  // The oldest task that was scheduled outside of tasks for this thread, or was placed here, and the oldest
  // of the injector, by turns.
  TaskNode* oldestFromOutside();
  // Takes a batch from the overflow, or one from the injector, of `most` tasks at most. Its first task is
  // returned, and the rest enters the deque. (One task at a time would make a task from outside 29 % dearer
  // for a lone worker.)
  // Requires: takesShared; the deque is empty; most > 0.
  TaskNode* takeBatch(uint32_t most);

  // Takes `node`, if it is the newest of the tasks that tasks have scheduled.
  // Returns: whether it took it.
  bool takeIfNewest(TaskNode* node) {
    if (!pinnedLifo_.isEmpty()) {
      const bool isNewest = pinnedLifo_.newest() == node;
      if (isNewest) {
        pinnedLifo_.takeNewest();
      }
      return isNewest;
    }
    return localDeque_.deque != nullptr && localDeque_.deque->newest() == node &&
           takeNewestOfDeque() != nullptr;
  }
  // Moves the tasks of the deque to the overflow.
  // Returns: whether there were any.
  bool giveAway() { return localDeque_.deque != nullptr && moveToOverflow(Deque::kCapacity); }

  // Returns: whether oldestFromOutside() would find a task.
  bool hasFromOutside() {
    return !pinnedFifo_.isEmpty() || (takesShared_ && (numLeftOfBatch() != 0 || !injected_.empty()));
  }
  // Returns: whether takeBatch() would find a task.
  bool seesBatch() { return !overflow_.isEmpty() || !injected_.empty(); }
  bool isEmpty() const {
    return pinnedLifo_.isEmpty() && pinnedFifo_.isEmpty() &&
           (localDeque_.deque == nullptr || localDeque_.deque->empty());
  }
  // Any thread, an estimate.
  uint64_t size() const {
    return pinnedLifo_.size() + pinnedFifo_.size() +
           (localDeque_.deque != nullptr ? localDeque_.deque->size() : 0);
  }

 private:
  TaskNode* takeNewestOfDeque() {
    TaskNode* node = localDeque_.deque->take(localDeque_.stealer);
    // A task that is pushed after this is not part of the batch.
    batchEnd_ = std::min(batchEnd_, localDeque_.deque->endIndex());
    return node;
  }
  TaskNode* nextOldest();
  TaskNode* newestUnlessForked();
  TaskNode* oldestOfDeque();
  TaskNode* oldestInjected();
  bool hasOverflowed() const { return takesShared_ && !overflow_.isEmpty(); }
  TaskNode* oldestOverflowed();
  TaskNode* takeOverflowed();
  TaskNode* takeInjected(uint32_t most);
  uint32_t numLeftOfBatch() const;
  // `numLeft`: of the batch. Returns: whether it lies at the newer end.
  bool isBatchNext(uint32_t numLeft) const {
    return numLeft != 0 && batchEnd_ == localDeque_.deque->endIndex();
  }
  TaskNode* liftBatch(uint32_t count);
  bool moveToOverflow(uint32_t wanted);

  LocalDeque localDeque_;
  int64_t batchBegin_ = 0, batchEnd_ = 0;  // see numLeftOfBatch()
  bool prefersOldest_ = false;
  OldestWatch pinnedWatch_, dequeWatch_;
  bool isPinnedsTurn_ = false;    // see oldestInTurn()
  bool isInjectedsTurn_ = false;  // see oldestFromOutside()
  const bool takesShared_;
  TaskRing pinnedLifo_;  // scheduled by tasks, for this thread only: the newest first
  TaskList pinnedFifo_;  // scheduled outside of tasks, for this thread only, or placed: the oldest first
  const int numWorkers_;
  TaskOverflow& overflow_;
  Injector::Consumer injected_;
};

}  // namespace weft::inline v0_1::detail
