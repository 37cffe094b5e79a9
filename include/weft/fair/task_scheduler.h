// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

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
#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/export.h"
#include "weft/fair/task.h"
#include "weft/memory.h"

namespace weft::fair {

// Runs the steps of tasks on threads of its own, first come, first served: steps start in the order in which
// their tasks were posted, whoever posted them, on whatever thread is free. Tasks with deadlines take their
// place when they are due, ahead of what is queued. See docs/fair.md.
//
//   weft::fair::Task task([](weft::fair::Task* self) { step(self); });
//   weft::fair::TaskScheduler scheduler("crawler", 2);
//   scheduler.post(&task);
//   scheduler.waitEmpty();
//
// Everything may be called by any thread, by tasks of this and of other schedulers, and by fibers, unless it
// says otherwise. Nothing suspends or blocks but waitEmpty(), stop() and the destructor.
class WEFT_EXPORT TaskScheduler {
 public:
  struct WEFT_EXPORT Config {
    Allocator* allocator = Allocator::Default;  // for queues and the heap of deadlines; does not throw
    uint32_t blockSize =
        62;  // slots of a block of the ready queue, 1 or more: each thread takes a lock once a block

    Config& setAllocator(Allocator* value);
    Config& setBlockSize(uint32_t slots);
  };

  // What a thread has done. Exact while the scheduler is at rest.
  struct ThreadStats {
    uint64_t numSteps = 0;
    uint64_t numDispatches = 0;  // times it had the scheduling role
    uint64_t numParks = 0;       // times it went to sleep
  };

  // Starts `numThreads` threads, 1 or more, that bear `name`.
  // Errors: a message and the end of the program follow from numbers that make no sense and from a thread
  // that is refused.
  explicit TaskScheduler(const std::string& name, int numThreads = 1);
  TaskScheduler(const std::string& name, int numThreads, const Config& config);

  // As stop(), and waits for steps of other schedulers that have posted their own tasks to this one. Tasks
  // that are queued or wait belong to the user again, and never run; one-shot ones are destroyed.
  // Requires: it is not called in one of its own steps, and nobody posts any more. Wakers of tasks may still
  // be returning.
  ~TaskScheduler();
  TaskScheduler(const TaskScheduler&) = delete;
  TaskScheduler& operator=(const TaskScheduler&) = delete;

  // Gives `task` to the scheduler until its next step begins: which is at once, or when the deadline that was
  // set for it comes, or when it is woken or signalled; at once, too, if it was so since its last step began.
  // A step that posts its own task, to whatever scheduler, keeps it until it returns, which is the moment of
  // the post: what is posted meanwhile comes before.
  // Requires: the task belongs to the caller, and has a callback. Posting one that a scheduler has, or one at
  // the same time as another thread, ends the program with a message. (Not with certainty where a step posts
  // its own task at the same instant.)
  // Memory ordering: what came before is seen by the step.
  void post(Task* task);

  // As post(), with a deadline; see Task::setDeadline(). A task with an unreceived signal runs at once.
  template <class Rep, class Period>
  void postDelay(Task* task, const std::chrono::duration<Rep, Period>& delay) {
    postDeadline(task, detail::deadlineAfter(delay));
  }
  void postDeadline(Task* task, Task::TimePoint deadline) {
    assertTask(task, "post()");
    task->setDeadline(deadline);
    post(task);
  }
  // As post(), until a wakeup or a signal; at once with an unreceived one.
  void postWait(Task* task) { postDeadline(task, detail::kNever); }

  // Has `function` called once. A small one lies in a pooled node. An exception that leaves it ends the
  // program with a message.
  template <class F>
  void postOneShot(F&& function) {
    static_assert(
        std::invocable<std::decay_t<F>&>,
        "postOneShot(f): f cannot be called without arguments. Write postOneShot([=] { f(argument); }).");
    if constexpr (std::invocable<std::decay_t<F>&>) {
      postNode(*detail::NodeMemory<OneShot<std::decay_t<F>>>::make(std::forward<F>(function)));
    }
  }

  // As an Executor: has handle.run() called once. One that is never run is destroyed with the scheduler.
  template <class Handle>
    requires requires(Handle& handle) { handle.run(); }
  void schedule(Handle handle) {
    postOneShot([taken = std::move(handle)]() mutable { taken.run(); });
  }

  // As post() for each Task* of `tasks`, with nobody else's in between; the task whose step calls comes when
  // the step returns. Errors: where the range throws, none of them is posted.
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

  // Has a task that waits run soon, and any other, at its next post, at once; changes nothing for one that is
  // about to run.
  // Requires: the task exists until this returns; see signal().
  // Memory ordering: what came before is seen by the step that follows.
  void wakeup(Task* task);

  // As wakeup(), and sets the task's signal, in one atomic step: a step that has received the signal may
  // delete the task, though this call is still returning.
  void signal(Task* task);

  // Makes room for `numDeadlines` tasks that wait at the same time.
  void reserve(size_t numDeadlines);

  // Returns: whether no task is queued, waits, or is in a step; nor in one of another scheduler that has
  // posted it to this one.
  bool isEmpty() const;

  // Suspends the fiber, or blocks the thread, until isEmpty() was true. Requires: it is not called in one of
  // its own steps.
  // Memory ordering: what the steps before did is seen.
  void waitEmpty() { waitEmptyUntil(detail::kNever); }
  // As waitEmpty(), at most for `timeout`. Returns: false when the time was up first.
  template <class Rep, class Period>
  bool waitEmpty(const std::chrono::duration<Rep, Period>& timeout) {
    return waitEmptyUntil(detail::deadlineAfter(timeout));
  }

  // Ends the threads once their running steps have ended; what is queued stays so. Nothing where they have
  // ended already. Suspends the fiber, or blocks the thread. Requires: it is not called in one of its own
  // steps.
  void stop();

  // Starts the threads again, which go on with what is queued. Nothing where they run.
  void start();

  // Returns: all tasks that were queued or waiting: those that were ready, in their order; then those that
  // were posted or woken last, in the order of that; then those that waited. They belong to the caller,
  // without their deadlines; a CoroTask that is posted again goes on waiting for what it has awaited.
  // One-shot ones stay, as do those of fair::async().
  // Requires: the scheduler is stopped.
  [[nodiscard]] std::vector<Task*> takeBack();

  // Any thread, at any time.
  std::vector<ThreadStats> stats() const;

  // Returns: the scheduler in whose step the caller is, or null.
  static TaskScheduler* current() noexcept;

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
    static constexpr detail::FairOps kOps{&run, &destroy, true};
  };

  // Tasks to be posted at once: those that have been added, and never posted, belong to the caller again.
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
    detail::FairTask* own_ = nullptr;  // in whose step this is
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

}  // namespace weft::fair
