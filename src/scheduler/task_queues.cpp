// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/task_queues.h"

#include <utility>

#include "scheduler/turns.h"

namespace weft::detail {
namespace {

constexpr uint32_t kInjectorBatch = Turns::kInterval;
constexpr uint32_t kOverflowBatch = 64;

}  // namespace

TaskQueues::TaskQueues(const Shared& shared, bool takesInjected, Allocator* allocator)
    : lane_{nullptr, shared.idle, StealGate<>::Member(shared.gate), 0, 1},
      takesInjected_(takesInjected),
      pinnedLifo_(allocator),
      pinnedFifo_(allocator),
      numWorkers_(shared.numWorkers),
      injector_(shared.injector),
      injected_(shared.injector) {}

void TaskQueues::overflow(TaskNode* node) {
  moveToInjector(Deque::kCapacity / 2);
  lane_.deque->push(node);
}

void TaskQueues::exposeElsewhere(TaskNode* node) {
  if (numWorkers_ > 0) {
    overflow(node);
  } else {
    pinnedLifo_.pushNewest(node);
  }
}

// Moves at least `wanted` of the deque's oldest tasks to the injector, or all of them.
// Returns: whether there were any.
bool TaskQueues::moveToInjector(uint32_t wanted) {
  TaskNode* batch[kOverflowBatch];
  uint32_t moved = 0;
  while (moved < wanted) {
    const uint32_t count = lane_.deque->takeOldestBatch(batch, kOverflowBatch);
    if (count == 0) {
      break;
    }
    injector_.pushBatch(batch, count);
    moved += count;
  }
  if (moved != 0) {
    overflowEnd_ = injector_.numPushed();
  }
  return moved != 0;
}

TaskNode* TaskQueues::nextOldest() {
  TaskNode* node = overflowEnd_ != 0 && numLeftOfBatch() == 0 ? takeOverflowed() : nullptr;
  return node != nullptr ? node : oldestOfDeque();
}

// The tasks that this worker has itself moved to the injector are older than those left in the deque. So are
// the tasks that lie before them in the injector. Tasks that came later are not, and wait.
TaskNode* TaskQueues::takeOverflowed() {
  TaskNode* node = nullptr;
  if (!takesInjected_ || injected_.numTaken() >= overflowEnd_ || !injected_.pop(node)) {
    overflowEnd_ = 0;
  }
  return node;
}

void TaskQueues::watchOldest(bool endsWindow, OldestWatch::Now now) {
  using Next = OldestWatch::Next;
  now.next = now.next == Next::Newest && prefersOldest_ ? Next::Oldest : now.next;
  pinnedWatch_.note(pinnedLifo_.beginIndex(), pinnedLifo_.endIndex(), now);
  if (lane_.deque != nullptr) {
    const bool isPinnedNext = !pinnedLifo_.isEmpty() || !pinnedFifo_.isEmpty();
    now.next =
        isPinnedNext && (now.next == Next::Newest || now.next == Next::Oldest) ? Next::Other : now.next;
    dequeWatch_.note(lane_.deque->beginIndex(), lane_.deque->endIndex(), now);
  }
  if (endsWindow) {
    pinnedWatch_.endWindow();
    if (lane_.deque != nullptr) {
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
    node = node == nullptr && turn != OldestWatch::Turn::Newest ? oldestOfDeque() : node;
    dequeWatch_.noteTurn(lane_.deque->endIndex(), node != nullptr && !isForked(*node));
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
    lane_.putBack(node);
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
  if (takesInjected_) {
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
  if (left != 0 && batchBegin_ <= lane_.deque->beginIndex()) {
    return liftBatch(left);
  }
  return lane_.deque->takeOldest();
}

// Returns: how many tasks of the last batch from the injector are in the deque, at most. They have the
// indices from batchBegin_ to batchEnd_, reversed.
uint32_t TaskQueues::numLeftOfBatch() const {
  const int64_t left = batchEnd_ - std::max(batchBegin_, lane_.deque->beginIndex());
  return left > 0 ? static_cast<uint32_t>(left) : 0;
}

// Lifts the batch from the oldest end of the deque over all tasks above it.
// Returns: the first task of the batch.
TaskNode* TaskQueues::liftBatch(uint32_t count) {
  TaskNode* batch[kInjectorBatch];
  count = lane_.deque->takeOldestBatch(batch, count);
  if (count == 0) {
    return nullptr;
  }
  TaskNode* first = batch[--count];
  batchBegin_ = lane_.deque->endIndex();
  for (uint32_t i = 0; i < count; ++i) {
    push(batch[i]);
  }
  batchEnd_ = lane_.deque->endIndex();
  // A searcher may have looked while the tasks were in no queue.
  lane_.idle.onPublish();
  return first;
}

TaskNode* TaskQueues::takeBatch(uint32_t most) {
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
  batchBegin_ = lane_.deque->endIndex();
  while (count > 1) {
    push(batch[--count]);
  }
  batchEnd_ = lane_.deque->endIndex();
  lane_.idle.onPublish();
  return batch[0];
}

}  // namespace weft::detail
