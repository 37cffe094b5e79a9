// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

int64_t byWaitGroup(const nqueens::Board& board, int row, int queens) {
  if (row == queens) {
    return 1;
  }
  int64_t counts[nqueens::kMaxQueens];
  int children = 0;
  weft::WaitGroup group;
  for (int column = 0; column < queens; column++) {
    if (nqueens::isSafe(board, row, column)) {
      int64_t* count = &counts[children++];
      group.add();
      weft::schedule([=, next = nqueens::place(board, row, column)] {
        *count = byWaitGroup(next, row + 1, queens);
        group.done();
      });
    }
  }
  group.wait();
  return nqueens::total(counts, children);
}

int64_t byJoin(const nqueens::Board& board, int row, int queens);

// The solutions with the queen of `row` at `column` or to its right: a fork for each place that is safe.
int64_t fromColumn(const nqueens::Board& board, int row, int column, int queens) {
  while (column < queens && !nqueens::isSafe(board, row, column)) {
    column++;
  }
  if (column == queens) {
    return 0;
  }
  auto [here, right] = weft::join([&] { return byJoin(nqueens::place(board, row, column), row + 1, queens); },
                                  [&] { return fromColumn(board, row, column + 1, queens); });
  return here + right;
}

int64_t byJoin(const nqueens::Board& board, int row, int queens) {
  return row == queens ? 1 : fromColumn(board, row, 0, queens);
}

int64_t byGroup(const nqueens::Board& board, int row, int queens) {
  if (row == queens) {
    return 1;
  }
  int64_t counts[nqueens::kMaxQueens];
  int children = 0;
  weft::TaskGroup group;
  for (int column = 0; column < queens; column++) {
    if (nqueens::isSafe(board, row, column)) {
      int64_t* count = &counts[children++];
      group.run([=, next = nqueens::place(board, row, column)] { *count = byGroup(next, row + 1, queens); });
    }
  }
  group.wait();
  return nqueens::total(counts, children);
}

template <int64_t (*compute)(const nqueens::Board&, int, int)>
void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { nqueens::measure(r, compute); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "nqueens", "weft",
                        {{"nqueens", {0, 1, 2}, run<byWaitGroup>},
                         {"join", {0, 1, 2}, run<byJoin>},
                         {"group", {0, 1, 2}, run<byGroup>}});
}
