// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "scheduler/core/scheduler_core.h"
#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/debug.h"
#include "weft/detail/base/callable.h"

// How tasks come from threads that are not bound, and to a worker that was chosen for them.
namespace weft::inline v0_1::detail {

// Ends the program with a message that names `what` if no worker could run tasks with these flags.
[[gnu::always_inline]] inline void SchedulerCore::assertRunnable(const char* what, uint32_t flags) const {
  assertBindingNotLost(what);
  WEFT_ASSERT(numWorkers > 0,
              "%s: this scheduler has no worker threads, "
              "and the calling thread is not bound to it, so that nobody could run the task. "
              "Bind the thread, or give the scheduler workers (Config::setWorkerThreadCount).",
              what);
  assertNotForked(what);
  WEFT_ASSERT((flags & static_cast<uint32_t>(Task::Flags::SameThread)) == 0,
              "%s: a SameThread task was given by a thread "
              "that is not bound to the scheduler, and so cannot run there. "
              "Bind the thread, or drop the flag.",
              what);
}

void SchedulerCore::enqueueFromOutside(TaskNode* node) {
  assertRunnable("Scheduler::enqueue()", node->flags);
  injector.push(node);
  idle.onPublishFromOutside();
}

void SchedulerCore::enqueueFromOutside(TaskNode* const* nodes, uint32_t count) {
  assertRunnable("Scheduler::enqueueMany()", flagsOfAll(nodes, count));
  injector.pushBatch(nodes, count);
  idle.onPublishFromOutside();
}

void SchedulerCore::findWatcher() {
  WEFT_ASSERT(numWorkers > 0 || currentWorkerOf(*this) != nullptr,
              "a request of a poll source was started on a thread that is not bound to the source's "
              "scheduler, which has no worker threads, so that nobody would test it. "
              "Bind the thread, or give the scheduler workers (Config::setWorkerThreadCount).");
  idle.onPublishFromOutside();
}

void SchedulerCore::enqueueOn(int workerId, Task&& task) {
  assertBindingNotLost("Scheduler::enqueueOn()");
  assertNotForked("Scheduler::enqueueOn()");
  detail::assertCallable(task, "Scheduler::enqueueOn()");
  WEFT_ASSERT(workerId >= 0 && workerId < numWorkers,
              "Scheduler::enqueueOn(): there is no worker %d. The scheduler has %d worker threads "
              "(Config::setWorkerThreadCount), which are numbered from 0.",
              workerId, numWorkers);
  Worker& target = *workers[workerId];
  Worker* const own = currentWorkerOf(*this);
  WEFT_ASSERT(own == &target || !task.is(Task::Flags::SameThread),
              "Scheduler::enqueueOn(): a SameThread task was placed on worker %d by another thread, "
              "and so cannot run there. Drop the flag: what is placed on a worker runs nowhere else.",
              workerId);
  if (own == &target) {
    own->enqueuePlaced(task.release());
    return;
  }
  Mailbox::Letter* letter = Mailbox::write(std::move(task));
  if (own != nullptr) {
    own->countPlaced();
    target.deliver(letter);
    return;
  }
  assertLetIn(outside_.rundown.enter(), "Scheduler::enqueueOn()");
  target.deliver(letter);
  outside_.rundown.leave();
}

}  // namespace weft::inline v0_1::detail
