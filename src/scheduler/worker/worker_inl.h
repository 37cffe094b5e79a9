// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_group.h"

// The code that runs for every task and every switch, to be inlined into the few functions that need it.
namespace weft::inline v0_1::detail {

inline uint32_t flagsOfAll(TaskNode* const* nodes, uint32_t count) {
  uint32_t flags = 0;
  for (uint32_t i = 0; i < count; ++i) {
    flags |= nodes[i]->flags;
  }
  return flags;
}

// Returns: what this worker does next, or nothing. Decides the order; suspend() has a copy of its beginning.
inline Work Worker::findWork(SearchScope scope) {
  if (TaskNode* task = localDeque().countDequeue() ? takeTurn() : nullptr) {
    return task;
  }
  if (FiberControlBlock* fiber = takeReady()) {
    return fiber;
  }
  if (TaskNode* task = tasks_.next()) {
    return task;
  }
  if (TaskNode* task = scope >= SearchScope::Injector ? tasks_.takeBatch(fairness_.numInSlice()) : nullptr) {
    return task;
  }
  return scope >= SearchScope::Everywhere ? stealer_.steal() : nullptr;
}

inline FiberControlBlock* Worker::takeReady() {
  lookIntoInbox();
  return ready_.pop();
}

// Any thread.
inline void Worker::sendToInbox(FiberControlBlock& fiber) noexcept {
  // After the push the fiber, this worker and its scheduler may be gone.
  Parker<>* parker = &idler_.parker();
  if (inbox_.push(&fiber)) {
    parker->unpark();
  }
}

inline void Worker::wakeHere(FiberControlBlock& fiber) noexcept {
  fiber.isWoken = true;
  ready_.push(fiber);
}

inline void Worker::wake(FiberControlBlock& fiber) noexcept {
  if (currentFiber != nullptr && static_cast<FiberControlBlock*>(currentFiber)->worker->unobserved_ == this)
      [[likely]] {
    wakeHere(fiber);
  } else {
    wakeFromElsewhere(fiber);
  }
}

// Suspends the current fiber. It returns once the fiber was made ready and this worker has chosen it.
inline void Worker::suspend() {
  ++numBlocked_;
  FiberControlBlock* to = nullptr;
  // In the most frequent case a fiber is ready and no turn is due. This is findWork() up to that point.
  if (localDeque().untilPoll > 1 && inbox_.empty()) [[likely]] {
    --localDeque().untilPoll;
    to = ready_.pop();
  }
  if (to == nullptr) {
    to = &awaitNext();
  }
  if (to != &fibers_.current()) {
    fibers_.switchTo(*to);
  }
  --numBlocked_;
}

// Called before `fiber`, which runs, stops running or begins another task. A fork schedules: its children are
// newer than all that is queued. The flag saves a fork from looking up its fiber, which costs nanoseconds.
inline void Worker::noteForks(FiberControlBlock& fiber) {
  if (localDeque().hasForked) [[unlikely]] {
    endForks(fiber);
  }
}

inline void Worker::beginBlock(FiberControlBlock& self, const char* what, const void* object) {
  self.blockedOn = what;
  self.blockedObject = object;
  self.waiter.since = lookedAt_;
  noteForks(self);
  if (self.task != nullptr && !self.hasScheduled) {
    // A task that blocks without having scheduled anything waits for an older one. So take the oldest task
    // next: otherwise each task of a long row would come to wait on a stack of its own.
    tasks_.preferOldest();
    throttle_.noteBlockedAtOnce();
  }
}

inline void Worker::block(FiberControlBlock& self, const char* what, const void* object) {
  beginBlock(self, what, object);
  // A fiber that its own thread woke before this call is in the ready list, and leaves that list in its turn.
  while (!self.isWoken || self.isQueued) {
    suspend();
  }
  self.isWoken = false;
  self.blockedOn = nullptr;
}

inline void Worker::enqueue(TaskNode* node) {
  localDeque().counters.countScheduled();
  fibers_.current().hasScheduled = true;
  tasks_.preferNewest();
  if (mode_ == Mode::MultiThreaded && (node->flags & static_cast<uint32_t>(Task::Flags::SameThread)) == 0)
      [[likely]] {
    tasks_.stealable.push(node);
    group_.idle.onPublish();
  } else {
    enqueueElsewhere(node);
  }
}

}  // namespace weft::inline v0_1::detail
