// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <type_traits>

#include "weft/detail/base/outcome.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/executor.h"

// join() and the parallel algorithms run as one task of an executor, while the caller waits. On a worker of
// weft's that task forks as any other does. Other threads have no deque, so there it makes plain calls.
// Rejected: a task of the executor for each fork. An executor of one thread would wait for itself.
namespace weft::inline v0_1::detail {

// A task in the frame of its waiter. It calls `function`, and keeps the result or exception.
template <class F>
class TaskElsewhere : public TaskNode {
 public:
  using Result = std::invoke_result_t<F&>;

  explicit TaskElsewhere(F& function) : TaskNode{&invokeThis, nullptr, 0}, function_(function) {}
  TaskElsewhere(const TaskElsewhere&) = delete;

  // Returns once the task has run, or was dropped. Then throws what schedule() threw.
  template <class E>
  Result runOn(E& executor) {
    EscapedException refusal;
    refusal.capture([&] { executor.schedule(TaskHandle::fromVoidPointer(static_cast<TaskNode*>(this))); });
    detail::waitForChild(completion_, "executor");
    refusal.rethrow();
    return outcome_.take();
  }

 private:
  static void invokeThis(TaskNode* node, TaskOp op) {
    auto& self = *static_cast<TaskElsewhere*>(node);
    if (op == TaskOp::Run) {
      self.outcome_.capture(self.function_);
    } else {
      detail::setNotExecuted(self.outcome_.error());
    }
    detail::finishChild(self.completion_);
  }

  F& function_;
  ChildCompletion completion_;
  Outcome<Result> outcome_;
};

// Returns: whether the caller runs where `executor` runs its tasks, as far as its type tells.
template <class E>
bool isOn(E& executor) {
  if constexpr (std::derived_from<E, Scheduler>) {
    return Scheduler::get() == &executor;
  } else if constexpr (std::derived_from<E, PoolExecutor>) {
    return Scheduler::get() == &executor.scheduler();
  } else {
    return false;
  }
}

// Returns: the result of function(), called as a task of `executor`, once that has ended.
template <class E, class F>
auto runOn(E& executor, F&& function) -> std::invoke_result_t<std::remove_reference_t<F>&> {
  if (detail::isOn(executor)) {
    return function();
  }
  return TaskElsewhere<std::remove_reference_t<F>>(function).runOn(executor);
}

}  // namespace weft::inline v0_1::detail
