// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/task_node.h"

namespace weft::inline v0_1 {

// A function that a scheduler runs once: any callable without arguments, also a move-only one.
//
//   weft::Task task([file = std::move(file)] { parse(*file); });
//   weft::schedule(std::move(task));
// A callable of up to 104 bytes lies in a pooled node: making and running such a task does not call malloc.
class Task {
 public:
  // How a scheduler runs the task.
  enum class Flags : uint32_t {
    None = 0,        // on any worker, if there are workers
    SameThread = 1,  // run on the thread that schedules it, and on no other
  };

  // Makes an empty task.
  Task() noexcept = default;

  // Takes over `function`. An empty std::function or a null function pointer makes an empty task.
  template <class F>
    requires(!std::derived_from<std::remove_cvref_t<F>, Task> && std::invocable<std::decay_t<F>&>)
  Task(F&& function, Flags flags = Flags::None) {  // NOLINT(google-explicit-constructor): as marl's
    using Function = std::decay_t<F>;
    if constexpr (requires { function == nullptr; } && !std::is_empty_v<Function>) {
      if (function == nullptr) {
        return;
      }
    }
    if constexpr (detail::assertKept<F>()) {
      node_ = detail::NodeMemory<detail::FunctionNode<Function>>::make(std::forward<F>(function),
                                                                       static_cast<uint32_t>(flags));
    }
  }

  Task(Task&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    Task taken(std::move(other));
    std::swap(node_, taken.node_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (node_ != nullptr) {
      node_->invoke(node_, detail::TaskOp::Discard);
    }
  }

  // Returns: whether there is a function.
  explicit operator bool() const noexcept { return node_ != nullptr; }

  // Calls the function on this thread. May be called several times.
  // Requires: the task is not empty.
  void operator()() const {
    WEFT_ASSERT(node_ != nullptr, "an empty Task was called. Test it with `if (task)` first.");
    node_->invoke(node_, detail::TaskOp::Call);
  }

  // Returns: whether the task was made with `flags`.
  bool is(Flags flags) const noexcept {
    return node_ != nullptr && (node_->flags & static_cast<uint32_t>(flags)) == static_cast<uint32_t>(flags);
  }

  // Names the task for the flight recorder of weft/trace.h, which names others by their functions. Only a
  // task that a scheduler is given as a Task shows its name, and only the first 4,094 names of a process are
  // kept. Two texts at different addresses are two names. Does nothing if the task is empty.
  //
  //   weft::schedule(weft::Task([page] { page->load(); }).setName("load a page"));
  // Requires: `name` lives as long as the process, as a string literal does; or it is null, for no name.
  Task& setName(const char* name) & noexcept {
    if (node_ != nullptr) {
      detail::setTaskName(*node_, name);
    }
    return *this;
  }
  Task&& setName(const char* name) && noexcept {
    setName(name);
    return static_cast<Task&&>(*this);
  }

  // For weft's own use: gives the function up to a caller that runs or discards it.
  detail::TaskNode* release() noexcept { return std::exchange(node_, nullptr); }

 protected:
  // For a derived class that makes its own nodes.
  explicit Task(detail::TaskNode* node) noexcept : node_(node) {}
  detail::TaskNode* node() const noexcept { return node_; }

 private:
  detail::TaskNode* node_ = nullptr;
};

namespace detail {

// Whether the result of bindOnce(function, args...) can be called.
template <class F, class... Args>
constexpr bool kCanBeBound =
    (std::is_bind_expression_v<std::decay_t<Args>> || ...) ||
    std::is_invocable_v<std::decay_t<F>&, std::unwrap_reference_t<std::decay_t<Args>>...> ||
    std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>&...>;

// A callable with its arguments, as by std::bind: decayed copies, and std::ref for references. It is called
// once, so the arguments are moved into the call if the function takes rvalues, and are lvalues otherwise.
template <class F, class... Args>
auto bindOnce(F&& function, Args&&... args) {
  if constexpr ((std::is_bind_expression_v<std::decay_t<Args>> || ...)) {
    return std::bind(std::forward<F>(function), std::forward<Args>(args)...);  // which calls them
  } else {
    return [call = std::decay_t<F>(std::forward<F>(function)),
            bound = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)]() mutable {
      if constexpr (std::is_invocable_v<std::decay_t<F>&, std::unwrap_reference_t<std::decay_t<Args>>...>) {
        std::apply(call, std::tuple<std::unwrap_reference_t<std::decay_t<Args>>...>(std::move(bound)));
      } else {
        std::apply(call, bound);
      }
    };
  }
}

}  // namespace detail
}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
