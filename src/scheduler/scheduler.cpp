// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/scheduler.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "os/stack_overflow.h"
#include "scheduler/process_fork.h"
#include "scheduler/report.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/worker_inl.h"
#include "weft/debug.h"
#include "weft/executor.h"

namespace weft {
namespace detail {
namespace {

constexpr size_t kSmallestStack = 4096;

constexpr auto kShutdownPatience = std::chrono::seconds(5);

// How long reportBlockedFibers() waits for the workers that it has asked, and how long it sleeps between two
// looks.
constexpr auto kReportPatience = std::chrono::milliseconds(100);
constexpr auto kShortestReportPause = std::chrono::microseconds(50);
constexpr auto kLongestReportPause = std::chrono::microseconds(3200);

constexpr const char* kOwner = "Scheduler";  // of the allocator, in messages

// Free stacks that keep their pages when a scheduler ends, for the next one.
constexpr size_t kStacksKept = 256;

// A searcher wakes the next one, so few are enough, and an idle scheduler stays cheap.
uint32_t maxSearchers(int numWorkers) { return numWorkers < 8 ? 1 : static_cast<uint32_t>(numWorkers) / 4; }

const Scheduler::Config& checked(const Scheduler::Config& config) {
  assertNotForked("Scheduler()");
  WEFT_ASSERT(config.workerThread.count >= 0 && config.workerThread.count <= Scheduler::kMaxWorkerThreads,
              "Scheduler: %d worker threads make no sense; from 0 to %d do. Config::allCores() gives one a "
              "processor.",
              config.workerThread.count, Scheduler::kMaxWorkerThreads);
  WEFT_ASSERT(config.fiberStackSize >= kSmallestStack && config.fiberStackSize <= StackPool::kMaxStackSize,
              "Scheduler: fiber stacks of %zu bytes make no sense; from %zu to %zu do. Tasks that print need "
              "about 16 KiB.",
              config.fiberStackSize, kSmallestStack, StackPool::kMaxStackSize);
  WEFT_ASSERT(config.allocator != nullptr,
              "Scheduler: Config::allocator is null. Leave it at Allocator::Default.");
  return config;
}

[[noreturn]] void reportUnstartedThread(int error, int wanted, int started) {
  char message[256];
  std::snprintf(message, sizeof message,
                "weft::Scheduler: the system granted only %d of %d worker threads. Ask for fewer, or raise "
                "the limit on "
                "threads (ulimit -u, the cgroup's pids.max)",
                started, wanted);
  throw std::system_error(error, std::generic_category(), message);
}

bool currentStack(CurrentStack* out) {
  const auto* fiber = static_cast<const FiberControlBlock*>(currentFiber);
  if (fiber == nullptr || fiber->stack.base == nullptr) {
    return false;
  }
  *out = {fiber->stack.bottom() - StackPool::guardSize(), fiber->stack.bottom(), fiber->stack.top(),
          fiber->id, fiber->task.get()};
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

// Complains when a thread ends that is still bound: its scheduler would wait for it forever. The main thread
// may, since exit() ends it wherever it is.
void assertUnbound(void*) {
  WEFT_ASSERT(currentFiber == nullptr || getpid() == gettid(),
              "a thread ended while a scheduler was bound to it. Call Scheduler::unbind() before, or hold a "
              "Scheduler::Binding.");
}

// Has assertUnbound() called at the thread's end, unless `bound` is null by then. By a key rather than a
// thread_local object: the destructors of keys come after those of all thread_local objects, among which may
// be a Binding.
void watchThreadEnd(const void* bound) {
  static const auto key = [] {
    pthread_key_t made{};
    return std::pair(pthread_key_create(&made, &assertUnbound) == 0, made);
  }();
  // Where there are no more keys, or no memory, the program does without the message.
  if (key.first) {
    pthread_setspecific(key.second, bound);
  }
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

std::atomic<int64_t> shutdownPatience{std::chrono::nanoseconds(kShutdownPatience).count()};

SchedulerCore::SchedulerCore(const Scheduler::Config& wanted)
    : config(wanted),
      checkedAllocator(config.allocator, kOwner),
      allocator(&checkedAllocator),
      numWorkers(config.workerThread.count),
      injector(allocator),
      idle(static_cast<uint32_t>(numWorkers), maxSearchers(numWorkers)),
      outside(*NodeMemory<SchedulerLink>::make(*this)) {
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
  outside.entrance.close();
  outside.entrance.awaitAllLeft();
  outside.release();
  // relaxed: the worker threads have ended.
  for (ExternalDeque* external = firstExternal.load(std::memory_order_relaxed); external != nullptr;) {
    allocator->destroy(std::exchange(external, external->next));
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
    Thread::Affinity affinity(config.allocator);
    if (config.workerThread.affinityPolicy != nullptr) {
      affinity = config.workerThread.affinityPolicy->get(static_cast<uint32_t>(numStarted), config.allocator);
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
  // Nothing is bound any more, so that the finalizer waits, if it does, as any thread.
  if (const auto& finalizer = core.config.workerThread.finalizer) {
    runOrDie(finalizer, "finalizer", self.id);
  }
}

void SchedulerCore::bind() {
  assertNotForked("Scheduler::bind()");
  WEFT_ASSERT(
      currentFiber == nullptr,
      "Scheduler::bind(): %s scheduler is bound to this thread already. Call Scheduler::unbind() first.",
      Worker::current() != nullptr && &Worker::current()->core() == this ? "this" : "another");
  auto* bound = allocator->create<BoundThread>(*this);
  watchThreadEnd(this);
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
  watchThreadEnd(nullptr);
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
  // Only now may the scheduler go: under the lock, so that it cannot go before this thread has let go of the
  // mutex.
  std::scoped_lock guard(boundMutex);
  if (--numBound == 0) {
    ending.notify_all();
  }
}

void SchedulerCore::addExternal(StealingDeque<TaskNode>*& slot) {
  idle.addExternal();
  std::scoped_lock guard(boundMutex);
  // relaxed: written under the lock.
  ExternalDeque* const first = firstExternal.load(std::memory_order_relaxed);
  for (ExternalDeque* external = first; external != nullptr; external = external->next) {
    if (!std::exchange(external->isTaken, true)) {
      slot = &external->deque;
      return;
    }
  }
  auto* external = allocator->create<ExternalDeque>();
  external->next = first;
  // (7) release: publishes the deque to the thieves; pairs with the load in forEachExternal().
  firstExternal.store(external, std::memory_order_release);
  slot = &external->deque;
}

void SchedulerCore::removeExternal(StealingDeque<TaskNode>& deque) {
  std::scoped_lock guard(boundMutex);
  // relaxed: as above.
  ExternalDeque* external = firstExternal.load(std::memory_order_relaxed);
  while (&external->deque != &deque) {
    external = external->next;
  }
  external->isTaken = false;
  idle.removeExternal();
}

void SchedulerCore::enqueueFromOutside(TaskNode* node) {
  assertBindingNotLost("Scheduler::enqueue()");
  WEFT_ASSERT(numWorkers > 0,
              "Scheduler::enqueue(): this scheduler has no worker threads, and the calling thread is not "
              "bound to it, so that "
              "nobody could run the task. Bind the thread, or give the scheduler workers "
              "(Config::setWorkerThreadCount).");
  assertNotForked("Scheduler::enqueue()");
  WEFT_ASSERT((node->flags & static_cast<uint32_t>(Task::Flags::SameThread)) == 0,
              "Scheduler::enqueue(): a SameThread task was given by a thread that is not bound to the "
              "scheduler, and so cannot "
              "run there. Bind the thread, or drop the flag.");
  injector.push(node);
  idle.onPublishFromOutside();
}

// The handle is dropped after the last access to the core: that may run a program's code.
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

void SchedulerCore::shutDown() {
  assertNotForked("~Scheduler");
  awaitEnd([this] { return numBound == 0; });
  stopWorkers();
}

template <class Condition>
void SchedulerCore::awaitEnd(Condition isMet) {
  const TimePoint began = TimePoint::clock::now();
  auto patience = std::chrono::nanoseconds(shutdownPatience.load(std::memory_order_relaxed));
  std::unique_lock guard(boundMutex);
  while (!ending.wait_for(guard, patience, isMet)) {
    guard.unlock();
    reportWait(TimePoint::clock::now() - began);
    patience *= 2;
    guard.lock();
  }
}

void SchedulerCore::reportWait(std::chrono::nanoseconds waited) {
  const Scheduler::Stats stats = scheduler->stats();
  uint64_t numBlocked = 0;
  uint64_t numQueued = stats.numInjected;
  for (const Scheduler::WorkerStats& worker : stats.workers) {
    numBlocked += worker.numBlockedFibers;
    numQueued += worker.num;
  }
  WEFT_WARN(
      "~Scheduler has waited for %.3g s. Still there are: threads that are bound: %zu, fibers that wait: "
      "%llu, tasks and fibers "
      "that are ready: %llu. It waits until all threads have called Scheduler::unbind() and all tasks have "
      "ended. What they do:",
      std::chrono::duration<double>(waited).count(), stats.workers.size() - static_cast<size_t>(numWorkers),
      static_cast<unsigned long long>(numBlocked), static_cast<unsigned long long>(numQueued));
  reportBlockedFibers();
}

void SchedulerCore::stopWorkers() {
  // (4) release: pairs with the acquire in Worker::shouldEnd().
  isStopping.store(true, std::memory_order_release);
  for (int i = 0; i < numStarted; ++i) {
    workers[i]->parker().unpark();
  }
  if (numStarted > 0) {
    // relaxed: the end of the threads publishes what they did.
    awaitEnd([this] { return isDone.load(std::memory_order_relaxed); });
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
  uint64_t numEntered = 0;
  const bool isQuiet =
      isQuiescent<StdSync>([this](auto&& f) { forEachWorker([&](Worker& worker) { f(worker.counters()); }); },
                           [&] {
                             numEntered = outside.entrance.numEntered();
                             // relaxed: see quiescence.h.
                             return numEntered + numFromUnbound.load(std::memory_order_relaxed);
                           });
  const bool isOver = isQuiet && outside.entrance.closeAt(numEntered);
  if (isOver) {
    {
      std::scoped_lock guard(boundMutex);
      // (6) release: pairs with (5).
      isDone.store(true, std::memory_order_release);
    }
    ending.notify_all();
    for (int i = 0; i < numStarted; ++i) {
      workers[i]->parker().unpark();
    }
  }
  return isOver;
}

template <class F>
void SchedulerCore::forEachWorkerOrBound(F&& f) {
  forEachWorker(f);
  for (BoundThread* bound = firstBound; bound != nullptr; bound = bound->next) {
    f(bound->worker);
  }
}

bool SchedulerCore::findTask(const void* scope, TaskPlace& place) {
  std::scoped_lock guard(boundMutex);
  bool isFound = false;
  forEachWorkerOrBound([&](Worker& worker) { isFound = isFound || worker.findFiberOf(scope, place); });
  forEachWorkerOrBound([&](Worker& worker) { isFound = isFound || worker.findStackOf(scope, place); });
  return isFound;
}

void SchedulerCore::reportBlockedFibers() {
  Worker* const current = Worker::current();
  Worker* const own = current != nullptr && &current->core() == this ? current : nullptr;
  if (own != nullptr) {
    own->reportBlockedFibers();
  }
  {
    const TimePoint now = TimePoint::clock::now();
    std::scoped_lock guard(boundMutex);
    forEachWorkerOrBound([&](Worker& worker) {
      if (&worker != own) {
        worker.askForReport(now);
      }
    });
  }
  awaitReports(own);
  std::vector<SilentWorker> silent;
  if (numSilent(own) != 0) {
    const TimePoint now = TimePoint::clock::now();
    std::scoped_lock guard(boundMutex);
    forEachWorkerOrBound([&](Worker& worker) {
      if (&worker != own && worker.hasNotAnswered()) {
        silent.push_back(worker.describeSilence(now));
      }
    });
  }
  for (const SilentWorker& worker : silent) {
    reportSilentWorker(worker);
  }
}

size_t SchedulerCore::numSilent(const Worker* own) {
  std::scoped_lock guard(boundMutex);
  size_t count = 0;
  // relaxed: a hint. Who has ended answers no more.
  if (isDone.load(std::memory_order_relaxed)) {
    return 0;
  }
  forEachWorkerOrBound([&](Worker& worker) { count += &worker != own && worker.hasNotAnswered() ? 1 : 0; });
  return count;
}

// Waits a little for those that were asked, and answers meanwhile, lest two that wait for each other name
// each other.
void SchedulerCore::awaitReports(Worker* own) {
  const TimePoint end = TimePoint::clock::now() + kReportPatience;
  auto pause = kShortestReportPause;
  while (numSilent(own) != 0 && TimePoint::clock::now() < end) {
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestReportPause);
    if (own != nullptr) {
      own->reportIfAsked();
    }
  }
}

void scheduleNode(TaskNode* node) { boundWorker("schedule()").enqueue(node); }

}  // namespace detail

namespace detail {

void assertMayEnd(const Scheduler& scheduler, const char* type, const char* object) {
  if (Scheduler::get() != &scheduler) [[likely]] {
    return;
  }
  if (Worker::current()->mode() == Worker::Mode::MultiThreaded) {
    WEFT_FATAL(
        "~%s was called in a task of %s, and would wait for that task. Let no task own what it runs on, as "
        "by a std::shared_ptr that it captures: whoever made it destroys it.",
        type, object);
  }
  WEFT_FATAL(
      "~%s was called on a thread that is still bound to it. Call Scheduler::unbind() before, or let the "
      "Scheduler::Binding end first.",
      type);
}

}  // namespace detail

void assert_has_bound_scheduler(const char* feature) {
  detail::assertBindingNotLost(feature);
  WEFT_ASSERT(
      Scheduler::get() != nullptr,
      "%s was called on a thread to which no scheduler is bound. Did you forget to call "
      "marl::Scheduler::bind, or weft::Scheduler::bind? Call Scheduler::bind() on this thread first, or "
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
    : core_(detail::CheckedAllocator(detail::checked(config).allocator, detail::kOwner)
                .create<detail::SchedulerCore>(config),
            [](detail::SchedulerCore* core) {
              detail::CheckedAllocator(core->checkedAllocator).destroy(core);
            }) {
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
  detail::assertMayEnd(*this, "Scheduler", "the scheduler");
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
                  worker.currentControlBlock() == &worker.mainFiber() && !worker.isRunningTask() &&
                  !detail::isInPlace(*detail::currentTask),
              "Scheduler::unbind() was called inside a task. Call it on the thread that called bind(), "
              "outside of tasks.");
  worker.core().unbind(worker);
}

void Scheduler::enqueue(Task&& task) {
  if (detail::TaskNode* node = task.release()) {
    enqueueNode(node);
  }
}

void Scheduler::enqueueNode(detail::TaskNode* node) {
  detail::Worker* worker = detail::Worker::current();
  if (worker != nullptr && &worker->core() == core_.get()) {
    worker->enqueue(node);
    return;
  }
  const bool isLetIn = core_->outside.entrance.enter();
  WEFT_ASSERT(isLetIn,
              "Scheduler::enqueue(): a task was given to a scheduler that has ended, in a finalizer perhaps. "
              "Nobody would run "
              "it: give it before ~Scheduler, or in a task.");
  core_->enqueueFromOutside(node);
  core_->outside.entrance.leave();
}

void Scheduler::schedule(TaskHandle task) { core_->outside.schedule(std::move(task)); }

const Scheduler::Config& Scheduler::config() const noexcept { return core_->config; }

void Scheduler::reportBlockedFibers() const { core_->reportBlockedFibers(); }

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
