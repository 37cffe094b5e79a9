// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/future/continuation.h"
#include "weft/detail/future/launch.h"
#include "weft/detail/future/task_state.h"

// The tasks that recover() and onError() make.
namespace weft::inline v0_1::detail {

// What becomes of an error: for recover(), the function's result takes its place; for onError(), it is passed
// on.
enum class ErrorUse { Recover, Notice };

// The result of a function that takes an error, or nothing.
template <class F>
using ErrorResult =
    typename std::conditional_t<std::is_invocable_v<F, std::exception_ptr>,
                                std::invoke_result<F, std::exception_ptr>, std::invoke_result<F>>::type;

// The body of recover() and onError(): `function` gets the error of `parent`, a future of a `T`.
template <class F, class ParentFuture, class T, class E, ErrorUse kUse>
struct ErrorContinuation {
  using Parent = ParentFuture;
  using FromFunction = Unwrapped<ErrorResult<F>>;
  using Returned = std::conditional_t<kUse == ErrorUse::Recover && FromFunction::kIsFuture,
                                      typename FromFunction::Returned, T>;

  // (A constructor for the reason that Continuation has one.)
  template <class From>
  ErrorContinuation(From&& f, E&& where, Parent&& source)
      : function(std::forward<From>(f)), executor(std::move(where)), parent(std::move(source)) {}

  bool passesOn(Outcome<T>& to) {
    const bool hasValue = !FutureAccess::error(parent);
    if (hasValue) {
      Unwrapped<Parent>::take(to, parent);
    }
    return hasValue;
  }

  void run(Outcome<Returned>& outcome) {
    const std::exception_ptr error = FutureAccess::error(parent).pointer();
    if constexpr (kUse == ErrorUse::Recover) {
      outcome.capture([&]() -> Returned { return call(error); });
    } else {
      outcome.error().capture([&] { static_cast<void>(call(error)); });
      if (!outcome.error()) {
        outcome.error().set(error);
      }
    }
  }

  decltype(auto) call(const std::exception_ptr& error) {
    if constexpr (std::is_invocable_v<F, std::exception_ptr>) {
      return std::invoke(std::move(function), error);
    } else {
      return std::invoke(std::move(function));
    }
  }

  F function;
  E executor;
  Parent parent;  // the last: see Continuation
};

template <class F, class Parent, class T, class E>
using Recovery = ErrorContinuation<F, Parent, T, E, ErrorUse::Recover>;
template <class F, class Parent, class T, class E>
using ErrorNotice = ErrorContinuation<F, Parent, T, E, ErrorUse::Notice>;

// Whether `R`, which a function given to recover() returns, can become the result of a Future<T>.
template <class T, class R>
constexpr bool recoversAs() {
  if constexpr (Unwrapped<R>::kIsFuture) {
    return std::same_as<typename Unwrapped<R>::Result, T>;
  } else if constexpr (std::is_void_v<T> || std::is_void_v<R>) {
    return std::is_void_v<T> && std::is_void_v<R>;
  } else {
    return std::is_convertible_v<R, T> && !kBindsToTemporary<T, R>;
  }
}

// Checks the function of recover() and onError().
template <ErrorUse kUse, class F, class T>
constexpr bool assertTakesError() {
  constexpr bool kCanBeCalled = std::is_invocable_v<F, std::exception_ptr> || std::is_invocable_v<F>;
  static_assert(kCanBeCalled,
                "recover(f) and onError(f): f can be called neither with a std::exception_ptr nor with "
                "nothing. Write [](std::exception_ptr error) { ... }.");
  if constexpr (!kCanBeCalled) {
    return false;
  } else if constexpr (kUse == ErrorUse::Recover) {
    constexpr bool kFits = detail::recoversAs<T, ErrorResult<F>>();
    static_assert(kFits,
                  "recover(f): f takes the place of the task, so it must return what converts to the "
                  "future's type, or a future of that type.");
    return kFits;
  } else {
    constexpr bool kIsAwaited = !Unwrapped<ErrorResult<F>>::kIsFuture;
    static_assert(kIsAwaited,
                  "onError(f) does not wait for a future that f returns. Let f return nothing, or write "
                  "recover(f), whose f returns a future that throws.");
    return kIsAwaited;
  }
}

// Checks that the value of a SharedFuture<T>, which others may read too, can be passed on.
template <class Self, class T>
constexpr bool assertValueGoesOn() {
  constexpr bool kGoesOn = !std::is_copy_constructible_v<Self> || std::is_void_v<T> ||
                           std::is_reference_v<T> || std::is_copy_constructible_v<T>;
  static_assert(
      kGoesOn,
      "recover(), onError() and within() of a SharedFuture copy the value, and a value of this type "
      "cannot be copied. Call them on the Future before share().");
  return kGoesOn;
}

// recover() of a future of a `T`, or onError().
template <ErrorUse kUse, class T, class Self, class E, class F>
auto chainOnError(Self&& self, E&& executor, F&& function) {
  if constexpr (!detail::assertExecutor<E, F>()) {
    return Future<T>();
  } else if constexpr (!detail::assertTakesError<kUse, std::decay_t<F>, T>()) {
    return Future<T>();
  } else if constexpr (!detail::assertKept<F>() || !detail::assertValueGoesOn<Self, T>()) {
    return Future<T>();
  } else if constexpr (kUse == ErrorUse::Recover) {
    return detail::chainBody<Recovery, T>("recover", "Future::recover()", std::forward<Self>(self),
                                          std::forward<E>(executor), std::forward<F>(function));
  } else {
    return detail::chainBody<ErrorNotice, T>("onError", "Future::onError()", std::forward<Self>(self),
                                             std::forward<E>(executor), std::forward<F>(function));
  }
}

}  // namespace weft::inline v0_1::detail
