// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fibers/in_place.h"
#include "scheduler/worker/observed_in_place.h"
#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_group.h"
#include "weft/detail/base/exception_state.h"
#include "weft/fiberlocal.h"

// How a worker runs a task on top of the task that waits for it.
namespace weft::inline v0_1::detail {

bool Worker::takeToRunInPlace(TaskNode* node) {
  return hasStackForTask() && localDeque().mayRunInPlace() && tasks_.takeIfNewest(node);
}

bool Worker::hasStackForTask() const { return isRunningTask() && currentTask->leavesStackForTask(); }

// Addresses are compared by their lower halves, so only the topmost GiB of a thread's stack counts. If the
// system does not tell where the stack is, no task begins in it: see FiberSwitch::enterThread().
void Worker::findRoomInThreadStack() {
  constexpr size_t kCounted = size_t{1} << 30;
  if (const ThreadStack stack = threadStack(); stack.base != nullptr) {
    const size_t ignored = stack.size > kCounted ? stack.size - kCounted : 0;
    threadScope.inPlaceEnd =
        endOfTasksInPlace(reinterpret_cast<uintptr_t>(stack.base) + ignored, group_.config.fiberStackSize);
  }
}

void Worker::runInPlace(TaskNode* node) {
  if (!ExceptionState::isEmpty(localDeque().exceptions)) [[unlikely]] {
    runInPlaceAside(node);
  } else {
    runInPlaceNow(node);
  }
}

inline void Worker::runInPlaceNow(TaskNode* node) {
  FiberControlBlock& fiber = fibers_.current();
  const void* outer = fiber.task;
  fiber.task = reinterpret_cast<const void*>(node->invoke);
  {
    InPlaceScope scope;
    node->invoke(node, TaskOp::Run);
    scope.endTask();
  }
  fiber.task = outer;
  localDeque().counters.countEnded();
}

// For a waiter that handles or throws an exception, which is none of the task's, and for any while the worker
// is observed.
[[gnu::cold, gnu::noinline]] void Worker::runInPlaceAside(TaskNode* node) {
  const ExceptionsAside aside(fibers_.exceptions());
  const ObservedInPlace observed(*node);
  runInPlaceNow(node);
}

}  // namespace weft::inline v0_1::detail
