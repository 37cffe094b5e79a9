// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <stdexcept>

#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/parallel/blocks.h"
#include "weft/parallel/partition.h"

namespace weft::inline v0_1 {

// A rectangle of rows and columns: rows from rowBegin to rowEnd - 1, columns from columnBegin to columnEnd -
// 1.
struct Block2D {
  std::ptrdiff_t rowBegin, rowEnd, columnBegin, columnEnd;  // each end is the first number behind
};

// Cuts a plane into blocks, for a loop that is faster if neighbouring rows and columns are used together.
//
//   weft::parallelFor(weft::blocks2D({0, height, 0, width}, 64, 64),
//                     [&](const weft::Block2D& block) { transpose(block); });
// Returns: a range of Block2D for any parallel algorithm but sorts and merges. Each has `blockRows` rows and
// `blockColumns` columns, or fewer at the end of the plane.
// Errors: std::invalid_argument if a block's side is not positive, or if counts exceed a std::ptrdiff_t.
inline auto blocks2D(const Block2D& plane, std::ptrdiff_t blockRows, std::ptrdiff_t blockColumns) {
  if (blockRows <= 0 || blockColumns <= 0) [[unlikely]] {
    detail::throwOrDie(std::invalid_argument("blocks2D() needs blocks of at least one row and one column."));
  }
  std::ptrdiff_t rows = 0, columns = 0, blocks = 0;
  if (__builtin_sub_overflow(plane.rowEnd, plane.rowBegin, &rows) ||
      __builtin_sub_overflow(plane.columnEnd, plane.columnBegin, &columns) ||
      __builtin_mul_overflow(detail::blocksAlong(rows, blockRows), detail::blocksAlong(columns, blockColumns),
                             &blocks)) [[unlikely]] {
    detail::throwOrDie(std::invalid_argument(
        "blocks2D() has more rows, columns or blocks than a std::ptrdiff_t can count. Give larger blocks."));
  }
  return Partition<detail::BlockIterator<Block2D>>{{plane, blockRows, blockColumns},
                                                   static_cast<size_t>(blocks)};
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
