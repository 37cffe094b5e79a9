// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/task_batch.h"
#include "weft/export.h"
#include "weft/fiber.h"
#include "weft/histogram.h"
#include "weft/memory.h"
#include "weft/task.h"
#include "weft/thread.h"

namespace weft::inline v0_1 {

class Scheduler;
class TaskHandle;

namespace detail {
class Worker;
struct ExecutorAccess;
struct IoDomain;
class PollCore;
class SchedulerCore;
WEFT_EXPORT IoDomain& ioDomain(const Scheduler& scheduler) noexcept;
}  // namespace detail

// Runs tasks on fibers, over a number of worker threads.
//
// A thread binds the scheduler before it schedules tasks. Tasks run on the worker threads if there are any.
// Otherwise each runs on the thread that scheduled it, while that thread waits, yields or unbinds. A task
// stays on the thread on which it began, and uses that thread's floating-point environment: see Fiber.
//
//   weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
//   weft::Scheduler::Binding bound(scheduler);
//   weft::WaitGroup done(1);
//   weft::schedule([=] { work(); done.done(); });
//   done.wait();
class WEFT_EXPORT Scheduler {
 public:
  // marl's names. weft's functions take any callable and the times of any clock.
  using Fiber = weft::Fiber;
  using TimePoint = std::chrono::system_clock::time_point;
  using Predicate = std::function<bool()>;
  using ThreadInitializer = std::function<void(int workerId)>;

  static constexpr int kMaxWorkerThreads = 4096;  // the most that a Config may ask for

  // How a scheduler is made: its threads, its memory, and the size of its stacks.
  struct WEFT_EXPORT Config {
    static constexpr size_t DefaultFiberStackSize = size_t{1024} * 1024;  // bytes

    // How many worker threads there are, and what they call.
    struct WorkerThread {
      int count = 0;  // worker threads; 0 runs tasks on the threads that schedule them
      // Called on each worker thread before its first task, with the worker's number. Must not throw. If it
      // waits, tasks may begin meanwhile.
      ThreadInitializer initializer;
      std::shared_ptr<Thread::Affinity::Policy> affinityPolicy;  // none: that of the scheduler's maker
      // Called on each worker thread after its last task, with the worker's number. The worker is not bound
      // any more. May wait, must not throw.
      ThreadInitializer finalizer;
    };

    WorkerThread workerThread;  // threads of the scheduler's own; at first none
    // Gives memory for workers, their queues and the control blocks of fibers. Stacks and tasks come from
    // pools of the process. An Event or a WaitGroup has an allocator of its own.
    // Requires: it neither throws nor waits by weft, since it is called in the middle of waits and switches.
    // Without memory it ends the program, as Default does. If it throws or returns null, a message does.
    Allocator* allocator = Allocator::Default;
    size_t fiberStackSize = DefaultFiberStackSize;  // bytes, without the guard
    // How long a worker that has run out of tasks may look for more before it sleeps. If tasks come at short
    // gaps, it looks for twice the last gap, and yields its processor between looks. If tasks are sparse, it
    // looks for 4 us. With a longer time, tasks begin sooner after longer gaps, at the price of processor
    // time. With zero a worker looks once.
    std::chrono::nanoseconds idleSearch = std::chrono::microseconds(200);

    // One worker per processor, by the affinity mask of the process and the quota of its cgroup. The
    // environment variable WEFT_NUM_THREADS overrides both.
    static Config allCores();

    // As allCores(), but for the performance cores only, on which the workers stay: see
    // Thread::Affinity::performanceCores(). Where all cores are of one kind, it is allCores().
    static Config performanceCores();

    // Each sets a member, and returns the object, so that calls can be chained.
    Config& setAllocator(Allocator* value);
    Config& setFiberStackSize(size_t bytes);
    Config& setIdleSearch(std::chrono::nanoseconds longest);
    Config& setWorkerThreadCount(int count);
    Config& setWorkerThreadInitializer(const ThreadInitializer& initializer);
    Config& setWorkerThreadFinalizer(const ThreadInitializer& finalizer);
    Config& setWorkerThreadAffinityPolicy(const std::shared_ptr<Thread::Affinity::Policy>& policy);
  };

