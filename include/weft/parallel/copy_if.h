// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <initializer_list>
#include <utility>

#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/copy_if.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/stop.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Copies the elements of a range of which `predicate` is true to `out`, in their order, as std::copy_if does.
//
//   adult.erase(weft::parallelCopyIf(ages, adult.begin(), [](int age) { return age >= 18; }), adult.end());
// Range, splitting, suspension and lifetimes are those of parallelTransform(). Elements are copied, or moved
// if the iterators are of std::make_move_iterator(). Calls `predicate` once for each element. If workers may
// help, allocates a byte for each element.
// Returns: the end of what was written.
// Requires: `out` is a forward iterator to room for all copies, which does not overlap the range, and not to
// the bits of a vector<bool>. `predicate` may be called on several threads at the same time.
// Errors: as for parallelFor(), and std::bad_alloc before the first call. Each element of the output is then
// as it was, or the copy that belongs there.
template <detail::Partitionable Range, class Out, class Predicate>
Out parallelCopyIf(Range&& range, Out out, Predicate&& predicate) {
  return detail::copyIn(detail::partition(std::forward<Range>(range)), out, predicate);
}
template <detail::Endpoint Begin, class End, class Out, class Predicate>
  requires(detail::Endpoint<End> || detail::Endpoints<Begin, End>)
Out parallelCopyIf(Begin begin, End end, Out out, Predicate&& predicate) {
  return detail::copyIn(detail::partition(begin, end), out, predicate);
}
template <class T, class Out, class Predicate>
Out parallelCopyIf(std::initializer_list<T> elements, Out out, Predicate&& predicate) {
  return detail::copyIn(detail::partition(elements), out, predicate);
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelCopyIf(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

template <class... Args>
  requires(detail::StopToken<Args> || ...)
void parallelCopyIf(Args&&...) {
  detail::assertNoStopToken<Args...>();
}

// Calls parallelCopyIf(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelCopyIf(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelCopyIf(std::forward<Args>(args)...); });
}
template <Executor E, class Element, class... Args>
auto parallelCopyIf(E&& executor, std::initializer_list<Element> elements, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelCopyIf(elements, std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
