// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/future/continuation.h"
#include "weft/detail/future/state.h"
#include "weft/detail/future/task_state.h"
#include "weft/export.h"
#include "weft/future/future.h"

namespace weft::inline v0_1 {

// What a future throws if its promise was destroyed before it was set.
class WEFT_EXPORT BrokenPromise : public std::exception {
 public:
  const char* what() const noexcept override;
};

// Sets the result of a future by hand: in a callback of another library, for example.
//
//   weft::Promise<Reply> promise;
//   weft::Future<Reply> reply = promise.get_future();
//   connection.onReply([promise = std::move(promise)](Reply r) mutable { promise.set_value(std::move(r)); });
// Only the first call that sets the promise counts. Several threads may call, and the promise must exist
// until all these calls have returned. A promise that is destroyed unset gives its future a BrokenPromise.
// The thread that sets a promise calls the schedule() of its continuations' executors, which may run the
// continuations at once. The functions themselves neither suspend nor block.
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

  // Returns: the future that this promise makes ready.
  // Requires: this is the first call, and the promise was not moved from. Otherwise a message ends the
  // program.
  Future<T> get_future() {
    detail::PlainState<T>& state = checked("get_future");
    if (std::exchange(hasFuture_, true)) [[unlikely]] {
      detail::reportSecondFuture();
    }
    state.retain();
    return detail::FutureAccess::make(&state);
  }

  // Gives the future a value, and makes it ready.
  // Returns: false if the promise was set before. Then nothing changes.
  // Memory ordering: a thread that finds the future ready sees what was written before the call.
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
  // As set_value(), but gives the future an exception.
  // Requires: `exception` is not null.
  bool set_exception(std::exception_ptr exception) {
    detail::assertException(exception);
    return set([&](detail::Outcome<T>& outcome) { outcome.error().set(std::move(exception)); });
  }
  // As set_exception(std::exception_ptr), with a temporary whose class derives from std::exception, such as
  // std::runtime_error("why"). A reference does not compile: a copy of it could lose a derived part. In a
  // catch block write set_exception(std::current_exception()). Without exceptions and run-time type
  // information the error becomes a std::runtime_error.
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

// Returns: a future that is ready, and has `value`. It is a future of a reference if `value` comes from
// std::ref() or std::cref().
template <class T>
Future<std::unwrap_ref_decay_t<T>> makeReadyFuture(T&& value) {
  using Result = std::unwrap_ref_decay_t<T>;
  return detail::makeReady<Result>([&](auto& outcome) { outcome.set(std::forward<T>(value)); });
}
inline Future<void> makeReadyFuture() {
  return detail::makeReady<void>([](auto&) {});
}
// Returns: a future that is ready, and has an exception. `error` is as for Promise::set_exception().
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

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
