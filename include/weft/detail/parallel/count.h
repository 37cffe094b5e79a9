// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/parallel/element_function.h"
#include "weft/detail/parallel/reduce.h"
#include "weft/parallel/partition.h"

namespace weft::inline v0_1::detail {

template <class Iterator, class Predicate>
size_t countIn(const Partition<Iterator>& range, Predicate& predicate) {
  if constexpr (detail::assertPredicate<Predicate, Iterator>()) {
    detail::assertCallable(predicate, "parallelCountIf");
    const auto count = [&predicate](auto&& element) -> size_t {
      return predicate(std::forward<decltype(element)>(element)) ? 1 : 0;
    };
    std::plus<> add;
    return detail::reduceOf(range, size_t{0}, count, add);
  }
  return 0;
}

}  // namespace weft::inline v0_1::detail
