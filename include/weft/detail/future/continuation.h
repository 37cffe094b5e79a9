// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/future/handle.h"
#include "weft/detail/future/launch.h"
#include "weft/detail/future/task_state.h"
#include "weft/executor.h"

// The tasks that then() makes, and the common part of futures.
namespace weft::inline v0_1::detail {

enum class ContinuationForm { Value, Whole, Nothing, None };

// The first possible way to call `F` with a ready Future<T> or SharedFuture<T>.
template <class F, class Future, class Value>
constexpr ContinuationForm continuationForm() {
  if constexpr (!std::is_void_v<Value> && std::is_invocable_v<F, std::add_rvalue_reference_t<Value>>) {
    return ContinuationForm::Value;
  } else if constexpr (std::is_void_v<Value> && std::is_invocable_v<F>) {
    return ContinuationForm::Nothing;
  } else if constexpr (std::is_invocable_v<F, Future>) {
    return ContinuationForm::Whole;
  } else {
    return std::is_invocable_v<F> ? ContinuationForm::Nothing : ContinuationForm::None;
  }
}

// The body of then(): `function` gets the outcome of `parent`.
template <class F, class ParentFuture, class Value, class E>
struct Continuation {
  using Parent = ParentFuture;
  static constexpr ContinuationForm kForm = detail::continuationForm<F, Parent, Value>();

  static auto returned() {
    if constexpr (kForm == ContinuationForm::Whole) {
      return std::type_identity<std::invoke_result_t<F, Parent>>();
    } else if constexpr (kForm == ContinuationForm::Value) {
      return std::type_identity<std::invoke_result_t<F, std::add_rvalue_reference_t<Value>>>();
    } else {
      return std::type_identity<std::invoke_result_t<F>>();
    }
  }
  using Returned = typename Unwrapped<typename decltype(returned())::type>::Returned;

  // (gcc before version 12 leaks the members of an aggregate of which a later one throws.)
  template <class From>
  Continuation(From&& f, E&& where, Parent&& source)
      : function(std::forward<From>(f)), executor(std::move(where)), parent(std::move(source)) {}

  template <class Result>
  bool passesOn(Outcome<Result>& to) {
    if constexpr (kForm != ContinuationForm::Whole) {
      if constexpr (std::is_copy_constructible_v<Parent>) {
        to.error() = FutureAccess::error(parent);
      } else {
        to.error() = std::move(FutureAccess::error(parent));
      }
    }
    return static_cast<bool>(to.error());
  }

  void run(Outcome<Returned>& outcome) {
    outcome.capture([&]() -> Returned {
      if constexpr (kForm == ContinuationForm::Whole) {
        return std::invoke(std::move(function), std::move(parent));
      } else if constexpr (kForm == ContinuationForm::Value) {
        return std::invoke(std::move(function), parent.get());
      } else {
        return std::invoke(std::move(function));
      }
    });
  }

  F function;
  E executor;
  Parent parent;  // the last, so that an exception of the others' moves leaves the future where it was
};

// A program's own executor, as a variable.
template <class E>
struct ExecutorPointer {
  void schedule(TaskHandle task) const { executor->schedule(std::move(task)); }

