// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The sources that are checked, which are the library's own. changes.txt says what is changed in them.
#include "async/cancellation.cpp"
#include "async/taskgroup.cpp"
#include "os/export.cpp"
#include "os/osfiber.cpp"
#include "os/watched_call.cpp"
#include "scheduler/blocked_report.cpp"
#include "scheduler/due_time.cpp"
#include "scheduler/fiber.cpp"
#include "scheduler/fiber_factory.cpp"
#include "scheduler/fiber_pool.cpp"
#include "scheduler/fiber_switch.cpp"
#include "scheduler/fiberlocal.cpp"
#include "scheduler/fork.cpp"
#include "scheduler/idler.cpp"
#include "scheduler/in_place.cpp"
#include "scheduler/outside.cpp"
#include "scheduler/placement.cpp"
#include "scheduler/reactor.cpp"
#include "scheduler/report.cpp"
#include "scheduler/scheduler.cpp"
#include "scheduler/scheduler_core.cpp"
#include "scheduler/shutdown.cpp"
#include "scheduler/stealer.cpp"
#include "scheduler/task_batch.cpp"
#include "scheduler/task_queues.cpp"
#include "scheduler/thread_waiter.cpp"
#include "scheduler/throttle.cpp"
#include "scheduler/turns.cpp"
#include "scheduler/worker.cpp"
#include "scheduler/worker_report.cpp"
#include "sync/event.cpp"
#include "sync/mutex.cpp"
#include "sync/stoppable.cpp"
#include "sync/waitgroup.cpp"

#include "machine.h"

// What a continuation needs that keeps a scheduler, of async/executor.cpp.
namespace weft::inline v0_1::detail {

KeptExecutor ExecutorAccess::keep(Scheduler& executor) { return KeptExecutor(executor.core_->outside); }
void KeptExecutor::schedule(TaskHandle task) const { link_->schedule(std::move(task)); }

}  // namespace weft::inline v0_1::detail

void weft::model::resetThreadLocals() {
  static_cast<detail::Waiter&>(detail::ownWaiter) = detail::Waiter();
  detail::ownSearch = detail::SearchBudget(detail::SearchBudget::kLongestOfOthers);
}
