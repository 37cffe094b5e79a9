// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <initializer_list>
#include <stop_token>
#include <utility>

#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/for.h"
#include "weft/detail/parallel/partition.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Calls function(element) for each element of a range, on the caller's fiber or thread and on those of idle
// workers. The range is a container, two iterators or integers, an irange(), a list in braces, or a
// partitioner.
//
//   weft::parallelFor(0, image.height(), [&](int y) { render(image.row(y)); });
//   weft::parallelFor(names, [](std::string& name) { normalize(name); });
// The range is split while it runs, if a worker is idle and the rest is worth it (unless a partitioner
// changes that). A small loop costs next to nothing, and a long loop is shared, whatever its elements cost.
// Without a bound scheduler this is a plain loop. One thread calls the elements of a piece in their order.
// Suspends the fiber until all calls have returned, and runs nothing else on this stack meanwhile. Once a
// stop of `token` is requested, no more pieces begin, those that run are finished, and nothing is thrown.
// Requires: `function` may be called on several threads at the same time. No call waits for a later one.
// Errors: once a call throws, no more pieces begin. When those that run have ended, throws the exception of
// the first element, in the order of the range, whose call threw.
// Memory ordering: afterwards the caller sees what the calls have written.
// Lifetime: the range and the function are used in place, not copied.
template <detail::Partitionable Range, class F>
void parallelFor(Range&& range, F&& function, const std::stop_token& token = {}) {
  detail::forEachOf(detail::partition(std::forward<Range>(range)), function, token, "parallelFor");
}
template <detail::Endpoint Begin, class End, class F>
  requires(detail::Endpoint<End> || detail::Endpoints<Begin, End>)
void parallelFor(Begin begin, End end, F&& function, const std::stop_token& token = {}) {
  detail::forEachOf(detail::partition(begin, end), function, token, "parallelFor");
}
template <class T, class F>
void parallelFor(std::initializer_list<T> elements, F&& function, const std::stop_token& token = {}) {
  detail::forEachOf(detail::partition(elements), function, token, "parallelFor");
}

// Runs the loop in a task of `executor`, and waits for that task. The workers of a Scheduler or a
// PoolExecutor share the loop. On other executors it is a plain loop. All parallel algorithms may be given an
// executor.
//
//   weft::parallelFor(weft::defaultExecutor(), 0, image.height(), [&](int y) { render(image.row(y)); });
// If the caller's thread is bound to that scheduler, it takes part.
// Requires: the executor needs neither the caller's thread nor what the caller holds, such as a lock.
// Errors: also what executor.schedule() throws, and TaskNotExecuted if the executor drops the task.
template <Executor E, class... Args>
auto parallelFor(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelFor(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelFor(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelFor(elements, std::forward<Args>(args)...); });
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelFor(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
