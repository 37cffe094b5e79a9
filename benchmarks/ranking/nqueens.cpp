// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// All ways to put 14 queens on a board of 14 x 14 so that none attacks another, with a fork for the safe
// columns of each row: nqueens [threads] [14 or 8 queens]

#include <array>

#include "common.h"

template <size_t N>
using Board = std::array<char, N>;  // the column of each row's queen

template <size_t N>
static bool isSafe(const Board<N>& board, int row, int column) {
  for (int r = 0; r < row; r++) {
    const int other = board[static_cast<size_t>(r)];
    if (other == column || other == column - (row - r) || other == column + (row - r)) {
      return false;
    }
  }
  return true;
}

// Returns: how many solutions there are with the first `row` rows as they are.
template <size_t N>
static size_t solutions(const Board<N>& board, int row) {
  if (row == static_cast<int>(N)) {
    return 1;
  }
  std::array<char, N> columns;
  size_t count = 0;
  for (int column = 0; column < static_cast<int>(N); column++) {
    if (isSafe(board, row, column)) {
      columns[count++] = static_cast<char>(column);
    }
  }
  if (count == 0) {
    return 0;
  }
  return ranking::sumByHalves(0, count, [&](size_t i) {
    Board<N> next = board;
    next[static_cast<size_t>(row)] = columns[i];
    return solutions(next, row + 1);
  });
}

template <size_t N>
static void measure(ranking::Runtime& runtime, size_t expected) {
  size_t result = 0;
  const auto compute = [&] {
    result = runtime.run([] { return solutions(Board<N>{}, 0); });
    ranking::check("nqueens", result, expected);
  };
  compute();  // warms up
  const size_t us = ranking::microsecondsOf(compute);
  std::printf("output: %zu\n", result);
  ranking::report(us);
}

int main(int argc, char** argv) {
  ranking::Runtime runtime(ranking::threadsOf(argc, argv, 1));
  switch (ranking::argument(argc, argv, 2, 14)) {
    case 14:
      measure<14>(runtime, 365596);
      return 0;
    case 8:
      measure<8>(runtime, 92);
      return 0;
    default:
      std::fprintf(stderr, "usage: %s [threads] [14 or 8 queens]\n", argv[0]);
      return 2;
  }
}
