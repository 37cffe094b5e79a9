// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

int64_t compute(const nqueens::Board& board, int row, int queens) {
  if (row == queens) {
    return 1;
  }
  int64_t counts[nqueens::kMaxQueens];
  int children = 0;
  tbb::task_group group;
  for (int column = 0; column < queens; column++) {
    if (nqueens::isSafe(board, row, column)) {
      int64_t* count = &counts[children++];
      group.run([=, next = nqueens::place(board, row, column)] { *count = compute(next, row + 1, queens); });
    }
  }
  group.wait();
  return nqueens::total(counts, children);
}

void run(bench::Run& r) {
  bench::inArena(r.workers(), [&] { nqueens::measure(r, compute); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "nqueens", "tbb", {{"nqueens", {1, 2}, run}});
}
