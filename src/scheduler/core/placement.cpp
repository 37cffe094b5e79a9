// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "scheduler/core/scheduler_core.h"
#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/debug.h"
#include "weft/detail/base/callable.h"

// How tasks come to one worker that was chosen for them.
namespace weft::inline v0_1 {
namespace detail {

// What is placed by the worker itself takes the place in its queue at which a letter would arrive.
void Worker::enqueuePlaced(TaskNode* node) {
  countPlaced();
  tasks_.pushPlaced(node);
}

void Worker::countPlaced() {
  lane().counters.countScheduled();
  fibers_.current().hasScheduled = true;
}

void Worker::deliver(Mailbox::Letter* letter) noexcept {
  if (FiberControlBlock* bell = mailbox_.put(letter)) {
    sendToInbox(*bell);
  }
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
  Worker* own = Worker::current();
  own = own != nullptr && &own->core() == this ? own : nullptr;
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
  assertLetIn(outside.entrance.enter(), "Scheduler::enqueueOn()");
  target.deliver(letter);
  outside.entrance.leave();
}

}  // namespace detail

void Scheduler::enqueueOn(int workerId, Task&& task) { core_->enqueueOn(workerId, std::move(task)); }

int Scheduler::workerId() noexcept {
  const detail::Worker* worker = detail::Worker::current();
  return worker != nullptr && worker->mode() == detail::Worker::Mode::MultiThreaded ? worker->id() : -1;
}

}  // namespace weft::inline v0_1
