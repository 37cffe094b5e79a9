// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/future/executor_link.h"
#include "weft/export.h"
#include "weft/scheduler.h"
#include "weft/waithandler.h"

namespace weft::inline v0_1 {

template <class T>
class Future;
template <class T>
class SharedFuture;

namespace detail {
class EscapedException;
class FutureHandle;
struct MainLoop;
struct TaskHandleAccess;
[[noreturn, gnu::cold]] WEFT_EXPORT void reportNoTask(const char* function);
// Sets `error` to a TaskNotExecuted.
WEFT_EXPORT void setNotExecuted(EscapedException& error);
}  // namespace detail

// What a future throws if an executor dropped its task without running it.
class WEFT_EXPORT TaskNotExecuted : public std::exception {
 public:
  const char* what() const noexcept override;
};

// Owns a task that an executor is to run once. Only weft makes handles that have a task. Destroying one that
// has not run cancels the task: its future throws TaskNotExecuted.
// An executor of your own may keep handles and run them later:
//
//   struct NextFrame {
//     void schedule(weft::TaskHandle task) { tasks.push_back(std::move(task)); }
//     std::vector<weft::TaskHandle> tasks;  // run() by the next frame
//   };
class TaskHandle {
 public:
  // Makes a handle without a task, or moves one. A handle that was moved from has no task.
  TaskHandle() noexcept = default;
  TaskHandle(TaskHandle&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  // Cancels the task that this handle has. An assignment then takes over the other handle's task.
  TaskHandle& operator=(TaskHandle&& other) noexcept {
    TaskHandle taken(std::move(other));
    std::swap(node_, taken.node_);
    return *this;
  }
  ~TaskHandle() {
    if (node_ != nullptr) {
      node_->invoke(node_, detail::TaskOp::Discard);
    }
  }

  // Whether there is a task. False after run().
  explicit operator bool() const noexcept { return node_ != nullptr; }

  // Runs the task on this thread and fiber. Exceptions go into the task's future; none escapes.
  // Requires: there is a task. It runs once.
  void run() {
    if (node_ == nullptr) [[unlikely]] {
      detail::reportNoTask("run");
    }
    detail::TaskNode* node = std::exchange(node_, nullptr);
    node->invoke(node, detail::TaskOp::Run);
  }

  // As run(). On a thread that runs no fiber, `handler` is the wait handler meanwhile: see
  // setThreadWaitHandler().
  WEFT_EXPORT void runWithWaitHandler(WaitHandler handler);

  // Gives the task up, to pass it through a C interface.
  // Returns: a pointer for fromVoidPointer(). Null if there is no task.
  void* toVoidPointer() noexcept { return std::exchange(node_, nullptr); }

  // Takes over a task that toVoidPointer() gave up.
  // Requires: `pointer` came from toVoidPointer(), and is used once.
  static TaskHandle fromVoidPointer(void* pointer) noexcept {
    return TaskHandle(static_cast<detail::TaskNode*>(pointer));
  }

 private:
  friend struct detail::TaskHandleAccess;
  explicit TaskHandle(detail::TaskNode* node) noexcept : node_(node) {}

  detail::TaskNode* node_ = nullptr;
};

// A type that runs tasks: its schedule() calls TaskHandle::run() of each task once, on any thread, now or
// later.
template <class E>
concept Executor =
    requires(std::remove_reference_t<E>& executor, TaskHandle task) { executor.schedule(std::move(task)); };

// Refers to an executor of any type, for code that is no template.
// Lifetime: the executor must outlive every use of the reference, by continuations too. This holds for weft's
// executors as well.
class ExecutorReference {
 public:
  // Refers to `executor`.
  template <Executor E>
    requires(!std::derived_from<std::remove_cvref_t<E>, ExecutorReference>)
  ExecutorReference(E& executor) noexcept  // NOLINT(google-explicit-constructor): it stands for the executor
      : executor_(const_cast<void*>(static_cast<const void*>(std::addressof(executor)))),
        schedule_([](void* to, TaskHandle task) { static_cast<E*>(to)->schedule(std::move(task)); }) {}

  // Calls executor.schedule().
  void schedule(TaskHandle task) const { schedule_(executor_, std::move(task)); }

 private:
  void* executor_;
  void (*schedule_)(void*, TaskHandle);
};

// Runs tasks at once, within schedule().
class InlineExecutor {
 public:
  // Runs `task` on the calling thread, and returns when it has ended.
  void schedule(TaskHandle task) const { task.run(); }
};
// Returns: an InlineExecutor that always exists.
inline const InlineExecutor& inlineExecutor() noexcept {
  static constexpr InlineExecutor executor;
  return executor;
}

// Runs each task on a thread of its own. At its end the process does not wait for these threads. They may
// still run while static objects are destroyed, so wait for tasks that use such objects.
// Errors: schedule() throws std::system_error if the system grants no thread.
class ThreadExecutor {
 public:
  // Starts a thread for `task`, and does not wait for it.
  WEFT_EXPORT void schedule(TaskHandle task) const;
};
// Returns: a ThreadExecutor that always exists.
inline const ThreadExecutor& threadExecutor() noexcept {
  static constexpr ThreadExecutor executor;
  return executor;
}

// Runs tasks on fibers, on worker threads of its own. Its users need not bind a scheduler.
//
//   weft::PoolExecutor pool(4, openDatabase, closeDatabase);
//   weft::Future<int> count = weft::async(pool, [] { return countRows(); });
class PoolExecutor {
 public:
  // Starts `numWorkers` worker threads. Each calls `prerun` before its first task and `postrun` after its
  // last one. Neither may throw. `postrun` may wait, but must not schedule tasks.
  // Requires: numWorkers > 0.
  // Errors: as the constructor of Scheduler.
  WEFT_EXPORT explicit PoolExecutor(size_t numWorkers, std::function<void()> prerun = nullptr,
                                    std::function<void()> postrun = nullptr);
  // Waits until all tasks have ended, also those that come while an earlier one runs. A continuation whose
  // turn comes later is dropped: its future throws TaskNotExecuted.
  // Requires: the caller is not a task of the pool.
  WEFT_EXPORT ~PoolExecutor();
  PoolExecutor(const PoolExecutor&) = delete;
  PoolExecutor& operator=(const PoolExecutor&) = delete;

