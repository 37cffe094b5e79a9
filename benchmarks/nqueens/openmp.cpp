// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

int64_t compute(const nqueens::Board& board, int row, int queens) {
  if (row == queens) {
    return 1;
  }
  int64_t counts[nqueens::kMaxQueens];
  int children = 0;
  for (int column = 0; column < queens; column++) {
    if (nqueens::isSafe(board, row, column)) {
      int64_t* count = &counts[children++];
      nqueens::Board next = nqueens::place(board, row, column);
#pragma omp task firstprivate(count, next)
      *count = compute(next, row + 1, queens);
    }
  }
#pragma omp taskwait
  return nqueens::total(counts, children);
}

void run(bench::Run& r) {
#pragma omp parallel num_threads(r.workers())
#pragma omp single
  nqueens::measure(r, compute);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "nqueens", "openmp", {{"nqueens", {1, 2}, run}});
}