  // What a worker has queued and done. Exact while nothing runs, otherwise approximate. From numTasksRun on,
  // the members count since the worker began, and never fall; from numTasksInPlace on, only while measure()
  // is on.
  struct WorkerStats {
    int workerId = 0;               // index of a worker thread; -1 for a bound thread
    int threadId = 0;               // the system's number of its thread; 0 before that has begun
    uint64_t num = 0;               // queued tasks and ready fibers: the sum of the next three
    uint64_t numReadyFibers = 0;    // those that can go on
    uint64_t numTasks = 0;          // queued tasks that other workers may steal
    uint64_t numPinnedTasks = 0;    // queued tasks that only this worker may run
    uint64_t numTimers = 0;         // fibers that wait for a time, or for something until a time
    uint64_t numBlockedFibers = 0;  // those in a wait; one that was woken counts until it runs
    uint64_t numIdleFibers = 0;     // those that are kept for reuse
    uint64_t numFibers = 0;         // all fibers that exist
    uint64_t numTasksRun = 0;       // tasks that have ended
    uint64_t numSteals = 0;         // tasks taken from other workers
    uint64_t numSearches = 0;       // times it ran out of work and looked for more for a while
    uint64_t numParks = 0;          // times the thread went to sleep
    uint64_t numTasksInPlace = 0;   // tasks that ran on top of the task that waited for them
    Histogram runTimes;    // how long tasks ran, from their begin or the end of a wait to a wait or their end
    Histogram wakeDelays;  // how long fibers were ready before they went on, one for each wake
  };
  // What all workers have queued and done, and the stacks of this scheduler's size. Those are the process's.
  // They are told in bytes of address space: a page takes memory once it is touched.
  struct Stats {
    std::vector<WorkerStats> workers;  // the worker threads first, then the bound threads
    uint64_t numInjected = 0;          // tasks in the queues that all workers share
    uint64_t stackBytesInUse = 0;      // of fibers and of workers' reserves, without guards
    uint64_t stackBytesPeak = 0;       // the most that were in use
    uint64_t stackBytesMapped = 0;     // of all stacks, free ones and guards included
  };

  // Binds a scheduler to the calling thread for the time of a scope.
  class Binding {
   public:
    // Calls scheduler.bind(); the destructor calls unbind().
    explicit Binding(Scheduler& scheduler) { scheduler.bind(); }
    ~Binding() { Scheduler::unbind(); }
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;
  };

  // Starts the worker threads.
  // Errors: throws std::system_error if the system refuses a thread. The threads that were started before
  // have ended then. A message ends the program if a count or a stack size makes no sense, or if there is no
  // memory.
  Scheduler(const Config& config);  // NOLINT(google-explicit-constructor): as marl's

  // Waits until every thread has unbound, then until all tasks have ended, also blocked tasks and those that
  // the last tasks schedule. Blocks the thread. After five seconds it prints now and then what it waits for.
  // Requires: the calling thread is not bound to this scheduler.
  ~Scheduler();

  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Waits for what ~Scheduler waits for, but only for some time, or until a time of any clock. Blocks the
  // thread. Any thread may call it, and more than once. ~Scheduler still waits for what is left.
  //
  //   if (!scheduler.shutdown(std::chrono::seconds(10))) {
  //     std::_Exit(1);
  //   }
  // Returns: whether every thread has unbound and all tasks have ended. If not, has printed to stderr for
  // what it waits, as ~Scheduler does, and all goes on. From the time when all has ended, a task or a bind()
  // ends the program with a message.
  // Requires: the calling thread is not bound to this scheduler; a Binding of it has ended.
  // Memory ordering: after true, the caller sees what the tasks have written.
  template <class Rep, class Period>
  bool shutdown(const std::chrono::duration<Rep, Period>& longest) {
    return shutdown(detail::TimePoint(detail::deadlineAfter(longest)));
  }
  template <class Clock, class Duration>
  bool shutdown(const std::chrono::time_point<Clock, Duration>& time) {
    return detail::waitUntilByClock(time, [this](detail::TimePoint until) { return endsBefore(until); }) ||
           reportWhatIsLeft();
  }

  // Returns: the scheduler that is bound to the calling thread, or null.
  static Scheduler* get() noexcept;

  // Binds this scheduler to the calling thread.
  // Requires: no scheduler is bound to the thread.
  void bind();

  // Ends the binding of the calling thread. Before that, runs the tasks that only this thread may run, until
  // they have ended.
  // Requires: a scheduler is bound, and the caller is not in a task.
  static void unbind();

  // Schedules `task`. If there are worker threads, any thread may call this. If not, the task runs on the
  // calling thread, which must be bound. Neither suspends nor blocks.
  // Requires: the task is not empty.
  // Memory ordering: the task sees what was written before enqueue().
  void enqueue(Task&& task);

  // Schedules the tasks of a range, in its order, for less than a loop of enqueue(): up to 64 at a time. The
  // elements are Tasks, or functions as for enqueue(). Moves them if `tasks` is an rvalue that owns them (a
  // std::vector, but not a std::span), and copies them otherwise. Suspends or blocks only if the range does.
  //
  // From a range that can be passed only once, such as that of a channel or a generator, schedules each task
  // before it asks for the next element. From other ranges, a slow element may delay up to 63 tasks before
  // it. If the range, or a copy or move of an element, throws, the tasks before it are scheduled.
  // Requires: no element is empty. If the range can be passed twice, no element waits for a task before it.
  template <detail::InputRange Range>
  void enqueueMany(Range&& tasks) {
    detail::enqueueEach<Range>(*this, tasks, "Scheduler::enqueueMany()");
  }

