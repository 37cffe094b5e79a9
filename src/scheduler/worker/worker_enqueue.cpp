// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "scheduler/worker/worker_inl.h"

// How a worker queues what is not the usual single task.
namespace weft::inline v0_1::detail {

void Worker::enqueueBatch(TaskNode* const* nodes, uint32_t count) {
  const bool isAnyPinned = (flagsOfAll(nodes, count) & static_cast<uint32_t>(Task::Flags::SameThread)) != 0;
  if (isAnyPinned || group_.numWorkers == 0) {
    std::for_each_n(nodes, count, [this](TaskNode* node) { enqueue(node); });
    return;
  }
  localDeque().counters.countScheduled(count);
  fibers_.current().hasScheduled = true;
  tasks_.preferNewest();
  if (mode_ == Mode::MultiThreaded) {
    tasks_.stealable.pushBatch(nodes, count);
    group_.idle.onPublish();
  } else {
    group_.injector.pushBatch(nodes, count);
    group_.idle.onPublishFromOutside();
  }
}

void Worker::enqueueElsewhere(TaskNode* node) {
  const bool isPinned = (node->flags & static_cast<uint32_t>(Task::Flags::SameThread)) != 0;
  if (isPinned || group_.numWorkers == 0) {
    tasks_.pushPinned(node, isRunningTask());
  } else {
    group_.injector.push(node);
    group_.idle.onPublishFromOutside();
  }
}

void Worker::pushElsewhere(TaskNode* node) {
  if (group_.numWorkers > 0) {
    tasks_.stealable.push(node);
  } else {
    tasks_.pushPinned(node, true);
  }
}

// A task that the worker places on itself goes where a letter would arrive.
void Worker::enqueuePlaced(TaskNode* node) {
  countPlaced();
  tasks_.pushPinned(node, false);
}

void Worker::countPlaced() {
  localDeque().counters.countScheduled();
  fibers_.current().hasScheduled = true;
}

void Worker::deliver(Mailbox::Letter* letter) noexcept {
  if (FiberControlBlock* notice = mailbox_.put(letter)) {
    sendToInbox(*notice);
  }
}

}  // namespace weft::inline v0_1::detail
