// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>

#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/split_loop.h"
#include "weft/parallel/irange.h"
#include "weft/parallel/partition.h"

namespace weft::inline v0_1::detail {

template <class Range>
inline constexpr bool kIsNumberRange = false;
template <class Int>
inline constexpr bool kIsNumberRange<NumberRange<Int>> = true;

// Whether iterators of the range may be used once this argument is gone.
template <class Range>
constexpr bool assertOutlived() {
  using Plain = std::remove_cvref_t<Range>;
  constexpr bool kIsOutlived = std::is_lvalue_reference_v<Range> || kIsPartition<Plain> ||
                               kIsNumberRange<Plain> || std::ranges::enable_borrowed_range<Plain>;
  static_assert(kIsOutlived,
                "this parallel algorithm returns an iterator, which would point into a temporary range. "
                "Keep the range in a variable, and pass that.");
  return kIsOutlived;
}

// What the caller gets for an iterator: itself, or the number if the range has two numbers as its ends.
template <class Iterator>
Iterator placeOf(Iterator at) {
  return at;
}
template <class Int>
Int placeOf(Index<Int> at) {
  return *at;
}

// Returns: the end of the range, with the type of its beginning. `end`: what the caller gave, if anything.
template <class Iterator>
Iterator endLike(const Partition<Iterator>& range) {
  Iterator at = range.first;
  detail::skip(at, range.count);
  return at;
}
template <class Iterator, class End>
Iterator endLike(const Partition<Iterator>& range, const End& end) {
  if constexpr (std::integral<End>) {
    return Iterator{static_cast<decltype(Iterator::value)>(end)};
  } else if constexpr (std::convertible_to<const End&, Iterator>) {
    return end;
  } else {
    return detail::endLike(range);
  }
}

// `search(range)` returns a std::optional<Iterator>.
// Returns: the place that it has found, or the end of the range.
template <class Iterator, class Search, class... End>
auto placeFrom(const Partition<Iterator>& range, Search& search, const End&... end) {
  if constexpr (kIsRefused<Iterator>) {
    return Refused{};
  } else {
    const std::optional<Iterator> found = search(range);
    return detail::placeOf(found ? *found : detail::endLike(range, end...));
  }
}

template <class Search, class Begin, class End>
auto placeBetween(Begin begin, End end, Search&& search) {
  return detail::placeFrom(detail::partition(begin, end), search, end);
}
template <class Search, class Range>
auto placeIn(Range&& given, Search&& search) {
  if constexpr (!detail::assertOutlived<Range>()) {
    return Refused{};
  } else if constexpr (kIsPartition<std::remove_cvref_t<Range>>) {
    return detail::placeFrom(given, search);
  } else {
    return detail::placeFrom(detail::partition(given), search, std::end(given));
  }
}

}  // namespace weft::inline v0_1::detail
