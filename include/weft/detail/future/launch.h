// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/cancellation.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/future/task_state.h"
#include "weft/executor.h"

// async(): the bodies of its tasks, their start, and the messages for misuse.
namespace weft::inline v0_1::detail {

// The body of async().
template <class F>
struct Call {
  using Returned = typename Unwrapped<std::invoke_result_t<F>>::Returned;

  void run(Outcome<Returned>& outcome) {
    outcome.capture([&]() -> Returned { return std::invoke(std::move(function)); });
  }

  F function;
};

// A Call with a stop token, which the function may take.
template <class F>
struct StoppableCall {
  static constexpr bool kTakesToken = std::is_invocable_v<F, std::stop_token>;
  using Returned =
      typename Unwrapped<typename std::conditional_t<kTakesToken, std::invoke_result<F, std::stop_token>,
                                                     std::invoke_result<F>>::type>::Returned;

  void run(Outcome<Returned>& outcome) {
    if (token.stop_requested()) {
      detail::setCanceled(outcome.error());
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

// The executor of a then(f) without one: the bound scheduler, or else the default executor.
struct BoundOrDefaultExecutor {
  void schedule(TaskHandle task) const {
    auto* node = static_cast<TaskNode*>(task.toVoidPointer());
    if (!scheduleIfBound(node)) {
      TaskHandle again = TaskHandleAccess::make(node);  // which outlives what defaultExecutor() may throw
      defaultExecutor().schedule(std::move(again));
    }
  }
};

// Returned after a failed static_assert, so that there is no further error: complete once it is asked for.
template <class>
struct Instead {
  using Type = Future<void>;
};

template <bool kHasNone>
constexpr void assertNoArguments() {
  static_assert(kHasNone,
                "async() and then() take no arguments for the function. "
                "Let it capture them: write async([=] { return f(argument); }).");
}

// Checks the first argument of async(E, Args...) and then(E, F). Each mistake has one error.
template <class E, class... Args>
constexpr bool assertExecutor() {
  constexpr bool kIsToken = std::same_as<std::remove_cvref_t<E>, std::stop_token>;
  constexpr bool kIsFunction = !Executor<E> && !kIsToken && std::is_invocable_v<std::decay_t<E>, Args...>;
  static_assert(!kIsToken,
                "then() takes no stop token. "
                "Write then([token](...) { ... }), and ask the token in the function.");
  detail::assertNoArguments<!kIsFunction>();
  static_assert(Executor<E> || kIsToken || kIsFunction,
                "the first argument is no executor: weft::async(executor, f) and then(executor, f) "
                "take an object that has a member function schedule(weft::TaskHandle)");
  return Executor<E>;
}

template <bool kCanBeCalled>
constexpr bool assertFunction() {
  static_assert(kCanBeCalled,
                "async(f): f cannot be called without arguments. "
                "It may take a stop token only if async() is given one before f. "
                "Write async([=] { return f(argument); }).");
  return kCanBeCalled;
}

// Has `executor` run a new task. Returns: its future.
template <class Body, class E, class... Args>
[[gnu::always_inline]] inline auto launch(E&& executor, Args&&... args) {
  auto* state = detail::makeState<TaskState<Body>>(std::forward<Args>(args)...);
  auto future = FutureAccess::make(state);
  executor.schedule(TaskHandleAccess::make(state));
  return future;
}

// `token`: a std::stop_token, or nothing.
template <class E, class F, class... Token>
auto launchCall(E&& executor, F&& function, Token... token) {
  using Function = std::decay_t<F>;
  constexpr bool kCanBeCalled = std::is_invocable_v<Function> || std::is_invocable_v<Function, Token...>;
  if constexpr (!detail::assertExecutor<E, Token..., F>()) {
    return typename Instead<F>::Type();
  } else if constexpr (!detail::assertFunction<kCanBeCalled>()) {
    return typename Instead<F>::Type();
  } else if constexpr (!detail::assertKept<F>()) {
    return typename Instead<F>::Type();
  } else {
    using Body = std::conditional_t<sizeof...(Token) == 0, Call<Function>, StoppableCall<Function>>;
    detail::assertCallable(function, "async()");
    return detail::launch<Body>(executor, std::forward<F>(function), std::move(token)...);
  }
}

}  // namespace weft::inline v0_1::detail
