// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Two threads that each run half of the serial program.

#include "../common/halves.h"
#include "problem.h"

namespace {

void run(bench::Run& r) {
  if (bench::usableProcessors().size() < 2) {
    return r.skip("needs two processors");
  }
  matmul::Matrices* matrices = nullptr;
  bench::Halves halves([&](int which) {
    const matmul::Block all = matmul::whole(*matrices);
    matmul::serially(*matrices, which == 0 ? all.first() : all.second());
  });
  matmul::measure(r, [&](matmul::Matrices& m, const matmul::Block&) {
    matrices = &m;
    halves();
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "matmul", "floor", {{"halves", {2}, run}});
}
