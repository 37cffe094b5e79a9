// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/outcome.h"
#include "weft/scheduler.h"
#include "weft/waitgroup.h"

namespace weft::inline v0_1 {

// Calls functions at the same time, if there are threads for it, and waits until all have returned. The first
// is called on the caller's fiber or thread, each other one in a task. Suspends the fiber, or blocks the
// thread.
//
//   weft::parallelize([&] { sort(left); }, [&] { sort(right); });
// Requires: a scheduler is bound to the calling thread, unless there is only one function.
// Errors: once all have returned, throws the exception of the first argument that threw.
// Memory ordering: afterwards the caller sees what the functions have written.
// Lifetime: the functions are used in place, not copied.
template <class F0, class... FN>
  requires(std::is_invocable_v<F0> && ... && std::is_invocable_v<FN>)
void parallelize(F0&& first, FN&&... others) {
  detail::assertCallable(first, "parallelize()");
  (detail::assertCallable(others, "parallelize()"), ...);
  detail::EscapedException exceptions[1 + sizeof...(FN)];
  const WaitGroup done(sizeof...(FN));
  [[maybe_unused]] detail::EscapedException* exception = exceptions;
  (weft::schedule([&done, &others, &own = *++exception] {
     own.capture([&] { std::forward<FN>(others)(); });
     done.done();
   }),
   ...);
  exceptions[0].capture([&] { std::forward<F0>(first)(); });
  done.wait();
  for (detail::EscapedException& each : exceptions) {
    each.rethrow();
  }
}

template <class F0, class... FN>
  requires(!(std::is_invocable_v<F0> && ... && std::is_invocable_v<FN>))
void parallelize(F0&&, FN&&...) {
  static_assert(detail::kAlwaysFalse<F0>,
                "parallelize(f, g, ...): one of the functions cannot be called without arguments.");
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
