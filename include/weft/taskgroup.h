// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/fork.h"
#include "weft/detail/group_count.h"
#include "weft/detail/node_memory.h"
#include "weft/detail/task_node.h"
#include "weft/export.h"
#include "weft/fiber.h"

namespace weft {

// A scope for tasks: none of them outlives it.
//
//   weft::TaskGroup group;
//   for (Entity& entity : entities) {
//     group.run([&] { entity.update(); });
//   }
//   group.wait();
//
// The first exception that a task lets escape cancels the group, and is thrown by wait(). A group that is
// cancelled stays so: its tasks that have not begun do not run any more, and the others are told by its stop
// token; a TaskCanceled that they let escape then is how they end, and no error. Cancellation passes from a
// group down to those that were made with it, or with its token.
//
// Where no scheduler is bound, run() calls the function at once.
// Threads: before wait() begins any fiber or thread may call run(), and a task of the group at any time.
// wait() is for one at a time, and not for a task of the group, which would wait for itself: what a task
// waits for is a group of its own.
class TaskGroup {
 public:
  TaskGroup() = default;

  // A group that is cancelled when `parent` is asked to stop, or with the group `parent`.
  // Lifetime: a parent group outlives this one.
  WEFT_EXPORT explicit TaskGroup(const std::stop_token& parent);
  explicit TaskGroup(TaskGroup& parent) : TaskGroup(parent.token()) {}

  // Waits for the tasks. An exception of theirs that no wait() has thrown ends the program with a message
  // that names it, unless another exception is being thrown already, which is kept.
  ~TaskGroup() {
    finish();
    // relaxed: no task is left, and a stop of the parent finds the lock.
    if (control_.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
      destroyControl();
    }
  }
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Schedules function(), or function(token()). Neither suspends nor blocks. Memory: as schedule() does, none
  // from malloc in the steady state for captures up to 96 bytes.
  template <class F>
  requires(std::invocable<std::decay_t<F>&> ||
           std::invocable<std::decay_t<F>&, std::stop_token>) void run(F&& function) {
    if (detail::ForkLane* lane = detail::forkLane()) [[likely]] {
      expose(*lane, *detail::NodeMemory<GroupTask<std::decay_t<F>>>::make(*this, std::forward<F>(function)));
    } else {
      std::decay_t<F> own(std::forward<F>(function));
      call(own);
    }
  }

  // Returns once all tasks have ended. Where the one that waits has made the group, the tasks that it has
  // scheduled last and that nobody has taken are called here; for the others the fiber suspends, or the
  // thread blocks. Errors: throws the first exception that a task let escape, once; a message ends the
  // program where it is found to wait while another wait does. Memory ordering: what the tasks have written
  // is seen afterwards.
  void wait() {
    finish();
    // relaxed: as above.
    if (control_.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
      rethrow();
    }
  }

  // Cancels the group: asks token() to stop, and drops the tasks that have not begun. Any thread; neither
  // suspends nor blocks.
  WEFT_EXPORT void cancel();

  // Returns: whether the group was cancelled, by whatever.
  // relaxed: a hint, that comes to be seen.
  bool isCanceled() const { return isCanceled_.load(std::memory_order_relaxed); }

  // Returns: the token that is asked to stop when the group is cancelled. It may outlive the group.
  WEFT_EXPORT std::stop_token token();

 private:
  // A task of a group, in one node.
  struct GroupNode : detail::TaskNode {
    TaskGroup* group;
  };
  static constexpr uint32_t kOfGroup = 1u << 16;  // among a node's flags: it is a GroupNode
  static constexpr uint32_t kOwn = 1u << 17;      // it was counted by addOwn()

  template <class F>
  struct GroupTask;

  // What most groups do not need: made for the first that asks for a token, fails, or has a parent.
  struct Control;

  template <class F>
  void call(F& function) {
    if (isCanceled()) {
      return;
    }
    const auto invoke = [&] {
      if constexpr (std::invocable<F&>) {
        function();
      } else {
        function(token());
      }
    };
#if !defined(WEFT_NO_EXCEPTIONS)
    try {
      invoke();
    } catch (...) {
      fail();
    }
#else
    invoke();
#endif
  }

  void expose(detail::ForkLane& lane, GroupNode& node) {
    if (detail::currentTaskNumber() == owner_) {
      node.flags |= kOwn;
      count_.addOwn();
    } else {
      count_.addOther();
    }
    lane.counters.countScheduled();
    if (!lane.expose(node)) [[unlikely]] {
      detail::exposeElsewhere(&node);
    }
    lane.announce();
  }

  // Calls the tasks of this group at the newest end of the deque, and waits for the others.
  void finish() {
    detail::ForkLane* lane = detail::currentLane;
    if (lane != nullptr) {
      while (count_.hasOwn() && takeBackOne(*lane)) {
      }
    }
    if (!count_.isOver()) [[unlikely]] {
      waitForOthers();
    }
  }

  // Returns: false if the newest is none that the owner has scheduled.
  bool takeBackOne(detail::ForkLane& lane) {
    detail::TaskNode* newest = lane.deque.take(lane.thief);
    if (newest == nullptr) {
      return false;
    }
    constexpr uint32_t kWanted = kOfGroup | kOwn;
    if ((newest->flags & kWanted) != kWanted || static_cast<GroupNode*>(newest)->group != this) [[unlikely]] {
      lane.putBack(newest);
      return false;
    }
    count_.takeBackOwn();
    newest->invoke(newest, detail::TaskOp::Call);
    detail::assertStillBound(&lane);
    lane.counters.countEnded();
    return true;
  }

  WEFT_EXPORT void waitForOthers();
  WEFT_EXPORT Control& control();
  WEFT_EXPORT void fail();
  WEFT_EXPORT void rethrow();
  WEFT_EXPORT void destroyControl();

  // The task that made the group: fibers run one after another.
  const uint64_t owner_ = detail::currentTaskNumber();
  detail::GroupCount<detail::Waiter> count_;
  std::atomic<bool> isCanceled_{false};     // false -> true
  std::atomic<Control*> control_{nullptr};  // null -> made
};

template <class F>
struct TaskGroup::GroupTask : GroupNode {
  F function;

  template <class Arg>
  GroupTask(TaskGroup& owner, Arg&& argument)
      : GroupNode{{&invoke, nullptr, kOfGroup, detail::NodeSize::None}, &owner},
        function(std::forward<Arg>(argument)) {}

  // Run: as a task of its own. Call: by wait().
  static void invoke(detail::TaskNode* node, detail::TaskOp op) {
    auto* self = static_cast<GroupTask*>(node);
    TaskGroup& owner = *self->group;
    if (op != detail::TaskOp::Discard) {
      owner.call(self->function);
    }
    detail::NodeMemory<GroupTask>::destroy(*self);
    if (op == detail::TaskOp::Run) {
      if (detail::Waiter* waiter = owner.count_.endOfOther()) {
        detail::wake(*waiter);
      }
    }
  }
};

}  // namespace weft
