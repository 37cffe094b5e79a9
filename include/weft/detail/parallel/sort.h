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

// Reached through weft/parallel.h.
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
  static_assert(
      kCanBeSorted,
      "parallelSort() and parallelStableSort() need random-access iterators to elements that can be "
      "moved. Sort a vector instead.");
  static_assert(
      kAreObjects,
      "parallelSort() and parallelStableSort() need elements that are objects of their own, since "
      "several threads move them, and no proxies such as those of a vector<bool>. Sort a vector<char> "
      "instead.");
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
                "parallelSort() and parallelStableSort() take no partitioner, since they choose the parts "
                "themselves. Give them the range, or its two iterators.");
  return !kIsPartition<std::remove_cvref_t<Range>>;
}

}  // namespace detail

// Sorts what lies between two random-access iterators, or a range, by `less`; equal elements may change their
// order. Nothing where the second iterator lies before the first. Needs no memory but some stack.
//
//   weft::parallelSort(words, [](const std::string& a, const std::string& b) { return a.size() < b.size();
//   });
//
// Takes a time of n log n for any input. Elements need only be movable. Suspends the fiber until all is
// sorted; runs nothing else on this stack meanwhile. Where no scheduler is bound, the caller sorts alone.
// Errors: an exception that `less` lets escape is thrown here once nothing touches the elements any more;
// all of them are there then, in an order that is not specified. One that a move of theirs lets escape is
// thrown here too; the element that was moved may be lost.
// Requires: `less` is a strict weak order, and may be called on several threads at the same time.
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

// parallelSort() that keeps the order of equal elements. Allocates memory for up to half of the elements.
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
