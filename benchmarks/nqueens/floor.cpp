// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Two threads that each run half of the serial program.

#include "../common/halves.h"
#include "problem.h"

namespace {

// The solutions with the first queen in the left half, or in the right one. That in the middle goes to the
// half of the second queen. So one half is the mirror image of the other.
int64_t half(bool isRight, int queens) {
  const int middle = queens / 2;
  int64_t sum = 0;
  for (int column = 0; column < queens; column++) {
    const nqueens::Board board = nqueens::place(nqueens::Board(), 0, column);
    if (2 * column + 1 != queens) {
      sum += (column >= middle) == isRight ? nqueens::serially(board, 1, queens) : 0;
      continue;
    }
    for (int second = 0; second < queens; second++) {
      if ((second >= middle) == isRight && nqueens::isSafe(board, 1, second)) {
        sum += nqueens::serially(nqueens::place(board, 1, second), 2, queens);
      }
    }
  }
  return sum;
}

void run(bench::Run& r) {
  if (bench::usableProcessors().size() < 2) {
    return r.skip("needs two processors");
  }
  int64_t sums[2] = {};
  bench::Halves halves([&](int which) { sums[which] = half(which == 1, nqueens::queens(r)); });
  nqueens::measure(r, [&](const nqueens::Board&, int, int) {
    halves();
    return sums[0] + sums[1];
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "nqueens", "floor", {{"halves", {2}, run}});
}
