// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "os/stack_overflow.h"
#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_group.h"
#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/future/executor_link.h"
#include "weft/detail/wait/reactor.h"
#include "weft/memory.h"
#include "weft/scheduler.h"
#include "weft/thread.h"

namespace weft::inline v0_1::detail {

class SchedulerCore;

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
              "Nobody would run it. Give it before ~Scheduler and shutdown(), or in a task.",
              what);
}

// Ends the program if the end of `scheduler` would wait for its caller. `call`: what was called; `object`:
// what holds `scheduler`.
void assertMayEnd(const Scheduler& scheduler, const char* call, const char* object);

// How long ~Scheduler waits, in nanoseconds, before it says what it waits for. Tests set it. relaxed: a hint.
extern std::atomic<int64_t> shutdownPatience;

// A scheduler: worker threads, bound threads, and how tasks come in. Any thread may call what is public.
// `mutex_` guards which threads are bound.
class SchedulerCore final : public WorkerGroup {
 public:
  explicit SchedulerCore(const Scheduler::Config& config);
  ~SchedulerCore();

  // How many of the threads began, and the error number of the first that could not, or 0.
  struct Started {
    int count = 0;
    int error = 0;
  };
  // Ends the threads again where not all could be started. `root`: see victimOrders().
  Started startWorkers(const std::string& root = "");
  // Waits until every thread has unbound and nothing is left to do, and ends the threads.
  void shutDown();
  // As shutDown(), but joins no threads. Returns: false if something is left at the deadline.
  bool shutDownUntil(TimePoint deadline);
  // Prints `why`, and what is left to do.
  void reportWait(const char* why);
  // Ends the program with a message if a poll source still exists.
  void assertNoPollSources();
  void bind();
  void unbind(Worker& worker);

  // Queues one or several tasks of an unbound thread, in order. Requires: outside() has let the thread in.
  void enqueueFromOutside(TaskNode* node);
  void enqueueFromOutside(TaskNode* const* nodes, uint32_t count);
  void enqueueOn(int workerId, Task&& task);

  Scheduler::Stats stats();
  void measure(bool isOn);

  bool isFinished() override;

  // Has a worker that sleeps watch the requests of poll sources: see PollHub.
  void findWatcher();

  // Counts tasks from unbound threads before each is queued. A worker closes it when nothing is left to do.
  SchedulerLink& outside() { return outside_; }

  Scheduler* scheduler = nullptr;
  IoDomain ioDomain;

 private:
  friend struct LayoutAccess;
  friend struct SchedulerTestAccess;

  struct WorkerThread {
    SchedulerCore* core = nullptr;
    int id = 0;
    NativeThread native;
    static void main(void* self);
  };

  struct BoundThread {
    explicit BoundThread(SchedulerCore& core) : worker(core, Worker::Mode::SingleThreaded, -1) {}
    Worker worker;
    AlternateStack signalStack;
    BoundThread* next = nullptr;
  };

  // What a thread counts as that is bound now, in numFromUnbound_.
  static constexpr uint64_t kBinding = uint64_t{1} << 40;

  using Affinities = std::vector<Thread::Affinity, StlAllocator<Thread::Affinity>>;
  Affinities affinitiesOfWorkers() const;
  void orderVictims(const Affinities& affinities, const std::string& root);
  int startWorker(int id, const Thread::Affinity* affinity);
  void stopWorkers();
  void unparkWorkers();
  [[gnu::always_inline]] void assertRunnable(const char* what, uint32_t flags) const;
  // Calls f for each worker, those of bound threads included. Requires: mutex_ is held.
  template <class F>
  void forEachWorkerOrBound(F&& f) {
    forEachWorker(f);
    for (BoundThread* bound = firstBound_; bound != nullptr; bound = bound->next) {
      f(bound->worker);
    }
  }
  template <class Condition>
  void awaitEnd(Condition isMet);

  const ListedScheduler listed_;
  int numStarted_ = 0;
  const Allocator::unique_ptr<WorkerThread> threadArray_{
      allocator->make_unique_n<WorkerThread>(static_cast<size_t>(numWorkers))};
  WorkerThread* const threads_ = threadArray_.get();
  SchedulerLink& outside_;
  // The tasks injected by threads that were bound, plus kBinding for each thread that is bound now: its tasks
  // are counted when it unbinds, and there is no rest before. (blocking_call() binds during shutdown.)
  std::atomic<uint64_t> numFromUnbound_{0};
  std::atomic<bool> isDone_{false};  // false -> true under mutex_, by who finds nothing to do

  std::mutex mutex_;
  std::condition_variable ending_;     // notified of the last unbinding, and of isDone_
  BoundThread* firstBound_ = nullptr;  // guarded by mutex_
  // Guarded by mutex_. Counts a thread until it no longer needs this object.
  int numBound_ = 0;
};

inline SchedulerCore& coreOf(const Worker& worker) { return static_cast<SchedulerCore&>(worker.group()); }

// Returns: the worker of the calling thread, if that is one of `core`, or null.
inline Worker* currentWorkerOf(const SchedulerCore& core) noexcept {
  Worker* const worker = Worker::current();
  return worker != nullptr && &worker->group() == &core ? worker : nullptr;
}

}  // namespace weft::inline v0_1::detail
