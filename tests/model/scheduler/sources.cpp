// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The sources that are checked, which are the library's own. changes.txt says what is changed in them.
#include "async/cancellation.cpp"
#include "async/taskgroup.cpp"
#include "os/export.cpp"
#include "os/osfiber.cpp"
#include "os/tick_counter.cpp"
#include "os/watched_call.cpp"
#include "scheduler/core/fiber.cpp"
#include "scheduler/core/io_wait.cpp"
#include "scheduler/core/local_deque.cpp"
#include "scheduler/core/scheduler.cpp"
#include "scheduler/core/scheduler_core.cpp"
#include "scheduler/core/scheduler_core_intake.cpp"
#include "scheduler/core/scheduler_core_shutdown.cpp"
#include "scheduler/core/scheduler_link.cpp"
#include "scheduler/core/serial_warning.cpp"
#include "scheduler/core/task_batch.cpp"
#include "scheduler/core/thread_waiter.cpp"
#include "scheduler/fibers/fiber_factory.cpp"
#include "scheduler/fibers/fiber_pool.cpp"
#include "scheduler/fibers/fiber_switch.cpp"
#include "scheduler/fibers/fiberlocal.cpp"
#include "scheduler/fibers/in_place.cpp"
#include "scheduler/policy/throttle.cpp"
#include "scheduler/queues/stealable_tasks.cpp"
#include "scheduler/queues/task_queues.cpp"
#include "scheduler/report/run_or_die.cpp"
#include "scheduler/worker/idler.cpp"
#include "scheduler/worker/in_place_scope.cpp"
#include "scheduler/worker/stealer.cpp"
#include "scheduler/worker/worker.cpp"
#include "scheduler/worker/worker_enqueue.cpp"
#include "scheduler/worker/worker_hooks.cpp"
#include "scheduler/worker/worker_in_place.cpp"
#include "scheduler/worker/worker_measures.cpp"
#include "scheduler/worker/worker_observed.cpp"
#include "scheduler/worker/worker_recording.cpp"
#include "scheduler/worker/worker_turns.cpp"
#include "sync/event.cpp"
#include "sync/mutex.cpp"
#include "sync/stoppable.cpp"
#include "sync/waitgroup.cpp"

#include "machine.h"

// There are no poll sources.
namespace weft::inline v0_1::detail {

const char* PollHub::nameOfAny() const { return nullptr; }
bool PollHub::test(const Worker&) { return false; }
TimePoint PollHub::watch(const Worker&) { return kNever; }
void PollHub::endWatch(const Worker&) {}

}  // namespace weft::inline v0_1::detail

// What a continuation needs that keeps a scheduler, of async/executor.cpp.
namespace weft::inline v0_1::detail {

KeptExecutor ExecutorAccess::keep(Scheduler& executor) { return KeptExecutor(executor.core_->outside()); }
void KeptExecutor::schedule(TaskHandle task) const { link_->schedule(std::move(task)); }

}  // namespace weft::inline v0_1::detail

// No group has a limit.
bool weft::detail::acquirePermits(SemaphoreCore<>&, uint32_t, TimePoint, const std::stop_token&, PermitsFor) {
  WEFT_UNREACHABLE();
}

// No worker is bound to a processor.
std::vector<weft::detail::VictimOrder> weft::detail::victimOrders(std::span<const Thread::Affinity>,
                                                                  const std::string&, Allocator*) {
  return {};
}

// Nothing is observed.
namespace weft::inline v0_1::detail {

void warnWithCallers(const char*, ...) {}
std::optional<size_t> numRunningTasks(const Scheduler*) noexcept { return std::nullopt; }
Wishes wishes;
const char* taskNameOf(const TaskNode&) noexcept { return nullptr; }
thread_local TraceThread* ownTraceThread = nullptr;
TraceThread* openTraceThread() noexcept { return nullptr; }
LateWatch lateWatch;
void LateWatch::lookAtRun(const WorkerRun&, int, TraceEvents&) noexcept {}
bool LateWatch::lookAtDelay(LateKind, Nanoseconds, const void*, const RunWatch&, int, TraceEvents&) noexcept {
  return false;
}
std::optional<WorkerRun> RunWatch::end(const void*, uint64_t) { return std::nullopt; }

}  // namespace weft::inline v0_1::detail

void weft::model::resetThreadLocals() {
  static_cast<detail::Waiter&>(detail::ownWaiter) = detail::Waiter();
  detail::ownSearch = detail::SearchBudget(detail::SearchBudget::kLongestOfOthers);
}
