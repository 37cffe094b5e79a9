// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <stop_token>
#include <utility>

#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/find.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/places.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Looks for the first element of a range of which `predicate` is true.
//
//   const auto broken = weft::parallelFind(files, [](const File& file) { return !isWhole(file); });
// Range, splitting, suspension, errors and lifetimes are those of parallelFor(). So what a call throws is
// thrown even if there is a match before it. Behind a match no more pieces begin, and those that run end.
// Returns: an iterator to the first match, or the end of the range. For two integers: the number, or `end`.
// After a stop of `token` it may be a later match, or the end although there is one.
// Requires: `predicate` may be called on several threads at the same time, also for elements behind the
// first match. The range is no temporary container, and no list in braces.
template <detail::Partitionable Range, class Predicate>
auto parallelFind(Range&& range, Predicate&& predicate, const std::stop_token& token = {}) {
  return detail::placeIn(std::forward<Range>(range), [&](const auto& elements) {
    return detail::findIn(elements, predicate, token, detail::Match::First, "parallelFind");
  });
}
template <detail::Endpoint Begin, class End, class Predicate>
  requires(detail::Endpoint<End> || detail::Endpoints<Begin, End>)
auto parallelFind(Begin begin, End end, Predicate&& predicate, const std::stop_token& token = {}) {
  return detail::placeBetween(begin, end, [&](const auto& elements) {
    return detail::findIn(elements, predicate, token, detail::Match::First, "parallelFind");
  });
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelFind(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

// Calls parallelFind(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelFind(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelFind(std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
