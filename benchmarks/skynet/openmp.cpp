// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

int64_t compute(int64_t first, int64_t leaves) {
  if (leaves == 1) {
    return first;
  }
  int64_t sums[skynet::kWays];
  int64_t share = leaves / skynet::kWays;
  for (int i = 0; i < skynet::kWays; i++) {
#pragma omp task shared(sums) firstprivate(i)
    sums[i] = compute(first + i * share, share);
  }
#pragma omp taskwait
  return skynet::total(sums);
}

void run(bench::Run& r) {
#pragma omp parallel num_threads(r.workers())
#pragma omp single
  skynet::measure(r, compute);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "skynet", "openmp", {{"skynet", {1, 2}, run}});
}
