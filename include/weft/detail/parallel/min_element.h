// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/parallel/partition.h"
#include "weft/detail/parallel/reduce.h"
#include "weft/detail/parallel/transform.h"
#include "weft/parallel/partition.h"

namespace weft::inline v0_1::detail {

template <class Iterator, class Less>
constexpr bool assertComparable() {
  using Element = decltype(*std::declval<const Iterator&>());
  constexpr bool kCanCompare = std::is_invocable_r_v<bool, Less&, Element, Element>;
  static_assert(kCanCompare,
                "parallelMinElement(range, less) and parallelMaxElement(range, less) call less(a, b) "
                "with two elements, and it returns a bool: this one cannot be called so. "
                "Without `less` the elements need an operator <.");
  return kCanCompare;
}

// isBetter(a, b): whether the element at `b` takes the place of the one at `a`, which is before it.
// Returns: where the element is that none after it is better than; empty if there are no elements.
template <class Iterator, class IsBetter>
std::optional<Iterator> bestIn(const Partition<Iterator>& range, IsBetter isBetter) {
  if (range.count == 0) {
    return std::nullopt;
  }
  using Place = Together<Iterator>;
  const Partition<Place> places{{range.first, {}}, range.count, range.grain, range.isStatic};
  const auto placeAt = [](const Place& place) { return place.out; };
  const auto better = [&isBetter](Iterator a, Iterator b) { return isBetter(a, b) ? b : a; };
  return detail::reduceOf(places, range.first, placeAt, better);
}

// Which element is looked for.
enum class Extreme { Min, Max };

// Returns: the first of the elements that `kExtreme` asks for; empty if there are no elements.
template <Extreme kExtreme, class Iterator, class Less>
std::optional<Iterator> extremeIn(const Partition<Iterator>& range, Less& less) {
  constexpr bool kIsMin = kExtreme == Extreme::Min;
  if constexpr (detail::assertComparable<Iterator, Less>()) {
    detail::assertCallable(less, kIsMin ? "parallelMinElement" : "parallelMaxElement");
    return detail::bestIn(range, [&less](const Iterator& a, const Iterator& b) {
      if constexpr (kIsMin) {
        return less(*b, *a);
      } else {
        return less(*a, *b);
      }
    });
  }
  return std::nullopt;
}

}  // namespace weft::inline v0_1::detail
