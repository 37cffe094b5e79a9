// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/scheduler_core.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/executor.h"

namespace weft::inline v0_1::detail {

// The handle is dropped after the last access to the core, since dropping it may run the program's code.
void SchedulerLink::schedule(TaskHandle task) {
  if (!task) {
    return;
  }
  if (Worker* worker = currentWorkerOf(core)) {
    worker->enqueue(static_cast<TaskNode*>(task.toVoidPointer()));
  } else if (rundown.enter()) {
    core.enqueueFromOutside(static_cast<TaskNode*>(task.toVoidPointer()));
    rundown.leave();
  }
}

}  // namespace weft::inline v0_1::detail
