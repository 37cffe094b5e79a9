// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>

#include "weft/detail/merge_sort.h"
#include "weft/detail/partition.h"
#include "weft/detail/quicksort.h"

// Reached through weft/parallel.h.
namespace weft {

namespace detail {

template <class Iterator>
concept RandomAccess = requires(Iterator a, std::ptrdiff_t n) {
  a += n;
  a[n];
  { a - a } -> std::convertible_to<std::ptrdiff_t>;
};

template <class Sorter, class Iterator, class Less>
void sortWith(Iterator first, Iterator last, Less& less) {
  constexpr bool kCanBeSorted = RandomAccess<Iterator> && requires {
    *first = std::move(*last);
  };
  static_assert(
      kCanBeSorted,
      "parallelSort() and parallelStableSort() need random-access iterators to elements that can be "
      "moved. Sort a vector instead.");
  if constexpr (kCanBeSorted) {
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
// their order is not specified then.
// Requires: `less` is a strict weak order, and may be called on several threads at the same time.
template <detail::Endpoint Iterator, class Less = std::less<>>
void parallelSort(Iterator first, Iterator last, Less&& less = {}) {
  detail::sortWith<detail::Quicksort<Iterator, std::remove_reference_t<Less>>>(first, last, less);
}
template <detail::Partitionable Range, class Less = std::less<>>
requires(!detail::Endpoint<std::decay_t<Less>>) void parallelSort(Range&& range, Less&& less = {}) {
  if constexpr (detail::assertNoPartitioner<Range>()) {
    parallelSort(std::begin(range), std::end(range), less);
  }
}

// parallelSort() that keeps the order of equal elements. Allocates memory for up to half of the elements.
// Errors: as parallelSort(); no element is lost.
template <detail::Endpoint Iterator, class Less = std::less<>>
void parallelStableSort(Iterator first, Iterator last, Less&& less = {}) {
  detail::sortWith<detail::MergeSort<Iterator, std::remove_reference_t<Less>>>(first, last, less);
}
template <detail::Partitionable Range, class Less = std::less<>>
requires(!detail::Endpoint<std::decay_t<Less>>) void parallelStableSort(Range&& range, Less&& less = {}) {
  if constexpr (detail::assertNoPartitioner<Range>()) {
    parallelStableSort(std::begin(range), std::end(range), less);
  }
}

}  // namespace weft
