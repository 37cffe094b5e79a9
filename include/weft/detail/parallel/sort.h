// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/stop.h"

namespace weft::inline v0_1::detail {

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
  constexpr bool kCanBeSorted =
      RandomAccess<Iterator> && requires(Iterator a, Iterator b) { *a = std::move(*b); };
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
template <template <class, class, class> class Sorter, class Iterator, class End, class Less,
          class Stop = NeverStops>
void sortWith(Iterator first, const End& end, Less& less, const char* what, Stop stop = {}) {
  if constexpr (detail::assertSortable<Iterator, Less>()) {
    detail::assertCallable(less, what);
    const auto count = static_cast<std::iter_difference_t<Iterator>>(detail::countBetween(first, end));
    if (count > 1) {
      Sorter<Iterator, Less, Stop>(less, stop).sort(first, first + count);
    }
    stop.throwIfStopped();
  }
}

template <class Range>
constexpr bool assertNoPartitioner() {
  static_assert(!kIsPartition<std::remove_cvref_t<Range>>,
                "parallelSort(), parallelStableSort() and parallelMerge() take no partitioner: "
                "they choose the parts themselves. Give them the range, or its two iterators.");
  return !kIsPartition<std::remove_cvref_t<Range>>;
}

}  // namespace weft::inline v0_1::detail
