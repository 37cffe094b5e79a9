// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/deadline.h"
#include "weft/detail/fair_state.h"
#include "weft/detail/inbox.h"
#include "weft/detail/sync.h"
#include "weft/detail/timer_heap.h"

namespace weft::detail {

struct FairCore;
struct FairTask;

// What can be done with the callable of a task, whose type is erased.
struct FairOps {
  void (*run)(FairTask&);      // the last access to the task is that of the callable itself
  void (*destroy)(FairTask&);  // destroys the callable
  bool isOneShot;              // the task belongs to the scheduler
};

// A fair::Task as the scheduler sees it.
struct FairTask {
  // A deadline that has come before all times: the task is ready as soon as it is posted.
  static constexpr TimePoint kNoDeadline = TimePoint::min();
  static constexpr size_t kStorage = 48;

  explicit FairTask(const FairOps* callable) : ops(callable) {}

  InboxLink<FairTask> inboxNext;  // for whoever has the task queued
  FairState<> state;
  uint32_t timerIndex = kNotInHeap;  // this and the next: for the owner, and while the task is posted for the role
  TimePoint deadline = kNoDeadline;
  std::atomic<FairCore*> postedTo{nullptr};  // set by post, cleared before the step; null: the user may do anything with it
  const FairOps* ops;
  bool isExpired = false;  // written before each step
  alignas(8) std::byte storage[kStorage];
};

// What a task runs that was given nothing to run.
struct FairNoCallback {
  [[noreturn]] static void run(FairTask&) {
    WEFT_FATAL("a fair::Task was posted that has no callback. Give it one: by its constructor, or by setCallback().");
  }
  static void destroy(FairTask&) {}
  static constexpr FairOps kOps{&run, &destroy, false};
};

// A callable in the storage of a task, or behind a pointer in it. `F` takes a fair::Task* or nothing.
template <class F, class Task>
struct FairCallable {
  static constexpr bool isInline = sizeof(F) <= FairTask::kStorage && alignof(F) <= 8;

  template <class Arg>
  static void emplace(FairTask& task, Arg&& function) {
    if constexpr (requires { function == nullptr; } && !std::is_empty_v<F>) {
      WEFT_ASSERT(!(function == nullptr),
                  "a fair::Task was given nothing to call: an empty std::function, or a null pointer. Give it a function, or an "
                  "object and a member function.");
    }
    if constexpr (isInline) {
      ::new (static_cast<void*>(task.storage)) F(std::forward<Arg>(function));
    } else {
      ::new (static_cast<void*>(task.storage)) F*(new F(std::forward<Arg>(function)));
    }
  }
  static F& of(FairTask& task) {
    if constexpr (isInline) {
      return *std::launder(reinterpret_cast<F*>(task.storage));
    } else {
      return **std::launder(reinterpret_cast<F**>(task.storage));
    }
  }
  static void call(F& function, [[maybe_unused]] FairTask& task) {
    if constexpr (std::invocable<F&, Task*>) {
      std::invoke(function, static_cast<Task*>(&task));
    } else {
      std::invoke(function);
    }
  }
  static void run(FairTask& task) { call(of(task), task); }
  static void destroy(FairTask& task) {
    if constexpr (isInline) {
      of(task).~F();
    } else {
      delete &of(task);
    }
  }
  static constexpr FairOps kOps{&run, &destroy, false};
};

// An object and a member function of it that takes a fair::Task* or nothing.
template <class Object, class Method>
struct FairMethod {
  template <class Task>
  void operator()(Task* task) const {
    // Copies: the call may give the task another callable, or delete it.
    Object* const target = object;
    const Method called = method;
    if constexpr (std::invocable<Method, Object*, Task*>) {
      std::invoke(called, target, task);
    } else {
      std::invoke(called, target);
    }
  }
  friend bool operator==(const FairMethod& self, std::nullptr_t) {
    return self.object == nullptr || self.method == nullptr;
  }
  Object* object;
  Method method;
};

}  // namespace weft::detail
