// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

void compute(matmul::Matrices& m, const matmul::Block& block) {
  if (block.isTile()) {
    matmul::multiplyTile(m, block);
    return;
  }
  compute(m, block.first());
  compute(m, block.second());
}

void run(bench::Run& r) { matmul::measure(r, compute); }

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "matmul", "serial", {{"matmul", {1}, run}});
}
