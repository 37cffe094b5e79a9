// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/queues/task_queues.h"

#include <utility>

#include "scheduler/policy/fairness_interval.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr uint32_t kInjectorBatch = FairnessInterval::kInterval;

}  // namespace

TaskQueues::TaskQueues(const Shared& shared, bool takesShared, Allocator* allocator)
    : localDeque_{nullptr, shared.idle, StealGate<>::Stealer(shared.gate), 0, 1},
      takesShared_(takesShared),
      pinnedLifo_(allocator),
      numWorkers_(shared.numWorkers),
      overflow_(shared.overflow),
      injected_(shared.injector) {}

void TaskQueues::overflow(TaskNode* node) {
  if (localDeque_.pushAboveKept(*node)) {
    return;
  }
  moveToOverflow(Deque::kCapacity / 2);
  localDeque_.deque->push(node);
}

void TaskQueues::pushBatch(TaskNode* const* nodes, uint32_t count) {
  for (uint32_t done = 0; done < count; ++done) {
    done += localDeque_.deque->pushBatch(nodes + done, count - done);
    if (done == count) {
      break;
    }
    overflow(nodes[done]);
  }
}

void TaskQueues::pushElsewhere(TaskNode* node) {
  if (numWorkers_ > 0) {
    overflow(node);
  } else {
    pinnedLifo_.pushNewest(node);
  }
}

// Moves at least `wanted` of the deque's oldest tasks to the overflow, or all of them.
// Returns: whether there were any.
bool TaskQueues::moveToOverflow(uint32_t wanted) {
  TaskNode* batch[TaskOverflow::kBatch];
  uint32_t moved = 0;
  while (moved < wanted) {
    const uint32_t count = localDeque_.deque->takeOldestBatch(batch, TaskOverflow::kBatch);
    if (count == 0) {
      break;
    }
    overflow_.push(batch, count);
    moved += count;
  }
  return moved != 0;
}

// What has overflowed is older than the tasks left in the deque, unless those are from the injector.
TaskNode* TaskQueues::nextOldest() {
  TaskNode* node = numLeftOfBatch() == 0 ? oldestOverflowed() : nullptr;
  return node != nullptr ? node : oldestOfDeque();
}

TaskNode* TaskQueues::oldestOverflowed() { return hasOverflowed() ? overflow_.takeOldest() : nullptr; }

void TaskQueues::watchOldest(bool endsWindow, OldestWatch::Now now) {
  using Next = OldestWatch::Next;
  now.next = now.next == Next::Newest && prefersOldest_ ? Next::Oldest : now.next;
  pinnedWatch_.note(pinnedLifo_.beginIndex(), pinnedLifo_.endIndex(), now);
  if (localDeque_.deque != nullptr) {
    const bool isPinnedNext = !pinnedLifo_.isEmpty() || !pinnedFifo_.isEmpty();
    now.next =
        isPinnedNext && (now.next == Next::Newest || now.next == Next::Oldest) ? Next::Other : now.next;
    // What has overflowed counts as one task.
    const int64_t begin = localDeque_.deque->beginIndex() - (hasOverflowed() ? 1 : 0);
    dequeWatch_.note(begin, localDeque_.deque->endIndex(), now);
  }
  if (endsWindow) {
    pinnedWatch_.endWindow();
    if (localDeque_.deque != nullptr) {
      dequeWatch_.endWindow();
    }
  }
}

TaskNode* TaskQueues::oldestInTurn() {
  if (!doesOldestStarve()) {
    return nullptr;
  }
  isPinnedsTurn_ = !isPinnedsTurn_;
  const bool isPinneds = pinnedWatch_.starves() && (isPinnedsTurn_ || !dequeWatch_.starves());
  TaskNode* node = nullptr;
  if (!isPinneds && dequeWatch_.starves()) {
    const OldestWatch::Turn turn = dequeWatch_.turn();
    node = turn != OldestWatch::Turn::Oldest ? newestUnlessForked() : nullptr;
    if (node == nullptr) {
      node = turn != OldestWatch::Turn::Newest ? nextOldest() : oldestOverflowed();
    }
    dequeWatch_.noteTurn(localDeque_.deque->endIndex(), node != nullptr && !isForked(*node));
  }
  if (node == nullptr && pinnedWatch_.starves()) {
    node = pinnedLifo_.takeOldest();
    pinnedWatch_.noteTurn(pinnedLifo_.endIndex(), node != nullptr);
  }
  return node;
}

