// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/cancellation.h"
#include "weft/debug.h"
#include "weft/detail/future_handle.h"
#include "weft/detail/outcome.h"
#include "weft/detail/task_state.h"
#include "weft/executor.h"

// The functions that tasks run, and what starts them.
namespace weft::detail {

// The body of async().
template <class F>
struct Call {
  using Returned = typename Unwrapped<std::invoke_result_t<F>>::Returned;

  void run(Outcome<Returned>& outcome) {
    outcome.capture([&]() -> Returned { return std::invoke(std::move(function)); });
  }

  F function;
};

// The same, with a stop token, which the function may take.
template <class F>
struct StoppableCall {
  static constexpr bool kTakesToken = std::is_invocable_v<F, std::stop_token>;
  using Returned =
      typename Unwrapped<typename std::conditional_t<kTakesToken, std::invoke_result<F, std::stop_token>,
                                                     std::invoke_result<F>>::type>::Returned;

  void run(Outcome<Returned>& outcome) {
    if (token.stop_requested()) {
      outcome.error().set(TaskCanceled());
      return;
    }
    outcome.capture([&]() -> Returned {
      if constexpr (kTakesToken) {
        return std::invoke(std::move(function), std::move(token));
      } else {
        return std::invoke(std::move(function));
      }
    });
  }

  F function;
  std::stop_token token;
};

enum class ContinuationForm { Value, Whole, Nothing, None };

// How `F` may be called with a Future<T> or a SharedFuture<T> that is ready, the first way that is possible.
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

// The body of then(): `function` gets what `parent` has become.
template <class F, class ParentFuture, class Value, class E>
struct Continuation {
  using Parent = ParentFuture;
  static constexpr ContinuationForm kForm = continuationForm<F, Parent, Value>();

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

  bool passesErrorOn(EscapedException& to) {
    if constexpr (kForm != ContinuationForm::Whole) {
      if constexpr (std::is_copy_constructible_v<Parent>) {
        to = FutureAccess::error(parent);
      } else {
        to = std::move(FutureAccess::error(parent));
      }
    }
    return static_cast<bool>(to);
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
  Parent parent;
  E executor;
};

// Where then(f) without an executor runs: on the scheduler that is bound to the thread that makes the future
// ready, else on the default executor.
struct BoundOrDefaultExecutor {
  void schedule(TaskHandle task) const {
    auto* node = static_cast<TaskNode*>(task.toVoidPointer());
    if (!scheduleIfBound(node)) {
      defaultExecutor().schedule(TaskHandleAccess::make(node));
    }
  }
};

// An executor that was given as an lvalue.
template <class E>
struct ExecutorPointer {
  void schedule(TaskHandle task) const { executor->schedule(std::move(task)); }

