// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

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
#include "weft/detail/wait/wait_handler.h"
#include "weft/export.h"
#include "weft/scheduler.h"

namespace weft {

namespace detail {
class EscapedException;
struct MainLoop;
struct TaskHandleAccess;
[[noreturn, gnu::cold]] WEFT_EXPORT void reportNoTask(const char* function);
// Keeps a TaskNotExecuted.
WEFT_EXPORT void setNotExecuted(EscapedException& error);
}  // namespace detail

// What the future of a task throws that its executor dropped without having run it.
class WEFT_EXPORT TaskNotExecuted : public std::exception {
 public:
  const char* what() const noexcept override;
};

// The only owner of a task that an executor is to run, once. It is made by weft alone. One that is dropped
// without having run cancels its task: the task's future throws TaskNotExecuted.
//
//   struct NextFrame {
//     void schedule(weft::TaskHandle task) { tasks.push_back(std::move(task)); }
//     std::vector<weft::TaskHandle> tasks;  // run() by the next frame
//   };
class TaskHandle {
 public:
  // No task, for containers.
  TaskHandle() noexcept = default;
  TaskHandle(TaskHandle&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  TaskHandle& operator=(TaskHandle&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~TaskHandle() {
    if (node_ != nullptr) {
      node_->invoke(node_, detail::TaskOp::Discard);
    }
  }

  // Whether there is a task: not after run().
  explicit operator bool() const noexcept { return node_ != nullptr; }

  // Runs the task, on this thread and fiber. Lets no exception escape: they go into the task's future.
  // Requires: a task; it runs once.
  void run() {
    if (node_ == nullptr) [[unlikely]] {
      detail::reportNoTask("run");
    }
    detail::TaskNode* node = std::exchange(node_, nullptr);
    node->invoke(node, detail::TaskOp::Run);
  }

  // As run(), with `handler` as the thread's wait handler meanwhile; see setThreadWaitHandler().
  WEFT_EXPORT void runWithWaitHandler(WaitHandler handler);

  // Gives the task up, to be carried through an interface of C. Returns: what fromVoidPointer() takes; null
  // if there is no task.
  void* toVoidPointer() noexcept { return std::exchange(node_, nullptr); }

  // Takes a task over again. Requires: `pointer` came from toVoidPointer(), and is used once.
  static TaskHandle fromVoidPointer(void* pointer) noexcept {
    return TaskHandle(static_cast<detail::TaskNode*>(pointer));
  }

 private:
  friend struct detail::TaskHandleAccess;
  explicit TaskHandle(detail::TaskNode* node) noexcept : node_(node) {}

  detail::TaskNode* node_ = nullptr;
};

// A type that can have tasks run: `executor.schedule(TaskHandle)` takes one over, and calls its run() once,
// on any thread, now or later.
template <class E>
concept Executor =
    requires(std::remove_reference_t<E>& executor, TaskHandle task) { executor.schedule(std::move(task)); };

// Any executor, without its type. Lifetime: refers to the executor, which has to live as long as it is used,
// by continuations too, also where it is one of weft's.
class ExecutorReference {
 public:
  template <Executor E>
    requires(!std::derived_from<std::remove_cvref_t<E>, ExecutorReference>)
  ExecutorReference(E& executor) noexcept  // NOLINT(google-explicit-constructor): it stands for the executor
      : executor_(const_cast<void*>(static_cast<const void*>(std::addressof(executor)))),
        schedule_([](void* to, TaskHandle task) { static_cast<E*>(to)->schedule(std::move(task)); }) {}

  void schedule(TaskHandle task) const { schedule_(executor_, std::move(task)); }

 private:
  void* executor_;
  void (*schedule_)(void*, TaskHandle);
};

// Runs tasks at once, within schedule().
class InlineExecutor {
 public:
  void schedule(TaskHandle task) const { task.run(); }
};
inline const InlineExecutor& inlineExecutor() noexcept {
  static constexpr InlineExecutor executor;
  return executor;
}

// Runs each task on a thread of its own, which ends with it. The end of the process waits for none of them:
// it ends them where they are, after main() has returned and static objects were destroyed, so wait for the
// futures of those that use such objects. Errors: where the system grants no thread, schedule() throws
// std::system_error.
class ThreadExecutor {
 public:
  WEFT_EXPORT void schedule(TaskHandle task) const;
};
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
  // `prerun` is called once on each worker thread, before its first task; `postrun` after its last one.
  // Neither may throw; postrun may wait, but schedules nothing there. Requires: numWorkers > 0. Errors: as
  // Scheduler().
  WEFT_EXPORT explicit PoolExecutor(size_t numWorkers, std::function<void()> prerun = nullptr,
                                    std::function<void()> postrun = nullptr);
  // Waits until all tasks have ended: also those that come meanwhile, while one that came before goes on.
  // What comes later is dropped: continuations that have waited for their turn throw TaskNotExecuted.
  // Requires: it is not called in one of its tasks.
  WEFT_EXPORT ~PoolExecutor();
  PoolExecutor(const PoolExecutor&) = delete;
  PoolExecutor& operator=(const PoolExecutor&) = delete;

  // Any thread. Neither suspends nor blocks.
  void schedule(TaskHandle task) { scheduler_.schedule(std::move(task)); }

  // Returns: what the tasks run on, to which other threads may be bound.
  Scheduler& scheduler() noexcept { return scheduler_; }

 private:
  friend struct detail::ExecutorAccess;

  Scheduler scheduler_;
};

// Keeps tasks until its owner runs them: a UI or game loop, say, on its own thread.
//
//   weft::MainLoopExecutor mainLoop;
//   (void)weft::async(load).then(mainLoop, [&](Image image) { window.show(image); });
//   while (window.isOpen()) {
//     mainLoop.runAll();
//     window.nextFrame();
//   }
//
// First in, first out. What is left at its end is dropped, and so are continuations whose turn comes later:
// their futures throw TaskNotExecuted.
class MainLoopExecutor {
 public:
  WEFT_EXPORT MainLoopExecutor();
  WEFT_EXPORT ~MainLoopExecutor();
  MainLoopExecutor(const MainLoopExecutor&) = delete;
  MainLoopExecutor& operator=(const MainLoopExecutor&) = delete;

