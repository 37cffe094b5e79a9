// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

template <const ranking::Command& what>
void run(bench::Run& r) {
  ranking::runProgram(r, what, "_tbb");
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "ranking", "tbb",
                        {{"fib", {1, 2}, run<ranking::kFib>},
                         {"skynet", {1, 2}, run<ranking::kSkynet>},
                         {"nqueens", {1, 2}, run<ranking::kQueens>},
                         {"matmul", {1, 2}, run<ranking::kProduct>}});
}