  // Queues `task` for the workers. Any thread. Neither suspends nor blocks.
  void schedule(TaskHandle task) { scheduler_.schedule(std::move(task)); }

  // Returns: the scheduler on which the tasks run. Other threads may be bound to it.
  Scheduler& scheduler() noexcept { return scheduler_; }

 private:
  friend struct detail::ExecutorAccess;

  Scheduler scheduler_;
};

// Keeps tasks until its owner runs them on its own thread: a UI or game loop, for example.
//
//   weft::MainLoopExecutor mainLoop;
//   (void)weft::async(load).then(mainLoop, [&](Image image) { window.show(image); });
//   while (window.isOpen()) {
//     mainLoop.runAll();
//     window.nextFrame();
//   }
// Tasks run first in, first out. The thread that runs them must wait for one of them, even indirectly, only
// by runUntil(future). The destructor drops the tasks that are left. Continuations whose turn comes later are
// dropped too. The futures of both throw TaskNotExecuted.
class MainLoopExecutor {
 public:
  WEFT_EXPORT MainLoopExecutor();
  WEFT_EXPORT ~MainLoopExecutor();
  MainLoopExecutor(const MainLoopExecutor&) = delete;
  MainLoopExecutor& operator=(const MainLoopExecutor&) = delete;

  // Queues `task` for the owner. Any thread. Neither suspends nor blocks.
  WEFT_EXPORT void schedule(TaskHandle task);

  // Runs the oldest task on this thread.
  // Returns: false if there was none.
  WEFT_EXPORT bool tryRunOne();

  // Runs tasks until none is left, also those that come meanwhile: forever, if each task schedules another.
  // Returns: how many tasks it has run.
  size_t runAll() {
    return runWhile([] { return true; });
  }

  // As runAll(), but no task begins once `budget` is spent. At least one task runs, if there is one.
  template <class Rep, class Period>
  size_t runFor(const std::chrono::duration<Rep, Period>& budget) {
    return runUntil(detail::deadlineAfter(budget));
  }
  // As runAll(), but no task begins after `time`. At least one task runs, if there is one.
  template <class Clock, class Duration>
  size_t runUntil(const std::chrono::time_point<Clock, Duration>& time) {
    return runWhile([&] { return Clock::now() < time; });
  }

  // As runAll(), but no task begins once a stop was requested.
  size_t runUntil(const std::stop_token& token) {
    return token.stop_requested() ? 0 : runWhile([&] { return !token.stop_requested(); });
  }

  // Runs tasks, also those that come meanwhile, until `future` is ready. While there is no task, suspends the
  // fiber or blocks the thread. On a fiber, other ready fibers run after each task.
  //
  //   weft::Future<void> closed = window.whenClosed();
  //   mainLoop.runUntil(closed);
  // Requires: future.valid(). The future keeps its result.
  // Returns: how many tasks it has run.
  // Memory ordering: as for a Future::ready() that returns true.
  // Lifetime: a task may destroy the executor. The call goes on until the future is ready.
  template <class T>
  size_t runUntil(const Future<T>& future) {
    return runUntilReady(future);
  }
  template <class T>
  size_t runUntil(const SharedFuture<T>& future) {
    return runUntilReady(future);
  }

 private:
  friend struct detail::ExecutorAccess;

  // Runs tasks until none is left, or until mayGoOn() returns false after a task.
  template <class F>
  size_t runWhile(const F& mayGoOn) {
    return run([](const void* function) { return (*static_cast<const F*>(function))(); }, &mayGoOn);
  }
  WEFT_EXPORT size_t run(bool (*mayGoOn)(const void*), const void* context);
  WEFT_EXPORT size_t runUntilReady(const detail::FutureHandle& future);

  detail::MainLoop* const loop_;
};

// Sets what defaultExecutor() returns in the whole process. Without a value that is weft's own pool. Any
// thread.
// Returns: the executor that was set before, if any.
// Lifetime: the executor must live as long as somebody may schedule a task on it.
WEFT_EXPORT std::optional<ExecutorReference> setDefaultExecutor(std::optional<ExecutorReference> executor);

namespace detail {

WEFT_EXPORT ExecutorReference sharedDefaultExecutor();

// Queues the task on the scheduler that is bound to the calling thread.
// Returns: false if there is none.
WEFT_EXPORT bool scheduleIfBound(TaskNode* node);

}  // namespace detail

// Returns: the executor that async() uses if no scheduler is bound: what setDefaultExecutor() has set, or
// else weft's own pool. The pool starts when it is first used, as by Scheduler::Config::allCores(). At its
// end the process does not wait for the pool's tasks: wait for the futures of tasks that must end. If a
// program defines the macro WEFT_DEFAULT_EXECUTOR as an expression, such as `myExecutor()`, this returns its
// value. All files of the program must define it alike.
#if defined(WEFT_DEFAULT_EXECUTOR)
inline decltype(auto) defaultExecutor() { return (WEFT_DEFAULT_EXECUTOR); }
#else
inline ExecutorReference defaultExecutor() { return detail::sharedDefaultExecutor(); }
#endif

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
