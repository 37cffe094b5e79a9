// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>

namespace weft::inline v0_1 {

// A range, and how to cut it into pieces for threads. autoPartitioner(), staticPartitioner() and blocks2D()
// return one. All parallel algorithms but sorts and merges take it in place of a range.
template <class Iterator>
struct Partition {
  Iterator first;         // where the range begins
  size_t count;           // how many elements it has
  size_t grain = 0;       // how many elements a piece has; 0: the algorithm chooses
  bool isStatic = false;  // whether the pieces are fixed before the first one begins
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
