// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/scheduler_core.h"
#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/executor.h"

// How tasks come from threads that are not bound to the scheduler.
namespace weft::inline v0_1::detail {

void SchedulerCore::enqueueFromOutside(TaskNode* node) {
  assertRunnable("Scheduler::enqueue()", node->flags);
  injector.push(node);
  idle.onPublishFromOutside();
}

// The handle is dropped after the last access to the core, since dropping it may run the program's code.
void SchedulerLink::schedule(TaskHandle task) {
  if (!task) {
    return;
  }
  if (Worker* worker = Worker::current(); worker != nullptr && &worker->core().outside == this) {
    worker->enqueue(static_cast<TaskNode*>(task.toVoidPointer()));
  } else if (entrance.enter()) {
    core.enqueueFromOutside(static_cast<TaskNode*>(task.toVoidPointer()));
    entrance.leave();
  }
}

}  // namespace weft::inline v0_1::detail
