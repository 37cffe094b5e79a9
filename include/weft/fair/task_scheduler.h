// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/export.h"
#include "weft/fair/task.h"
#include "weft/memory.h"

namespace weft::inline v0_1::fair {

// Runs the steps of tasks on threads of its own, first come, first served: steps start in the order in which
// any threads posted their tasks, on any thread that is free. A task with a deadline takes its place when it
// is due, ahead of what is queued. See docs/fair.md.
//
//   weft::fair::Task task([](weft::fair::Task* self) { step(self); });
//   weft::fair::TaskScheduler scheduler("crawler", 2);
//   scheduler.post(&task);
//   scheduler.waitEmpty();
// Any thread, fiber, and task of this or another scheduler may call any function, unless it says otherwise.
// Only waitEmpty(), stop() and the destructor suspend or block.
class WEFT_EXPORT TaskScheduler {
 public:
  // The memory of a TaskScheduler.
  struct WEFT_EXPORT Config {
    Allocator* allocator = Allocator::Default;  // for queues and the heap of deadlines; must not throw
    // Slots in a segment of the ready queue, 1 or more. Each thread takes a lock once a segment.
    uint32_t blockSize = 62;

    // Each sets a member, and returns the object, so that calls can be chained.
    Config& setAllocator(Allocator* value);
    Config& setBlockSize(uint32_t slots);
  };

  // What a thread has done. Exact while no step runs and nothing is queued.
  struct ThreadStats {
    uint64_t numSteps = 0;       // how many steps it has run
    uint64_t numDispatches = 0;  // how often it dispatched, or took over what was posted
    uint64_t numParks = 0;       // how often it went to sleep
  };

  // Starts `numThreads` threads, 1 or more, with the name `name`.
  // Errors: a message ends the program if a number makes no sense, or if the system refuses a thread.
  explicit TaskScheduler(const std::string& name, int numThreads = 1);
  TaskScheduler(const std::string& name, int numThreads, const Config& config);

  // Stops, and waits for steps of other schedulers that have posted their own tasks to this one. Tasks that
  // are queued or wait belong to the user again, and do not run. One-shot tasks are destroyed.
  // Requires: the caller is not a step of this scheduler, and no thread posts. wakeup() and signal() may
  // still be returning.
  ~TaskScheduler();
  TaskScheduler(const TaskScheduler&) = delete;
  TaskScheduler& operator=(const TaskScheduler&) = delete;

  // Gives `task` to the scheduler until its next step begins. The step is queued when the task's deadline
  // comes or it is woken or signalled, or at once, if it has no deadline or was woken or signalled since its
  // last step began. A step that posts its own task, to any scheduler, keeps the task until it returns: that
  // is the moment of the post, and what is posted meanwhile comes before.
  // Requires: the task belongs to the caller, and has a callback. Posting a task that a scheduler has, or at
  // the same time as another thread, ends the program with a message. (It may not be found if another thread
  // posts the task at the same instant as the task's own step.)
  // Memory ordering: the step sees what came before the post.
  void post(Task* task);

  // As post(), with a deadline: see Task::setDeadline(). A task with an unreceived signal runs at once.
  template <class Rep, class Period>
  void postDelay(Task* task, const std::chrono::duration<Rep, Period>& delay) {
    postDeadline(task, detail::deadlineAfter(delay));
  }
  void postDeadline(Task* task, Task::TimePoint deadline) {
    assertTask(task, "post()");
    task->setDeadline(deadline);
    post(task);
  }
  // As post(), but the task waits for a wakeup or a signal. With an unreceived signal it runs at once.
  void postWait(Task* task) { postDeadline(task, detail::kNever); }

  // Calls `function` once, in a step; pooled if it is small. Its exceptions end the program with a message.
  template <class F>
  void postOneShot(F&& function) {
    static_assert(
        std::invocable<std::decay_t<F>&>,
        "postOneShot(f): f cannot be called without arguments. Write postOneShot([=] { f(argument); }).");
    if constexpr (std::invocable<std::decay_t<F>&>) {
      if constexpr (detail::assertKept<F>()) {
        postNode(*detail::NodeMemory<OneShot<std::decay_t<F>>>::make(std::forward<F>(function)));
      }
    }
  }

  // For Executor: calls handle.run() once, in a step, or destroys the handle with the scheduler.
  template <class Handle>
    requires requires(Handle& handle) { handle.run(); }
  void schedule(Handle handle) {
    detail::assertCallable(handle, "fair::TaskScheduler::schedule()");
    postOneShot([taken = std::move(handle)]() mutable { taken.run(); });
  }

