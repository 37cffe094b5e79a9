// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "../../examples/treestat/tally.h"
#include "problem.h"

namespace tree {

// What the example's walk has counted.
inline bench::Contents contentsOf(const treestat::Tally& tally) {
  const treestat::Type total = tally.total();
  return {total.files, total.text.lines, total.text.words, total.text.bytes};
}

}  // namespace tree
