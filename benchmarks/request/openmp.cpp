// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <omp.h>

#include "problem.h"

namespace {

void run(bench::Run& r) {
  const auto shape = request::Shape::of(r);
  const bench::Work work(shape.taskUs);
  const int numThreads = r.workers();
  const auto runBurst = [&] {
#pragma omp parallel for schedule(dynamic) num_threads(numThreads)
    for (int i = 0; i < shape.burst; i++) {
      work();
    }
  };
  request::measureHops(r, shape, [] {}, [] {}, runBurst);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "request", "openmp", request::workloads(run));
}
