// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/task_group_core.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// A scope for tasks: none of them outlives it.
//
//   weft::TaskGroup group;
//   for (Entity& entity : entities) {
//     group.run([&] { entity.update(); });
//   }
//   group.wait();
//
// The first exception that escapes a task cancels the group, and wait() throws it. A cancelled group stays
// cancelled. Its tasks that have not begun do not run any more. The others are told by its stop token. If a
// TaskCanceled escapes them then, that is not an error. Cancellation passes from a group down to the groups
// that were made with it, or with its token.
//
// Each task is a task of its own, with its own FiberLocals, locks, exceptions and Fiber::current(), wherever
// it is called. It finds at least 7/8 of a fiber's stack.
//
// A group that is made with an executor schedules each task there, no matter where run() is called:
//
//   weft::TaskGroup group(weft::defaultExecutor());
//
// Without an executor and without a bound scheduler, run() calls the function at once, as part of the caller.
// docs/forkjoin.md says why.
//
// Threads: any fiber or thread may call run() before wait() begins. A task of the group may call it at any
// time. One fiber or thread at a time may call wait(). A task of the group must not: it would wait for
// itself. Make another group for what a task waits for.
class TaskGroup {
 public:
  TaskGroup() = default;

  // Makes a group that is cancelled when `parent` is asked to stop, or together with the group `parent`.
  // Lifetime: a parent group must outlive this one.
  explicit TaskGroup(const std::stop_token& parent) : core_(parent) {}
  explicit TaskGroup(TaskGroup& parent) : TaskGroup(parent.token()) {}

  // Makes a group whose tasks `executor` runs. A task that the executor drops fails with TaskNotExecuted.
  // What executor.schedule() throws counts as an exception of the task.
  // Requires: the executor does not need the thread that waits for the group.
  // Lifetime: the executor must outlive the group.
  explicit TaskGroup(ExecutorReference executor, const std::stop_token& parent = {})
      : core_(executor, parent) {}
  TaskGroup(ExecutorReference executor, TaskGroup& parent) : TaskGroup(executor, parent.token()) {}

  // Waits for the tasks. If a task has let an exception escape that no wait() has thrown, a message that
  // names it ends the program. If another exception is being thrown already, that one is kept instead.
  ~TaskGroup() = default;
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Schedules function(), or function(token()). Neither suspends nor blocks. Takes memory as schedule() does:
  // in the steady state no malloc for captures of up to 96 bytes.
  template <class F>
  void run(F&& function) {
    constexpr bool kCanBeCalled =
        std::invocable<std::decay_t<F>&> || std::invocable<std::decay_t<F>&, std::stop_token>;
    static_assert(kCanBeCalled,
                  "TaskGroup::run(f): f can be called neither without arguments nor with a std::stop_token.");
    if constexpr (!kCanBeCalled) {
      return;
    } else if constexpr (detail::assertKept<F>()) {
      detail::assertCallable(function, "TaskGroup::run()");
      core_.run(std::forward<F>(function));
    }
  }

  // Returns once all tasks have ended. If the caller has made the group, it calls the tasks here that it has
  // scheduled last and that no thief has taken, and lets others run in between when it is their turn. For the
  // remaining tasks the fiber suspends, or the thread blocks.
  // Errors: throws the first exception that has escaped a task, once. If another wait() is waiting for the
  // group, or the caller is a task of the group, and this is detected, a message ends the program. It is
  // detected where the group has an executor, and else once two wait for the group.
  // Memory ordering: afterwards the caller sees what the tasks have written.
  void wait() { core_.wait(); }

  // Cancels the group: asks token() to stop, and drops the tasks that have not begun. Any thread. Neither
  // suspends, blocks nor throws.
  void cancel() noexcept { core_.cancel(); }

  // Returns: whether the group was cancelled, for any reason.
  bool isCanceled() const { return core_.isCanceled(); }

  // Returns: the token that is asked to stop when the group is cancelled. It may outlive the group.
  std::stop_token token() { return core_.token(); }

 private:
  detail::TaskGroupCore core_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
