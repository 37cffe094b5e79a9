// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <concepts>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/fair/task.h"

namespace weft::inline v0_1::fair {

class TaskScheduler;

// Work in steps: a callable that a TaskScheduler calls once each time the task is posted. Between two steps
// it has no stack and no thread. While it waits for a wakeup, a signal or a deadline it takes 96 bytes.
//
//   int left = 3;
//   weft::fair::Task countdown([&](weft::fair::Task* self) {
//     if (--left > 0) {
//       weft::fair::TaskScheduler::current()->postDelay(self, std::chrono::milliseconds(1));
//     }
//   });
//   weft::fair::TaskScheduler scheduler("sessions", 2);
//   scheduler.post(&countdown);
//   scheduler.waitEmpty();
// From the post to the beginning of the step the task belongs to the scheduler, otherwise to the user. Only
// its owner (the user, or the running step) may call its functions, except those for which any thread is
// named. An exception that leaves the callable ends the program with a message.
// Lifetime: a step may delete its own task, or post it again, to any scheduler. Otherwise the scheduler does
// not touch the task after the callable was called. Destroying a task that belongs to a scheduler ends the
// program with a message. So declare tasks before their scheduler, or wait for their end.
class Task : private detail::FairTask {
 public:
  // The time of a deadline.
  using TimePoint = std::chrono::steady_clock::time_point;

  // Makes a task without a callback. A step before setCallback() ends the program with a message.
  Task() : FairTask(&detail::FairNoCallback::kOps) {}

  // Each step calls `function` with this Task*, or without arguments. A callable of more than 48 bytes lies
  // on the heap.
  // Requires: `function` is neither an empty std::function nor null; otherwise a message ends the program.
  template <class F>
    requires(!std::derived_from<std::remove_cvref_t<F>, Task> && detail::FairStep<F, Task>)
  explicit Task(F&& function) : FairTask(&Callable<F>::kOps) {
    if constexpr (weft::detail::assertKept<F>()) {
      Callable<F>::emplace(*this, std::forward<F>(function));
    }
  }
  template <class F>
    requires(!std::derived_from<std::remove_cvref_t<F>, Task> && !detail::FairStep<F, Task>)
  explicit Task(F&&) : Task() {
    detail::assertFairStep<F, Task>();
  }

  // Each step calls object->*method, with this Task* or without arguments.
  template <class Object, class Method>
    requires std::is_member_function_pointer_v<Method>
  Task(Object* object, Method method) : Task(detail::FairMethod<Object, Method>{object, method}) {}

  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    assertIsOwned("destroyed");
    ops->destroy(*this);
  }

  // Replaces the callable: the next step calls `function`. The old callable is destroyed, so a step that
  // replaces its own must not use its captures afterwards.
  // Errors: if the move or copy of `function` throws, the task keeps its old callable.
  template <class F>
  void setCallback(F&& function) {
    if constexpr (!detail::assertFairStep<F, Task>()) {
      return;
    } else if constexpr (weft::detail::assertKept<F>()) {
      assertIsOwned("given a callback");
      detail::FairReplacement<std::decay_t<F>, Task>(std::forward<F>(function)).replace(*this);
    }
  }
  template <class Object, class Method>
    requires std::is_member_function_pointer_v<Method>
  void setCallback(Object* object, Method method) {
    setCallback(detail::FairMethod<Object, Method>{object, method});
  }

  // Makes the next post() wait until `time`, or until a wakeup or a signal comes. The step never begins
  // early. Later posts do not wait. A post with an unreceived signal does not wait either.
  void setDeadline(TimePoint time) {
    assertIsOwned("given a deadline");
    FairTask::deadline = time;
  }
  // As setDeadline(), until `delay` from now.
  template <class Rep, class Period>
  void setDelay(const std::chrono::duration<Rep, Period>& delay) {
    setDeadline(detail::deadlineAfter(delay));
  }
  // As setDeadline(), but only a wakeup or a signal ends the wait.
  void setWait() { setDeadline(detail::kNever); }

  // As setDeadline() or setDelay(), if a deadline was set and the new one is earlier. Otherwise does nothing.
  void adjustDeadline(TimePoint time) {
    if (time < FairTask::deadline) {
      setDeadline(time);
    }
  }
  template <class Rep, class Period>
  void adjustDelay(const std::chrono::duration<Rep, Period>& delay) {
    adjustDeadline(detail::deadlineAfter(delay));
  }

  // Returns: the time until which the next post() waits. TimePoint::min(): it does not wait.
  // TimePoint::max(): without limit.
  TimePoint deadline() const { return FairTask::deadline; }

  // Any thread may call this.
  // Returns: whether there is an unreceived signal. If true, the caller sees what was written before the
  // signal.
  bool isSignaled() const { return state.isSignaled(); }

  // Takes the signal. One call takes all signals that have come. Until then no post of the task waits.
  // Returns: whether there was a signal.
  // Memory ordering: the caller sees what was written before each signal() that it takes.
  // Lifetime: afterwards no thread that has called signal() touches the task, and it may be deleted.
  bool receiveSignal() { return state.receiveSignal(); }

  // Returns: whether the step begins because of its deadline, not because of a wakeup or a signal that came
  // before. It may begin late. True if there was no deadline.
  // Requires: the caller is the task's step.
  bool isExpired() const { return FairTask::isExpired; }

 private:
  friend class TaskScheduler;
  friend class CoroTask;
  template <class F, class T, bool isInline>
  friend struct detail::FairCallable;

  template <class F>
  using Callable = detail::FairCallable<std::decay_t<F>, Task>;

  void assertIsOwned(const char* what) const {
    // relaxed: other means order a correct caller after the step.
    WEFT_ASSERT(postedTo.load(std::memory_order_relaxed) == nullptr,
                "a fair::Task was %s while a scheduler has it. Wait until its step has begun, "
                "or take it back with TaskScheduler::stop() and takeBack().",
                what);
  }
};

static_assert(sizeof(Task) <= 96, "a fair::Task takes at most 96 bytes, with its callable");

}  // namespace weft::inline v0_1::fair

#include "weft/detail/base/macros_end.h"
