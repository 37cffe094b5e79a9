// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <coroutine>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/fair/coro_frame.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"
#include "weft/fair/task.h"
#include "weft/fair/task_scheduler.h"

namespace weft::inline v0_1::detail {
class CoroCase;
}

namespace weft::inline v0_1::fair {

// A coroutine of weft::fair, with a result of type T: the body of a CoroTask, or what another Coro awaits.
//
//   weft::fair::Coro<int> half(int n) {
//     co_await weft::fair::yield();
//     co_return n / 2;
//   }
//   weft::fair::Coro<> session(int& result) {
//     co_await weft::fair::delay(std::chrono::milliseconds(1));
//     result = co_await half(84);
//   }
//
//   weft::fair::TaskScheduler scheduler("sessions", 2);
//   int result = 0;
//   weft::fair::CoroTask task(session(result));
//   scheduler.post(&task);
//   scheduler.waitEmpty();
// The coroutine begins when it is awaited, or with the first step of its CoroTask. An exception that escapes
// it is thrown where it is awaited. If it escapes the body of a CoroTask, it ends the program.
// Lifetime: destroying the Coro destroys the coroutine, wherever it is suspended.
template <class T = void>
class [[nodiscard]] Coro {
 public:
  // What the language asks of the type of a coroutine. Not for use by programs.
  struct promise_type : detail::CoroResult<T> {
    // What the language asks of the type of a coroutine.
    Coro get_return_object() {
      this->handle = std::coroutine_handle<promise_type>::from_promise(*this);
      return Coro(*this);
    }
  };

  Coro(Coro&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Coro& operator=(Coro&& other) noexcept {
    Coro taken(std::move(other));
    std::swap(frame_, taken.frame_);
    return *this;
  }
  ~Coro() {
    if (frame_ != nullptr) {
      frame_->handle.destroy();
    }
  }

  // Begins this coroutine. The awaiting one is suspended until it has ended, unless it ends without a
  // suspension.
  // Requires: the Coro was neither awaited before nor moved from.
  // Returns: what this coroutine returned.
  // Lifetime: its arguments are destroyed as soon as it has returned.
  auto operator co_await() noexcept {
    WEFT_ASSERT(frame_ != nullptr && frame_->stack == nullptr,
                "a fair::Coro was awaited twice, or after it was moved from.");
    return Call{&frame_};
  }

 private:
  friend class CoroTask;

  struct Call {
    using IsCoroAwaiter = void;
    detail::CoroFrame** holder;

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> caller) const noexcept {
      detail::CoroFrame& callee = **holder;
      callee.caller = &caller.promise();
      callee.stack = callee.caller->stack;
      callee.holder = holder;
      callee.stack->innermost = &callee;
    }
    // Taking the result destroys the frame. Otherwise frames whose arguments are each other's Coros would be
    // destroyed within each other at the end, and use up the thread's stack.
    T await_resume() const {
      const Coro ended(static_cast<promise_type&>(*std::exchange(*holder, nullptr)));
      return static_cast<promise_type&>(*ended.frame_).take();
    }
  };

  explicit Coro(promise_type& promise) : frame_(&promise) {}

  detail::CoroFrame* frame_;
};

// A Task whose body is a coroutine. Each step runs the coroutine until it suspends. After its end a step does
// nothing.
//
//   weft::fair::CoroTask task(session(result));
//   scheduler.post(&task);
//   task.wait();
// co_await in the body posts the task. The body must not post it in another way. Any thread may wake and
// signal the task.
// Lifetime: the user may destroy the task, with its suspended coroutines, while no scheduler has it: when the
// body has ended, or after TaskScheduler::takeBack() or ~TaskScheduler. The body must not destroy it.
class WEFT_EXPORT CoroTask : public Task {
 public:
  // Makes a task whose first step begins `body`.
  explicit CoroTask(Coro<> body);
  ~CoroTask();

  // Returns: whether the body has ended.
  // Requires: the caller owns the task.
  bool isDone() const noexcept { return stack_.innermost == nullptr; }

  // Suspends the fiber, or blocks the thread, until the body has ended. Several may wait.
  // Requires: the caller is not the body.
  // Memory ordering: the caller sees what the body did.
  // Lifetime: the task may be destroyed as soon as all waits have returned.
  void wait() { waitUntil(detail::kNever); }

