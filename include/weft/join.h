// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/detail/fork/fork.h"
#include "weft/detail/fork/run_on.h"
#include "weft/executor.h"

namespace weft {

namespace detail {

// A function's part in what join() returns.
template <class R>
struct JoinPart {
  using type = std::tuple<R>;
  static type take(Outcome<R>& outcome) { return type(outcome.take()); }
};
template <class R>
  requires std::is_void_v<R>
struct JoinPart<R> {
  using type = std::tuple<>;
  static type take(Outcome<R>&) { return {}; }
};

template <class... R>
using JoinResult =
    std::conditional_t<(std::is_void_v<R> && ...), void,
                       decltype(std::tuple_cat(std::declval<typename JoinPart<R>::type>()...))>;

}  // namespace detail

// Calls all functions, and returns when all have returned: the first on the caller's fiber or thread, and
// each of the others there too unless an idle worker takes it first.
//
//   long fib(int n) {
//     if (n < 2) return n;
//     auto [a, b] = weft::join([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
//     return a + b;
//   }
//
// A fork costs a few nanoseconds and no allocation, so that functions may be small. Suspends the fiber if a
// function was taken and has not returned yet; runs nothing else on this stack meanwhile. Where no scheduler
// is bound these are plain calls (docs/forkjoin.md says why), and so they are beyond some four thousand forks
// that one thread has not joined yet: no function may wait for what a later one does.
//
// A function that nobody takes is a plain call, part of the task that calls join(); one that was taken is a
// task of its own. So no function may depend on which it is: it locks no lock that the caller holds, unlocks
// what it locks, waits for its own Fiber::current() only, and uses FiberLocals that it sets itself. A loop
// that only joins is a loop of plain calls: nothing else of its thread runs meanwhile, no timer and no fiber
// that was woken, until it suspends; yield() now and then lets them.
//
// Returns: a tuple of what the functions return, in their order, references included, without those that
// return nothing; nothing where none returns anything. Errors: the exception that a function lets escape is
// thrown here, once all have returned; where several throw, that of the first of them in the order of the
// arguments.
// Memory ordering: what a function has written is seen afterwards. Lifetime: the functions are used where
// they are.
//
// After Frigo, Leiserson and Randall, "The Implementation of the Cilk-5 Multithreaded Language" (PLDI 1998),
// with child stealing: the caller goes on with the first function, and others take the rest.
template <class F, class... Others>
auto join(F&& first, Others&&... others)
    -> detail::JoinResult<std::invoke_result_t<F>, std::invoke_result_t<Others>...> {
  using First = std::invoke_result_t<F>;
  detail::Outcome<First> outcome;
  std::tuple<detail::Child<Others>...> children(others...);
  detail::ForkLane* lane = sizeof...(Others) != 0 ? detail::forkLane() : nullptr;
  const auto forEach = [&]<size_t... I>(std::index_sequence<I...>, auto&& function) {
    (function(std::get<I>(children)), ...);
  };
  const auto forEachBackwards = [&]<size_t... I>(std::index_sequence<I...>, auto&& function) {
    (function(std::get<sizeof...(I) - 1 - I>(children)), ...);
  };
  constexpr std::index_sequence_for<Others...> all;

  // The newest is the next to be called, and the oldest, which others take first, the last.
  forEachBackwards(all, [&](auto& child) { child.expose(lane); });
  if (lane != nullptr) [[likely]] {
    lane->announce();
  }
  outcome.capture([&]() -> First { return std::forward<F>(first)(); });
  forEach(all, [&](auto& child) { child.complete(lane); });

  outcome.rethrow();
  forEach(all, [](auto& child) { child.outcome().rethrow(); });
  if constexpr (!std::is_void_v<detail::JoinResult<First, std::invoke_result_t<Others>...>>) {
    return std::apply(
        [&](auto&... child) {
          return std::tuple_cat(detail::JoinPart<First>::take(outcome),
                                detail::JoinPart<std::invoke_result_t<Others>>::take(child.outcome())...);
        },
        children);
  }
}

// The same as a task of `executor`, while the caller waits: on a Scheduler or a PoolExecutor the workers
// share the functions; on an executor of other threads they are called one after the other. The caller's
// thread calls none of them, unless it is bound to that scheduler or runs the executor's tasks.
//
//   auto [a, b] = weft::join(weft::defaultExecutor(), [&] { return fib(30); }, [&] { return fib(29); });
//
// Errors: also what executor.schedule() throws, and TaskNotExecuted where the executor drops the task.
// Requires: the executor needs neither the caller's thread nor anything that the caller holds.
template <Executor E, class F, class... Others>
auto join(E&& executor, F&& first, Others&&... others)
    -> detail::JoinResult<std::invoke_result_t<F>, std::invoke_result_t<Others>...> {
  using Result = detail::JoinResult<std::invoke_result_t<F>, std::invoke_result_t<Others>...>;
  return detail::runOn(executor, [&]() -> Result {
    return weft::join(std::forward<F>(first), std::forward<Others>(others)...);
  });
}

// Functions one of which cannot be called.
template <class F, class... Others>
  requires(!Executor<F> && !(std::is_invocable_v<F> && ... && std::is_invocable_v<Others>))
void join(F&&, Others&&...) {
  static_assert((std::is_invocable_v<F> && ... && std::is_invocable_v<Others>),
                "join(f, g, ...): one of the functions cannot be called without arguments.");
}

}  // namespace weft
