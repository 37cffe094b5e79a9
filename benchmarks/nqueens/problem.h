// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// All ways to place 11 queens on a board of 11 x 11, with a fork for each partial placement: 166,925 forks,
// each with some 150 ns of work.

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace nqueens {

constexpr int kMaxQueens = 16;

// The queens of the rows filled so far, by column.
struct Board {
  int8_t column[kMaxQueens];
};

// Whether a queen in `row` at `column` is attacked by none above it.
inline bool isSafe(const Board& board, int row, int column) {
  for (int i = 0; i < row; i++) {
    int distance = board.column[i] - column;
    if (distance == 0 || distance == row - i || distance == i - row) {
      return false;
    }
  }
  return true;
}

inline Board place(Board board, int row, int column) {
  board.column[row] = static_cast<int8_t>(column);
  return board;
}

inline int queens(const bench::Run& run) { return run.size(11, 6); }

// The oracle: the known numbers of solutions.
inline int64_t expected(int queens) {
  constexpr int64_t kSolutions[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200};
  return kSolutions[queens];
}

inline int64_t serially(const Board& board, int row, int queens) {
  if (row == queens) {
    return 1;
  }
  int64_t sum = 0;
  for (int column = 0; column < queens; column++) {
    if (isSafe(board, row, column)) {
      sum += serially(place(board, row, column), row + 1, queens);
    }
  }
  return sum;
}

// Measures `compute(board, row, queens)`.
template <class F>
void measure(bench::Run& run, F&& compute, int repeats = 3) {
  int n = queens(run);
  int64_t result = 0;
  double ns = run.medianNs([&] { result = compute(Board(), 0, n); }, repeats);
  bench::check(result == expected(n), "nqueens");
  run.metric("ms", ns / 1e6);
}

inline int64_t total(const int64_t (&counts)[kMaxQueens], int children) {
  int64_t sum = 0;
  for (int i = 0; i < children; i++) {
    sum += counts[i];
  }
  return sum;
}

}  // namespace nqueens