  // Schedules `task` on one worker thread, numbered from 0: no other worker runs it. Wakes that worker if it
  // sleeps. If it is busy, the task waits, even if other workers have nothing to do. So place tasks that
  // belong together, and leave all others to enqueue(). Any thread. Neither suspends nor blocks.
  //
  // Tasks that one thread or task places on a worker begin in that order. A placed task gets its turn
  // whatever other tasks schedule or place: see docs/scheduler.md.
  // Requires: there is such a worker, and `task` is neither empty nor a SameThread task of another thread.
  // Memory ordering: the task sees what was written before enqueueOn().
  void enqueueOn(int workerId, Task&& task);

  // Returns: the number of the calling worker thread; -1 on other threads. It is constant in a task.
  static int workerId() noexcept;

  // As enqueue(), for the task of a Future: makes a scheduler an Executor. If the scheduler ends before a
  // continuation has its turn, the continuation's future throws TaskNotExecuted.
  void schedule(TaskHandle task);

  // Returns: the configuration with which the scheduler was made.
  const Config& config() const noexcept;

  // Counts what every worker has queued and done, for tools and tests. Takes a lock. Any thread.
  // Returns: the counts.
  Stats stats() const;

  // Begins or ends to measure times, for stats(): how long tasks run, and how long fibers are ready before
  // they go on. A worker follows at its next poll, so after the task that it runs has ended, waited or let
  // others run. While it is off, as at first, it costs nothing. While it is on, each task, wait and wake
  // reads the clock once or twice. What was counted stays. Any thread. Neither suspends nor blocks.
  void measure(bool isOn);

  // Prints to stderr what the workers of this scheduler do, and where and for what their fibers wait. As
  // weft::dump(), which tells of all schedulers. Any thread. Neither suspends nor blocks.
  void reportBlockedFibers() const;

 private:
  friend struct detail::ExecutorAccess;
  friend detail::IoDomain& detail::ioDomain(const Scheduler& scheduler) noexcept;
  friend class detail::PollCore;
  friend class detail::TaskBatch;
  bool endsBefore(detail::TimePoint deadline);
  bool reportWhatIsLeft();
  void enqueueNode(detail::TaskNode* node);
  void enqueueNodes(detail::TaskNode* const* nodes, uint32_t count);

  std::unique_ptr<detail::SchedulerCore, void (*)(detail::SchedulerCore*)> core_;
};

namespace detail {

// Queues `node` on the calling thread's scheduler. A message ends the program if no scheduler is bound.
WEFT_EXPORT void scheduleNode(TaskNode* node);

}  // namespace detail

// Schedules `task` on the scheduler that is bound to the calling thread. Neither suspends nor blocks.
// Requires: a scheduler is bound, and the task is not empty.
// Memory ordering: the task sees what was written before schedule().
inline void schedule(Task&& task) {
  if (detail::TaskNode* node = task.release()) [[likely]] {
    detail::scheduleNode(node);
  } else {
    detail::reportEmptyFunction("schedule()");
  }
}

// Schedules function(args...) as schedule(task) does. Copies the arguments, as std::bind does.
template <class Function, class... Args>
void schedule(Function&& function, Args&&... args) {
  if constexpr (std::derived_from<std::remove_cvref_t<Function>, Task>) {
    // A Task around a Task would lose the flags.
    static_assert(sizeof...(Args) == 0, "a Task takes no arguments");
    std::remove_cvref_t<Function> task(std::forward<Function>(function));
    schedule(static_cast<Task&&>(task));
  } else {
    constexpr bool kCanBeCalled = detail::kCanBeBound<Function, Args...>;
    constexpr bool kCanBeKept = detail::kCanBeKept<Function> && (detail::kCanBeKept<Args> && ...);
    static_assert(
        kCanBeCalled,
        "schedule(f, args...): f cannot be called with these arguments, or with none if there are none.");
    static_assert(kCanBeKept || !kCanBeCalled,
                  "schedule() keeps copies, and something here cannot be copied. Pass std::move() of it.");
    if constexpr (kCanBeCalled && kCanBeKept && sizeof...(Args) == 0) {
      detail::assertCallable(function, "schedule()");
      detail::scheduleNode(Task(std::forward<Function>(function)).release());
    } else if constexpr (kCanBeCalled && kCanBeKept) {
      detail::assertCallable(function, "schedule()");
      detail::scheduleNode(
          Task(detail::bindOnce(std::forward<Function>(function), std::forward<Args>(args)...)).release());
    }
  }
}

// As Scheduler::enqueueMany(), on the scheduler that is bound to the calling thread.
// Requires: a scheduler is bound.
template <detail::InputRange Range>
void scheduleMany(Range&& tasks) {
  assert_has_bound_scheduler("scheduleMany()");
  detail::enqueueEach<Range>(*Scheduler::get(), tasks, "scheduleMany()");
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
