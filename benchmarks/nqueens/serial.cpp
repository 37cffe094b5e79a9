// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

int64_t compute(const nqueens::Board& board, int row, int queens) {
  if (row == queens) {
    return 1;
  }
  int64_t sum = 0;
  for (int column = 0; column < queens; column++) {
    if (nqueens::isSafe(board, row, column)) {
      sum += compute(nqueens::place(board, row, column), row + 1, queens);
    }
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  auto run = [](bench::Run& r) { nqueens::measure(r, compute); };
  return bench::runMain(argc, argv, "nqueens", "serial", {{"nqueens", {1}, run}});
}
