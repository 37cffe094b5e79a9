// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "os/stack_overflow.h"
#include "scheduler/checked_allocator.h"
#include "scheduler/process_fork.h"
#include "scheduler/worker.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/future/executor_link.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/scheduler.h"
#include "weft/thread.h"

namespace weft::detail {

struct SchedulerCore;

// Those who are within use the core.
struct SchedulerLink final : ExecutorLink {
  explicit SchedulerLink(SchedulerCore& linked) : core(linked) {}
  void schedule(TaskHandle task) override;
  void free() noexcept override { NodeMemory<SchedulerLink>::destroy(*this); }

  SchedulerCore& core;
};

// Ends the program with a message where `scheduler` is destroyed by who it would wait for. `type` and
// `object` name what holds it.
void assertMayEnd(const Scheduler& scheduler, const char* type, const char* object);

// How long, in nanoseconds, ~Scheduler waits before it says for what. Tests make it short. relaxed: nothing
// hangs on it.
extern std::atomic<int64_t> shutdownPatience;

// What the workers of a scheduler share.
struct SchedulerCore {
  explicit SchedulerCore(const Scheduler::Config& config);
  ~SchedulerCore();

  // Returns: 0, or the error number of the first thread that could not be started.
  int startWorkers();
  // Ends those that were started, once nothing is left to do.
  void stopWorkers();
  void bind();
  void unbind(Worker& worker);
  // Requires: the calling thread was let in.
  void enqueueFromOutside(TaskNode* node);
  // Waits until every thread has unbound and nothing is left to do.
  void shutDown();

  // See Scheduler::reportBlockedFibers().
  void reportBlockedFibers();
  // Sets `place` to where the task is whose TaskScope lies, or lay, at `scope`. Returns: whether it is one of
  // this scheduler. Any thread.
  bool findTask(const void* scope, TaskPlace& place);

  // Workers, during shutdown: whether all is done; the first to find out tells the others.
  bool isFinished();

  template <class F>
  void forEachWorker(F&& f) {
    for (int i = 0; i < numWorkers; ++i) {
      f(*workers[i]);
    }
  }

  // A deque for a bound thread, which workers steal from as well, from addExternal() to removeExternal() on
  // that thread. Sets `slot`, under boundMutex.
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

  // Kept until the end, and used again, since a thief may look into it at any time.
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

  // What bind() makes for a thread.
  struct BoundThread {
    explicit BoundThread(SchedulerCore& core) : worker(core, Worker::Mode::SingleThreaded, -1) {}
    Worker worker;
    AlternateStack signalStack;
    BoundThread* next = nullptr;
  };

  void* allocateArray(size_t elementSize);
  // Calls f for each worker, those of bound threads included. Requires: boundMutex is held.
  template <class F>
  void forEachWorkerOrBound(F&& f);
  size_t numSilent(const Worker* own);
  void awaitReports(Worker* own);
  // ~Scheduler's wait until isMet(), which is called with boundMutex.
  template <class Condition>
  void awaitEnd(Condition isMet);
  void reportWait(std::chrono::nanoseconds waited);

  const SchedulerExists exists;
  const Scheduler::Config config;
  CheckedAllocator checkedAllocator;
  Allocator* const allocator;  // that one
  Scheduler* scheduler = nullptr;
  const int numWorkers;
  int numStarted = 0;
  Allocation arrays[2];
  Worker** workers = nullptr;
  WorkerThread* threads = nullptr;
  SegmentedQueue<TaskNode*> injector;
  IdleSet<> idle;
  StealGate<> stealGate;
  std::atomic<ExternalDeque*> firstExternal{nullptr};  // changed under boundMutex

  std::atomic<bool> isStopping{false};  // false -> true, by the thread that shuts down
  std::atomic<bool> isDone{
      false};  // false -> true under boundMutex, by the worker that finds nothing left to do

  // Counts the tasks from threads that are not bound, before each is queued. A worker closes it once nothing
  // is left to do.
  SchedulerLink& outside;
  // Injected by threads that were bound, and kBinding for each thread that is: what such a thread injects is
  // not counted before it unbinds, and nothing may seem to be at rest meanwhile. (blocking_call() binds
  // threads while a scheduler shuts down.)
  std::atomic<uint64_t> numFromUnbound{0};
  static constexpr uint64_t kBinding = uint64_t{1} << 40;

  std::mutex boundMutex;
  std::condition_variable ending;     // told of the last unbinding, and of isDone
  BoundThread* firstBound = nullptr;  // guarded by boundMutex
  int numBound = 0;  // guarded by boundMutex; counts a thread until it needs this object no more
};

}  // namespace weft::detail
