// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>

#include "weft/detail/base/callable.h"
#include "weft/detail/forkjoin/run_on.h"
#include "weft/detail/parallel/merge_sort.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/quicksort.h"
#include "weft/executor.h"

namespace weft::inline v0_1 {

namespace detail {

template <class Iterator>
concept RandomAccess = requires(Iterator a, std::ptrdiff_t n) {
  a += n;
  a[n];
  { a - a } -> std::convertible_to<std::ptrdiff_t>;
};

template <class Less, class Iterator>
concept ComparesElements = std::is_invocable_r_v<bool, Less&, const std::iter_value_t<Iterator>&,
                                                 const std::iter_value_t<Iterator>&>;

template <class Iterator, class Less>
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
  constexpr bool kCanCompare = [] {
    if constexpr (kCanBeSorted && kAreObjects) {
      return ComparesElements<Less, Iterator>;
    } else {
      return true;
    }
  }();
  static_assert(kCanCompare,
                "parallelSort(range, less) and parallelStableSort(range, less) call less(a, b) "
                "with two elements that are const, and it returns a bool: this one cannot be called so. "
                "Without `less` the elements need an operator <.");
  return kCanBeSorted && kAreObjects && kCanCompare;
}

// `end`: an iterator, or a sentinel of another type.
template <template <class, class> class Sorter, class Iterator, class End, class Less>
void sortWith(Iterator first, const End& end, Less& less, const char* what) {
  if constexpr (detail::assertSortable<Iterator, Less>()) {
    detail::assertCallable(less, what);
    const auto count = static_cast<std::iter_difference_t<Iterator>>(detail::countBetween(first, end));
    if (count > 1) {
      Sorter<Iterator, Less>(less).sort(first, first + count);
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
// order. The second iterator may be a sentinel. Does nothing if it lies before the first. Needs some stack.
//
//   weft::parallelSort(words,
//                      [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
// Takes a time of n log n for any input. Without a bound scheduler the caller sorts alone. Suspends the fiber
// until all elements are sorted, and runs nothing else on this stack meanwhile.
// Requires: `less` may be called on several threads at the same time. Elements can be moved. If `less` is no
// strict weak order, such as std::less_equal, the final order is unspecified.
// Errors: what escapes `less` is thrown here once nothing touches the elements. They are all there, in an
// unspecified order. What escapes a move of an element is thrown too; then that element, and the one with
// which it was being exchanged, may be lost.
template <detail::Endpoint Iterator, class End, class Less = std::less<>>
  requires detail::Endpoints<Iterator, End>
void parallelSort(Iterator first, End end, Less&& less = {}) {
  detail::sortWith<detail::Quicksort>(first, end, less, "parallelSort");
}
template <detail::Partitionable Range, class Less = std::less<>>
  requires(!detail::Endpoints<std::decay_t<Range>, std::decay_t<Less>>)
void parallelSort(Range&& range, Less&& less = {}) {
  if constexpr (detail::assertNoPartitioner<Range>()) {
    weft::parallelSort(std::begin(range), std::end(range), less);
  }
}

// As parallelSort(), but keeps the order of equal elements. Allocates memory for up to half of the elements.
// Errors: as parallelSort(), and std::bad_alloc.
template <detail::Endpoint Iterator, class End, class Less = std::less<>>
  requires detail::Endpoints<Iterator, End>
void parallelStableSort(Iterator first, End end, Less&& less = {}) {
  detail::sortWith<detail::MergeSort>(first, end, less, "parallelStableSort");
}
template <detail::Partitionable Range, class Less = std::less<>>
  requires(!detail::Endpoints<std::decay_t<Range>, std::decay_t<Less>>)
void parallelStableSort(Range&& range, Less&& less = {}) {
  if constexpr (detail::assertNoPartitioner<Range>()) {
    weft::parallelStableSort(std::begin(range), std::end(range), less);
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

template <Executor E, class... Args>
auto parallelSort(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelSort(std::forward<Args>(args)...); });
}

template <Executor E, class... Args>
auto parallelStableSort(E&& executor, Args&&... args) {
  return detail::runOn(executor, [&] { return weft::parallelStableSort(std::forward<Args>(args)...); });
}

}  // namespace weft::inline v0_1
