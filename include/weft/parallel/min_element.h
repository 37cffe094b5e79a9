// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <functional>
#include <type_traits>
#include <utility>

#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/min_element.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/places.h"
#include "weft/detail/parallel/stop.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Looks for the smallest element of a range by `less`: the first one, if several are equal.
//
//   const auto nearest = weft::parallelMinElement(
//       stars, [](const Star& a, const Star& b) { return a.distance < b.distance; });
// Range, splitting, suspension, errors and lifetimes are those of parallelReduce(). No element is copied.
// Returns: an iterator to it, or the end of an empty range. For two integers: the number, or `end`.
// Requires: `less` is a strict weak order, and may be called on several threads at the same time. The range
// is no temporary container, and no list in braces.
template <detail::Partitionable Range, class Less = std::less<>>
  requires(!detail::Endpoints<std::decay_t<Range>, std::decay_t<Less>>)
auto parallelMinElement(Range&& range, Less&& less = {}) {
  return detail::placeIn(std::forward<Range>(range), [&less](const auto& elements) {
    return detail::extremeIn<detail::Extreme::Min>(elements, less);
  });
}
template <detail::Endpoint Begin, class End, class Less = std::less<>>
  requires detail::Endpoints<Begin, End>
auto parallelMinElement(Begin begin, End end, Less&& less = {}) {
  return detail::placeBetween(begin, end, [&less](const auto& elements) {
    return detail::extremeIn<detail::Extreme::Min>(elements, less);
  });
}

// Looks for the largest element by `less`: the first one, if several are equal. All else is as for
// parallelMinElement().
template <detail::Partitionable Range, class Less = std::less<>>
  requires(!detail::Endpoints<std::decay_t<Range>, std::decay_t<Less>>)
auto parallelMaxElement(Range&& range, Less&& less = {}) {
  return detail::placeIn(std::forward<Range>(range), [&less](const auto& elements) {
    return detail::extremeIn<detail::Extreme::Max>(elements, less);
  });
}
template <detail::Endpoint Begin, class End, class Less = std::less<>>
  requires detail::Endpoints<Begin, End>
auto parallelMaxElement(Begin begin, End end, Less&& less = {}) {
  return detail::placeBetween(begin, end, [&less](const auto& elements) {
    return detail::extremeIn<detail::Extreme::Max>(elements, less);
  });
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelMinElement(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelMaxElement(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

template <class... Args>
  requires(detail::StopToken<Args> || ...)
void parallelMinElement(Args&&...) {
  detail::assertNoStopToken<Args...>();
}

template <class... Args>
  requires(detail::StopToken<Args> || ...)
void parallelMaxElement(Args&&...) {
  detail::assertNoStopToken<Args...>();
}

// Calls parallelMinElement(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelMinElement(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelMinElement(std::forward<Args>(args)...); });
}

// Calls parallelMaxElement(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelMaxElement(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelMaxElement(std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
