// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <oneapi/tbb/parallel_invoke.h>

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void compute(matmul::Matrices& m, const matmul::Block& block) {
  if (block.isTile()) {
    matmul::multiplyTile(m, block);
    return;
  }
  tbb::parallel_invoke([&] { compute(m, block.first()); }, [&] { compute(m, block.second()); });
}

void run(bench::Run& r) {
  bench::inArena(r.workers(), [&] { matmul::measure(r, compute); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "matmul", "tbb", {{"matmul", {1, 2}, run}});
}
