// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/export.h"
#include "weft/fiber.h"
#include "weft/memory.h"
#include "weft/task.h"
#include "weft/thread.h"

namespace weft {

class TaskHandle;

namespace detail {
class Worker;
struct ExecutorAccess;
struct SchedulerCore;
}  // namespace detail

// Runs tasks on fibers, over a number of worker threads.
//
// A thread that is to schedule tasks binds the scheduler first. With worker threads, tasks run on those; with
// none, a task runs on the thread that scheduled it, while that thread waits or unbinds.
//
// A task stays on the thread on which it began, and shares the thread's floating-point environment with all
// that runs there; see Fiber.
//
//   weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
//   weft::Scheduler::Binding bound(scheduler);
//   weft::WaitGroup done(1);
//   weft::schedule([=] { work(); done.done(); });
//   done.wait();
class WEFT_EXPORT Scheduler {
 public:
  using Fiber = weft::Fiber;
  using TimePoint = std::chrono::system_clock::time_point;
  using Predicate = std::function<bool()>;
  using ThreadInitializer = std::function<void(int workerId)>;

  static constexpr int kMaxWorkerThreads = 4096;

  // What a scheduler is made from. Each setX returns the object, so that calls can be chained.
  struct WEFT_EXPORT Config {
    static constexpr size_t DefaultFiberStackSize = size_t{1024} * 1024;

    struct WorkerThread {
      int count = 0;                  // worker threads; 0 runs tasks on the threads that schedule them
      ThreadInitializer initializer;  // called on each worker thread before its first task; must not throw
      std::shared_ptr<Thread::Affinity::Policy> affinityPolicy;  // none: the process's own mask
      // Called on each worker thread after its last task, with nothing bound any more; may wait, must not
      // throw.
      ThreadInitializer finalizer;
    };

    WorkerThread workerThread;
    // For workers, their queues and the control blocks of fibers. Stacks and tasks come from pools of the
    // process, and what an Event or a WaitGroup shares from the allocator that it was given.
    // Requires: it does not throw, as Default does not. Where there is no memory it ends the program; else a
    // message does.
    Allocator* allocator = Allocator::Default;
    size_t fiberStackSize = DefaultFiberStackSize;  // bytes, guard apart

    // One worker per processor that the process may use: its affinity mask and its cgroup's quota count, and
    // the environment variable WEFT_NUM_THREADS overrides both.
    static Config allCores();

    Config& setAllocator(Allocator* value);
    Config& setFiberStackSize(size_t bytes);
    Config& setWorkerThreadCount(int count);
    Config& setWorkerThreadInitializer(const ThreadInitializer& initializer);
    Config& setWorkerThreadFinalizer(const ThreadInitializer& finalizer);
    Config& setWorkerThreadAffinityPolicy(const std::shared_ptr<Thread::Affinity::Policy>& policy);
  };

  // What a worker has queued and done. Exact while the scheduler is at rest, approximate while it runs.
  struct WorkerStats {
    int workerId = 0;               // index of a worker thread; -1 for a bound thread
    uint64_t num = 0;               // queued tasks and resumable fibers
    uint64_t numBlockedFibers = 0;  // inside a wait or a yield; one that was woken counts until it runs
    uint64_t numIdleFibers = 0;     // kept for reuse
    uint64_t numFibers = 0;         // all that exist
    uint64_t numTasksRun = 0;       // ended, since the worker began
    uint64_t numSteals = 0;         // tasks taken from other workers
    uint64_t numParks = 0;          // times the thread went to sleep
  };
  struct Stats {
    std::vector<WorkerStats> workers;  // the worker threads first, then the bound threads
    uint64_t numInjected = 0;          // tasks in the injector
  };

  // Binds a scheduler to the calling thread for the time of a scope.
  class Binding {
   public:
    explicit Binding(Scheduler& scheduler) { scheduler.bind(); }
    ~Binding() { Scheduler::unbind(); }
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;
  };

