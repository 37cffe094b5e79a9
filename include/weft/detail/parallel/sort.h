// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>

#include "weft/detail/fork/run_on.h"
#include "weft/detail/parallel/merge_sort.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/quicksort.h"
#include "weft/executor.h"

// Included by weft/parallel.h.
namespace weft {

namespace detail {

template <class Iterator>
concept RandomAccess = requires(Iterator a, std::ptrdiff_t n) {
  a += n;
  a[n];
  { a - a } -> std::convertible_to<std::ptrdiff_t>;
};

template <class Iterator>
constexpr bool assertSortable() {
  constexpr bool kCanBeSorted = RandomAccess<Iterator> && requires(Iterator a) { *a = std::move(*a); };
  constexpr bool kAreObjects = !kCanBeSorted || std::is_lvalue_reference_v<std::iter_reference_t<Iterator>>;
  static_assert(kCanBeSorted,
                "parallelSort() and parallelStableSort() need random-access iterators "
                "to elements that can be moved. Sort a vector instead.");
  static_assert(kAreObjects,
                "parallelSort() and parallelStableSort() need elements that are objects of their own, "
                "since several threads move them, and no proxies such as those of a vector<bool>. "
                "Sort a vector<char> instead.");
  return kCanBeSorted && kAreObjects;
}

template <class Sorter, class Iterator, class Less>
void sortWith(Iterator first, Iterator last, Less& less) {
  if constexpr (detail::assertSortable<Iterator>()) {
    if (last - first > 1) {
      Sorter(less).sort(first, last);
    }
  }
}

template <class Range>
constexpr bool assertNoPartitioner() {
  static_assert(!kIsPartition<std::remove_cvref_t<Range>>,
                "parallelSort() and parallelStableSort() take no partitioner: "
                "they choose the parts themselves. Give them the range, or its two iterators.");
  return !kIsPartition<std::remove_cvref_t<Range>>;
}

}  // namespace detail

// Sorts a range, or what lies between two random-access iterators, by `less`. Equal elements may change their
// order. Does nothing if the second iterator lies before the first. Needs no memory but some stack.
//
//   weft::parallelSort(words,
//                      [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
//
// Takes a time of n log n for any input. Without a bound scheduler the caller sorts alone.
// Suspends the fiber until all elements are sorted, and runs nothing else on this stack meanwhile.
// Requires: `less` may be called on several threads at the same time. Elements can be moved. If `less` is no
// strict weak order, such as std::less_equal, the elements end in an unspecified order.
// Errors: an exception that escapes `less` is thrown here once nothing touches the elements any more. All
// elements are there then, in an unspecified order. An exception that escapes a move of an element is thrown
// here too. The element that was moved may be lost, and the one with which it was being exchanged.
template <detail::Endpoint Iterator, class Less = std::less<>>
void parallelSort(Iterator first, Iterator last, Less&& less = {}) {
  detail::sortWith<detail::Quicksort<Iterator, std::remove_reference_t<Less>>>(first, last, less);
}
template <detail::Partitionable Range, class Less = std::less<>>
  requires(!detail::Endpoint<std::decay_t<Less>>)
void parallelSort(Range&& range, Less&& less = {}) {
  if constexpr (detail::assertNoPartitioner<Range>()) {
    weft::parallelSort(std::begin(range), std::end(range), less);
  }
}

// As parallelSort(), but keeps the order of equal elements. Allocates memory for up to half of the elements.
// Errors: as parallelSort(), and std::bad_alloc.
template <detail::Endpoint Iterator, class Less = std::less<>>
void parallelStableSort(Iterator first, Iterator last, Less&& less = {}) {
  detail::sortWith<detail::MergeSort<Iterator, std::remove_reference_t<Less>>>(first, last, less);
}
template <detail::Partitionable Range, class Less = std::less<>>
  requires(!detail::Endpoint<std::decay_t<Less>>)
void parallelStableSort(Range&& range, Less&& less = {}) {
  if constexpr (detail::assertNoPartitioner<Range>()) {
    weft::parallelStableSort(std::begin(range), std::end(range), less);
  }
}

// As a task of `executor`; see parallelFor().
template <Executor E, class... Args>
auto parallelSort(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelSort(std::forward<Args>(args)...); });
}

// As a task of `executor`; see parallelFor().
template <Executor E, class... Args>
auto parallelStableSort(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelStableSort(std::forward<Args>(args)...); });
}

}  // namespace weft
