// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <exception>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/future/continuation.h"
#include "weft/detail/future/task_state.h"
#include "weft/executor.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

// Thrown by a future whose promise was destroyed before it was set.
class WEFT_EXPORT BrokenPromise : public std::exception {
 public:
  const char* what() const noexcept override;
};

// The future result of a task: a movable value of type T, a reference, nothing (void), or an exception.
//
//   weft::Future<Image> image = weft::async([=] { return load(path); });
//   weft::Future<Size> size = image.then([](Image loaded) { return loaded.size(); });
//   print(size.get());
// A Future owns a result that is read once. share() gives a future that may be copied. Destroying a future
// does not affect its task, but loses the task's exception: if a failure matters, call get() or exception(),
// or chain a then() that takes the future. Misuse of a future without state ends the program with a message.
// Futures also have valid(), ready(), wait(), wait_for(), wait_until(), failed() and exception(): see
// weft/detail/future/handle.h. whenAll() and whenAny() make one future of several.
template <class T>
class [[nodiscard]] Future : public detail::FutureBase<Future<T>, T> {
  using Base = detail::FutureBase<Future<T>, T>;

 public:
  // Has no state. It may be assigned to and destroyed.
  Future() noexcept = default;
  Future(Future&&) noexcept = default;
  Future& operator=(Future&&) noexcept = default;

  // As wait().
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
  // takes the future is always called, the others only with a value: otherwise the exception is passed on.
  // Without an executor f is a task of the scheduler that is bound to the thread that makes the future ready
  // (this one if it is ready), or else of defaultExecutor(). Neither suspends nor blocks.
  // Returns: the future of what f returns. If f returns a future, the future of that future's result. If
  // executor.schedule() throws, the returned future gets that exception too.
  // Requires: valid(). Afterwards the future is not valid any more.
  // Lifetime: a temporary executor and an ExecutorReference are kept. Schedulers, PoolExecutors and
  // MainLoopExecutors may end before: then the task is not executed. Any other executor is referred to.
  template <class F>
  auto then(F&& f) {
    return Base::template chain<T>(std::move(*this), detail::BoundOrDefaultExecutor(), std::forward<F>(f));
  }
  template <class E, class F>
  auto then(E&& executor, F&& f) {
    return Base::template chain<T>(std::move(*this), std::forward<E>(executor), std::forward<F>(f));
  }

  // Returns: the same result as a future that may be copied.
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

// A Future whose result may be read any number of times, by any number of copies. Like a shared_ptr, each
// copy may be used by one thread at a time, or by several that do not change it.
//
//   weft::SharedFuture<Settings> settings = weft::async(readSettings).share();
//   for (Service& service : services) {
//     weft::schedule([&service, settings] { service.start(settings.get()); });
//   }
template <class T>
class [[nodiscard]] SharedFuture : public detail::FutureBase<SharedFuture<T>, T> {
  using Base = detail::FutureBase<SharedFuture<T>, T>;
  using Value = std::conditional_t<std::is_void_v<T> || std::is_reference_v<T>, T,
                                   std::add_lvalue_reference_t<const T>>;

 public:
  SharedFuture() noexcept = default;
  SharedFuture(const SharedFuture&) noexcept = default;
  SharedFuture(SharedFuture&&) noexcept = default;
  SharedFuture& operator=(const SharedFuture&) noexcept = default;
  SharedFuture& operator=(SharedFuture&&) noexcept = default;
  SharedFuture(Future<T>&& future) noexcept
      : Base(static_cast<detail::FutureHandle&&>(future)) {}  // NOLINT(google-explicit-constructor): as std's

  // As wait().
  // Returns: a reference to the result, or throws the exception.
  // Requires: valid().
  Value get() const {
    this->core("get").wait();
    return static_cast<const detail::Outcome<T>&>(detail::FutureAccess::outcome<T>(*this)).look();
  }

  // As Future::then(), but f gets a `const T&` or a SharedFuture, and this stays valid.
  template <class F>
  auto then(F&& f) const {
    return Base::template chain<Value>(SharedFuture(*this), detail::BoundOrDefaultExecutor(),
                                       std::forward<F>(f));
  }
  template <class E, class F>
  auto then(E&& executor, F&& f) const {
    return Base::template chain<Value>(SharedFuture(*this), std::forward<E>(executor), std::forward<F>(f));
  }
};

// Sets the result of a future explicitly.
//
//   weft::Promise<Reply> promise;
//   weft::Future<Reply> reply = promise.get_future();
//   connection.onReply([promise = std::move(promise)](Reply r) mutable { promise.set_value(std::move(r)); });
// The first set wins. Several threads may set one promise, which must exist until all these calls have
// returned. A promise that is destroyed unset gives its future a BrokenPromise. The thread that sets a
// promise calls schedule() for continuations, which may run them at once. Neither suspends nor blocks.
template <class T>
class Promise {
 public:
  Promise() : state_(detail::makeState<detail::PlainState<T>>(1u)) {}
  Promise(Promise&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)), hasFuture_(std::exchange(other.hasFuture_, false)) {}
  Promise& operator=(Promise other) noexcept {
    std::swap(state_, other.state_);
    std::swap(hasFuture_, other.hasFuture_);
    return *this;
  }
  ~Promise() { detail::abandon(state_); }

  // Returns: the future.
  // Requires: this is the first call, and the promise was not moved from.
  Future<T> get_future() {
    detail::PlainState<T>& state = checked("get_future");
    if (std::exchange(hasFuture_, true)) [[unlikely]] {
      detail::reportSecondFuture();
    }
    state.retain();
    return detail::FutureAccess::make(&state);
  }

