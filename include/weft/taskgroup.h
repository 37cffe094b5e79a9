// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/task_group_core.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// A scope for tasks: none of them outlives it. wait() waits for all of them.
//
//   weft::TaskGroup group;
//   for (Entity& entity : entities) {
//     group.run([&] { entity.update(); });
//   }
//   group.wait();
//
// The first exception that escapes a task cancels the group, and wait() throws it. A cancelled group stays
// cancelled. Its tasks that have not begun do not run any more. Those that run can see the stop in token(). A
// TaskCanceled that escapes them then is no error. Cancelling a group also cancels the groups that were made
// with it, or with its token.
//
// Each task has its own FiberLocals, locks, exceptions and Fiber::current(), even if wait() calls it. At
// least 7/8 of a fiber's stack is free when it begins.
//
// A group that is made with an executor schedules each task there, no matter where run() is called:
//
//   weft::TaskGroup group(weft::defaultExecutor());
//
// A group that is made with a limit has that many tasks at most that run or are queued. run() waits then:
//
//   weft::TaskGroup group(weft::TaskGroup::Limit{8});
//   for (const std::string& url : urls) {
//     group.run([&url] { fetch(url); });  // of a million addresses, eight are tasks at a time
//   }
//   group.wait();
//
// Without an executor and without a bound scheduler, run() calls the function at once, as part of the caller.
// docs/forkjoin.md says why.
//
// Threads: any fiber or thread may call run() before wait() begins. A task of the group may call run() at any
// time. One fiber or thread at a time may call wait(). A task of the group must not call wait(): it would
// wait for itself. If it must wait for tasks, it makes another group for them.
class TaskGroup {
 public:
  TaskGroup() = default;

  // Makes a group that is cancelled when `parent` is asked to stop, or together with the group `parent`.
  // Lifetime: a parent group must outlive this one.
  explicit TaskGroup(const std::stop_token& parent) : core_(parent) {}
  explicit TaskGroup(TaskGroup& parent) : TaskGroup(parent.token()) {}

  // Makes a group whose tasks `executor` runs. A task that the executor drops fails with TaskNotExecuted.
  // What executor.schedule() throws counts as an exception of the task.
  // Requires: the executor does not need the thread that waits for the group, or for a place in run().
  // Lifetime: the executor must outlive the group.
  explicit TaskGroup(ExecutorReference executor, const std::stop_token& parent = {})
      : core_(executor, parent) {}
  TaskGroup(ExecutorReference executor, TaskGroup& parent) : TaskGroup(executor, parent.token()) {}

  // How many tasks of a group run or are queued at a time, at most.
  struct Limit {
    // At most `most` tasks.
    constexpr explicit Limit(ptrdiff_t most) : count(most) {}
    ptrdiff_t count;
  };

  // Makes a group with a limit, otherwise as the constructors above. wait() calls none of its tasks itself.
  // Requires: 1 <= limit.count < 2^30; otherwise a message ends the program.
  explicit TaskGroup(Limit limit, const std::stop_token& parent = {})
      : core_(std::nullopt, limit.count, parent) {}
  TaskGroup(Limit limit, TaskGroup& parent) : TaskGroup(limit, parent.token()) {}
  TaskGroup(ExecutorReference executor, Limit limit, const std::stop_token& parent = {})
      : core_(executor, limit.count, parent) {}
  TaskGroup(ExecutorReference executor, Limit limit, TaskGroup& parent)
      : TaskGroup(executor, limit, parent.token()) {}

  // Waits for the tasks. If a task has let an exception escape, and no wait() has thrown it, a message that
  // names the exception ends the program. But if the destructor runs because another exception is being
  // thrown, it ignores the task's exception.
  ~TaskGroup() = default;
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Schedules function(), or `function(token())` if that is how it can be called. Neither suspends nor
  // blocks. But in a group with a limit suspends the fiber, or blocks the thread, until there is a place
  // or the group is cancelled, which drops the function. Callers get places in the order of their coming.
  // Takes memory as schedule() does: after a while no more malloc, for captures of up to 96 bytes.
  // Errors: if the caller is a task of the group, and the limit is reached, a message ends the program.
  template <class F>
  void run(F&& function) {
    if constexpr (assertTask<F>()) {
      detail::assertCallable(function, "TaskGroup::run()");
      core_.run(std::forward<F>(function));
    }
  }

  // As run(), if the limit is not reached and nobody waits in run(). Otherwise leaves `function` as it is.
  // Neither suspends nor blocks. Tasks of the group may call it.
  // Returns: whether it scheduled the function. Always true if the group has no limit.
  template <class F>
  [[nodiscard]] bool tryRun(F&& function) {
    if constexpr (assertTask<F>()) {
      detail::assertCallable(function, "TaskGroup::tryRun()");
      return core_.tryRun(std::forward<F>(function));
    } else {
      return false;
    }
  }

  // Returns once all tasks have ended. If the caller has made the group, it calls those of its tasks that it
  // has scheduled last and that no other thread has taken. In between it lets others run when it is their
  // turn. For the remaining tasks the fiber suspends, or the thread blocks.
  // Errors: throws the first exception that has escaped a task, once. If another wait() is waiting for the
  // group, or if the caller is a task of the group, a message ends the program when this is detected. A group
  // with an executor detects it at once, other groups once two wait.
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
  // Returns: whether an F can be a task. If not, does not compile.
  template <class F>
  static constexpr bool assertTask() {
    constexpr bool kCanBeCalled =
        std::invocable<std::decay_t<F>&> || std::invocable<std::decay_t<F>&, std::stop_token>;
    static_assert(kCanBeCalled,
                  "TaskGroup::run(f) and tryRun(f): f can be called neither without arguments "
                  "nor with a std::stop_token.");
    if constexpr (kCanBeCalled) {
      return detail::assertKept<F>();
    }
    return false;
  }

  detail::TaskGroupCore core_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