  E* executor;
};

template <class E>
auto keepExecutor(E&& executor) {
  if constexpr (std::is_lvalue_reference_v<E>) {
    return ExecutorPointer<std::remove_reference_t<E>>{std::addressof(executor)};
  } else {
    return std::remove_cvref_t<E>(std::forward<E>(executor));
  }
}

// What is returned where a static_assert has failed, so that nothing else is said: a type that is complete
// once it is asked for.
template <class>
struct Instead {
  using Type = Future<void>;
};

// The first argument of async(E, F) and then(E, F). Each mistake gets one error, which says what to write.
template <class E, class F>
constexpr bool assertExecutor() {
  constexpr bool kIsToken = std::same_as<std::remove_cvref_t<E>, std::stop_token>;
  constexpr bool kIsFunction = !Executor<E> && !kIsToken && std::is_invocable_v<std::decay_t<E>, F>;
  static_assert(
      !kIsToken,
      "then() takes no stop token. Write then([token](...) { ... }), and ask the token in the function.");
  static_assert(!kIsFunction,
                "async() and then() take no arguments for the function. Let it capture them: write "
                "async([=] { return f(argument); }).");
  static_assert(Executor<E> || kIsToken || kIsFunction,
                "the first argument is no executor: weft::async(executor, f) and then(executor, f) take an "
                "object that has a member function schedule(weft::TaskHandle)");
  return Executor<E>;
}

// `kCanBeCalled`: the function can.
template <bool kCanBeCalled>
constexpr bool assertFunction() {
  static_assert(
      kCanBeCalled,
      "async(f): f cannot be called without arguments, and with a stop token only where async() gets "
      "one before it. Write async([=] { return f(argument); }).");
  return kCanBeCalled;
}

// Has a new task run by `executor`. Returns: its future.
template <class Body, class E, class... Args>
auto launch(E&& executor, Args&&... args) {
  auto* state = makeState<TaskState<Body>>(std::forward<Args>(args)...);
  auto future = FutureAccess::make(state);
  executor.schedule(TaskHandleAccess::make(state));
  return future;
}

// async().
template <class E, class F>
auto launchCall(E&& executor, F&& function) {
  using Function = std::decay_t<F>;
  if constexpr (!assertExecutor<E, F>()) {
    return typename Instead<F>::Type();
  } else if constexpr (!assertFunction<std::is_invocable_v<Function>>()) {
    return typename Instead<F>::Type();
  } else {
    return launch<Call<Function>>(executor, std::forward<F>(function));
  }
}
template <class E, class F>
auto launchStoppable(E&& executor, std::stop_token token, F&& function) {
  using Function = std::decay_t<F>;
  constexpr bool kCanBeCalled =
      std::is_invocable_v<Function> || std::is_invocable_v<Function, std::stop_token>;
  if constexpr (!assertExecutor<E, F>()) {
    return typename Instead<F>::Type();
  } else if constexpr (!assertFunction<kCanBeCalled>()) {
    return typename Instead<F>::Type();
  } else {
    return launch<StoppableCall<Function>>(executor, std::forward<F>(function), std::move(token));
  }
}

// For the end of a promise.
template <class T>
void abandon(PlainState<T>* state) noexcept {
  if (state != nullptr && state->word.claim()) {
    setBroken(state->outcome.error());
    state->complete();
  } else if (state != nullptr) {
    state->release();
  }
}

inline void assertException(const EscapedException::Pointer& exception) {
  WEFT_ASSERT(exception != nullptr,
              "a future was to be given a null exception. Give it a value, or an exception.");
}

template <class T, class F>
auto makeReady(const F& write) {
  auto* state = makeState<PlainState<T>>(2u);
  auto future = FutureAccess::make(state);
  write(state->outcome);
  state->complete();
  return future;
}

// What Future and SharedFuture have in common, beside the handle.
template <class Self, class T>
class FutureBase : public FutureHandle {
 public:
#if !defined(WEFT_NO_EXCEPTIONS)
  // As wait(). Returns: the exception that get() would throw, or null.
  std::exception_ptr exception() const {
    wait();
    return FutureAccess::outcome<T>(*this).error().pointer();
  }
#endif

 protected:
  FutureBase() noexcept = default;
  explicit FutureBase(FutureCore* state) noexcept : FutureHandle(state) {}
  explicit FutureBase(FutureHandle&& other) noexcept : FutureHandle(std::move(other)) {}

  // Has function(...) run by `executor` once this future is ready, which it takes over.
  template <class Value, class E, class F>
  static auto chain(Self&& self, E&& executor, F&& function) {
    using Function = std::decay_t<F>;
    constexpr bool kCanBeCalled = continuationForm<Function, Self, Value>() != ContinuationForm::None;
    constexpr bool kHasExecutor = assertExecutor<E, F>();
    static_assert(kCanBeCalled || !kHasExecutor,
                  "then(f): f can be called with neither the value, nor the future, nor nothing.");
    if constexpr (kHasExecutor && kCanBeCalled) {
      FutureCore& parent = self.core("then");
      auto kept = keepExecutor(std::forward<E>(executor));
      using State = TaskState<Continuation<Function, Self, Value, decltype(kept)>>;
      State* state = makeState<State>(std::forward<F>(function), std::move(self), std::move(kept));
      auto future = FutureAccess::make(state);
      parent.tellWhenReady(*state);
      return future;
    } else {
      return Self();
    }
  }
};

}  // namespace weft::detail
