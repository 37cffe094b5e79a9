// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <weft/task.h>

namespace marl {

// A weft::Task that can be copied: a copy holds a copy of the function.
//
//   marl::Task task([=] { count.done(); }, marl::Task::Flags::SameThread);
//   marl::schedule(task);
//   marl::schedule(std::move(task));
class Task : public weft::Task {
 public:
  using Function = std::function<void()>;

  Task() noexcept = default;

  // Takes over `function`, any callable that can be copied. Pass others to a weft::Task, or to schedule().
  template <class F>
    requires(!std::derived_from<std::remove_cvref_t<F>, weft::Task> && std::invocable<std::decay_t<F>&> &&
             std::copy_constructible<std::decay_t<F>>)
  explicit(false) Task(F&& function, Flags flags = Flags::None)
      : weft::Task(std::forward<F>(function), flags), copyNode_(&copyNode<std::decay_t<F>>) {}

  Task(const Task& other)
      : weft::Task(other.node() != nullptr ? other.copyNode_(other.node()) : nullptr),
        copyNode_(other.copyNode_) {}
  Task(Task&& other) noexcept = default;
  Task& operator=(Task other) noexcept {
    weft::Task::operator=(std::move(other));
    copyNode_ = other.copyNode_;
    return *this;
  }
  ~Task() = default;

  explicit(false) operator bool() const noexcept { return node() != nullptr; }

 private:
  using Node = weft::detail::TaskNode;

  template <class F>
  static Node* copyNode(Node* node) {
    using FunctionNode = weft::detail::FunctionNode<F>;
    const auto& from = static_cast<const FunctionNode&>(*node);
    return weft::detail::NodeMemory<FunctionNode>::make(from.function, node->flags);
  }

  Node* (*copyNode_)(Node*) = nullptr;
};

}  // namespace marl

#include "weft/detail/base/macros_end.h"
