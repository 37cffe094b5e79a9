// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

void run(bench::Run& r) {
#pragma omp parallel num_threads(r.workers())
#pragma omp single
  spawn::measure(r, [](int64_t n) {
    for (int64_t i = 0; i < n; i++) {
#pragma omp task
      spawn::Ran::count();
    }
#pragma omp taskwait
    bench::check(spawn::Ran::take() == n, "spawn");
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "spawn", "openmp", {{"task", {1, 2}, run}});
}
