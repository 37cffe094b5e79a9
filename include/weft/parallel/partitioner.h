// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <utility>

#include "weft/detail/parallel/partition.h"
#include "weft/parallel/partition.h"

namespace weft::inline v0_1 {

// Returns: `range` for any parallel algorithm, to be split while a thread is idle, as a plain range is; a
// part again when a thread has taken it. `grain` is how many elements are worth waking a thread: they are run
// in a row. Without a grain the algorithm measures the elements, and does not split what is not worth it.
//
//   weft::parallelFor(weft::autoPartitioner(files, 1), [](const File& file) { convert(file); });
// Errors: std::invalid_argument if the grain is zero or negative.
// Lifetime: the result refers to the range. A list in braces lives until the end of the statement.
template <detail::Partitionable Range>
auto autoPartitioner(Range&& range, std::optional<std::ptrdiff_t> grain = {}) {
  return detail::partitionWithGrain(std::forward<Range>(range), grain, false);
}
template <class T>
auto autoPartitioner(std::initializer_list<T> elements, std::optional<std::ptrdiff_t> grain = {}) {
  return detail::partitionWithGrain(elements, grain, false);
}

// Splits the range once, into pieces of `grain` elements or one for each thread. For equal elements.
template <detail::Partitionable Range>
auto staticPartitioner(Range&& range, std::optional<std::ptrdiff_t> grain = {}) {
  return detail::partitionWithGrain(std::forward<Range>(range), grain, true);
}
template <class T>
auto staticPartitioner(std::initializer_list<T> elements, std::optional<std::ptrdiff_t> grain = {}) {
  return detail::partitionWithGrain(elements, grain, true);
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