  // Any thread. Neither suspends nor blocks.
  WEFT_EXPORT void schedule(TaskHandle task);

  // Runs the oldest task on this thread. Returns: false if there was none.
  WEFT_EXPORT bool tryRunOne();

  // Runs tasks until none is left, those included that are scheduled meanwhile: it never returns where tasks
  // schedule one more each time. Returns: how many.
  size_t runAll() {
    return runWhile([] { return true; });
  }

  // As runAll(), but no task begins once `budget` is spent: at least one, and the last may take longer. Where
  // none is left it returns at once.
  template <class Rep, class Period>
  size_t runFor(const std::chrono::duration<Rep, Period>& budget) {
    return runUntil(detail::deadlineAfter(budget));
  }
  // The same, with the time when the budget is spent.
  template <class Clock, class Duration>
  size_t runUntil(const std::chrono::time_point<Clock, Duration>& time) {
    return runWhile([&] { return Clock::now() < time; });
  }

  // As runAll(), but no task begins once a stop was requested.
  size_t runUntil(const std::stop_token& token) {
    return token.stop_requested() ? 0 : runWhile([&] { return !token.stop_requested(); });
  }

 private:
  friend struct detail::ExecutorAccess;

  // Runs tasks until none is left, or mayGoOn() says so after one.
  template <class F>
  size_t runWhile(const F& mayGoOn) {
    return run([](const void* function) { return (*static_cast<const F*>(function))(); }, &mayGoOn);
  }
  WEFT_EXPORT size_t run(bool (*mayGoOn)(const void*), const void* context);

  detail::MainLoop* const loop_;
};

// Makes `executor` the default one of the whole process, from now on; none: weft's own pool, as at first.
// Returns: the one before. Lifetime: it has to live as long as it may be asked for.
WEFT_EXPORT std::optional<ExecutorReference> setDefaultExecutor(std::optional<ExecutorReference> executor);

namespace detail {

WEFT_EXPORT ExecutorReference sharedDefaultExecutor();

// Queues the task on the scheduler that is bound to the calling thread. Returns: false if there is none.
WEFT_EXPORT bool scheduleIfBound(TaskNode* node);

}  // namespace detail

// Returns: the executor of async() where no scheduler is bound: what setDefaultExecutor() has set, or a pool
// with a worker for each processor that the process may use, which WEFT_NUM_THREADS overrides. The pool
// starts with its first use. The end of the process neither waits for its tasks nor ends them in an orderly
// way: wait for the futures of those that have to end. A program may define WEFT_DEFAULT_EXECUTOR as an
// expression, such as `myExecutor()`, before it includes weft, in all its files alike: that is the default
// executor then.
#if defined(WEFT_DEFAULT_EXECUTOR)
inline decltype(auto) defaultExecutor() { return (WEFT_DEFAULT_EXECUTOR); }
#else
inline ExecutorReference defaultExecutor() { return detail::sharedDefaultExecutor(); }
#endif

}  // namespace weft
