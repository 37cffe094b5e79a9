// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/fork/fork.h"

#include "scheduler/fiber_control_block.h"
#include "scheduler/process_fork.h"
#include "scheduler/waiter_inl.h"
#include "scheduler/worker.h"
#include "scheduler/worker_inl.h"
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

void ForkLane::putBack(TaskNode* node) {
  deque->push(node);
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
