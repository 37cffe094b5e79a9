// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/process_fork.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/worker_inl.h"
#include "weft/debug.h"
#include "weft/executor.h"

// How tasks come from threads that are not bound to the scheduler.
namespace weft::inline v0_1::detail {

void SchedulerCore::enqueueFromOutside(TaskNode* node) {
  assertBindingNotLost("Scheduler::enqueue()");
  WEFT_ASSERT(numWorkers > 0,
              "Scheduler::enqueue(): this scheduler has no worker threads, "
              "and the calling thread is not bound to it, so that nobody could run the task. "
              "Bind the thread, or give the scheduler workers (Config::setWorkerThreadCount).");
  assertNotForked("Scheduler::enqueue()");
  WEFT_ASSERT((node->flags & static_cast<uint32_t>(Task::Flags::SameThread)) == 0,
              "Scheduler::enqueue(): a SameThread task was given by a thread "
              "that is not bound to the scheduler, and so cannot run there. "
              "Bind the thread, or drop the flag.");
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
