// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>

namespace weft::inline v0_1::detail {

// Returns: how many blocks a side has; the last may be smaller.
inline std::ptrdiff_t blocksAlong(std::ptrdiff_t length, std::ptrdiff_t block) {
  return length <= 0 ? 0 : (length - 1) / block + 1;
}

// An iterator over the blocks of a plane, row by row. Block: Block2D.
template <class Block>
class BlockIterator {
 public:
  using difference_type = std::ptrdiff_t;

  BlockIterator(const Block& plane, std::ptrdiff_t blockRows, std::ptrdiff_t blockColumns)
      : plane_(plane),
        rows_(blockRows),
        columns_(blockColumns),
        perRow_(detail::blocksAlong(plane.columnEnd - plane.columnBegin, columns_)) {}

  Block operator*() const {
    const std::ptrdiff_t row = plane_.rowBegin + index_ / perRow_ * rows_;
    const std::ptrdiff_t column = plane_.columnBegin + index_ % perRow_ * columns_;
    return {row, std::min(plane_.rowEnd - row, rows_) + row, column,
            std::min(plane_.columnEnd - column, columns_) + column};
  }
  BlockIterator& operator++() { return *this += 1; }
  BlockIterator& operator+=(difference_type n) {
    index_ += n;
    return *this;
  }

 private:
  Block plane_;
  std::ptrdiff_t rows_;
  std::ptrdiff_t columns_;
  std::ptrdiff_t perRow_;
  std::ptrdiff_t index_ = 0;
};

}  // namespace weft::inline v0_1::detail
