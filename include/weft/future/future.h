// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <exception>
#include <stop_token>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/detail/future/continuation.h"
#include "weft/detail/future/launch.h"
#include "weft/detail/future/recovery.h"
#include "weft/detail/future/state.h"
#include "weft/detail/future/task_state.h"
#include "weft/detail/future/within.h"
#include "weft/future/shared_future.h"

namespace weft::inline v0_1 {

// Gives the result of a task once it is there: a movable value of type T, a reference, nothing (void), or an
// exception.
//
//   weft::Future<Image> image = weft::async([=] { return load(path); });
//   weft::Future<Size> size = image.then([](Image loaded) { return loaded.size(); });
//   print(size.get());
// A Future owns a result that is read once. share() gives a future that may be copied. Destroying a future
// does not affect its task, but loses the task's exception: if a failure matters, call get() or exception(),
// or chain a then() that takes the future. A call that requires valid(), on a future that is not, ends the
// program with a message. whenAll() and its siblings make one future of several.
template <class T>
class [[nodiscard]] Future : public detail::FutureBase<Future<T>, T> {
  using Base = detail::FutureBase<Future<T>, T>;

 public:
  // Makes a future without a result to wait for, or moves one. Without a result it may be assigned to and
  // destroyed.
  Future() noexcept = default;
  Future(Future&&) noexcept = default;
  Future& operator=(Future&&) noexcept = default;

  // Returns: whether the future stands for a result. False after Future(), and after get(), then() or
  // share().
  bool valid() const noexcept { return Base::valid(); }

  // Returns: whether there is a result or an exception. Neither suspends nor blocks. A loop around ready()
  // lets nothing else run on this thread, perhaps not even the task: call yield() in the loop, or use wait().
  // Requires: valid().
  // Memory ordering: after true, the caller sees what was written before the task ended or the promise was
  // set.
  bool ready() const { return Base::ready(); }

  // Suspends the fiber, or blocks the thread, until the future is ready. If the task is the last one that
  // this worker has scheduled, and no thread has begun it, the task is called on this fiber.
  // Requires: valid().
  // Memory ordering: as for a ready() that returns true.
  void wait() const { Base::wait(); }

  // As wait(), but also ends at a stop of `token`, after `duration`, or at `time`, never early by its clock.
  // Returns: false if the stop or the time came first. True if the future was ready at the call.
  bool wait(const std::stop_token& token) const { return Base::wait(token); }
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& token = {}) const {
    return Base::wait_for(duration, token);
  }
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time,
                  const std::stop_token& token = {}) const {
    return Base::wait_until(time, token);
  }

  // Returns: whether get() would throw. False as long as the future is not ready. Neither suspends nor
  // blocks.
  // Requires: valid().
  bool failed() const { return Base::failed(); }

  // Waits as wait() does.
  // Returns: the exception that get() would throw, or null. The future stays valid.
  // Requires: valid().
  std::exception_ptr exception() const { return Base::exception(); }

  // Waits as wait() does, and takes the result.
  // Returns: the result, or throws the exception.
  // Requires: valid(). Afterwards the future is not valid any more.
  T get() {
    this->core("get").waitAsOwner();
    Future consumed(std::move(*this));
    detail::Outcome<T>& outcome = detail::FutureAccess::outcome<T>(consumed);
    if (outcome.error()) [[unlikely]] {
      detail::EscapedException thrown = std::move(outcome.error());
      consumed = Future();  // before it throws: nothing is left to a destructor
      thrown.rethrow();
    }
    return outcome.take();
  }

  // Runs the first of f(value), f(Future) and f() that can be called, once this future is ready. An f that
  // takes the future is always called. Another f is called only if there is a value: an exception is passed
  // on to the returned future. Without an executor, f is a task of the scheduler that is bound to the thread
  // that makes the future ready, or to the calling thread if the future is ready already. If none is bound,
  // it is a task of defaultExecutor(). Neither suspends nor blocks.
  // Returns: the future of what f returns. If f returns a future, the future of that future's result. If
  // executor.schedule() throws, the returned future gets that exception too.
  // Requires: valid(). Afterwards the future is not valid any more.
  // Lifetime: keeps a temporary executor, and a copy of an ExecutorReference. A Scheduler, PoolExecutor or
  // MainLoopExecutor may end before f has its turn: then the returned future throws TaskNotExecuted. Any
  // other executor must live until then.
  template <class F>
  auto then(F&& f) {
    return Base::template chain<T>(std::move(*this), detail::BoundOrDefaultExecutor(), std::forward<F>(f));
  }
  template <class E, class F>
  auto then(E&& executor, F&& f) {
    return Base::template chain<T>(std::move(*this), std::forward<E>(executor), std::forward<F>(f));
  }

  // If this future fails, calls f(std::exception_ptr) or f(), where then() would. A value is passed on.
  //
  //   weft::Future<Image> image = weft::async([=] { return load(path); }).recover([] { return Image(); });
  // Returns: a future of the value, or of what f returns: something that converts to T, or a future of a T,
  // whose result it takes. What f throws is its exception.
  // Requires, and lifetime: as then().
  template <class F>
  auto recover(F&& f) {
    return detail::chainOnError<detail::ErrorUse::Recover, T>(
        std::move(*this), detail::BoundOrDefaultExecutor(), std::forward<F>(f));
  }
  template <class E, class F>
  auto recover(E&& executor, F&& f) {
    return detail::chainOnError<detail::ErrorUse::Recover, T>(std::move(*this), std::forward<E>(executor),
                                                              std::forward<F>(f));
  }

  // As recover(), but what f returns is dropped, and the error is passed on when f has returned. If f throws,
  // that exception is passed on in its place.
  template <class F>
  auto onError(F&& f) {
    return detail::chainOnError<detail::ErrorUse::Notice, T>(
        std::move(*this), detail::BoundOrDefaultExecutor(), std::forward<F>(f));
  }
  template <class E, class F>
  auto onError(E&& executor, F&& f) {
    return detail::chainOnError<detail::ErrorUse::Notice, T>(std::move(*this), std::forward<E>(executor),
                                                             std::forward<F>(f));
  }

  // Limits the time for the result. Neither suspends nor blocks.
  // Returns: a future of the result. If there is none after `duration`, it throws TimedOut, and before that a
  // stop of `source` is requested, for a task that was given a token of it. A task that does not look at its
  // token goes on. A thread of weft's own requests the stop, and makes the future ready: see after().
  // Errors: if the system grants no thread for timers, the returned future has the std::system_error.
  // Requires: valid(). Afterwards the future is not valid any more.
  template <class Rep, class Period>
  Future within(const std::chrono::duration<Rep, Period>& duration,
                std::stop_source source = std::stop_source(std::nostopstate)) {
    return detail::within<T>(std::move(*this), detail::deadlineAfter(duration), std::move(source));
  }

  // Turns this future into one that may be copied.
  // Returns: a SharedFuture of the result.
  // Requires: valid(). Afterwards the future is not valid any more.
  SharedFuture<T> share() {
    (void)this->core("share");
    return SharedFuture<T>(std::move(*this));
  }

 private:
  friend struct detail::FutureAccess;
  friend class SharedFuture<T>;
  explicit Future(detail::FutureState<T>* state) noexcept : Base(state) {}
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
