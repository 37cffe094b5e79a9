// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// halves   two threads that each run half of the serial program
// stored   the serial program, if it writes the boards of a node down and then calls itself for each through
//          a pointer: what remains of tasks without a scheduler. A compiler inlines the recursion of the
//          serial program itself, a few calls deep.

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

struct Child {
  void (*call)(Child&);
  nqueens::Board board;
  int row, queens;
  int64_t* count;
};

int64_t stored(const nqueens::Board& board, int row, int queens) {
  if (row == queens) {
    return 1;
  }
  int64_t counts[nqueens::kMaxQueens];
  Child children[nqueens::kMaxQueens];
  int numChildren = 0;
  for (int column = 0; column < queens; column++) {
    if (nqueens::isSafe(board, row, column)) {
      children[numChildren] = {
          [](Child& child) { *child.count = stored(child.board, child.row, child.queens); },
          nqueens::place(board, row, column), row + 1, queens, &counts[numChildren]};
      numChildren++;
    }
  }
  for (int i = numChildren; i > 0; i--) {
    children[i - 1].call(children[i - 1]);
  }
  return nqueens::total(counts, numChildren);
}

void runStored(bench::Run& r) { nqueens::measure(r, stored); }

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "nqueens", "floor", {{"halves", {2}, run}, {"stored", {1}, runStored}});
}
