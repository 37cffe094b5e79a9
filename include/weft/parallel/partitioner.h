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

// Says how long the pieces of a range are. As with a plain range, a parallel algorithm splits the range while
// a thread is idle, and each part again while another is. `grain` is the number of elements in a piece: they
// run one after the other on one thread, and are worth waking a thread for. Without a grain the algorithm
// measures the elements, and does not split what is not worth it.
//
//   weft::parallelFor(weft::autoPartitioner(files, 1), [](const File& file) { convert(file); });
// Returns: a Partition that takes the place of the range, in any parallel algorithm but sorts and merges.
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

// As autoPartitioner(), but the range is split only once, before the first piece begins: into pieces of
// `grain` elements, or without a grain into one piece for each thread. For elements that take equally long.
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
