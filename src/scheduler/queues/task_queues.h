// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "scheduler/policy/oldest_watch.h"
#include "scheduler/queues/stealable_tasks.h"
#include "scheduler/queues/task_list.h"
#include "scheduler/queues/task_ring.h"
#include "weft/detail/base/task_node.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// The tasks of one worker that have not begun: those that only its thread may run, and those that it shares
// with others. This class decides which of them comes next.
//
// For the worker's own thread, except for numPinned() and stealable.size().
class TaskQueues {
 public:
  // See StealableTasks().
  TaskQueues(const StealableTasks::Shared& shared, bool takesShared, Allocator* allocator)
      : stealable(shared, takesShared), pinnedLifo_(allocator) {}

  // Queues a task for this thread only, or one that was placed on this worker. `isOfTask`: a task of this
  // thread has scheduled it.
  void pushPinned(TaskNode* node, bool isOfTask) {
    if (isOfTask) {
      pinnedLifo_.pushNewest(node);
    } else {
      pinnedFifo_.pushNewest(node);
    }
  }

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
    if (stealable.isEmpty()) {
      return nullptr;
    }
    return prefersOldest_ ? stealable.takeOldest() : stealable.takeNewest();
  }
  // See StealableTasks::takeBatch().
  TaskNode* takeBatch(uint32_t most);
  // The oldest task that was scheduled outside of tasks for this thread, or was placed here, and the oldest
  // of the injector, by turns.
  TaskNode* oldestFromOutside();
  // The oldest task that starves, or the newest: see OldestWatch. Where both this thread's own tasks and
  // those that thieves may take do, that of both, by turns.
  TaskNode* oldestInTurn();

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
    StealableTasks::Deque* const deque = stealable.local.deque;
    return deque != nullptr && deque->newest() == node && stealable.takeNewest() != nullptr;
  }

  // At a turn of others: notes how long the oldest tasks have been the oldest. `endsWindow`: some 8 ms
  // have passed since the last call with true. now.next: Other, where a fiber is ready, or a task in place
  // goes first; Piece; or else Newest, for whatever next() takes.
  void watchOldest(bool endsWindow, OldestWatch::Now now);
  // Returns: whether a task that only newer ones keep from running starves.
  bool doesOldestStarve() const { return pinnedWatch_.starves() || stealable.doesOldestStarve(); }

  // Returns: whether next() gives the task that oldestFromOutside() would give.
  bool isOutsideNext() const {
    return pinnedLifo_.isEmpty() && (!pinnedFifo_.isEmpty() || stealable.isBatchNext());
  }
  // Returns: whether oldestFromOutside() would find a task.
  bool hasFromOutside() { return !pinnedFifo_.isEmpty() || stealable.hasInjected(); }
  bool isEmpty() const { return pinnedLifo_.isEmpty() && pinnedFifo_.isEmpty() && stealable.isEmpty(); }
  // Any thread, an estimate: of those for this thread only.
  uint64_t numPinned() const { return pinnedLifo_.size() + pinnedFifo_.size(); }

  StealableTasks stealable;

 private:
  friend struct LayoutAccess;

  bool prefersOldest_ = false;
  OldestWatch pinnedWatch_;
  bool isPinnedsTurn_ = false;    // see oldestInTurn()
  bool isInjectedsTurn_ = false;  // see oldestFromOutside()
  TaskRing pinnedLifo_;           // scheduled by tasks: the newest first
  TaskList pinnedFifo_;           // scheduled outside of tasks, or placed: the oldest first
};

}  // namespace weft::inline v0_1::detail
