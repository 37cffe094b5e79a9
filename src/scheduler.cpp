// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/scheduler.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "forked.h"
#include "overflow.h"
#include "scheduler_core.h"
#include "weft/debug.h"
#include "worker_inl.h"

namespace weft {
namespace detail {
namespace {

constexpr size_t kSmallestStack = 4096;

// Free stacks that keep their pages when a scheduler ends, for the next one.
constexpr size_t kStacksKept = 256;

// A searcher wakes the next one, so few are enough, and an idle scheduler stays cheap.
uint32_t maxSearchers(int numWorkers) { return numWorkers < 8 ? 1 : static_cast<uint32_t>(numWorkers) / 4; }

const Scheduler::Config& checked(const Scheduler::Config& config) {
  assertNotForked("Scheduler()");
  WEFT_ASSERT(config.workerThread.count >= 0 && config.workerThread.count <= Scheduler::kMaxWorkerThreads,
              "Scheduler: %d worker threads make no sense; from 0 to %d do. Config::allCores() gives one a processor.",
              config.workerThread.count, Scheduler::kMaxWorkerThreads);
  WEFT_ASSERT(config.fiberStackSize >= kSmallestStack && config.fiberStackSize <= StackPool::kMaxStackSize,
              "Scheduler: fiber stacks of %zu bytes make no sense; from %zu to %zu do. Tasks that print need about 16 KiB.",
              config.fiberStackSize, kSmallestStack, StackPool::kMaxStackSize);
  WEFT_ASSERT(config.allocator != nullptr, "Scheduler: Config::allocator is null. Leave it at Allocator::Default.");
  return config;
}

[[noreturn]] void reportUnstartedThread(int error, int wanted, int started) {
  char message[256];
  std::snprintf(message, sizeof message,
                "weft::Scheduler: the system granted only %d of %d worker threads. Ask for fewer, or raise the limit on "
                "threads (ulimit -u, the cgroup's pids.max)",
                started, wanted);
#if defined(__cpp_exceptions)
  throw std::system_error(error, std::generic_category(), message);
#else
  WEFT_FATAL("%s: %s", message, std::strerror(error));
#endif
}

bool currentStack(CurrentStack* out) {
  const auto* fiber = static_cast<const FiberBlock*>(currentFiber);
  if (fiber == nullptr || fiber->stack.base == nullptr) {
    return false;
  }
  *out = {fiber->stack.bottom() - StackPool::guardSize(), fiber->stack.bottom(), fiber->stack.top(), fiber->id,
          fiber->task};
  return true;
}

// Ends the threads that were started where not all could be.
struct StopUnlessAllStarted {
  SchedulerCore& core;
  ~StopUnlessAllStarted() {
    if (core.numStarted < core.numWorkers) {
      core.stopWorkers();
    }
  }
};

// Complains when a thread ends that is still bound: its scheduler would wait for it for ever. The main thread may, since
// exit() ends it wherever it is.
struct UnboundAtThreadEnd {
  ~UnboundAtThreadEnd() {
    WEFT_ASSERT(currentFiber == nullptr || getpid() == gettid(),
                "a thread ended while a scheduler was bound to it. Call Scheduler::unbind() before, or hold a "
                "Scheduler::Binding.");
  }
};

Worker& boundWorker(const char* what) {
  Worker* worker = Worker::current();
  if (worker == nullptr) [[unlikely]] {
    assert_has_bound_scheduler(what);
    WEFT_UNREACHABLE();
  }
  return *worker;
}

}  // namespace

SchedulerCore::SchedulerCore(const Scheduler::Config& wanted)
    : config(wanted),
      allocator(config.allocator),
      numWorkers(config.workerThread.count),
      injector(allocator),
      idle(static_cast<uint32_t>(numWorkers), maxSearchers(numWorkers)) {
  if (numWorkers == 0) {
    return;
  }
  workers = static_cast<Worker**>(allocateArray(sizeof(Worker*)));
  threads = static_cast<WorkerThread*>(allocateArray(sizeof(WorkerThread)));
  for (int i = 0; i < numWorkers; ++i) {
    workers[i] = allocator->create<Worker>(*this, Worker::Mode::MultiThreaded, i);
    ::new (&threads[i]) WorkerThread{};
  }
}

SchedulerCore::~SchedulerCore() {
  // relaxed: the worker threads have ended.
  for (Guest* guest = firstGuest.load(std::memory_order_relaxed); guest != nullptr;) {
    allocator->destroy(std::exchange(guest, guest->next));
  }
  for (int i = 0; i < numWorkers; ++i) {
    threads[i].~WorkerThread();
    allocator->destroy(workers[i]);
  }
  if (numWorkers > 0) {
    allocator->free(arrays[0]);
    allocator->free(arrays[1]);
  }
  StackPool::forSize(config.fiberStackSize).trim(kStacksKept);
}

void* SchedulerCore::allocateArray(size_t elementSize) {
  Allocation::Request request;
  request.size = elementSize * static_cast<size_t>(numWorkers);
  request.alignment = alignof(std::max_align_t);
  request.usage = Allocation::Usage::Create;
  Allocation& memory = arrays[arrays[0].ptr != nullptr ? 1 : 0];
  memory = allocator->allocate(request);
  return memory.ptr;
}

int SchedulerCore::startWorkers() {
  for (; numStarted < numWorkers; ++numStarted) {
    WorkerThread& thread = threads[numStarted];
    thread.core = this;
    thread.id = numStarted;
    char name[16];
    std::snprintf(name, sizeof name, "weft:%d", numStarted);
    NativeThread::Options options;
    options.name = name;
    Thread::Affinity affinity(allocator);
    if (config.workerThread.affinityPolicy != nullptr) {
      affinity = config.workerThread.affinityPolicy->get(static_cast<uint32_t>(numStarted), allocator);
      options.affinity = &affinity;
    }
    Worker& worker = *workers[numStarted];
    const bool hasInitializer = config.workerThread.initializer != nullptr;
    if (hasInitializer) {
      worker.expectInitializer();
    }
    if (const int error = thread.native.start(&WorkerThread::main, &thread, options); error != 0) {
      if (hasInitializer) {
        worker.cancelInitializer();
      }
      return error;
    }
  }
  return 0;
}

void SchedulerCore::WorkerThread::main(void* argument) {
  auto& self = *static_cast<WorkerThread*>(argument);
  SchedulerCore& core = *self.core;
  Worker& worker = *core.workers[self.id];
  AlternateStack signalStack;
  worker.enterThread();
  worker.runThread();
  worker.leaveThread();
}

void SchedulerCore::bind() {
  assertNotForked("Scheduler::bind()");
  WEFT_ASSERT(currentFiber == nullptr,
              "Scheduler::bind(): %s scheduler is bound to this thread already. Call Scheduler::unbind() first.",
              Worker::current() != nullptr && &Worker::current()->core() == this ? "this" : "another");
  static thread_local UnboundAtThreadEnd check;
  (void)check;
  auto* bound = allocator->create<BoundThread>(*this);
  bound->worker.enterThread();
  // relaxed: the tasks that this thread injects publish it; see kBinding.
  numFromUnbound.fetch_add(kBinding, std::memory_order_relaxed);
  std::scoped_lock guard(boundMutex);
  bound->next = firstBound;
  firstBound = bound;
  ++numBound;
}

void SchedulerCore::unbind(Worker& worker) {
  worker.finish();
  worker.leaveThread();
  // What this thread has injected, and the workers have ended or will end.
  // relaxed: boundMutex publishes it to the thread that shuts down.
  numFromUnbound.fetch_add(worker.counters().scheduled() - worker.counters().ended() - kBinding,
                           std::memory_order_relaxed);
  BoundThread* bound = nullptr;
  {
    std::scoped_lock guard(boundMutex);
    BoundThread** link = &firstBound;
    while (&(*link)->worker != &worker) {
      link = &(*link)->next;
    }
    bound = *link;
    *link = bound->next;
  }
  allocator->destroy(bound);
  // Only now may the scheduler go: under the lock, so that it cannot go before this thread has let go of the mutex.
  std::scoped_lock guard(boundMutex);
  if (--numBound == 0) {
    allUnbound.notify_all();
  }
}

StealingDeque<TaskNode>& SchedulerCore::addGuest() {
  idle.addGuest();
  std::scoped_lock guard(boundMutex);
  // relaxed: written under the lock.
  Guest* const first = firstGuest.load(std::memory_order_relaxed);
  for (Guest* guest = first; guest != nullptr; guest = guest->next) {
    if (!std::exchange(guest->isTaken, true)) {
      return guest->deque;
    }
  }
  auto* guest = allocator->create<Guest>();
  guest->next = first;
  // (7) release: publishes the deque to the thieves; pairs with the load in forEachGuest().
  firstGuest.store(guest, std::memory_order_release);
  return guest->deque;
}

void SchedulerCore::removeGuest(StealingDeque<TaskNode>& deque) {
  std::scoped_lock guard(boundMutex);
  // relaxed: as above.
  Guest* guest = firstGuest.load(std::memory_order_relaxed);
  while (&guest->deque != &deque) {
    guest = guest->next;
  }
  guest->isTaken = false;
  idle.removeGuest();
}

void SchedulerCore::enqueueFromOutside(TaskNode* node) {
  assertNotForked("Scheduler::enqueue()");
  WEFT_ASSERT(numWorkers > 0,
              "Scheduler::enqueue(): this scheduler has no worker threads, and the calling thread is not bound to it, so that "
              "nobody could run the task. Bind the thread, or give the scheduler workers (Config::setWorkerThreadCount).");
  WEFT_ASSERT((node->flags & static_cast<uint32_t>(Task::Flags::SameThread)) == 0,
              "Scheduler::enqueue(): a SameThread task was given by a thread that is not bound to the scheduler, and so cannot "
              "run there. Bind the thread, or drop the flag.");
  // relaxed: the injector publishes it with the task; see quiescence.h.
  numEntered.fetch_add(1, std::memory_order_relaxed);
  injector.push(node);
  idle.onPublishFromOutside();
  // (2) release: the last access to the scheduler; pairs with (3).
  numReturned.fetch_add(1, std::memory_order_release);
}

void SchedulerCore::shutDown() {
  assertNotForked("~Scheduler");
  {
    std::unique_lock guard(boundMutex);
    allUnbound.wait(guard, [this] { return numBound == 0; });
  }
  stopWorkers();
  uint32_t round = 0;
  // (3) acquire: the threads that enqueued are done with this object; pairs with (2). relaxed: nobody enters any more.
  while (numReturned.load(std::memory_order_acquire) != numEntered.load(std::memory_order_relaxed)) {
    relax(round);
  }
}

void SchedulerCore::stopWorkers() {
  // (4) release: pairs with the acquire in Worker::shouldEnd().
  isStopping.store(true, std::memory_order_release);
  for (int i = 0; i < numStarted; ++i) {
    workers[i]->parker().unpark();
  }
  // No worker is freed before all have ended: until then a thief may look into any of them.
  for (int i = 0; i < numStarted; ++i) {
    threads[i].native.join();
  }
}

bool SchedulerCore::isFinished() {
  // (5) acquire: what the tasks did comes before the end of the threads; pairs with (6).
  if (isDone.load(std::memory_order_acquire)) {
    return true;
  }
  const bool isQuiet = isQuiescent<StdSync>(
      [this](auto&& f) { forEachWorker([&](Worker& worker) { f(worker.counters()); }); },
      // relaxed: see quiescence.h.
      [this] { return numEntered.load(std::memory_order_relaxed) + numFromUnbound.load(std::memory_order_relaxed); });
  if (isQuiet) {
    // (6) release: pairs with (5).
    isDone.store(true, std::memory_order_release);
    for (int i = 0; i < numStarted; ++i) {
      workers[i]->parker().unpark();
    }
  }
  return isQuiet;
}

void scheduleNode(TaskNode* node) { boundWorker("schedule()").enqueue(node); }

}  // namespace detail

void assert_has_bound_scheduler(const char* feature) {
  detail::assertNotForked(feature);
  WEFT_ASSERT(Scheduler::get() != nullptr,
              "%s was called on a thread to which no scheduler is bound. Call Scheduler::bind() on this thread first, or "
              "hold a Scheduler::Binding.",
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

Scheduler::Config& Scheduler::Config::setWorkerThreadCount(int count) {
  workerThread.count = count;
  return *this;
}

Scheduler::Config& Scheduler::Config::setWorkerThreadInitializer(const ThreadInitializer& initializer) {
  workerThread.initializer = initializer;
  return *this;
}

Scheduler::Config& Scheduler::Config::setWorkerThreadAffinityPolicy(
    const std::shared_ptr<Thread::Affinity::Policy>& policy) {
  workerThread.affinityPolicy = policy;
  return *this;
}

Scheduler::Scheduler(const Config& config)
    : core_(detail::checked(config).allocator->create<detail::SchedulerCore>(config),
            [](detail::SchedulerCore* core) { core->allocator->destroy(core); }) {
  core_->scheduler = this;
  detail::installOverflowHandler(&detail::currentStack);
  int error = 0;
  {
    // The application's affinity policy may throw.
    detail::StopUnlessAllStarted guard{*core_};
    error = core_->startWorkers();
  }
  if (error != 0) {
    const int started = core_->numStarted;
    core_.reset();
    detail::reportUnstartedThread(error, config.workerThread.count, started);
  }
}

Scheduler::~Scheduler() {
  WEFT_ASSERT(get() != this,
              "~Scheduler was called on a thread that is still bound to it. Call Scheduler::unbind() before, or let the "
              "Scheduler::Binding end first.");
  core_->shutDown();
}

Scheduler* Scheduler::get() noexcept {
  detail::Worker* worker = detail::Worker::current();
  return worker != nullptr ? worker->core().scheduler : nullptr;
}

void Scheduler::bind() { core_->bind(); }

void Scheduler::unbind() {
  detail::Worker& worker = detail::boundWorker("Scheduler::unbind()");
  WEFT_ASSERT(worker.mode() == detail::Worker::Mode::SingleThreaded &&
                  worker.currentFiberBlock() == &worker.mainFiber() && !worker.isRunningTask(),
              "Scheduler::unbind() was called inside a task. Call it on the thread that called bind(), outside of tasks.");
  worker.core().unbind(worker);
}

void Scheduler::enqueue(Task&& task) {
  detail::TaskNode* node = task.release();
  if (node == nullptr) {
    return;
  }
  detail::Worker* worker = detail::Worker::current();
  if (worker != nullptr && &worker->core() == core_.get()) {
    worker->enqueue(node);
  } else {
    core_->enqueueFromOutside(node);
  }
}

const Scheduler::Config& Scheduler::config() const noexcept { return core_->config; }

void Scheduler::reportBlockedFibers() const {
  const auto ask = [](detail::Worker& worker) {
    &worker == detail::Worker::current() ? worker.reportBlockedFibers() : worker.askForReport();
  };
  core_->forEachWorker(ask);
  std::scoped_lock guard(core_->boundMutex);
  for (auto* bound = core_->firstBound; bound != nullptr; bound = bound->next) {
    ask(bound->worker);
  }
}

Scheduler::Stats Scheduler::stats() const {
  Stats stats;
  core_->forEachWorker([&](detail::Worker& worker) { stats.workers.push_back(worker.stats()); });
  stats.numInjected = core_->injector.size();
  std::scoped_lock guard(core_->boundMutex);
  for (auto* bound = core_->firstBound; bound != nullptr; bound = bound->next) {
    stats.workers.push_back(bound->worker.stats());
  }
  return stats;
}

}  // namespace weft
