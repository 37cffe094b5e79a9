// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/exception_state.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/base/task_scope.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/forkjoin/group_count.h"
#include "weft/detail/port/processor.h"
#include "weft/executor.h"
#include "weft/export.h"

namespace weft::inline v0_1::detail {

// What a TaskGroup does. The contract of its functions is in weft/taskgroup.h.
class TaskGroupCore {
 public:
  TaskGroupCore() = default;
  WEFT_EXPORT explicit TaskGroupCore(const std::stop_token& parent);
  WEFT_EXPORT TaskGroupCore(ExecutorReference executor, const std::stop_token& parent);
  // Without an executor, the scheduler that is bound to a caller of run() has its task.
  WEFT_EXPORT TaskGroupCore(std::optional<ExecutorReference> executor, ptrdiff_t limit,
                            const std::stop_token& parent);
  ~TaskGroupCore() {
    // A group that a parent may still stop has kHasControl since its constructor.
    if (!isOverAndUnmarked()) [[unlikely]] {
      finish();
    }
  }

  template <class F>
  void run(F&& function) {
    using Node = GroupTask<std::decay_t<F>>;
    if (LocalDeque* local = detail::ownLocalDequeIfBound()) [[likely]] {
      auto& node = *NodeMemory<Node>::make(*this, std::forward<F>(function));
      if (!push(*local, node)) [[unlikely]] {
        scheduleElsewhere(node, node.invokeElsewhere);
      }
    } else if (goesElsewhere()) {
      auto& node = *NodeMemory<Node>::make(*this, std::forward<F>(function));
      scheduleElsewhere(node, node.invokeElsewhere);
    } else {
      std::optional<UnboundCall> unbound(std::in_place, *this);
      detail::callAndEnd(
          [&] {
            std::decay_t<F> own(std::forward<F>(function));
            TaskGroupCore* const self = this;
            call(self, own);
          },
          [&] { unbound.reset(); });
    }
  }
  template <class F>
  bool tryRun(F&& function) {
    using Node = GroupTask<std::decay_t<F>>;
    if (!hasLimit()) {
      run(std::forward<F>(function));
      return true;
    }
    if (!tryTakePlace()) {
      return false;
    }
    Node* node = nullptr;
    detail::callAndEnd([&] { node = NodeMemory<Node>::make(*this, std::forward<F>(function)); },
                       [&] {
                         if (node == nullptr) {
                           givePlace();
                         }
                       });
    schedulePlaced(*node, node->invokeElsewhere);
    return true;
  }
  void wait() {
    callOwn();
    if (!isOverAndUnmarked()) [[unlikely]] {
      waitAndRethrow();
    }
  }
  WEFT_EXPORT void cancel() noexcept;
  // relaxed: a hint, which is seen in time.
  bool isCanceled() const { return (state_.load(std::memory_order_relaxed) & kCanceled) != 0; }
  WEFT_EXPORT std::stop_token token();

 private:
  // A task of a group, in one node.
  struct GroupNode : TaskNode {
    TaskGroupCore* group;
  };
  static constexpr uint32_t kOwn = 1u << 16;  // among a node's flags: it is a GroupNode, counted by addOwn()

  template <class F>
  struct GroupTask;

  // Made for the first task that asks for a token, for a parent, for an executor or for a limit.
  struct Control;

  // The bits of `state_`. A bit is never cleared.
  static constexpr uint32_t kCanceled = 1;
  static constexpr uint32_t kFailed = 2;      // by whoever constructs `failure_.exception`
  static constexpr uint32_t kDropped = 4;     // an executor has dropped a task
  static constexpr uint32_t kHasControl = 8;  // `control_` is made: the destructor has more to do
  static constexpr uint32_t kHasSource = 16;  // whose token may be asked to stop

  // What the first task that failed threw. There may be no memory for it then. In a union it costs a group
  // without it no instruction.
  union Failure {
    Failure() {}
    ~Failure() {}
    EscapedException exception;
  };

  EscapedException* claimFailure();
  void tellOfDropped();
  std::stop_source markCanceled();

  // Exists while a task of a group that goesElsewhere() runs, or is dropped.
  class Running;

  // A call of run() if no scheduler is bound.
  class UnboundCall {
   public:
    WEFT_EXPORT explicit UnboundCall(TaskGroupCore& group);
    WEFT_EXPORT ~UnboundCall();
    UnboundCall(const UnboundCall&) = delete;
    UnboundCall& operator=(const UnboundCall&) = delete;

    // Returns: whether this thread is in such a call for `group`.
    static bool isOpen(const TaskGroupCore& group);

   private:
    TaskGroupCore& group_;
    UnboundCall* const outer_;
    static thread_local UnboundCall* innermost_;
  };

