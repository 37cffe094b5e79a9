// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/fork/fork.h"

#include <utility>

#include "scheduler/core/waiter_inl.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/debug.h"

namespace weft::inline v0_1::detail {

constinit thread_local ForkLane* currentLane = nullptr;

bool ForkLane::mayRunInPlaceNow() { return Worker::current()->mayGoOn(OldestWatch::Next::Other); }

bool ForkLane::letOthersRunNow(GoesOn goesOn) {
  Worker& worker = *Worker::current();
  const bool isTheirs =
      !worker.mayGoOn(goesOn == GoesOn::WithPieces ? OldestWatch::Next::Piece : OldestWatch::Next::InPlace);
  if (isTheirs) {
    worker.yield(worker.fibers().current());
  }
  return isTheirs;
}

void ForkLane::exposeKept() {
  deque->open();
  numEnough = numEnoughWithNoneKept();
  ForkNode* oldest = nullptr;
  for (ForkNode* node = std::exchange(newestKept, nullptr); node != nullptr;) {
    auto* const older = static_cast<ForkNode*>(node->next);
    node->next = oldest;
    oldest = std::exchange(node, older);
  }
  while (oldest != nullptr) {
    ForkNode& node = *oldest;
    oldest = static_cast<ForkNode*>(node.next);
    node.beginExposed();
    if (!deque->push(&node)) [[unlikely]] {
      exposeElsewhere(&node);
    }
  }
  idle.onPublish();
}

void ForkLane::exposeForked(ForkNode& child) {
  child.next = std::exchange(newestKept, &child);
  exposeKept();
}

bool ForkLane::exposeAboveKept(TaskNode& node) {
  if (!deque->isClosed()) {
    return false;
  }
  exposeKept();
  return deque->push(&node);
}

bool takeBackExposed(ForkLane& lane, ForkNode& child, const char* what) {
  const bool isLeft = lane.takeBack(child);
  if (!isLeft) {
    waitForChild(child.completion, what);
  }
  child.endExposed();
  return isLeft;
}

void ForkLane::putBack(TaskNode* node) {
  if (!expose(*node)) {
    exposeElsewhere(node);
  }
  // A searcher may have looked while the node was away.
  idle.onPublish();
}

ForkLane* openLane() {
  Worker* worker = Worker::current();
  return worker != nullptr ? worker->openLane() : nullptr;
}

void reportUnboundFork() {
  assertNotForked("the end of join()");
  WEFT_FATAL(
      "Scheduler::unbind() was called in a function of join(). "
      "Call it where bind() was called, after join() has returned.");
}

void exposeElsewhere(TaskNode* node) { Worker::current()->exposeElsewhere(node); }

void waitForChild(ChildCompletion& completion, const char* what) {
  Waiter& self = inlined::currentWaiter();
  if (!completion.isDoneOrWakes(self)) {
    inlined::block(self, what, &completion);
  }
}

}  // namespace weft::inline v0_1::detail