  // As wait(), but also ends after `duration`, or at `time`, never early by its clock.
  // Returns: false if the time came first.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration) {
    return waitUntil(detail::deadlineAfter(duration));
  }
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time) {
    return detail::waitUntilByClock(time, [this](detail::TimePoint deadline) { return waitUntil(deadline); });
  }

  // Deleted: the body of a CoroTask is its callback.
  template <class... Args>
  void setCallback(Args&&...) = delete;

  // Makes a task with this body, and posts it. The scheduler owns the task, and destroys it when the body has
  // ended, or at its own end. fair::async() also gives a future.
  static void postOwned(TaskScheduler& scheduler, Coro<> body);

 private:
  friend class detail::CoroCase;

  static void step(FairTask& task);
  bool runBody();
  void end();
  static void runOwned(FairTask& task);
  static void destroyOwned(FairTask& task);
  bool waitUntil(detail::TimePoint deadline);
  void assertNotInBody(const char* function) const;
  static void assertNotPosted(bool isNotPosted);

  detail::CoroStack stack_;
  detail::CoroFrame* outermost_;
  bool isInBody_ = false;
  bool hasEnded_ = false;  // guarded by lock_
  detail::SpinLock lock_;
  detail::WaitList waiters_;  // guarded by lock_
};

}  // namespace weft::inline v0_1::fair

namespace weft::inline v0_1::detail {

// Suspends a coroutine, so that its task is posted. `result(task)` is the result of co_await.
template <class Result>
struct [[nodiscard("nothing happens without co_await")]] CoroPost {
  using IsCoroAwaiter = void;
  fair::TaskScheduler* scheduler;
  TimePoint deadline;
  bool isForSignal;
  Result result;
  fair::Task* task = nullptr;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> suspended) noexcept {
    CoroStack& stack = *suspended.promise().stack;
    task = stack.task;
    stack.scheduler = scheduler != nullptr ? scheduler : fair::TaskScheduler::current();
    stack.deadline = deadline;
    stack.isForSignal = isForSignal;
  }
  decltype(auto) await_resume() const { return result(*task); }
};

struct CoroNoResult {
  void operator()(fair::Task&) const {}
};
struct CoroWasExpired {
  bool operator()(fair::Task& task) const { return task.isExpired(); }
};
struct CoroWasSignaled {
  bool operator()(fair::Task& task) const { return task.receiveSignal(); }
};
struct [[nodiscard("nothing happens without co_await")]] CoroSignalOrTime : CoroPost<CoroWasSignaled> {
  [[nodiscard("the signal has come, or the time was up")]] bool await_resume() const { return result(*task); }
};

}  // namespace weft::inline v0_1::detail

namespace weft::inline v0_1::fair {

// Lets other tasks run first: posts the task again. Write `co_await weft::fair::yield()`. It works only in a
// coroutine that runs in a CoroTask, and only with co_await. So do moveTo(), deadline(), delay(), wait(),
// signalUntil(), signalFor(), receiveSignal() and self().
inline detail::CoroPost<detail::CoroNoResult> yield() {
  return {nullptr, detail::FairTask::kNoDeadline, false, {}};
}

// Moves the coroutine to `scheduler`: posts its task there, where it goes on.
inline detail::CoroPost<detail::CoroNoResult> moveTo(TaskScheduler& scheduler) {
  return {&scheduler, detail::FairTask::kNoDeadline, false, {}};
}

// Waits until `time`, or until a wakeup or a signal comes. An unreceived signal ends the wait at once.
// Gives: true if the time ended the wait, false if a wakeup or a signal did.
inline detail::CoroPost<detail::CoroWasExpired> deadline(Task::TimePoint time) {
  return {nullptr, time, false, {}};
}

// As deadline(), until `duration` from now.
template <class Rep, class Period>
detail::CoroPost<detail::CoroWasExpired> delay(const std::chrono::duration<Rep, Period>& duration) {
  return fair::deadline(detail::deadlineAfter(duration));
}

// Waits for a wakeup or a signal, without receiving it. An unreceived signal ends the wait at once.
inline detail::CoroPost<detail::CoroNoResult> wait() { return {nullptr, detail::kNever, false, {}}; }

// Waits for a signal, or until `time`, and receives the signal.
// Gives: whether there was a signal.
inline detail::CoroSignalOrTime signalUntil(Task::TimePoint time) { return {{nullptr, time, true, {}}}; }

// As signalUntil(), until `duration` from now.
template <class Rep, class Period>
detail::CoroSignalOrTime signalFor(const std::chrono::duration<Rep, Period>& duration) {
  return fair::signalUntil(detail::deadlineAfter(duration));
}

// Waits for a signal, and receives it.
inline detail::CoroPost<detail::CoroWasSignaled> receiveSignal() {
  return {nullptr, detail::kNever, true, {}};
}

// What self() returns, for co_await.
struct [[nodiscard("nothing happens without co_await")]] Self {
  // What the language and Coro ask for.
  using IsCoroAwaiter = void;
  CoroTask* task = nullptr;
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> asking) noexcept {
    task = asking.promise().stack->task;
    return false;
  }
  CoroTask* await_resume() const noexcept { return task; }
};
// Gives the CoroTask* of the awaiting coroutine, without suspending: `co_await weft::fair::self()`.
inline Self self() { return {}; }

}  // namespace weft::inline v0_1::fair

#include "weft/detail/base/macros_end.h"
