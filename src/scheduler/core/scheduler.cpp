// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/scheduler.h"

#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

#include "os/stack_overflow.h"
#include "scheduler/core/overflow_report.h"
#include "scheduler/core/scheduler_core.h"
#include "scheduler/core/watchdog.h"
#include "scheduler/report/dump.h"
#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {
namespace detail {
namespace {

constexpr size_t kSmallestStack = 4096;
constexpr std::chrono::nanoseconds kMostIdleSearch = std::chrono::seconds(1);

const Scheduler::Config& checked(const Scheduler::Config& config) {
  assertNotForked("Scheduler()");
  WEFT_ASSERT(config.workerThread.count >= 0 && config.workerThread.count <= Scheduler::kMaxWorkerThreads,
              "Scheduler: %d worker threads make no sense; from 0 to %d do. "
              "Config::allCores() asks for one per processor.",
              config.workerThread.count, Scheduler::kMaxWorkerThreads);
  WEFT_ASSERT(config.fiberStackSize >= kSmallestStack && config.fiberStackSize <= StackPool::kMaxStackSize,
              "Scheduler: fiber stacks of %zu bytes make no sense; from %zu to %zu do. "
              "Tasks that print need about 16 KiB.",
              config.fiberStackSize, kSmallestStack, StackPool::kMaxStackSize);
  WEFT_ASSERT(config.idleSearch >= std::chrono::nanoseconds(0) && config.idleSearch <= kMostIdleSearch,
              "Scheduler: Config::idleSearch of %lld ns makes no sense; from 0 to a second does.",
              static_cast<long long>(config.idleSearch.count()));
  WEFT_ASSERT(config.allocator != nullptr,
              "Scheduler: Config::allocator is null. Leave it at Allocator::Default.");
  return config;
}

[[noreturn]] void reportUnstartedThread(int error, int wanted, int started) {
  char message[256];
  std::snprintf(message, sizeof message,
                "weft::Scheduler: the system granted only %d of %d worker threads. "
                "Ask for fewer, or raise the limit on threads (ulimit -u, the cgroup's pids.max)",
                started, wanted);
  throw std::system_error(error, std::generic_category(), message);
}

bool reportIfOverflow(const siginfo_t& info, const ucontext_t& context) {
  const auto* fiber = static_cast<const FiberControlBlock*>(currentFiber);
  if (fiber == nullptr || fiber->stackBase == nullptr) {
    return false;
  }
  const Stack stack = fiber->stack();
  return reportOverflow({StackPool::slabBegin(stack), stack.bottom() - StackPool::guardSize(), stack.bottom(),
                         stack.top(), fiber->id, fiber->task},
                        info, context);
}

Worker& boundWorker(const char* what) {
  Worker* worker = Worker::current();
  if (worker == nullptr) [[unlikely]] {
    assert_has_bound_scheduler(what);
    WEFT_UNREACHABLE();
  }
  return *worker;
}

}  // namespace

void scheduleNode(TaskNode* node) { boundWorker("schedule()").enqueue(node); }

}  // namespace detail

void assert_has_bound_scheduler(const char* feature) {
  detail::assertBindingNotLost(feature);
  WEFT_ASSERT(Scheduler::get() != nullptr,
              "%s was called on a thread to which no scheduler is bound. "
              "Did you forget to call marl::Scheduler::bind, or weft::Scheduler::bind? "
              "Hold a Scheduler::Binding, or call scheduler.enqueue(), which any thread may.",
              feature);
}

Scheduler::Config Scheduler::Config::allCores() {
  return Config().setWorkerThreadCount(static_cast<int>(detail::numUsableCpus()));
}

Scheduler::Config& Scheduler::Config::setAllocator(Allocator* value) {
  allocator = value;
  return *this;
}

Scheduler::Config& Scheduler::Config::setFiberStackSize(size_t bytes) {
  fiberStackSize = bytes;
  return *this;
}

Scheduler::Config& Scheduler::Config::setIdleSearch(std::chrono::nanoseconds longest) {
  idleSearch = longest;
  return *this;
}

Scheduler::Config& Scheduler::Config::setWorkerThreadCount(int count) {
  workerThread.count = count;
  return *this;
}

Scheduler::Config& Scheduler::Config::setWorkerThreadInitializer(const ThreadInitializer& initializer) {
  workerThread.initializer = initializer;
  return *this;
}