  // Starts the worker threads.
  // Errors: where the system refuses a thread, std::system_error is thrown, and nothing is left behind: those
  // that were started have ended. A message and the end of the program follow from a count or stack size that
  // makes no sense, and from Allocator::Default where it has no memory.
  Scheduler(const Config& config);  // NOLINT(google-explicit-constructor): as marl's

  // Waits until every thread has unbound, then until all tasks have ended: blocked ones and those that the
  // last ones schedule included. Blocks the thread. After five seconds, and now and then from then on, it
  // prints for what it waits.
  // Requires: the calling thread is not bound to this scheduler.
  ~Scheduler();

  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Returns: the scheduler that is bound to the calling thread, or null.
  static Scheduler* get() noexcept;

  // Binds this scheduler to the calling thread. Requires: none is bound.
  void bind();

  // Ends the binding of the calling thread: first runs to their end the tasks that only this thread may run.
  // Requires: a scheduler is bound, and the caller runs in no task.
  static void unbind();

  // Schedules `task`. Any thread, if there are worker threads; else the task runs on the calling thread,
  // which must be bound. Neither suspends nor blocks.
  // Memory ordering: what came before is seen by the task.
  void enqueue(Task&& task);

  // The same for the task of a Future, which makes a scheduler an Executor. A continuation that waits for its
  // turn may outlive the scheduler: its future throws TaskNotExecuted then.
  void schedule(TaskHandle task);

  const Config& config() const noexcept;

  // Any thread. For tools and tests: takes a lock and looks at every worker.
  Stats stats() const;

  // Has every worker print to stderr which of its fibers wait, in what task and for what, and where that is a
  // lock, who holds it: where a program hangs, this tells why. Any thread. Blocks the thread for up to 100
  // ms, until the workers have answered: those that sleep do at once, and one that runs a task when that
  // waits or ends. Then it names those that have not, with the task that they are in. Printing takes about 16
  // KiB of the stack of one of the worker's fibers.
  void reportBlockedFibers() const;

 private:
  friend struct detail::ExecutorAccess;
  void enqueueNode(detail::TaskNode* node);

  std::unique_ptr<detail::SchedulerCore, void (*)(detail::SchedulerCore*)> core_;
};

namespace detail {

// Queues `node` on the calling thread's scheduler; a message and the end of the program where none is bound.
WEFT_EXPORT void scheduleNode(TaskNode* node);

}  // namespace detail

// Schedules `task` on the scheduler that is bound to the calling thread. Neither suspends nor blocks.
// Memory ordering: what came before is seen by the task.
inline void schedule(Task&& task) {
  if (detail::TaskNode* node = task.release()) {
    detail::scheduleNode(node);
  }
}

// Schedules function(args...), with copies of the arguments as std::bind makes them.
template <class Function, class... Args>
void schedule(Function&& function, Args&&... args) {
  if constexpr (std::derived_from<std::remove_cvref_t<Function>, Task>) {
    // Not a Task around a Task, which would lose the flags.
    static_assert(sizeof...(Args) == 0, "a Task takes no arguments");
    std::remove_cvref_t<Function> task(std::forward<Function>(function));
    schedule(static_cast<Task&&>(task));
  } else {
    constexpr bool kCanBeCalled = detail::kCanBeBound<Function, Args...>;
    constexpr bool kCanBeKept = std::constructible_from<std::decay_t<Function>, Function> &&
                                (std::constructible_from<std::decay_t<Args>, Args> && ...);
    static_assert(
        kCanBeCalled,
        "schedule(f, args...): f cannot be called with these arguments, or with none if there are none.");
    static_assert(kCanBeKept || !kCanBeCalled,
                  "schedule() keeps copies, and something here cannot be copied. Pass std::move() of it.");
    if constexpr (kCanBeCalled && kCanBeKept && sizeof...(Args) == 0) {
      schedule(Task(std::forward<Function>(function)));
    } else if constexpr (kCanBeCalled && kCanBeKept) {
      schedule(Task(detail::bindOnce(std::forward<Function>(function), std::forward<Args>(args)...)));
    }
  }
}

}  // namespace weft
