// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/queues/stealable_tasks.h"

#include "scheduler/policy/fairness_interval.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr uint32_t kInjectorBatch = FairnessInterval::kInterval;

}  // namespace

StealableTasks::StealableTasks(const Shared& shared, bool takesShared)
    : local{nullptr, shared.idle, StealGate<>::Stealer(shared.gate), 0, 1},
      takesShared_(takesShared),
      numWorkers_(shared.numWorkers),
      overflow_(shared.overflow),
      injected_(shared.injector) {}

void StealableTasks::overflow(TaskNode* node) {
  if (local.pushAboveKept(*node)) {
    return;
  }
  moveToOverflow(Deque::kCapacity / 2);
  local.deque->push(node);
}

void StealableTasks::pushBatch(TaskNode* const* nodes, uint32_t count) {
  for (uint32_t done = 0; done < count; ++done) {
    done += local.deque->pushBatch(nodes + done, count - done);
    if (done == count) {
      break;
    }
    overflow(nodes[done]);
  }
}

// Moves at least `wanted` of the deque's oldest tasks to the overflow, or all of them.
// Returns: whether there were any.
bool StealableTasks::moveToOverflow(uint32_t wanted) {
  TaskNode* batch[TaskOverflow::kBatch];
  uint32_t moved = 0;
  while (moved < wanted) {
    const uint32_t count = local.deque->takeOldestBatch(batch, TaskOverflow::kBatch);
    if (count == 0) {
      break;
    }
    overflow_.push(batch, count);
    moved += count;
  }
  return moved != 0;
}

// What has overflowed is older than the tasks left in the deque, unless those are from the injector.
TaskNode* StealableTasks::takeOldest() {
  TaskNode* node = numLeftOfBatch() == 0 ? takeOldestOverflowed() : nullptr;
  return node != nullptr ? node : takeOldestOfDeque();
}

void StealableTasks::watchOldest(bool endsWindow, OldestWatch::Now now) {
  if (local.deque == nullptr) {
    return;
  }
  // What has overflowed counts as one task.
  const int64_t begin = local.deque->beginIndex() - (hasOverflowed() ? 1 : 0);
  watch_.note(begin, local.deque->endIndex(), now);
  if (endsWindow) {
    watch_.endWindow();
  }
}

TaskNode* StealableTasks::takeInTurn() {
  const OldestWatch::Turn turn = watch_.turn();
  TaskNode* node = turn != OldestWatch::Turn::Oldest ? takeNewestUnlessForked() : nullptr;
  if (node == nullptr) {
    node = turn != OldestWatch::Turn::Newest ? takeOldest() : takeOldestOverflowed();
  }
  watch_.noteTurn(local.deque->endIndex(), node != nullptr && !isForked(*node));
  return node;
}

TaskNode* StealableTasks::takeNewestUnlessForked() {
  TaskNode* node = takeNewest();
  if (node != nullptr && isForked(*node)) {
    local.putBack(node);
    return nullptr;
  }
  return node;
}

// A batch in the deque is older than the tasks left in the injector.
TaskNode* StealableTasks::takeOldestInjected() {
  if (!takesShared_) {
    return nullptr;
  }
  if (numLeftOfBatch() != 0) {
    return takeOldestOfDeque();
  }
  TaskNode* node = nullptr;
  return injected_.pop(node) ? node : nullptr;
}

// A batch is older than the rest of the deque, which was empty when the batch came. Its first task is at the
// newer end.
TaskNode* StealableTasks::takeOldestOfDeque() {
  const uint32_t left = numLeftOfBatch();
  if (isBatchNext(left)) {
    return takeNewest();
  }
  if (left != 0 && batchBegin_ <= local.deque->beginIndex()) {
    return liftBatch(left);
  }
  return local.deque->takeOldest();
}

// Returns: how many tasks of the last batch from the injector are in the deque, at most. They have the
// indices from batchBegin_ to batchEnd_, reversed.
uint32_t StealableTasks::numLeftOfBatch() const {
  const int64_t left = batchEnd_ - std::max(batchBegin_, local.deque->beginIndex());
  return left > 0 ? static_cast<uint32_t>(left) : 0;
}

// Lifts the batch from the oldest end of the deque over all tasks above it.
// Returns: the first task of the batch.
TaskNode* StealableTasks::liftBatch(uint32_t count) {
  TaskNode* batch[kInjectorBatch];
  count = local.deque->takeOldestBatch(batch, count);
  if (count == 0) {
    return nullptr;
  }
  TaskNode* first = batch[--count];
  batchBegin_ = local.deque->endIndex();
  for (uint32_t i = 0; i < count; ++i) {
    push(batch[i]);
  }
  batchEnd_ = local.deque->endIndex();
  // A searcher may have looked while the tasks were in no queue.
  local.idle.onPublish();
  return first;
}

TaskNode* StealableTasks::takeBatch(uint32_t most, bool prefersOldest) {
  TaskNode* node = !hasOverflowed() ? nullptr : prefersOldest ? takeOldestOverflowed() : takeOverflowed();
  return node != nullptr ? node : takeInjected(most);
}

TaskNode* StealableTasks::takeOverflowed() {
  TaskNode* batch[TaskOverflow::kBatch];
  const uint32_t count = overflow_.takeNewest(batch);
  if (count == 0) {
    return nullptr;
  }
  for (uint32_t i = 0; i + 1 < count; ++i) {
    push(batch[i]);
  }
  local.idle.onPublish();
  return batch[count - 1];
}

TaskNode* StealableTasks::takeInjected(uint32_t most) {
  const size_t queued = injected_.size();
  if (queued == 0) {
    return nullptr;
  }
  // A fair share, which enters the deque reversed, so that the newest end yields the oldest task.
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
  batchBegin_ = local.deque->endIndex();
  while (count > 1) {
    push(batch[--count]);
  }
  batchEnd_ = local.deque->endIndex();
  local.idle.onPublish();
  return batch[0];
}

}  // namespace weft::inline v0_1::detail
