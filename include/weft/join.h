// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/forkjoin/run_on.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

namespace detail {

// The part of one function in the result of join().
template <class R>
using JoinPart = std::conditional_t<std::is_void_v<R>, std::tuple<>, std::tuple<R>>;

template <class R, class Slot>
JoinPart<R> takePart([[maybe_unused]] Slot& result) {
  if constexpr (std::is_void_v<R>) {
    return {};
  } else {
    return JoinPart<R>(result.take());
  }
}

template <class... R>
using JoinResult = std::conditional_t<(std::is_void_v<R> && ...), void,
                                      decltype(std::tuple_cat(std::declval<JoinPart<R>>()...))>;

// Completes the children from kBegin on, and throws `first`, which an earlier function has thrown.
template <size_t kBegin, class... Children>
[[noreturn, gnu::cold, gnu::noinline]] void completeAndThrow(std::tuple<Children...>& children,
                                                             LocalDeque* local, LateException& first) {
  if constexpr (kBegin < sizeof...(Children)) {
    LateException dropped;
    if (!std::get<kBegin>(children).complete(local, dropped)) {
      dropped.drop();
    }
    detail::completeAndThrow<kBegin + 1>(children, local, first);
  } else {
    first.rethrow();
  }
}

// Completes the children from kBegin on. Then throws the first of their exceptions.
template <size_t kBegin, class... Children>
[[gnu::always_inline]] inline void completeAll(std::tuple<Children...>& children, LocalDeque* local) {
  if constexpr (kBegin < sizeof...(Children)) {
    LateException error;
    if (!std::get<kBegin>(children).complete(local, error)) [[unlikely]] {
      detail::completeAndThrow<kBegin + 1>(children, local, error);
    }
    detail::completeAll<kBegin + 1>(children, local);
  }
}

}  // namespace detail

// Calls functions, at the same time if workers are idle, and returns when all have returned. The caller's
// fiber or thread calls the first function. It also calls each other function, unless an idle worker takes
// that first.
//
//   long fib(int n) {
//     if (n < 2) return n;
//     auto [a, b] = weft::join([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
//     return a + b;
//   }
// A fork costs a few nanoseconds and no allocation, so functions may be small. If a function was taken and
// has not returned yet, the fiber suspends, and nothing else runs on this stack meanwhile. Without a bound
// scheduler these are plain calls, one after the other (docs/forkjoin.md). So no function may wait for what a
// later one does.
//
// A function that no worker takes is part of the task that calls join(). A function that was taken is a task
// of its own. Write functions that work both ways: a function must not lock what the caller holds, must
// unlock what it locks, may wait only for its own Fiber::current(), and may use only FiberLocals that it sets
// itself.
//
// While a loop only joins, no timer and no woken fiber of its thread has a turn. Call yield() in it now and
// then.
// Returns: a tuple of what the functions return, in their order, references included, without the functions
// that return nothing. Returns nothing if no function returns anything.
// Errors: once all have returned, throws the exception of the first argument that threw.
// Memory ordering: afterwards the caller sees what the functions have written.
// Lifetime: the functions are used in place, not copied.
//
// After Frigo, Leiserson and Randall, "The Implementation of the Cilk-5 Multithreaded Language" (PLDI 1998),
// with child stealing: the caller goes on with the first function, and idle workers take the others.
template <class F, class... Others>
auto join(F&& first, Others&&... others)
    -> detail::JoinResult<std::invoke_result_t<F>, std::invoke_result_t<Others>...> {
  using First = std::invoke_result_t<F>;
  detail::assertCallable(first, "join()");
  (detail::assertCallable(others, "join()"), ...);
  std::tuple<detail::Child<Others>...> children(others...);
  detail::LocalDeque* local = sizeof...(Others) != 0 ? detail::ownLocalDeque() : nullptr;
  // The newest child is called next; the oldest, which thieves take first, last.
  if (local != nullptr) [[likely]] {
    [&]<size_t... I>(std::index_sequence<I...>) {
      (local->fork(std::get<sizeof...(I) - 1 - I>(children)), ...);
    }(std::index_sequence_for<Others...>());
  }
  detail::ResultSlot<First, detail::LateValue> result;
  detail::LateException error;
  if (!error.capture([&] { result.emplace(std::forward<F>(first)); })) [[unlikely]] {
    detail::completeAndThrow<0>(children, local, error);
  }
  detail::completeAll<0>(children, local);

  constexpr bool kCanReturn =
      (detail::kCanBeResult<First> && ... && detail::kCanBeResult<std::invoke_result_t<Others>>);
  if constexpr (kCanReturn && !std::is_void_v<detail::JoinResult<First, std::invoke_result_t<Others>...>>) {
    return std::apply(
        [&](auto&... child) {
          return std::tuple_cat(detail::takePart<First>(result),
                                detail::takePart<std::invoke_result_t<Others>>(child.result())...);
        },
        children);
  }
}

// Calls join(first, others...) in a task of `executor`, and waits for that task. On a Scheduler or a
// PoolExecutor the workers share the functions. On other executors they are called one after the other. The
// caller's thread calls none of them, unless it is bound to that scheduler or runs the executor's tasks.
//
//   auto [a, b] = weft::join(weft::defaultExecutor(), [&] { return fib(30); }, [&] { return fib(29); });
// Requires: the executor needs neither the caller's thread nor what the caller holds, such as a lock.
// Errors: also what executor.schedule() throws, and TaskNotExecuted if the executor drops the task.
template <Executor E, class F, class... Others>
auto join(E&& executor, F&& first, Others&&... others)
    -> detail::JoinResult<std::invoke_result_t<F>, std::invoke_result_t<Others>...> {
  using Result = detail::JoinResult<std::invoke_result_t<F>, std::invoke_result_t<Others>...>;
  return detail::runOn(executor, [&]() -> Result {
    return weft::join(std::forward<F>(first), std::forward<Others>(others)...);
  });
}

template <class F, class... Others>
  requires(!Executor<F> && !(std::is_invocable_v<F> && ... && std::is_invocable_v<Others>))
void join(F&&, Others&&...) {
  static_assert(detail::kAlwaysFalse<F>,
                "join(f, g, ...): one of the functions cannot be called without arguments.");
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
