// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The lines, words and bytes of all files of a tree, as the example treestat counts them: 6,000 files in 300
// directories, of 2 KB to 4 MB, some 100 MB in all. They are in the page cache, since they were just written.
//
//   ms   of a walk

#pragma once

#include "../common/temporary_tree.h"

namespace tree {

inline bench::TreeShape shapeOf(bool isTiny) {
  return isTiny ? bench::TreeShape{10, 5, 5'000, 200'000} : bench::TreeShape{300, 20, 2'000, 4'000'000};
}

// Measures walk(root), which returns the contents of the tree.
template <class F>
void measure(bench::Run& run, F&& walk) {
  const bench::TemporaryTree tree(shapeOf(run.tiny()));
  const double ns = run.medianNs([&] { bench::check(walk(tree.root()) == tree.contents(), "tree"); }, 5);
  run.metric("ms", ns / 1e6);
}

}  // namespace tree
