// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "os/stack_overflow.h"
#include "scheduler/report/checked_allocator.h"
#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker.h"
#include "weft/debug.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/future/executor_link.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/memory.h"
#include "weft/scheduler.h"
#include "weft/thread.h"

namespace weft::inline v0_1::detail {

struct SchedulerCore;

// Threads that have entered use the core.
struct SchedulerLink final : ExecutorLink {
  explicit SchedulerLink(SchedulerCore& linked) : core(linked) {}
  void schedule(TaskHandle task) override;
  void free() noexcept override { NodeMemory<SchedulerLink>::destroy(*this); }

  SchedulerCore& core;
};

// Ends the program with a message that names `what` where a task comes after the scheduler has ended.
inline void assertLetIn(bool isLetIn, const char* what) {
  WEFT_ASSERT(isLetIn,
              "%s: a task was given to a scheduler that has ended, perhaps in a finalizer. "
              "Nobody would run it. Give it before ~Scheduler, or in a task.",
              what);
}

// Ends the program with a message where `scheduler` is destroyed by a thread or fiber that it would wait for.
// `type` and `object` name what holds the scheduler.
void assertMayEnd(const Scheduler& scheduler, const char* type, const char* object);

// How long ~Scheduler waits, in nanoseconds, before it says what it waits for. Tests make it short.
// relaxed: nothing depends on it.
extern std::atomic<int64_t> shutdownPatience;

// What the workers of a scheduler share.
struct SchedulerCore final : TaskFinder {
  explicit SchedulerCore(const Scheduler::Config& config);
  ~SchedulerCore();

  // Returns: 0, or the error number of the first thread that could not be started.
  int startWorkers();
  // Ends the threads that were started, once nothing is left to do.
  void stopWorkers();
  void bind();
  void unbind(Worker& worker);
  // Requires: the calling thread was let in.
  void enqueueFromOutside(TaskNode* node);
  // The same for several, in their order.
  void enqueueFromOutside(TaskNode* const* nodes, uint32_t count);
  // Ends the program with a message that names `what` where tasks with such flags, which come from outside,
  // could not run.
  [[gnu::always_inline]] void assertRunnable(const char* what, uint32_t flags) const;
  // See Scheduler::enqueueOn().
  void enqueueOn(int workerId, Task&& task);
  // Waits until every thread has unbound and nothing is left to do.
  void shutDown();

  // See Scheduler::reportBlockedFibers().
  void reportBlockedFibers();
  bool findTask(const void* scope, TaskPlace& place) override;

  // For workers, during shutdown: says whether everything is done. The first worker to find that out tells
  // the others.
  bool isFinished();

  template <class F>
  void forEachWorker(F&& f) {
    for (int i = 0; i < numWorkers; ++i) {
      f(*workers[i]);
    }
  }

  // addExternal() gives a bound thread a deque, from which workers steal as well; removeExternal(), on the
  // same thread, takes it away again. addExternal() sets `slot`, under boundMutex.
  void addExternal(StealingDeque<TaskNode>*& slot);
  void removeExternal(StealingDeque<TaskNode>& deque);

  template <class F>
  void forEachExternal(F&& f) {
    // (1) acquire: sees the deque; pairs with the store in addExternal().
    for (ExternalDeque* external = firstExternal.load(std::memory_order_acquire); external != nullptr;
         external = external->next) {
      f(external->deque);
    }
  }

  // A deque is kept until the scheduler ends and is used again, since a thief may look into it at any time.
  struct ExternalDeque {
    StealingDeque<TaskNode> deque;
    ExternalDeque* next = nullptr;
    bool isTaken = true;  // guarded by boundMutex
  };

  struct WorkerThread {
    SchedulerCore* core = nullptr;
    int id = 0;
    NativeThread native;
    static void main(void* self);
  };

  // The objects that bind() makes for a thread.
  struct BoundThread {
    explicit BoundThread(SchedulerCore& core) : worker(core, Worker::Mode::SingleThreaded, -1) {}
    Worker worker;
    AlternateStack signalStack;
    BoundThread* next = nullptr;
  };

  // Calls f for each worker, those of bound threads included.
  // Requires: boundMutex is held.
  template <class F>
  void forEachWorkerOrBound(F&& f) {
    forEachWorker(f);
    for (BoundThread* bound = firstBound; bound != nullptr; bound = bound->next) {
      f(bound->worker);
    }
  }
  size_t numSilent(const Worker* own);
  void awaitReports(Worker* own);
  // The wait of ~Scheduler until isMet() is true; isMet() is called with boundMutex held.
  template <class Condition>
  void awaitEnd(Condition isMet);
  void awaitUnbound();
  void reportWait(std::chrono::nanoseconds waited);

  static constexpr const char* kOwner = "Scheduler";  // of the allocator, in messages

  const SchedulerExists exists;
  const Scheduler::Config config;
  CheckedAllocator assertAllocator;
  Allocator* const allocator;  // that one
  Scheduler* scheduler = nullptr;
  const int numWorkers;
  int numStarted = 0;
  const Allocator::unique_ptr<Worker*> workerArray{
      allocator->make_unique_n<Worker*>(static_cast<size_t>(numWorkers))};
  Worker** const workers = workerArray.get();
  const Allocator::unique_ptr<WorkerThread> threadArray{
      allocator->make_unique_n<WorkerThread>(static_cast<size_t>(numWorkers))};
  WorkerThread* const threads = threadArray.get();
  SegmentedQueue<TaskNode*> injector;
  TaskOverflow overflow;
  IdleSet<> idle;
  StealGate<> stealGate;
  std::atomic<ExternalDeque*> firstExternal{nullptr};  // changed under boundMutex

  std::atomic<bool> isStopping{false};  // false -> true, by the thread that shuts down
  std::atomic<bool> isDone{
      false};  // false -> true under boundMutex, by the worker that finds nothing left to do

  // Counts the tasks from threads that are not bound, before each is queued. A worker closes it once nothing
  // is left to do.
  SchedulerLink& outside;
  // The number of tasks injected by threads that were bound, plus kBinding for each thread that is bound now.
  // What a bound thread injects is not counted before the thread unbinds, and the scheduler must not seem to
  // be at rest meanwhile. (blocking_call() binds threads while a scheduler shuts down.)
  std::atomic<uint64_t> numFromUnbound{0};
  static constexpr uint64_t kBinding = uint64_t{1} << 40;

  IoDomain ioDomain;

  std::mutex boundMutex;
  std::condition_variable ending;     // notified of the last unbinding, and of isDone
  BoundThread* firstBound = nullptr;  // guarded by boundMutex
  int numBound = 0;  // guarded by boundMutex; counts a thread until it no longer needs this object
};

inline void SchedulerCore::assertRunnable(const char* what, uint32_t flags) const {
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

}  // namespace weft::inline v0_1::detail