  // Make the future ready.
  // Return: false if it was set before; then nothing changes.
  // Memory ordering: a thread that finds the future ready sees what came before.
  // Lifetime: the promise may be destroyed as soon as a thread has found the future ready.
  template <class U = T>
    requires detail::kIsValue<T, U&&>
  bool set_value(U&& value) {
    static_assert(!detail::kBindsToTemporary<T, U&&>,
                  "Promise<const T&>::set_value() got a temporary, or makes one by a conversion: "
                  "the future would refer to an object that is gone. Pass an object that lives on, "
                  "or use a Promise<T>.");
    return set([&](detail::Outcome<T>& outcome) { outcome.set(std::forward<U>(value)); });
  }
  bool set_value()
    requires std::is_void_v<T>
  {
    return set([](auto&) {});
  }
  template <class... Args>
    requires(!detail::kIsValue<T, Args && ...>)
  bool set_value(Args&&...) {
    static_assert(
        detail::kAlwaysFalse<Args...>,
        "Promise<T>::set_value() takes one value that converts to T by itself, or none if T is void. "
        "Write set_value(T(value)), if you mean that.");
    return false;
  }
  // Requires: `exception` is not null.
  bool set_exception(std::exception_ptr exception) {
    detail::assertException(exception);
    return set([&](detail::Outcome<T>& outcome) { outcome.error().set(std::move(exception)); });
  }
  // `error`: a temporary whose class derives from std::exception, as std::runtime_error("why"). A reference
  // is refused: its copy could lose a derived part. In a catch block write
  // set_exception(std::current_exception()). Without exceptions and run-time type information it becomes a
  // std::runtime_error.
  template <class Error, bool kIsTyped = detail::kExceptionsAreTyped>
    requires(!std::convertible_to<Error, std::exception_ptr>)
  bool set_exception(Error&& error) {
    if constexpr (detail::assertError<Error>()) {
      return set_exception(detail::makeException<kIsTyped>(error));
    } else {
      return false;
    }
  }

 private:
  detail::PlainState<T>& checked(const char* function) const {
    if (state_ == nullptr) [[unlikely]] {
      detail::reportNoPromise(function);
    }
    return *state_;
  }

  template <class F>
  bool set(const F& write) {
    detail::PlainState<T>& state = checked("set_value or set_exception");
    if (!state.word.claim()) {
      return false;
    }
    state.retain();  // a thread that sees the result may destroy this promise
    write(state.outcome);
    state.complete();
    return true;
  }

  detail::PlainState<T>* state_;
  bool hasFuture_ = false;
};

// Return: a ready future; of a reference, if `value` comes from std::ref() or std::cref().
template <class T>
Future<std::unwrap_ref_decay_t<T>> makeReadyFuture(T&& value) {
  using Result = std::unwrap_ref_decay_t<T>;
  return detail::makeReady<Result>([&](auto& outcome) { outcome.set(std::forward<T>(value)); });
}
inline Future<void> makeReadyFuture() {
  return detail::makeReady<void>([](auto&) {});
}
// `error`: as for Promise::set_exception().
template <class T, class Error, bool kIsTyped = detail::kExceptionsAreTyped>
  requires(!std::convertible_to<Error, std::exception_ptr>)
Future<T> makeExceptionalFuture(Error&& error) {
  if constexpr (detail::assertError<Error>()) {
    return detail::makeReady<T>(
        [&](auto& outcome) { outcome.error().set(detail::makeException<kIsTyped>(error)); });
  } else {
    return Future<T>();
  }
}
template <class T>
Future<T> makeExceptionalFuture(std::exception_ptr exception) {
  detail::assertException(exception);
  return detail::makeReady<T>([&](auto& outcome) { outcome.error().set(std::move(exception)); });
}
template <class... NoType, class Error>
  requires(sizeof...(NoType) == 0)
Future<void> makeExceptionalFuture(Error&&) {
  static_assert(detail::kAlwaysFalse<Error>,
                "makeExceptionalFuture(error) does not know the type of the future. "
                "Write makeExceptionalFuture<T>(error).");
  return Future<void>();
}

// Schedules function() as a task on the bound scheduler, or else on defaultExecutor(). Takes one allocation,
// pooled if function and result are small. Neither suspends nor blocks.
// Returns: the future of what the function returns, or of the result of the future that it returns.
// Memory ordering: the function sees what came before.
template <class F>
auto async(F&& function) {
  return detail::launchCall(detail::BoundOrDefaultExecutor(), std::forward<F>(function));
}

// Schedules by executor.schedule(TaskHandle), and throws what that throws.
template <class E, class F>
  requires(!std::same_as<std::remove_cvref_t<E>, std::stop_token>)
auto async(E&& executor, F&& function) {
  return detail::launchCall(executor, std::forward<F>(function));
}
template <class E, class F>
auto async(E&& executor, std::stop_token token, F&& function) {
  return detail::launchCall(executor, std::forward<F>(function), std::move(token));
}

// Does not call the function if a stop of `token` comes before it begins: then the future throws
// TaskCanceled. The function may take the token.
template <class F>
auto async(std::stop_token token, F&& function) {
  return detail::launchCall(detail::BoundOrDefaultExecutor(), std::forward<F>(function), std::move(token));
}

}  // namespace weft::inline v0_1

#include "weft/detail/future/when.h"

#include "weft/detail/base/macros_end.h"