  E* executor;
};

// Whether E is `Own`, or a derived class that schedules as it does, such as marl::Scheduler.
template <class E, class Own>
concept SchedulesAs = std::derived_from<E, Own> && requires {
  { &E::schedule } -> std::same_as<void (Own::*)(TaskHandle)>;
};

// Executors that keep nothing alive: weft's own, which leave a link behind; references; stateless types.
template <class E>
inline constexpr bool kIsLinked =
    SchedulesAs<E, Scheduler> || SchedulesAs<E, PoolExecutor> || SchedulesAs<E, MainLoopExecutor>;
template <class E>
inline constexpr bool kIsCopied =
    std::derived_from<E, ExecutorReference> || (std::is_empty_v<E> && std::is_trivially_copyable_v<E>);

template <class E>
auto keepExecutor(E&& executor) {
  using Kept = std::remove_cvref_t<E>;
  if constexpr (kIsLinked<Kept>) {
    return ExecutorAccess::keep(executor);
  } else if constexpr (std::is_lvalue_reference_v<E> && !kIsCopied<Kept>) {
    return ExecutorPointer<std::remove_reference_t<E>>{std::addressof(executor)};
  } else {
    return Kept(std::forward<E>(executor));
  }
}

// At the end of a promise.
template <class T>
void abandon(PlainState<T>* state) noexcept {
  if (state != nullptr && state->word.claim()) {
    detail::setBroken(state->outcome.error());
    state->complete();
  } else if (state != nullptr) {
    state->release();
  }
}

inline void assertException(const std::exception_ptr& exception) {
  WEFT_ASSERT(exception != nullptr, "a future was given a null exception. Give it a value, or an exception.");
}

// Checks the argument of set_exception() and makeExceptionalFuture(), which must be a temporary.
template <class Error>
constexpr bool assertError() {
  constexpr bool kIsException = std::derived_from<std::remove_cvref_t<Error>, std::exception>;
  constexpr bool kIsWhole = !std::is_lvalue_reference_v<Error> || std::is_final_v<std::remove_cvref_t<Error>>;
  static_assert(kIsException,
                "set_exception() and makeExceptionalFuture() take a std::exception_ptr, "
                "or an object whose class derives from std::exception. "
                "Write set_exception(std::make_exception_ptr(error)).");
  static_assert(
      kIsWhole || !kIsException,
      "set_exception() and makeExceptionalFuture() "
      "take no reference to an exception, of which only the part that the type names would be copied. "
      "In a catch block write set_exception(std::current_exception()). "
      "Elsewhere give a temporary, or a std::exception_ptr.");
  return kIsException && kIsWhole;
}

// Whether a T& made of a U refers to a temporary: to the U itself, or to what a conversion makes of it. Not
// so if a conversion function of U gives a reference.
template <class T, class U>
inline constexpr bool kBindsToTemporary = false;
template <class T, class U>
inline constexpr bool kBindsToTemporary<const T&, U> =
    !(std::is_lvalue_reference_v<U> &&
      std::is_convertible_v<std::add_pointer_t<std::remove_reference_t<U>>, const T*>) &&
    !std::is_convertible_v<U, T&> && !requires { std::declval<U>().operator const T&(); };

// Whether a Promise<T> may be set to these. An immovable T counts: its Outcome has the message.
template <class T, class... Args>
inline constexpr bool kIsValue = std::is_void_v<T> && sizeof...(Args) == 0;
template <class T, class U>
inline constexpr bool kIsValue<T, U> =
    !std::is_void_v<T> && (std::is_convertible_v<U, T> || !kCanBeResult<T>);

template <class T, class F>
auto makeReady(const F& write) {
  auto* state = detail::makeState<PlainState<T>>(2u);
  auto future = FutureAccess::make(state);
  write(state->outcome);
  state->complete();
  return future;
}

// Has `executor` run a `Body` with the function and the future `self`, once that is ready. Takes `self` over
// when all memory is allocated. `name` is that of the member function, and `where` names it in full.
// Returns: the future of what the body makes.
template <template <class, class, class, class> class Body, class Value, class Self, class E, class F>
auto chainBody(const char* name, const char* where, Self&& self, E&& executor, F&& function) {
  FutureCore& parent = FutureAccess::checkedCore(self, name);
  detail::assertCallable(function, where);
  auto kept = detail::keepExecutor(std::forward<E>(executor));
  using State = TaskState<Body<std::decay_t<F>, Self, Value, decltype(kept)>>;
  State* state = detail::makeState<State>(std::forward<F>(function), std::move(kept), std::move(self));
  auto future = FutureAccess::make(state);
  parent.tellWhenReady(*state);
  return future;
}

// The common part of Future and SharedFuture, besides the handle.
template <class Self, class T>
class FutureBase : public FutureHandle {
 public:
  // See Future.
  std::exception_ptr exception() const {
    wait();
    return FutureAccess::outcome<T>(*this).error().pointer();
  }
  bool failed() const {
    return core("failed").isReady() && static_cast<bool>(FutureAccess::outcome<T>(*this).error());
  }

 protected:
  FutureBase() noexcept = default;
  explicit FutureBase(FutureCore* state) noexcept : FutureHandle(state) {}
  explicit FutureBase(FutureHandle&& other) noexcept : FutureHandle(std::move(other)) {}

  // Has `executor` run function(...), which takes the future over, once this future is ready.
  template <class Value, class E, class F>
  static auto chain(Self&& self, E&& executor, F&& function) {
    using Function = std::decay_t<F>;
    constexpr bool kCanBeCalled = detail::continuationForm<Function, Self, Value>() != ContinuationForm::None;
    constexpr bool kHasExecutor = detail::assertExecutor<E, F>();
    static_assert(kCanBeCalled || !kHasExecutor,
                  "then(f): f can be called with neither the value, nor the future, nor nothing.");
    if constexpr (!kHasExecutor || !kCanBeCalled) {
      return Self();
    } else if constexpr (!detail::assertKept<F>()) {
      return Self();
    } else {
      return detail::chainBody<Continuation, Value>("then", "Future::then()", std::move(self),
                                                    std::forward<E>(executor), std::forward<F>(function));
    }
  }
};

}  // namespace weft::inline v0_1::detail
