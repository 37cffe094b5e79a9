// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

template <const ranking::Command& what>
void run(bench::Run& r) {
  ranking::runProgram(r, what);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "ranking", "weft",
                        {
                            {"fib", {1, 2}, run<ranking::kFib>},
                            {"skynet", {1, 2}, run<ranking::kSkynet>},
                            {"skynet-group", {1, 2}, run<ranking::kSkynetByGroup>},
                            {"nqueens", {1, 2}, run<ranking::kQueens>},
                            {"matmul", {1, 2}, run<ranking::kProduct>},
                            {"channel", {1, 2}, run<ranking::kChannel>},
#ifdef WEFT_BENCH_IO
                            {"sockets", {2}, run<ranking::kSockets>},
#endif
                        });
}
