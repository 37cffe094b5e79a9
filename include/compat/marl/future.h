// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"
#include "weft/detail/base/macros_begin.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "conditionvariable.h"
#include "containers.h"
#include "memory.h"
#include "mutex.h"

namespace marl {

// An Event that carries a T, as in a fork of marl. Copies share it. (weft::Future is a task's result.)
template <typename T>
class Future {
 public:
  explicit(false) Future(Allocator* allocator = Allocator::Default)
      : state_(weft::detail::assertAllocator(allocator, "marl::Future")
                   ->template make_shared<State>(allocator)) {}

  // Replaces the value by one that is made of `args`, and wakes those who wait.
  template <typename... Args>
    requires std::is_constructible_v<T, Args&&...>
  void signal(Args&&... args) const {
    const marl::lock lock(state_->mutex);
    state_->value.reset();
    state_->value.emplace(std::forward<Args>(args)...);
    state_->isThere.notify_all();
  }

  // Removes the value. Requires: nobody uses it any more.
  void clear() const {
    const marl::lock lock(state_->mutex);
    state_->value.reset();
  }

  // Suspends the fiber, or blocks the thread, until there is a value.
  // Lifetime: the value is there until clear() or the next signal(), and as long as a copy of the Future.
  [[nodiscard]] T& wait() const {
    marl::lock lock(state_->mutex);
    state_->isThere.wait(lock, [this] { return state_->value.has_value(); });
    return *state_->value;
  }

  // Return: whether there is a value.
  [[nodiscard]] bool test() const {
    const marl::lock lock(state_->mutex);
    return state_->value.has_value();
  }
  [[nodiscard]] bool isSignalled() const { return test(); }

 private:
  struct State {
    explicit State(Allocator* allocator) : isThere(allocator) {}

    marl::mutex mutex;
    ConditionVariable isThere;
    std::optional<T> value;
  };

  std::shared_ptr<State> state_;
};

}  // namespace marl

#include "weft/detail/base/macros_end.h"
