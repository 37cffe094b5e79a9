// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/scheduler_core.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "os/stack_pool.h"
#include "scheduler/policy/victim_order.h"
#include "scheduler/report/run_or_die.h"
#include "scheduler/trace/wishes.h"
#include "scheduler/worker/process_fork.h"
#include "weft/debug.h"
#include "weft/detail/base/throw_or_die.h"

// How the threads of a scheduler come and go.
namespace weft::inline v0_1::detail {
namespace {

// Free stacks that keep their pages when a scheduler ends, for the next one.
constexpr size_t kStacksKept = 256;

// No thread may end bound, as its scheduler would wait. The main thread may: exit() ends it anywhere.
void assertUnbound(void*) {
  WEFT_ASSERT(currentFiber == nullptr || getpid() == gettid(),
              "a thread ended while a scheduler was bound to it. "
              "Call Scheduler::unbind() before, or hold a Scheduler::Binding.");
}

// Has assertUnbound() called at the thread's end, unless `bound` is null by then. A key's destructor runs
// after those of all thread_local objects, one of which may be a Binding.
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
    : WorkerGroup(wanted), outside_(*NodeMemory<SchedulerLink>::make(*this)) {
  for (int i = 0; i < numWorkers; ++i) {
    workers[i] = allocator->create<Worker>(*this, Worker::Mode::MultiThreaded, i);
  }
}

SchedulerCore::~SchedulerCore() {
  measure(false);
  outside_.rundown.close();
  outside_.rundown.awaitAllLeft();
  outside_.release();
  for (int i = 0; i < numWorkers; ++i) {
    allocator->destroy(workers[i]);
  }
  StackPool::forSize(config.fiberStackSize).trim(kStacksKept);
}

// Rejected: letting each thread start two more. On two processors the last of 4 to 256 threads began 5 to 100
// percent later, since the system makes one thread of a process at a time.
SchedulerCore::Started SchedulerCore::startWorkers(const std::string& root) {
  int error = 0;
  // The application's affinity policy may throw.
  callAndEnd(
      [&] {
        const Affinities affinities = affinitiesOfWorkers();
        orderVictims(affinities, root);
        while (error == 0 && numStarted_ < numWorkers) {
          const auto id = static_cast<size_t>(numStarted_);
          error = startWorker(numStarted_, id < affinities.size() ? &affinities[id] : nullptr);
          numStarted_ += error == 0 ? 1 : 0;
        }
      },
      [&] {
        if (numStarted_ < numWorkers) {
          stopWorkers();
        }
      });
  return {numStarted_, error};
}

// Returns: the affinity of each worker; nothing, if none is wished.
SchedulerCore::Affinities SchedulerCore::affinitiesOfWorkers() const {
  Affinities affinities(allocator);
  if (const auto& policy = config.workerThread.affinityPolicy) {
    affinities.reserve(static_cast<size_t>(numWorkers));
    for (int id = 0; id < numWorkers; ++id) {
      affinities.push_back(policy->get(static_cast<uint32_t>(id), config.allocator));
    }
  }
  return affinities;
}

// No worker runs yet, so each finds its own order unchanged.
void SchedulerCore::orderVictims(const Affinities& affinities, const std::string& root) {
  std::vector<VictimOrder> orders = victimOrders(affinities, root, allocator);
  for (size_t id = 0; id < orders.size(); ++id) {
    workers[id]->setVictims(std::move(orders[id]));
  }
}

// Returns: 0, or an error number.
int SchedulerCore::startWorker(int id, const Thread::Affinity* affinity) {
  WorkerThread& thread = threads_[id];
  thread.core = this;
  thread.id = id;
  char name[16];
  std::snprintf(name, sizeof name, "weft:%d", id);
  NativeThread::Options options;
  options.name = name;
  options.affinity = affinity;
  Worker& worker = *workers[id];
  const bool hasInitializer = config.workerThread.initializer != nullptr;
  if (hasInitializer) {
    worker.expectInitializer();
  }
  const int error = thread.native.start(&WorkerThread::main, &thread, options);
  if (error != 0 && hasInitializer) {
    worker.cancelInitializer();
  }
  return error;
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
      currentWorkerOf(*this) != nullptr ? "this" : "another");
  // relaxed: a finalizer, or who comes after shutdown(), has seen it before.
  WEFT_ASSERT(!isDone_.load(std::memory_order_relaxed),
              "Scheduler::bind(): the scheduler has ended, so that nobody would run what is scheduled. "
              "A finalizer must not bind it: call bind() before ~Scheduler and shutdown(), or in what a task "
              "starts.");
  auto* bound = allocator->create<BoundThread>(*this);
  watchThreadEnd(this);
  bound->worker.enterThread();
  // relaxed: the tasks that this thread injects publish it; see kBinding.
  numFromUnbound_.fetch_add(kBinding, std::memory_order_relaxed);
  std::scoped_lock guard(mutex_);
  bound->next = firstBound_;
  firstBound_ = bound;
  ++numBound_;
}

void SchedulerCore::unbind(Worker& worker) {
  worker.finish();
  worker.leaveThread();
  watchThreadEnd(nullptr);
  // Adds the tasks that this thread has injected. relaxed: mutex_ publishes it to the thread that shuts down.
  numFromUnbound_.fetch_add(worker.counters().scheduled() - worker.counters().ended() - kBinding,
                            std::memory_order_relaxed);
  BoundThread* bound = nullptr;
  {
    std::scoped_lock guard(mutex_);
    BoundThread** link = &firstBound_;
    while (&(*link)->worker != &worker) {
      link = &(*link)->next;
    }
    bound = *link;
    *link = bound->next;
  }
  allocator->destroy(bound);
  // The count falls under the lock: the scheduler must not go before this thread has unlocked the mutex.
  std::scoped_lock guard(mutex_);
  if (--numBound_ == 0) {
    ending_.notify_all();
  }
}

void SchedulerCore::measure(bool isOn) {
  // relaxed: the addition publishes it.
  if (isMeasured.exchange(isOn, std::memory_order_relaxed) != isOn) {
    // (1) release: who sees the change sees isMeasured, or a newer one; pairs with the load in
    // Wishes::current().
    wishes.word.fetch_add(Wishes::kChange + (isOn ? Wishes::kMeasured : -Wishes::kMeasured),
                          std::memory_order_release);
  }
}

Scheduler::Stats SchedulerCore::stats() {
  Scheduler::Stats stats;
  stats.numInjected = injector.size() + overflow.size();
  StackPool& stacks = StackPool::forSize(config.fiberStackSize);
  const StackPool::Stats ofStacks = stacks.stats();
  stats.stackBytesInUse = ofStacks.numInUse * stacks.stackSize();
  stats.stackBytesPeak = ofStacks.mostInUse * stacks.stackSize();
  stats.stackBytesMapped = ofStacks.mappedBytes;
  const std::scoped_lock guard(mutex_);
  // A bound thread may be about to get its deque.
  externals.withSlots(
      [&] { forEachWorkerOrBound([&](Worker& worker) { stats.workers.push_back(worker.stats()); }); });
  return stats;
}

}  // namespace weft::inline v0_1::detail
