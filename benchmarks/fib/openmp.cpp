// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

int64_t compute(int n) {
  if (n < 2) {
    return n;
  }
  int64_t a = 0;
#pragma omp task shared(a)
  a = compute(n - 1);
  int64_t b = compute(n - 2);
#pragma omp taskwait
  return a + b;
}

void run(bench::Run& r) {
#pragma omp parallel num_threads(r.workers())
#pragma omp single
  fib::measure(r, compute);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "fib", "openmp", {{"fib", {1, 2}, run}});
}
