// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

int64_t compute(int64_t first, int64_t leaves) {
  if (leaves == 1) {
    return first;
  }
  int64_t sums[skynet::kWays];
  int64_t share = leaves / skynet::kWays;
  tbb::task_group group;
  for (int i = 0; i < skynet::kWays; i++) {
    group.run([&sums, i, first, share] { sums[i] = compute(first + i * share, share); });
  }
  group.wait();
  return skynet::total(sums);
}

void run(bench::Run& r) {
  bench::inArena(r.workers(), [&] { skynet::measure(r, compute); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "skynet", "tbb", {{"skynet", {1, 2}, run}});
}