  // As post() for each Task* of `tasks`, with no other in between. A calling step's task is posted on return.
  // Errors: if the range throws, none of the tasks is posted.
  template <std::ranges::input_range Range>
  void postAll(Range&& tasks) {
    std::optional<Row> row(std::in_place, *this);
    detail::callAndEnd(
        [&] {
          for (Task* task : tasks) {
            assertTask(task, "postAll()");
            row->add(*task);
          }
          row->post();
        },
        [&] { row.reset(); });
  }

  // Lets a waiting task run soon. A task that does not wait now will not wait at its next post either, unless
  // it is about to run.
  // Requires: the task exists until this returns. See signal().
  // Memory ordering: the step that follows sees what came before.
  void wakeup(Task* task);

  // As wakeup(), and sets the task's signal, in one atomic step. A step that received it may delete the task.
  void signal(Task* task);

  // Makes room for `numDeadlines` tasks that wait, 2^30 at most.
  void reserve(size_t numDeadlines);

  // Returns: whether no task is queued, waits, runs, or was posted here by its own step that still runs.
  bool isEmpty() const;

  // Suspends the fiber, or blocks the thread, until isEmpty() was true.
  // Requires: the caller is not a step of this scheduler.
  // Memory ordering: the caller sees what the steps before did.
  void waitEmpty() { waitEmptyUntil(detail::kNever); }
  // As waitEmpty(), for at most `timeout`.
  // Returns: false if the time was up first.
  template <class Rep, class Period>
  bool waitEmpty(const std::chrono::duration<Rep, Period>& timeout) {
    return waitEmptyUntil(detail::deadlineAfter(timeout));
  }

  // Ends the threads, if they run, once their steps have ended; what is queued stays. Suspends the fiber, or
  // blocks the thread.
  // Requires: the caller is not a step of this scheduler.
  void stop();

  // Starts the threads again, unless they run. They go on with what is queued.
  void start();

  // Takes all tasks that are queued or wait out of the scheduler. They belong to the caller, without their
  // deadlines; but a CoroTask that is posted again waits on. One-shot tasks and those of fair::async() stay.
  // Requires: the scheduler is stopped.
  // Returns: first the ready tasks, in order; then those that were posted or woken last, in order; then those
  // that waited.
  // Errors: std::bad_alloc. Then all tasks are queued in that order, without their deadlines.
  [[nodiscard]] std::vector<Task*> takeBack();

  // Returns: what each thread has done. Any thread, at any time.
  std::vector<ThreadStats> stats() const;

  // Returns: the scheduler whose step is the caller, or null.
  static TaskScheduler* current() noexcept;

  // Return: what the constructor was given.
  const std::string& name() const noexcept;
  int numThreads() const noexcept;

 private:
  // A task that belongs to the scheduler.
  template <class F>
  struct OneShot : detail::FairTask {
    using Callable = detail::FairCallable<F, Task>;

    template <class Arg>
    explicit OneShot(Arg&& function) : FairTask(&kOps) {
      Callable::emplace(*this, std::forward<Arg>(function));
    }
    static void run(FairTask& task) {
      Callable::of(task)();
      destroy(task);
    }
    static void destroy(FairTask& task) {
      Callable::destroy(task);
      detail::NodeMemory<OneShot>::destroy(static_cast<OneShot&>(task));
    }
    WEFT_OWN static constexpr detail::FairOps kOps{&run, &destroy, true};
  };

  // Tasks to be posted at once. Those that are added and not posted belong to the caller again at the end.
  class WEFT_EXPORT Row {
   public:
    explicit Row(TaskScheduler& scheduler) : scheduler_(scheduler) {}
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    ~Row();
    void add(detail::FairTask& task);
    void post();

   private:
    TaskScheduler& scheduler_;
    detail::FairTask* newest_ = nullptr;
    detail::FairTask* oldest_ = nullptr;
    detail::FairTask* own_ = nullptr;  // the task whose step calls
  };

  static void assertTask(const Task* task, const char* function) {
    WEFT_ASSERT(task != nullptr,
                "fair::TaskScheduler::%s was given a null pointer. Give it the address of a fair::Task.",
                function);
  }
  void postNode(detail::FairTask& task);
  bool waitEmptyUntil(detail::TimePoint deadline);

  std::unique_ptr<detail::FairCore, void (*)(detail::FairCore*)> core_;
};

}  // namespace weft::inline v0_1::fair

#include "weft/detail/base/macros_end.h"
