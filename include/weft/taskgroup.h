// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <atomic>
#include <concepts>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/exception_state.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/base/task_scope.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/forkjoin/group_count.h"
#include "weft/executor.h"
#include "weft/export.h"

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
  WEFT_EXPORT explicit TaskGroup(const std::stop_token& parent);
  explicit TaskGroup(TaskGroup& parent) : TaskGroup(parent.token()) {}

  // Makes a group whose tasks `executor` runs. A task that the executor drops fails with TaskNotExecuted.
  // What executor.schedule() throws counts as an exception of the task.
  // Requires: the executor does not need the thread that waits for the group.
  // Lifetime: the executor must outlive the group.
  WEFT_EXPORT explicit TaskGroup(ExecutorReference executor, const std::stop_token& parent = {});
  TaskGroup(ExecutorReference executor, TaskGroup& parent) : TaskGroup(executor, parent.token()) {}

  // Waits for the tasks. If a task has let an exception escape that no wait() has thrown, a message that
  // names it ends the program. If another exception is being thrown already, that one is kept instead.
  ~TaskGroup() {
    // A group that a parent may still stop has kHasControl since its constructor.
    if (!isOverAndUnmarked()) [[unlikely]] {
      finish();
    }
  }
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
      if (detail::LocalDeque* local = detail::forkLane()) [[likely]] {
        auto& node = *detail::NodeMemory<GroupTask<std::decay_t<F>>>::make(*this, std::forward<F>(function));
        if (!push(*local, node)) [[unlikely]] {
          scheduleElsewhere(node, node.invokeElsewhere);
        }
      } else if (hasExecutor()) {
        auto& node = *detail::NodeMemory<GroupTask<std::decay_t<F>>>::make(*this, std::forward<F>(function));
        scheduleElsewhere(node, node.invokeElsewhere);
      } else {
        std::optional<UnboundCall> unbound(std::in_place, *this);
        detail::callAndEnd(
            [&] {
              std::decay_t<F> own(std::forward<F>(function));
              TaskGroup* const self = this;
              call(self, own);
            },
            [&] { unbound.reset(); });
      }
    }
  }

  // Returns once all tasks have ended. If the caller has made the group, it calls the tasks here that it has
  // scheduled last and that no thief has taken, and lets others run in between when it is their turn. For the
  // remaining tasks the fiber suspends, or the thread blocks.
  // Errors: throws the first exception that has escaped a task, once. If another wait() is waiting for the
  // group, or the caller is a task of the group, and this is detected, a message ends the program. It is
  // detected where the group has an executor, and else once two wait for the group.
  // Memory ordering: afterwards the caller sees what the tasks have written.
  void wait() {
    callOwn();
    if (!isOverAndUnmarked()) [[unlikely]] {
      waitAndRethrow();
    }
  }

  // Cancels the group: asks token() to stop, and drops the tasks that have not begun. Any thread. Neither
  // suspends, blocks nor throws.
  WEFT_EXPORT void cancel() noexcept;

  // Returns: whether the group was cancelled, for any reason.
  // relaxed: a hint, which is seen in time.
  bool isCanceled() const { return (state_.load(std::memory_order_relaxed) & kCanceled) != 0; }

  // Returns: the token that is asked to stop when the group is cancelled. It may outlive the group.
  WEFT_EXPORT std::stop_token token();

 private:
  // A task of a group, in one node.
  struct GroupNode : detail::TaskNode {
    TaskGroup* group;
  };
  static constexpr uint32_t kOwn = 1u << 16;  // among a node's flags: it is a GroupNode, counted by addOwn()

  template <class F>
  struct GroupTask;

  // Most groups do not need it: it is made for the first task that asks for a token, for a parent or for an
  // executor.
  struct Control;

  // The bits of `state_`. A bit is never cleared.
  static constexpr uint32_t kCanceled = 1;
  static constexpr uint32_t kFailed = 2;      // by whoever constructs `failure_.exception`
  static constexpr uint32_t kDropped = 4;     // an executor has dropped a task
  static constexpr uint32_t kHasControl = 8;  // `control_` is made: the destructor has more to do
  static constexpr uint32_t kHasSource = 16;  // whose token may be asked to stop

  // What the first task that failed threw. It lies in the group, since there may be no memory for it when a
  // task fails. It is in a union, so that a group without it spends no instruction on it.
  union Failure {
    Failure() {}
    ~Failure() {}
    detail::EscapedException exception;
  };

  detail::EscapedException* claimFailure();
  void tellOfDropped();
  std::stop_source markCanceled();

  // A call of run() if no scheduler is bound.
  class UnboundCall {
   public:
    WEFT_EXPORT explicit UnboundCall(TaskGroup& group);
    WEFT_EXPORT ~UnboundCall();
    UnboundCall(const UnboundCall&) = delete;
    UnboundCall& operator=(const UnboundCall&) = delete;

    // Returns: whether this thread is in such a call for `group`.
    static bool isOpen(const TaskGroup& group);

   private:
    TaskGroup& group_;
    UnboundCall* const outer_;
    static thread_local UnboundCall* innermost_;
  };

  // A task that the executor runs, or drops.
  class Running {
   public:
    WEFT_EXPORT explicit Running(TaskGroup& group);
    WEFT_EXPORT ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    friend Control;
    Control& control_;
    const void* const task_;
    Running* next_;
  };

  // `group` is a reference to memory that is read again after the call, so that no register is saved for it.
  template <class F>
  static void call(TaskGroup* const& group, F& function) {
    if (group->isCanceled()) {
      return;
    }
    const auto invoke = [&] {
      if constexpr (std::invocable<F&>) {
        function();
      } else {
        function(group->token());
      }
    };
    detail::callOrHandle(invoke, [&] { group->fail(); });
  }

  // Returns: false where the group's executor is to get the task.
  bool push(detail::LocalDeque& local, GroupNode& node) {
    // A task in place that has no number has made no group.
    if (detail::currentTask->number == owner_) [[likely]] {
      count_.addOwn();
    } else if (hasExecutor()) [[unlikely]] {
      return false;
    } else {
      node.flags = 0;
      count_.addOther();
    }
    local.counters.countScheduled();
    if (!local.push(node)) [[unlikely]] {
      detail::pushElsewhere(&node);
    }
    local.notify();
    return true;
  }

  // Calls a task that wait() has not taken back. This is apart from invokeHere() so that the call from wait()
  // saves no registers for what comes after the task.
  WEFT_EXPORT static void runAsTask(GroupNode& node);

  // Called when a task has ended elsewhere, or was dropped.
  void endOfOther() {
    if (detail::Waiter* waiter = count_.endOfOther()) {
      detail::wake(*waiter);
    }
  }

  // Returns: whether the group is over, and `state_` says that no more is to be done at its end.
  bool isOverAndUnmarked() const {
    const int64_t numLeft = count_.numLeft();
    // relaxed: it matters where no task is left.
    return (numLeft | state_.load(std::memory_order_relaxed)) == 0;
  }

  // Calls the tasks of this group at the newest end of the deque.
  void callOwn() {
    if (detail::LocalDeque* local = detail::currentLocalDeque; local != nullptr && count_.hasOwn()) {
      // Where the waiter uses too much of its stack, a task finds enough only on a stack of its own.
      if (detail::currentTask->leavesStackForTask()) [[likely]] {
        detail::ExceptionState::isEmpty(local->exceptions) ? callOwnIn(*local) : callOwnAside(*local);
      }
    }
  }

  void callOwnIn(detail::LocalDeque& local) {
    int64_t left = count_.beginInPlace();
    {
      detail::InPlaceScope scope;
      while (detail::TaskNode* node = takeBackOne(local)) {
        node->invoke(node, detail::TaskOp::Call);
        scope.endTask();
        local.counters.countEnded();
        if (--left == 0) {
          break;
        }
      }
    }
    count_.endInPlace(left);
  }

  // Returns: null if the newest task is not one that the owner has scheduled.
  detail::TaskNode* takeBackOne(detail::LocalDeque& local) {
    local.letOthersRunInTurn(detail::LocalDeque::GoesOn::WithTasks);
    detail::TaskNode* newest = local.deque->take(local.stealer);
    if (newest == nullptr ||
        ((newest->flags & kOwn) != 0 && static_cast<GroupNode*>(newest)->group == this)) {
      return newest;
    }
    local.putBack(newest);
    return nullptr;
  }

  bool hasExecutor() const { return owner_ == kNoOwner; }

  WEFT_EXPORT void scheduleElsewhere(GroupNode& node, void (*invoke)(detail::TaskNode*, detail::TaskOp));
  WEFT_EXPORT void drop();
  // callOwnIn(), where the waiter handles or throws an exception, which is none of the tasks'.
  [[gnu::cold]] WEFT_EXPORT void callOwnAside(detail::LocalDeque& local);
  void waitForOthers();
  WEFT_EXPORT Control& control();
  WEFT_EXPORT void fail();
  WEFT_EXPORT void waitAndRethrow();
  WEFT_EXPORT void finish();

  // The task that made the group, which does one thing after another; kNoTask where no scheduler was bound.
  // With an executor, none.
  static constexpr uint64_t kNoOwner = detail::kNoTask - 1;
  const uint64_t owner_ = detail::currentTaskNumber();
  detail::GroupCount<detail::Waiter> count_;
  std::atomic<uint32_t> state_{0};          // bits, which any thread sets
  std::atomic<Control*> control_{nullptr};  // null -> made
  Failure failure_;
};

template <class F>
struct TaskGroup::GroupTask : GroupNode {
  F function;

  template <class Arg>
  GroupTask(TaskGroup& owner, Arg&& argument)
      : GroupNode{{&invokeHere, nullptr, kOwn}, &owner}, function(std::forward<Arg>(argument)) {}

  // Run: as a task of its own. Call: by wait().
  static void invokeHere(detail::TaskNode* node, detail::TaskOp op) {
    auto& self = *static_cast<GroupTask*>(node);
    if (op == detail::TaskOp::Run) [[unlikely]] {
      TaskGroup::runAsTask(self);
    } else {
      TaskGroup::call(self.group, self.function);
      detail::NodeMemory<GroupTask>::destroy(self);
    }
  }

  // By the group's executor. Run, or Discard.
  static void invokeElsewhere(detail::TaskNode* node, detail::TaskOp op) {
    auto& self = *static_cast<GroupTask*>(node);
    TaskGroup& owner = *self.group;
    {
      const Running running(owner);
      op == detail::TaskOp::Discard ? owner.drop() : TaskGroup::call(self.group, self.function);
      detail::NodeMemory<GroupTask>::destroy(self);
    }
    owner.endOfOther();
  }
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
