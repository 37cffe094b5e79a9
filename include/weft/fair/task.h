// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <chrono>
#include <concepts>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/fair/task.h"

namespace weft::fair {

class TaskScheduler;

// Work that goes in steps: a callable that a TaskScheduler calls once for each time that the task is posted.
// Between two steps it has no stack and no thread, and waits for a wakeup, a signal or a deadline at the cost
// of its 96 bytes.
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
//
// A task belongs to the user, or, from the post to the beginning of the step, to the scheduler. What is not
// said to be for any thread is for the owner: the user, or the running step. An exception that leaves the
// callable ends the program with a message.
// Lifetime: a step may delete its own task, or post it again, here or elsewhere; the scheduler does not touch
// it after the callable has been called, unless it was posted. A task that belongs to a scheduler must not be
// destroyed: a message ends the program. So declare tasks before their scheduler, whose end gives them back,
// or wait until they have ended.
class Task : private detail::FairTask {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // A task without a callback: setCallback() before it is posted, or its step ends the program with a
  // message.
  Task() : FairTask(&detail::FairNoCallback::kOps) {}

  // `function` is called with this Task*, or without arguments. Captures beyond 48 bytes are kept on the
  // heap.
  // Requires: it can be called: an empty std::function or a null pointer ends the program with a message.
  template <class F>
    requires(!std::derived_from<std::remove_cvref_t<F>, Task> && detail::FairStep<F, Task>)
  explicit Task(F&& function) : FairTask(&Callable<F>::kOps) {
    Callable<F>::emplace(*this, std::forward<F>(function));
  }
  template <class F>
    requires(!std::derived_from<std::remove_cvref_t<F>, Task> && !detail::FairStep<F, Task>)
  explicit Task(F&&) : Task() {
    detail::assertFairStep<F, Task>();
  }

  // Calls object->*method with this Task*, or without arguments.
  template <class Object, class Method>
    requires std::is_member_function_pointer_v<Method>
  Task(Object* object, Method method) : Task(detail::FairMethod<Object, Method>{object, method}) {}

  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    assertIsOwned("destroyed");
    ops->destroy(*this);
  }

  // Has the next step call `function`. In a step, the old callable is destroyed at once: it must not use its
  // captures afterwards. Errors: where `function` cannot be taken over, the task keeps the old one.
  template <class F>
  void setCallback(F&& function) {
    if constexpr (detail::assertFairStep<F, Task>()) {
      assertIsOwned("given a callback");
      detail::FairReplacement<std::decay_t<F>, Task>(std::forward<F>(function)).replace(*this);
    }
  }
  template <class Object, class Method>
    requires std::is_member_function_pointer_v<Method>
  void setCallback(Object* object, Method method) {
    setCallback(detail::FairMethod<Object, Method>{object, method});
  }

  // Has the next post(), and no later one, wait until `time` unless the task is woken or signalled before;
  // with a signal that was not received, it does not wait at all. Never early.
  void setDeadline(TimePoint time) {
    assertIsOwned("given a deadline");
    FairTask::deadline = time;
  }
  // The same with a time from now.
  template <class Rep, class Period>
  void setDelay(const std::chrono::duration<Rep, Period>& delay) {
    setDeadline(detail::deadlineAfter(delay));
  }
  // The same without any time.
  void setWait() { setDeadline(detail::kNever); }

  // As setDeadline(), where `time` is earlier than what was set. A task for which nothing was set does not
  // wait at all.
  void adjustDeadline(TimePoint time) {
    if (time < FairTask::deadline) {
      setDeadline(time);
    }
  }
  template <class Rep, class Period>
  void adjustDelay(const std::chrono::duration<Rep, Period>& delay) {
    adjustDeadline(detail::deadlineAfter(delay));
  }

  // Returns: until when the next post() waits: TimePoint::min() where it does not, TimePoint::max() where
  // only a wakeup or a signal ends it.
  TimePoint deadline() const { return FairTask::deadline; }

  // Returns: whether a signal has come that was not received. Any thread.
  // Memory ordering: what was written before the signal is seen.
  bool isSignaled() const { return state.isSignaled(); }

  // Takes the signal. Signals do not count: one receive takes all that came. Until then, no post of the task
  // waits for anything.
  // Returns: whether there was one.
  // Memory ordering: what was written before each signal() that it takes is seen.
  // Lifetime: afterwards no signaller touches the task, which may be deleted.
  bool receiveSignal() { return state.receiveSignal(); }

  // Returns: in a step, whether the deadline, and neither a wakeup nor a signal before it, led to it, however
  // late the step begins; true where there was no deadline.
  bool isExpired() const { return FairTask::isExpired; }

 private:
  friend class TaskScheduler;
  friend class CoroTask;
  template <class F, class T, bool isInline>
  friend struct detail::FairCallable;

  template <class F>
  using Callable = detail::FairCallable<std::decay_t<F>, Task>;

  void assertIsOwned(const char* what) const {
    // relaxed: whoever may do that is ordered after the step, or is wrong.
    WEFT_ASSERT(
        postedTo.load(std::memory_order_relaxed) == nullptr,
        "a fair::Task was %s while a scheduler has it. Wait until its step has begun, or take it back with "
        "TaskScheduler::stop() and takeBack().",
        what);
  }
};

static_assert(sizeof(Task) <= 96, "with its callable");

}  // namespace weft::fair
