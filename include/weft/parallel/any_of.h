// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <initializer_list>
#include <stop_token>
#include <utility>

#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/find.h"
#include "weft/detail/parallel/partition.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Tells whether `predicate` is true of any element of a range.
//
//   if (weft::parallelAnyOf(boxes, [&](const Box& box) { return box.contains(point); })) {
//     select(point);
//   }
// Range, splitting, suspension, errors and lifetimes are those of parallelFor(). Once a call returns true, no
// more pieces begin, and those that run end early.
// Returns: false for an empty range. After a stop of `token`, false may mean that no call has returned true
// yet.
// Requires: `predicate` may be called on several threads at the same time.
template <detail::Partitionable Range, class Predicate>
bool parallelAnyOf(Range&& range, Predicate&& predicate, const std::stop_token& token = {}) {
  return detail::hasAny(detail::partition(std::forward<Range>(range)), predicate, token, "parallelAnyOf");
}
template <detail::Endpoint Begin, class End, class Predicate>
  requires(detail::Endpoint<End> || detail::Endpoints<Begin, End>)
bool parallelAnyOf(Begin begin, End end, Predicate&& predicate, const std::stop_token& token = {}) {
  return detail::hasAny(detail::partition(begin, end), predicate, token, "parallelAnyOf");
}
template <class T, class Predicate>
bool parallelAnyOf(std::initializer_list<T> elements, Predicate&& predicate,
                   const std::stop_token& token = {}) {
  return detail::hasAny(detail::partition(elements), predicate, token, "parallelAnyOf");
}

// Tells whether `predicate` is true of all elements: of an empty range too. Ends early once a call returns
// false. After a stop of `token`, true may mean that no call has returned false yet. All else is as for
// parallelAnyOf().
template <detail::Partitionable Range, class Predicate>
bool parallelAllOf(Range&& range, Predicate&& predicate, const std::stop_token& token = {}) {
  return !detail::hasAnyOther(detail::partition(std::forward<Range>(range)), predicate, token,
                              "parallelAllOf");
}
template <detail::Endpoint Begin, class End, class Predicate>
  requires(detail::Endpoint<End> || detail::Endpoints<Begin, End>)
bool parallelAllOf(Begin begin, End end, Predicate&& predicate, const std::stop_token& token = {}) {
  return !detail::hasAnyOther(detail::partition(begin, end), predicate, token, "parallelAllOf");
}
template <class T, class Predicate>
bool parallelAllOf(std::initializer_list<T> elements, Predicate&& predicate,
                   const std::stop_token& token = {}) {
  return !detail::hasAnyOther(detail::partition(elements), predicate, token, "parallelAllOf");
}

// Tells whether `predicate` is true of no element: returns !parallelAnyOf(range, predicate, token).
template <detail::Partitionable Range, class Predicate>
bool parallelNoneOf(Range&& range, Predicate&& predicate, const std::stop_token& token = {}) {
  return !detail::hasAny(detail::partition(std::forward<Range>(range)), predicate, token, "parallelNoneOf");
}
template <detail::Endpoint Begin, class End, class Predicate>
  requires(detail::Endpoint<End> || detail::Endpoints<Begin, End>)
bool parallelNoneOf(Begin begin, End end, Predicate&& predicate, const std::stop_token& token = {}) {
  return !detail::hasAny(detail::partition(begin, end), predicate, token, "parallelNoneOf");
}
template <class T, class Predicate>
bool parallelNoneOf(std::initializer_list<T> elements, Predicate&& predicate,
                    const std::stop_token& token = {}) {
  return !detail::hasAny(detail::partition(elements), predicate, token, "parallelNoneOf");
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelAnyOf(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelAllOf(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelNoneOf(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

// Calls parallelAnyOf(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelAnyOf(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelAnyOf(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelAnyOf(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelAnyOf(elements, std::forward<Args>(args)...); });
}

// Calls parallelAllOf(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelAllOf(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelAllOf(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelAllOf(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelAllOf(elements, std::forward<Args>(args)...); });
}

// Calls parallelNoneOf(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelNoneOf(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelNoneOf(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelNoneOf(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelNoneOf(elements, std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