  // `group` is a reference to memory that is read again after the call, so that no register is saved for it.
  template <class F>
  static void call(TaskGroupCore* const& group, F& function) {
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

  // Returns: false if the group goesElsewhere().
  bool push(LocalDeque& local, GroupNode& node) {
    // A task in place that has no number has made no group.
    if (currentTask->number == owner_) [[likely]] {
      count_.addOwn();
    } else if (goesElsewhere()) [[unlikely]] {
      return false;
    } else {
      node.flags = 0;
      count_.addOther();
    }
    publish(local, node);
    return true;
  }

  static void publish(LocalDeque& local, GroupNode& node) {
    local.counters.countScheduled();
    if (!local.push(node)) [[unlikely]] {
      detail::pushElsewhere(&node);
    }
    local.notify();
  }

  // Calls a task that wait() has not taken back. This is apart from invokeHere() so that the call from wait()
  // saves no registers for what comes after the task.
  WEFT_EXPORT static void runAsTask(GroupNode& node);

  // Returns: whether the group is over, and `state_` says that no more is to be done at its end.
  bool isOverAndUnmarked() const {
    const int64_t numLeft = count_.numLeft();
    // relaxed: it matters where no task is left.
    return (numLeft | state_.load(std::memory_order_relaxed)) == 0;
  }

  // Calls the tasks of this group at the newest end of the deque.
  void callOwn() {
    if (LocalDeque* local = currentLocalDeque; local != nullptr && count_.hasOwn()) {
      // Where the waiter uses too much of its stack, a task finds enough only on a stack of its own.
      if (currentTask->leavesStackForTask()) [[likely]] {
        if (ExceptionState::isEmpty(local->exceptions)) [[likely]] {
          callOwnIn(*local, [](TaskNode* node) { node->invoke(node, TaskOp::Call); });
        } else {
          callOwnAside(*local);
        }
      }
    }
  }

  // `call`: calls a task.
  template <class Call>
  void callOwnIn(LocalDeque& local, Call call) {
    int64_t left = count_.beginInPlace();
    {
      InPlaceScope scope;
      while (TaskNode* node = takeBackOne(local)) {
        call(node);
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
  TaskNode* takeBackOne(LocalDeque& local) {
    local.letOthersRunInTurn(LocalDeque::GoesOn::WithTasks);
    TaskNode* newest = local.deque->take(local.stealer);
    if (newest == nullptr ||
        ((newest->flags & kOwn) != 0 && static_cast<GroupNode*>(newest)->group == this)) {
      return newest;
    }
    local.putBack(newest);
    return nullptr;
  }

  // Whether run() goes by scheduleElsewhere(), for an executor or a limit.
  bool goesElsewhere() const { return owner_ == kNoOwner; }

  // A task of a group with a limit has one of as many places, from before it is scheduled until it has ended.
  bool hasLimit() const { return goesElsewhere() && isLimited(); }
  WEFT_EXPORT bool isLimited() const;
  WEFT_EXPORT bool tryTakePlace();
  WEFT_EXPORT void givePlace();
  // Waits for a place, if need be. Returns: false if the group is cancelled, and there is none.
  bool takePlace();

  using Invoke = void (*)(TaskNode*, TaskOp);
  WEFT_EXPORT void scheduleElsewhere(GroupNode& node, Invoke invoke);
  // scheduleElsewhere() for a task that has its place.
  WEFT_EXPORT void schedulePlaced(GroupNode& node, Invoke invoke);
  // `op`: Run or Discard. `invoke` calls the function and ends the node.
  WEFT_EXPORT static void runElsewhere(GroupNode& node, TaskOp op, Invoke invoke);
  void drop();
  // A task has ended elsewhere, or was dropped.
  void endOfOther();
  // callOwnIn(), where the waiter handles or throws an exception, which is none of the tasks', or where its
  // thread is observed, by the recorder, measure() or hooks.
  [[gnu::cold]] WEFT_EXPORT void callOwnAside(LocalDeque& local);
  void waitForOthers();
  Control& control();
  WEFT_EXPORT void fail();
  WEFT_EXPORT void waitAndRethrow();
  WEFT_EXPORT void finish();

  // The task that made the group, which does one thing after another; kNoTask where no scheduler was bound.
  // With an executor or a limit, none.
  static constexpr uint64_t kNoOwner = kNoTask - 1;
  const uint64_t owner_ = detail::currentTaskNumber();
  GroupCount<Waiter> count_;
  std::atomic<uint32_t> state_{0};           // bits, which any thread sets
  port::Atomic<Control*> control_{nullptr};  // null -> made
  Failure failure_;
};

template <class F>
struct TaskGroupCore::GroupTask : GroupNode {
  F function;

  template <class Arg>
  GroupTask(TaskGroupCore& owner, Arg&& argument)
      : GroupNode{{&invokeHere, nullptr, kOwn}, &owner}, function(std::forward<Arg>(argument)) {}

  // Run: as a task of its own. Call: by wait().
  static void invokeHere(TaskNode* node, TaskOp op) {
    auto& self = *static_cast<GroupTask*>(node);
    if (op == TaskOp::Run) [[unlikely]] {
      TaskGroupCore::runAsTask(self);
    } else {
      TaskGroupCore::call(self.group, self.function);
      NodeMemory<GroupTask>::destroy(self);
    }
  }

  // By the group's executor, or as a task of a group with a limit.
  static void invokeElsewhere(TaskNode* node, TaskOp op) {
    TaskGroupCore::runElsewhere(*static_cast<GroupNode*>(node), op, &invokeHere);
  }
};

}  // namespace weft::inline v0_1::detail
