// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <type_traits>
#include <utility>

#include "weft/detail/parallel/partition.h"

namespace weft::inline v0_1::detail {

// Asserts that `F` can be called with an element of each of these iterators.
// Returns: also false if one of them was refused before.
template <class F, class... Iterators>
constexpr bool assertElementFunction() {
  if constexpr ((kIsRefused<std::remove_cv_t<Iterators>> || ...)) {
    return false;
  } else {
    constexpr bool kCanBeCalled = std::is_invocable_v<F&, decltype(*std::declval<Iterators&>())...>;
    static_assert(kCanBeCalled,
                  "the function of a parallel algorithm is called with an element of the range, "
                  "or with one of each range: this one cannot be called so. "
                  "It is the last argument but for a stop token: parallelFor(range, f), "
                  "parallelTransform(range, out, f), parallelMapReduce(range, init, map, reduce).");
    return kCanBeCalled;
  }
}

// Asserts that `F` can be called with an element, and returns what converts to a bool.
// Returns: also false if the range was refused before.
template <class F, class Iterator>
constexpr bool assertPredicate() {
  if constexpr (!detail::assertElementFunction<F, Iterator>()) {
    return false;
  } else {
    constexpr bool kTells = std::is_invocable_r_v<bool, F&, decltype(*std::declval<Iterator&>())>;
    static_assert(kTells,
                  "the predicate of a parallel algorithm tells whether it is true of an element, "
                  "and so returns a bool: this one returns what does not convert to it.");
    return kTells;
  }
}

}  // namespace weft::inline v0_1::detail
