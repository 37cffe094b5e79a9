// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "scheduler/scheduler_core.h"
#include "scheduler/worker.h"

// What runs for every task and every switch, to be inlined into the few functions that need it.
namespace weft::detail {

inline void Worker::switchTo(FiberControlBlock& to) {
  FiberControlBlock& from = *current_.get();
  TaskScope* const task = currentTask;
  current_.set(&to);
  currentFiber = &to;
  OSFiber::switchTo(from.os, to.os, cxaGlobals_);
  currentTask = task;
}

inline void Worker::makeReady(FiberControlBlock& fiber) {
  if (!fiber.isQueued) {
    fiber.isQueued = true;
    ready_.pushBack(fiber);
    ++numReady_;
  }
}

inline FiberControlBlock* Worker::popReady() {
  FiberControlBlock* fiber = ready_.popFront();
  if (fiber != nullptr) {
    fiber->isQueued = false;
    --numReady_;
    if (FiberControlBlock* next = ready_.front()) {
      __builtin_prefetch(next->os.sp);
    }
  }
  return fiber;
}

inline void Worker::wake(FiberControlBlock& fiber) noexcept {
  const Worker* waker = current();
  if (waker == this) {
    fiber.isWoken = true;
    makeReady(fiber);
    return;
  }
  fiber.isWokenFromOutside =
      waker == nullptr || waker->mode_ != Mode::MultiThreaded || &waker->core_ != &core_;
  // The push may be the last moment of the fiber, of this worker and of its scheduler.
  Parker<>* parker = parker_;
  if (inbox_.push(&fiber)) {
    parker->unpark();
  }
}

inline void Worker::suspend() {
  ++numBlocked_;
  switchToNext();
  --numBlocked_;
}

inline void Worker::switchToNext() {
  FiberControlBlock* self = current_.get();
  FiberControlBlock* to = nullptr;
  if (lane_.untilPoll > 1 && next_ == nullptr && inbox_.empty()) [[likely]] {
    --lane_.untilPoll;
    to = popReady();
  }
  if (to == nullptr) {
    to = &awaitNext();
  }
  if (to != self) {
    switchTo(*to);
  }
}

// Before `fiber`, which runs, stops running or begins another task. To fork is to schedule: the children are
// newer than whatever else is queued. The flag saves the fork, which costs a few nanoseconds, from knowing
// its fiber.
inline void Worker::noteForks(FiberControlBlock& fiber) {
  if (lane_.hasForked) {
    lane_.hasForked = false;
    fiber.hasScheduled = true;
    oldestFirst_ = false;
  }
}

inline void Worker::beginBlock(FiberControlBlock& self, const char* what, const void* object) {
  self.blockedOn = what;
  self.blockedObject = object;
  noteForks(self);
  if (self.task.get() != nullptr && !self.hasScheduled) {
    // A task that blocks without having scheduled anything waits for an older one: take the oldest next, lest
    // each of a long row of tasks comes to wait on a stack of its own.
    oldestFirst_ = true;
    hasBlockedAtOnce_ = true;
  }
}

inline void Worker::block(FiberControlBlock& self, const char* what, const void* object) {
  beginBlock(self, what, object);
  // Who is woken before this call, by its own thread, is in the ready list already: it leaves that in its
  // turn.
  while (!self.isWoken || self.isQueued) {
    suspend();
  }
  self.isWoken = false;
  self.blockedOn = nullptr;
}

inline void Worker::enqueue(TaskNode* node) {
  lane_.counters.countScheduled();
  current_.get()->hasScheduled = true;
  oldestFirst_ = false;
  if (mode_ == Mode::MultiThreaded && (node->flags & static_cast<uint32_t>(Task::Flags::SameThread)) == 0)
      [[likely]] {
    pushShared(node);
    core_.idle.onPublish();
  } else {
    enqueueElsewhere(node);
  }
}

inline void Worker::pushShared(TaskNode* node) {
  if (!deque_->push(node)) [[unlikely]] {
    moveOverflow(node);
  }
}

inline TaskNode* Worker::takeNewestOfDeque() {
  TaskNode* node = deque_->take(lane_.thief);
  // What is pushed next is not of the batch.
  batchEnd_ = std::min(batchEnd_, deque_->endIndex());
  return node;
}

}  // namespace weft::detail
