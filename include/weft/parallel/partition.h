// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>

namespace weft::inline v0_1 {

// A range, cut into pieces, each for one thread. autoPartitioner(), staticPartitioner() and blocks2D() return
// one. All parallel algorithms but the sorts take it in place of a range.
template <class Iterator>
struct Partition {
  Iterator first;
  size_t count;
  size_t grain = 0;  // 0: the algorithm chooses it
  bool isStatic = false;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
