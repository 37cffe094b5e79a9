// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/scheduler_core.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "scheduler/report/run_or_die.h"
#include "scheduler/worker/process_fork.h"
#include "weft/debug.h"

// How the threads of a scheduler come and go.
namespace weft::inline v0_1::detail {
namespace {

// How many free stacks keep their pages, for the next scheduler, when a scheduler ends.
constexpr size_t kStacksKept = 256;

// Complains when a thread ends that is still bound: its scheduler would wait for it forever. The main thread
// may end bound, since exit() ends it wherever it is.
void assertUnbound(void*) {
  WEFT_ASSERT(currentFiber == nullptr || getpid() == gettid(),
              "a thread ended while a scheduler was bound to it. "
              "Call Scheduler::unbind() before, or hold a Scheduler::Binding.");
}

// Makes the system call assertUnbound() at the thread's end, unless `bound` is null by then. It uses a key
// rather than a thread_local object: the destructors of keys run after those of all thread_local objects, and
// a Binding may be among these objects.
void watchThreadEnd(const void* bound) {
  static const auto key = [] {
    pthread_key_t made{};
    return std::pair(pthread_key_create(&made, &assertUnbound) == 0, made);
  }();
  // Where no key or no memory is left, the program does without the message.
  if (key.first) {
    pthread_setspecific(key.second, bound);
  }
}

}  // namespace

SchedulerCore::SchedulerCore(const Scheduler::Config& wanted)
    : config(wanted),
      assertAllocator(config.allocator, kOwner),
      allocator(&assertAllocator),
      numWorkers(config.workerThread.count),
      injector(allocator),
      overflow(allocator),
      idle(static_cast<uint32_t>(numWorkers)),
      outside(*NodeMemory<SchedulerLink>::make(*this)) {
  for (int i = 0; i < numWorkers; ++i) {
    workers[i] = allocator->create<Worker>(*this, Worker::Mode::MultiThreaded, i);
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
    allocator->destroy(workers[i]);
  }
  StackPool::forSize(config.fiberStackSize).trim(kStacksKept);
}

// The threads are started one after the other. Letting each thread start two more was tried: on two
// processors the last of 4 to 256 threads began 5 to 100 percent later, since the system makes one thread of
// a process at a time.
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
  // No scheduler is bound any more, so a finalizer that waits does so like any unbound thread.
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
  // relaxed: a finalizer's thread has found it so itself.
  WEFT_ASSERT(!isDone.load(std::memory_order_relaxed),
              "Scheduler::bind(): the scheduler has ended, so that nobody would run what is scheduled. "
              "A finalizer must not bind it: call bind() before ~Scheduler, or in what a task starts.");
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
  // Adds the tasks that this thread has injected, and that the workers have ended or will end.
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
  // Only now may the scheduler go. The count falls under the lock, so that the scheduler cannot go before
  // this thread has let go of the mutex.
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

}  // namespace weft::inline v0_1::detail
