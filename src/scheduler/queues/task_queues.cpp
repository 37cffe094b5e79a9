// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/queues/task_queues.h"

#include <utility>

namespace weft::inline v0_1::detail {

TaskNode* TaskQueues::takeBatch(uint32_t most) { return stealable.takeBatch(most, prefersOldest_); }

void TaskQueues::watchOldest(bool endsWindow, OldestWatch::Now now) {
  using Next = OldestWatch::Next;
  now.next = now.next == Next::Newest && prefersOldest_ ? Next::Oldest : now.next;
  pinnedWatch_.note(pinnedLifo_.beginIndex(), pinnedLifo_.endIndex(), now);
  if (endsWindow) {
    pinnedWatch_.endWindow();
  }
  const bool isPinnedNext = !pinnedLifo_.isEmpty() || !pinnedFifo_.isEmpty();
  const bool isOfQueues = now.next == Next::Newest || now.next == Next::Oldest;
  now.next = isPinnedNext && isOfQueues ? Next::Other : now.next;
  stealable.watchOldest(endsWindow, now);
}

TaskNode* TaskQueues::oldestInTurn() {
  if (!doesOldestStarve()) {
    return nullptr;
  }
  isPinnedsTurn_ = !isPinnedsTurn_;
  const bool isPinneds = pinnedWatch_.starves() && (isPinnedsTurn_ || !stealable.doesOldestStarve());
  TaskNode* node = isPinneds ? nullptr : stealable.takeInTurn();
  if (node == nullptr && pinnedWatch_.starves()) {
    node = pinnedLifo_.takeOldest();
    pinnedWatch_.noteTurn(pinnedLifo_.endIndex(), node != nullptr);
  }
  return node;
}

// Tasks may be placed here without end, and so may the injector be filled.
TaskNode* TaskQueues::oldestFromOutside() {
  TaskNode* node = nullptr;
  if (pinnedFifo_.isEmpty() || std::exchange(isInjectedsTurn_, !isInjectedsTurn_)) {
    node = stealable.takeOldestInjected();
  }
  return node != nullptr ? node : pinnedFifo_.takeOldest();
}

}  // namespace weft::inline v0_1::detail
