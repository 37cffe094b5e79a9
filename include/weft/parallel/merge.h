// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <functional>
#include <iterator>
#include <utility>

#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/merge.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/sort.h"
#include "weft/detail/parallel/stop.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Merges two sorted ranges into one at `out`, as std::merge does. Of equal elements those of the first range
// come first, each in their order.
//
//   weft::parallelMerge(old, added, all.begin());
// Suspension and lifetimes are those of parallelSort(). A range is a container, or two iterators. Elements
// are copied, or moved if the iterators are of std::make_move_iterator(). Takes no partitioner.
// Returns: the end of what was written.
// Requires: all iterators have random access. `out` has room for all elements, and does not overlap the
// ranges. `less` has sorted them, and may be called on several threads at the same time.
// Errors: throws what escapes `less` or an assignment, once no thread touches the elements any more. Then
// each element of the output is as it was, or one of the ranges' elements.
template <detail::Partitionable First, detail::Partitionable Second, class Out, class Less = std::less<>>
Out parallelMerge(First&& first, Second&& second, Out out, Less&& less = {}) {
  if constexpr (detail::assertNoPartitioner<First>() && detail::assertNoPartitioner<Second>()) {
    return detail::mergeTo(std::begin(first), std::end(first), std::begin(second), std::end(second), out,
                           less);
  }
  return out;
}
template <detail::Endpoint First, class FirstEnd, detail::Endpoint Second, class SecondEnd, class Out,
          class Less = std::less<>>
  requires(detail::Endpoints<First, FirstEnd> && detail::Endpoints<Second, SecondEnd>)
Out parallelMerge(First first, FirstEnd firstEnd, Second second, SecondEnd secondEnd, Out out,
                  Less&& less = {}) {
  return detail::mergeTo(first, firstEnd, second, secondEnd, out, less);
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelMerge(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

template <class... Args>
  requires(detail::StopToken<Args> || ...)
void parallelMerge(Args&&...) {
  detail::assertNoStopToken<Args...>();
}

// Calls parallelMerge(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelMerge(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelMerge(std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