TaskNode* TaskQueues::newestUnlessForked() {
  TaskNode* node = takeNewestOfDeque();
  if (node != nullptr && isForked(*node)) {
    localDeque_.putBack(node);
    return nullptr;
  }
  return node;
}

// Tasks may be placed here without end, and so may the injector be filled.
TaskNode* TaskQueues::oldestFromOutside() {
  if (!pinnedFifo_.isEmpty()) {
    TaskNode* node = std::exchange(isInjectedsTurn_, !isInjectedsTurn_) ? oldestInjected() : nullptr;
    return node != nullptr ? node : pinnedFifo_.takeOldest();
  }
  return oldestInjected();
}

// A batch in the deque is older than the tasks left in the injector.
TaskNode* TaskQueues::oldestInjected() {
  TaskNode* node = nullptr;
  if (takesShared_) {
    if (numLeftOfBatch() != 0) {
      return oldestOfDeque();
    }
    return injected_.pop(node) ? node : nullptr;
  }
  return nullptr;
}

// A batch is older than the rest of the deque, which was empty when the batch came. Its first task is at the
// newer end.
TaskNode* TaskQueues::oldestOfDeque() {
  const uint32_t left = numLeftOfBatch();
  if (isBatchNext(left)) {
    return takeNewestOfDeque();
  }
  if (left != 0 && batchBegin_ <= localDeque_.deque->beginIndex()) {
    return liftBatch(left);
  }
  return localDeque_.deque->takeOldest();
}

// Returns: how many tasks of the last batch from the injector are in the deque, at most. They have the
// indices from batchBegin_ to batchEnd_, reversed.
uint32_t TaskQueues::numLeftOfBatch() const {
  const int64_t left = batchEnd_ - std::max(batchBegin_, localDeque_.deque->beginIndex());
  return left > 0 ? static_cast<uint32_t>(left) : 0;
}

// Lifts the batch from the oldest end of the deque over all tasks above it.
// Returns: the first task of the batch.
TaskNode* TaskQueues::liftBatch(uint32_t count) {
  TaskNode* batch[kInjectorBatch];
  count = localDeque_.deque->takeOldestBatch(batch, count);
  if (count == 0) {
    return nullptr;
  }
  TaskNode* first = batch[--count];
  batchBegin_ = localDeque_.deque->endIndex();
  for (uint32_t i = 0; i < count; ++i) {
    push(batch[i]);
  }
  batchEnd_ = localDeque_.deque->endIndex();
  // A searcher may have looked while the tasks were in no queue.
  localDeque_.idle.onPublish();
  return first;
}

TaskNode* TaskQueues::takeBatch(uint32_t most) {
  TaskNode* node = !hasOverflowed() ? nullptr : prefersOldest_ ? oldestOverflowed() : takeOverflowed();
  return node != nullptr ? node : takeInjected(most);
}

TaskNode* TaskQueues::takeOverflowed() {
  TaskNode* batch[TaskOverflow::kBatch];
  const uint32_t count = overflow_.takeNewest(batch);
  if (count == 0) {
    return nullptr;
  }
  for (uint32_t i = 0; i + 1 < count; ++i) {
    push(batch[i]);
  }
  localDeque_.idle.onPublish();
  return batch[count - 1];
}

TaskNode* TaskQueues::takeInjected(uint32_t most) {
  const size_t queued = injected_.size();
  if (queued == 0) {
    return nullptr;
  }
  // Take a fair share, in one batch. It enters the deque reversed, so that the newest end
  // yields the oldest task.
  const size_t share = queued / static_cast<size_t>(numWorkers_) + 1;
  const auto wanted = static_cast<uint32_t>(std::min<size_t>({share, most, kInjectorBatch}));
  TaskNode* batch[kInjectorBatch];
  uint32_t count = injected_.popBatch(batch, wanted);
  if (count == 0) {
    return nullptr;
  }
  // The nodes were written elsewhere, or long ago.
  for (uint32_t i = 0; i < count; ++i) {
    __builtin_prefetch(batch[i]);
  }
  batchBegin_ = localDeque_.deque->endIndex();
  while (count > 1) {
    push(batch[--count]);
  }
  batchEnd_ = localDeque_.deque->endIndex();
  localDeque_.idle.onPublish();
  return batch[0];
}

}  // namespace weft::inline v0_1::detail