Scheduler::Config& Scheduler::Config::setWorkerThreadFinalizer(const ThreadInitializer& finalizer) {
  workerThread.finalizer = finalizer;
  return *this;
}

Scheduler::Config& Scheduler::Config::setWorkerThreadAffinityPolicy(
    const std::shared_ptr<Thread::Affinity::Policy>& policy) {
  workerThread.affinityPolicy = policy;
  return *this;
}

Scheduler::Scheduler(const Config& config)
    : core_(detail::CheckedAllocator(detail::checked(config).allocator, detail::SchedulerCore::kOwner)
                .create<detail::SchedulerCore>(config),
            [](detail::SchedulerCore* core) {
              detail::CheckedAllocator(core->checkedAllocator).destroy(core);
            }) {
  core_->scheduler = this;
  detail::installOverflowHandler(&detail::reportIfOverflow);
  detail::obeyDumpSignal();
  detail::obeyTraceVariable();
  detail::obeyWatchdogVariable();
  const auto [started, error] = core_->startWorkers();
  if (error != 0) {
    core_.reset();
    detail::reportUnstartedThread(error, config.workerThread.count, started);
  }
}

Scheduler::~Scheduler() {
  detail::assertMayEnd(*this, "~Scheduler", "the scheduler");
  core_->shutDown();
  core_->assertNoPollSources();
}

bool Scheduler::endsBefore(detail::TimePoint deadline) {
  detail::assertMayEnd(*this, "Scheduler::shutdown()", "the scheduler");
  return core_->shutDownUntil(deadline);
}

bool Scheduler::reportWhatIsLeft() {
  core_->reportWait("Scheduler::shutdown() has run out of time.");
  return false;
}

Scheduler* Scheduler::get() noexcept {
  detail::Worker* worker = detail::Worker::current();
  return worker != nullptr ? detail::coreOf(*worker).scheduler : nullptr;
}

void Scheduler::bind() { core_->bind(); }

void Scheduler::unbind() {
  detail::Worker& worker = detail::boundWorker("Scheduler::unbind()");
  WEFT_ASSERT(worker.mode() == detail::Worker::Mode::SingleThreaded && worker.fibers().isOnMain() &&
                  !worker.isRunningTask() && !detail::isInPlace(*detail::currentTask),
              "Scheduler::unbind() was called inside a task. "
              "Call it on the thread that called bind(), outside of tasks.");
  detail::coreOf(worker).unbind(worker);
}

void Scheduler::enqueue(Task&& task) {
  detail::assertCallable(task, "Scheduler::enqueue()");
  enqueueNode(task.release());
}

void Scheduler::enqueueNode(detail::TaskNode* node) {
  if (detail::Worker* const worker = detail::currentWorkerOf(*core_)) {
    worker->enqueue(node);
    return;
  }
  detail::assertLetIn(core_->outside().rundown.enter(), "Scheduler::enqueue()");
  core_->enqueueFromOutside(node);
  core_->outside().rundown.leave();
}

void Scheduler::enqueueNodes(detail::TaskNode* const* nodes, uint32_t count) {
  if (detail::Worker* const worker = detail::currentWorkerOf(*core_)) {
    worker->enqueueBatch(nodes, count);
    return;
  }
  detail::assertLetIn(core_->outside().rundown.enter(count), "Scheduler::enqueueMany()");
  core_->enqueueFromOutside(nodes, count);
  core_->outside().rundown.leave(count);
}

void Scheduler::enqueueOn(int workerId, Task&& task) { core_->enqueueOn(workerId, std::move(task)); }

int Scheduler::workerId() noexcept {
  const detail::Worker* worker = detail::Worker::current();
  return worker != nullptr && worker->mode() == detail::Worker::Mode::MultiThreaded ? worker->id() : -1;
}

void Scheduler::schedule(TaskHandle task) { core_->outside().schedule(std::move(task)); }

const Scheduler::Config& Scheduler::config() const noexcept { return core_->config; }

void Scheduler::reportBlockedFibers() const { detail::dumpToStderr(this); }

Scheduler::Stats Scheduler::stats() const { return core_->stats(); }

void Scheduler::measure(bool isOn) { core_->measure(isOn); }

}  // namespace weft::inline v0_1
