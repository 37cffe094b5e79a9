// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <functional>
#include <iterator>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/merge_sort.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/quicksort.h"
#include "weft/detail/parallel/sort.h"
#include "weft/detail/parallel/stop.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

// Sorts a range, or what lies between two random-access iterators, by `less`. Equal elements may change their
// order. The second iterator may be a sentinel. Does nothing if it lies before the first.
//
//   weft::parallelSort(words,
//                      [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
// Takes time in O(n log n) for any input. Without a bound scheduler the caller sorts alone. Suspends the
// fiber until all elements are sorted, and runs nothing else on this stack meanwhile.
// Requires: `less` may be called on several threads at the same time. Elements can be moved. If `less` is no
// strict weak order, such as std::less_equal, the final order is unspecified.
// Errors: throws what escapes `less`, once no thread touches the elements any more. All elements are still
// there, in an unspecified order. What escapes a move of an element is thrown too. Then that element, and the
// one with which it was being exchanged, may be lost. Throws TaskCanceled, as `less` might, if a stop of
// `token` is requested before it returns.
template <detail::Endpoint Iterator, class End, class Less = std::less<>>
  requires detail::Endpoints<Iterator, End>
void parallelSort(Iterator first, End end, Less&& less = {}) {
  detail::sortWith<detail::Quicksort>(first, end, less, "parallelSort");
}
template <detail::Endpoint Iterator, class End, class Less>
  requires detail::Endpoints<Iterator, End>
void parallelSort(Iterator first, End end, Less&& less, const std::stop_token& token) {
  detail::sortWith<detail::Quicksort>(first, end, less, "parallelSort", detail::StopsBy{&token});
}
template <detail::Partitionable Range, class Less = std::less<>>
  requires(!detail::Endpoints<std::decay_t<Range>, std::decay_t<Less>>)
void parallelSort(Range&& range, Less&& less = {}) {
  if constexpr (detail::assertNoPartitioner<Range>()) {
    weft::parallelSort(std::begin(range), std::end(range), less);
  }
}
template <detail::Partitionable Range, class Less>
void parallelSort(Range&& range, Less&& less, const std::stop_token& token) {
  if constexpr (detail::assertNoPartitioner<Range>()) {
    weft::parallelSort(std::begin(range), std::end(range), less, token);
  }
}

// As parallelSort(), but keeps the order of equal elements. Allocates memory for up to half of the elements.
// Errors: as for parallelSort(), and std::bad_alloc.
template <detail::Endpoint Iterator, class End, class Less = std::less<>>
  requires detail::Endpoints<Iterator, End>
void parallelStableSort(Iterator first, End end, Less&& less = {}) {
  detail::sortWith<detail::MergeSort>(first, end, less, "parallelStableSort");
}
template <detail::Endpoint Iterator, class End, class Less>
  requires detail::Endpoints<Iterator, End>
void parallelStableSort(Iterator first, End end, Less&& less, const std::stop_token& token) {
  detail::sortWith<detail::MergeSort>(first, end, less, "parallelStableSort", detail::StopsBy{&token});
}
template <detail::Partitionable Range, class Less = std::less<>>
  requires(!detail::Endpoints<std::decay_t<Range>, std::decay_t<Less>>)
void parallelStableSort(Range&& range, Less&& less = {}) {
  if constexpr (detail::assertNoPartitioner<Range>()) {
    weft::parallelStableSort(std::begin(range), std::end(range), less);
  }
}
template <detail::Partitionable Range, class Less>
void parallelStableSort(Range&& range, Less&& less, const std::stop_token& token) {
  if constexpr (detail::assertNoPartitioner<Range>()) {
    weft::parallelStableSort(std::begin(range), std::end(range), less, token);
  }
}

template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelSort(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}
template <class First, class Second, class... Args>
  requires detail::NoFirstArgument<First>
void parallelStableSort(First&&, Second&&, Args&&...) {
  detail::assertFirstArgument<First>();
}

// Calls parallelSort(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelSort(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelSort(std::forward<Args>(args)...); });
}

// Calls parallelStableSort(args...) in a task of `executor`, as parallelFor() with an executor does.
template <Executor E, class... Args>
auto parallelStableSort(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelStableSort(std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
