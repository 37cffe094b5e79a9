// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <initializer_list>
#include <utility>

#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/count.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/stop.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Counts the elements of a range of which `predicate` is true.
//
//   const size_t numDue = weft::parallelCountIf(bills, [](const Bill& bill) { return bill.isDue(); });
// Range, splitting, suspension, errors and lifetimes are those of parallelFor().
// Requires: `predicate` may be called on several threads at the same time.
template <detail::Partitionable Range, class Predicate>
size_t parallelCountIf(Range&& range, Predicate&& predicate) {
  return detail::countIn(detail::partition(std::forward<Range>(range)), predicate);
}
template <detail::Endpoint Begin, class End, class Predicate>
  requires(detail::Endpoint<End> || detail::Endpoints<Begin, End>)
size_t parallelCountIf(Begin begin, End end, Predicate&& predicate) {
  return detail::countIn(detail::partition(begin, end), predicate);
}
template <class T, class Predicate>
size_t parallelCountIf(std::initializer_list<T> elements, Predicate&& predicate) {
  return detail::countIn(detail::partition(elements), predicate);
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelCountIf(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

template <class... Args>
  requires(detail::StopToken<Args> || ...)
void parallelCountIf(Args&&...) {
  detail::assertNoStopToken<Args...>();
}

// Calls parallelCountIf(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelCountIf(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelCountIf(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelCountIf(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor,
                       [&] { return weft::parallelCountIf(elements, std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
