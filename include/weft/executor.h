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

// Thrown by the future of a task that its executor dropped without having run it.
class WEFT_EXPORT TaskNotExecuted : public std::exception {
 public:
  const char* what() const noexcept override;
};

// The only owner of a task that an executor is to run once. Only weft makes one. Destroying a handle that has
// not run cancels its task: the task's future throws TaskNotExecuted.
//
//   struct NextFrame {
//     void schedule(weft::TaskHandle task) { tasks.push_back(std::move(task)); }
//     std::vector<weft::TaskHandle> tasks;  // run() by the next frame
//   };
class TaskHandle {
 public:
  // Has no task. For containers.
  TaskHandle() noexcept = default;
  TaskHandle(TaskHandle&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  // Cancels the task that this handle had.
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

  // As run(), with `handler` as the thread's wait handler meanwhile: setThreadWaitHandler().
  WEFT_EXPORT void runWithWaitHandler(WaitHandler handler);

  // Gives the task up, to pass it through a C interface.
  // Returns: a pointer for fromVoidPointer(). Null if there is no task.
  void* toVoidPointer() noexcept { return std::exchange(node_, nullptr); }

  // Takes a task over again.
  // Requires: `pointer` came from toVoidPointer(), and is used once.
  static TaskHandle fromVoidPointer(void* pointer) noexcept {
    return TaskHandle(static_cast<detail::TaskNode*>(pointer));
  }

 private:
  friend struct detail::TaskHandleAccess;
  explicit TaskHandle(detail::TaskNode* node) noexcept : node_(node) {}

  detail::TaskNode* node_ = nullptr;
};

// A type that runs tasks: executor.schedule(TaskHandle) calls its run() once, on any thread, now or later.
template <class E>
concept Executor =
    requires(std::remove_reference_t<E>& executor, TaskHandle task) { executor.schedule(std::move(task)); };

// A reference to any executor, without its type.
// Lifetime: the executor, also one of weft's, must live as long as it is used, also by continuations.
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
  // Returns when the task has ended.
  void schedule(TaskHandle task) const { task.run(); }
};
// Returns: an InlineExecutor that always exists.
inline const InlineExecutor& inlineExecutor() noexcept {
  static constexpr InlineExecutor executor;
  return executor;
}

// Runs each task on a thread of its own. The end of the process does not wait for these threads: it ends them
// after main() has returned and static objects were destroyed. So wait for tasks that use static objects.
// Errors: schedule() throws std::system_error if the system grants no thread.
class ThreadExecutor {
 public:
  // Returns at once.
  WEFT_EXPORT void schedule(TaskHandle task) const;
};
// Returns: a ThreadExecutor that always exists.
inline const ThreadExecutor& threadExecutor() noexcept {
  static constexpr ThreadExecutor executor;
  return executor;
}

// Runs tasks on `numWorkers` worker threads of its own, as fibers.
//
//   weft::PoolExecutor pool(4, openDatabase, closeDatabase);
//   weft::Future<int> count = weft::async(pool, [] { return countRows(); });
class PoolExecutor {
 public:
  // Calls `prerun` once on each worker thread before its first task, and `postrun` after its last one.
  // Neither may throw. postrun may wait, but must not schedule tasks.
  // Requires: numWorkers > 0.
  // Errors: as Scheduler().
  WEFT_EXPORT explicit PoolExecutor(size_t numWorkers, std::function<void()> prerun = nullptr,
                                    std::function<void()> postrun = nullptr);
  // Waits until all tasks have ended, also those that come while an earlier one runs. Later tasks are
  // dropped: the futures of continuations that waited for their turn throw TaskNotExecuted.
  // Requires: the caller is not a task of the pool.
  WEFT_EXPORT ~PoolExecutor();
  PoolExecutor(const PoolExecutor&) = delete;
  PoolExecutor& operator=(const PoolExecutor&) = delete;

  // Any thread. Neither suspends nor blocks.
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
// First in, first out. The thread that runs the tasks must not wait for one of them, even indirectly, but by
// runUntil(future). Its end drops tasks that are left and later continuations: their futures throw
// TaskNotExecuted.
class MainLoopExecutor {
 public:
  WEFT_EXPORT MainLoopExecutor();
  WEFT_EXPORT ~MainLoopExecutor();
  MainLoopExecutor(const MainLoopExecutor&) = delete;
  MainLoopExecutor& operator=(const MainLoopExecutor&) = delete;

  // Any thread. Neither suspends nor blocks.
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
  // As runFor(), with the time at which the budget is spent.
  template <class Clock, class Duration>
  size_t runUntil(const std::chrono::time_point<Clock, Duration>& time) {
    return runWhile([&] { return Clock::now() < time; });
  }

  // As runAll(), but no task begins once a stop was requested.
  size_t runUntil(const std::stop_token& token) {
    return token.stop_requested() ? 0 : runWhile([&] { return !token.stop_requested(); });
  }

  // Runs tasks, also those that come meanwhile, until `future` is ready. Then no task begins any more. While
  // there is no task, suspends the fiber or blocks the thread. On a fiber, other fibers have their turn after
  // each task.
  //
  //   weft::Future<void> closed = window.whenClosed();
  //   mainLoop.runUntil(closed);
  // Requires: future.valid(). Returns: how many tasks it has run. The future keeps its result.
  // Memory ordering: as Future::ready().
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

// Makes `executor` the default executor of the process; without a value, weft's own pool.
// Returns: the executor that was set before.
// Lifetime: the executor must live as long as it may be asked for.
WEFT_EXPORT std::optional<ExecutorReference> setDefaultExecutor(std::optional<ExecutorReference> executor);

namespace detail {

WEFT_EXPORT ExecutorReference sharedDefaultExecutor();

// Queues the task on the scheduler that is bound to the calling thread.
// Returns: false if there is none.
WEFT_EXPORT bool scheduleIfBound(TaskNode* node);

}  // namespace detail

// Returns: the executor that async() uses if no scheduler is bound: what setDefaultExecutor() has set, or a
// pool as by Scheduler::Config::allCores(), which starts with its first use. The end of the process does not
// wait for the pool's tasks: wait for the futures of tasks that must end. A program may instead define
// WEFT_DEFAULT_EXECUTOR as an expression, such as `myExecutor()`, alike in all its files.
#if defined(WEFT_DEFAULT_EXECUTOR)
inline decltype(auto) defaultExecutor() { return (WEFT_DEFAULT_EXECUTOR); }
#else
inline ExecutorReference defaultExecutor() { return detail::sharedDefaultExecutor(); }
#endif

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
