// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <cstddef>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/scheduler.h"
#include "weft/waitgroup.h"

namespace weft {

// Calls all functions, at the same time where there are threads for it: the first on the caller's fiber or
// thread, each of the others as a task. Suspends the fiber, or blocks the thread, until all have returned.
//
//   weft::parallelize([&] { sort(left); }, [&] { sort(right); });
//
// Requires: a scheduler that is bound to the calling thread, unless there is one function only.
// Errors: an exception that a function lets escape is thrown here, once all have returned; where several
// throw, that of the first of them in the order of the arguments, and the others' are dropped. Memory
// ordering: what a function has written is seen afterwards. Lifetime: the functions are used where they are,
// and not copied.
template <class F0, class... FN>
void parallelize(F0&& first, FN&&... others) {
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

}  // namespace weft
