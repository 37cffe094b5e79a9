// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/forkjoin/fork_join.h"

#include <utility>

#include "scheduler/core/serial_warning.h"
#include "scheduler/core/waiter_inl.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/debug.h"

namespace weft::inline v0_1::detail {

constinit thread_local LocalDeque* currentLocalDeque = nullptr;

bool LocalDeque::mayRunInPlaceNow() { return Worker::current()->mayGoOn(OldestWatch::Next::Other); }

bool LocalDeque::letOthersRunNow(GoesOn goesOn) {
  Worker& worker = *Worker::current();
  const bool isTheirs =
      !worker.mayGoOn(goesOn == GoesOn::WithPieces ? OldestWatch::Next::Piece : OldestWatch::Next::InPlace);
  if (isTheirs) {
    worker.yield(worker.fibers().current());
  }
  return isTheirs;
}

void LocalDeque::pushKept() {
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
    node.beginPushed();
    if (!deque->push(&node)) [[unlikely]] {
      pushElsewhere(&node);
    }
  }
  idle.onPublish();
}

void LocalDeque::pushForked(ForkNode& child) {
  child.next = std::exchange(newestKept, &child);
  pushKept();
}

bool LocalDeque::pushAboveKept(TaskNode& node) {
  if (!deque->isClosed()) {
    return false;
  }
  pushKept();
  return deque->push(&node);
}

bool takeBackPushed(LocalDeque& local, ForkNode& child, const char* what) {
  const bool isLeft = local.takeBack(child);
  if (!isLeft) {
    waitForChild(child.completion, what);
  }
  child.endPushed();
  return isLeft;
}

void LocalDeque::putBack(TaskNode* node) {
  if (!push(*node)) {
    pushElsewhere(node);
  }
  // A searcher may have looked while the node was away.
  idle.onPublish();
}

LocalDeque* openLocalDeque() {
  Worker* worker = Worker::current();
  return worker != nullptr ? worker->openLocalDeque() : nullptr;
}

LocalDeque* openLocalDequeOrWarn() {
  LocalDeque* const local = openLocalDeque();
  if (local == nullptr) {
    noteSerialRun();
  }
  return local;
}

void reportUnboundFork() {
  assertNotForked("the end of join()");
  WEFT_FATAL(
      "Scheduler::unbind() was called in a function of join(). "
      "Call it where bind() was called, after join() has returned.");
}

void pushElsewhere(TaskNode* node) { Worker::current()->pushElsewhere(node); }

void waitForChild(ChildCompletion& completion, const char* what) {
  Waiter& self = inlined::currentWaiter();
  if (!completion.isDoneOrWakes(self)) {
    inlined::block(self, what, &completion);
  }
}

}  // namespace weft::inline v0_1::detail
