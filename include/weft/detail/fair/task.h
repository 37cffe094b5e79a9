// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/fair/state.h"
#include "weft/detail/queue/inbox.h"
#include "weft/detail/queue/timer_heap.h"

namespace weft::inline v0_1::detail {

struct FairCore;
struct FairTask;

// The operations on a task's type-erased callable.
struct FairOps {
  void (*run)(FairTask&);      // calls the callable, which makes the last access to the task
  void (*destroy)(FairTask&);  // destroys the callable
  bool isOneShot = false;      // the task belongs to the scheduler
  bool keepsDeadline = false;  // takeBack() leaves the deadline: the task waits on once it is posted again
};

// A fair::Task as the scheduler sees it.
struct FairTask {
  // Before all times: the task is ready as soon as it is posted.
  static constexpr TimePoint kNoDeadline = TimePoint::min();
  static constexpr size_t kStorage = 48;

  explicit FairTask(const FairOps* callable) : ops(callable) {}

  // Whether a deadline is set that can come.
  bool hasTime() const { return deadline != kNoDeadline && deadline != kNever; }

  InboxLink<FairTask> inboxNext;  // for the queue that holds the task
  FairState<> state;
  // timerIndex and deadline belong to the task's owner, or to the dispatcher while the task is posted.
  uint32_t timerIndex = kNotInHeap;
  TimePoint deadline = kNoDeadline;
  // Set by a post, cleared before the step. Null: the task is the user's.
  std::atomic<FairCore*> postedTo{nullptr};
  const FairOps* ops;
  bool isExpired = false;  // written before each step
  alignas(8) std::byte storage[kStorage];
};

// The callable of a task without one.
struct FairNoCallback {
  [[noreturn]] static void run(FairTask&) {
    WEFT_FATAL(
        "a fair::Task without a callback was posted. "
        "Give it one: by its constructor, or by setCallback().");
  }
  static void destroy(FairTask&) {}
  WEFT_OWN static constexpr FairOps kOps{&run, &destroy};
};

template <class F>
inline constexpr bool kFitsFairTask = sizeof(F) <= FairTask::kStorage && alignof(F) <= 8;

// Whether a task can call F.
template <class F, class Task>
concept FairStep = std::invocable<std::decay_t<F>&, Task*> || std::invocable<std::decay_t<F>&>;

// One error for a callable that does not fit, which says what to write.
template <class F, class Task>
constexpr bool assertFairStep() {
  static_assert(FairStep<F, Task>,
                "fair::Task(f): f can be called neither with a weft::fair::Task* nor without arguments. "
                "Write [=](weft::fair::Task* self) { f(argument); }.");
  return FairStep<F, Task>;
}

// A callable in the storage of a task, or behind a pointer in it. `F` takes a fair::Task* or nothing.
template <class F, class Task, bool isInline = kFitsFairTask<F>>
struct FairCallable {
  template <class Arg>
  static void emplace(FairTask& task, Arg&& function) {
    if constexpr (isInline) {
      ::new (static_cast<void*>(task.storage)) F(std::forward<Arg>(function));
    } else {
      ::new (static_cast<void*>(task.storage)) F*(new F(std::forward<Arg>(function)));
    }
    detail::assertCallable(of(task), "a fair::Task");
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
  WEFT_OWN static constexpr FairOps kOps{&run, &destroy};
};

// The new callable of a task that has one. What may throw comes before the end of the old one. A callable
// whose move may throw lies behind a pointer.
template <class F, class Task>
class FairReplacement {
 public:
  template <class Arg>
  explicit FairReplacement(Arg&& function) : made_(make(std::forward<Arg>(function))) {
    if constexpr (isInline) {
      detail::assertCallable(made_, "a fair::Task");
    } else {
      detail::assertCallable(*made_, "a fair::Task");
    }
  }

  void replace(FairTask& task) {
    std::exchange(task.ops, &FairNoCallback::kOps)->destroy(task);
    if constexpr (isInline) {
      Callable::emplace(task, std::move(made_));
    } else {
      ::new (static_cast<void*>(task.storage)) F*(made_.release());
    }
    task.ops = &Callable::kOps;
  }

 private:
  static constexpr bool isInline = kFitsFairTask<F> && std::is_nothrow_move_constructible_v<F>;
  using Callable = FairCallable<F, Task, isInline>;
  using Made = std::conditional_t<isInline, F, std::unique_ptr<F>>;

  template <class Arg>
  static Made make(Arg&& function) {
    if constexpr (isInline) {
      return F(std::forward<Arg>(function));
    } else {
      return std::unique_ptr<F>(new F(std::forward<Arg>(function)));
    }
  }

  Made made_;
};

// An object and a member function, which takes a fair::Task* or nothing.
template <class Object, class Method>
struct FairMethod {
  template <class Task>
  void operator()(Task* task) const {
    // Copies: the call may give the task another callable, or delete it.
    Object* const target = object;
    const Method called = method;
    if constexpr (std::invocable<Method, Object*, Task*>) {
      std::invoke(called, target, task);
    } else if constexpr (std::invocable<Method, Object*>) {
      std::invoke(called, target);
    } else {
      static_assert(std::invocable<Method, Object*>,
                    "fair::Task(object, method): "
                    "the method is none of the object's that takes a weft::fair::Task* or nothing");
    }
  }
  friend bool operator==(const FairMethod& self, std::nullptr_t) {
    return self.object == nullptr || self.method == nullptr;
  }
  Object* object;
  Method method;
};

}  // namespace weft::inline v0_1::detail
