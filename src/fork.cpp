// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/fork.h"

#include "fiber_block.h"
#include "waiter_inl.h"
#include "worker.h"
#include "worker_inl.h"

namespace weft::detail {

constinit thread_local ForkLane* currentLane = nullptr;

void ForkLane::putBack(TaskNode* node) {
  deque.push(node);
  // A searcher may have looked while it was away.
  idle.onPublish();
}

ForkLane* openLane() {
  Worker* worker = Worker::current();
  return worker != nullptr ? worker->openLane() : nullptr;
}

void exposeElsewhere(TaskNode* node) { Worker::current()->exposeElsewhere(node); }

void noteForks(Waiter& self) {
  if (self.fiber != nullptr) {
    self.fiber->hasScheduled = true;
  }
}

void waitForChild(ChildCompletion& completion, const char* what) {
  Waiter& self = inlined::currentWaiter();
  noteForks(self);
  if (!completion.isDoneOrWakes(self)) {
    inlined::block(self, what, &completion);
  }
}

}  // namespace weft::detail
