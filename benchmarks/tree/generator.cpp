// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Makes the tree for a program that is not in C++: bench_tree_generator full|tiny. Prints its folder, and how
// many files, lines, words and bytes there are. Removes the tree when standard input ends.

#include <cinttypes>

#include "problem.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s full|tiny\n", argv[0]);
    return 2;
  }
  const bench::TemporaryTree tree(tree::shapeOf(std::strcmp(argv[1], "tiny") == 0));
  const bench::Contents& contents = tree.contents();
  std::printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", tree.root().c_str(), contents.files,
              contents.lines, contents.words, contents.bytes);
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}
