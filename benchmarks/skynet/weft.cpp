// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

int64_t compute(int64_t first, int64_t leaves) {
  if (leaves == 1) {
    return first;
  }
  int64_t sums[skynet::kWays];
  int64_t share = leaves / skynet::kWays;
  weft::WaitGroup children(skynet::kWays);
  for (int i = 0; i < skynet::kWays; i++) {
    weft::schedule([sum = &sums[i], begin = first + i * share, share, children] {
      *sum = compute(begin, share);
      children.done();
    });
  }
  children.wait();
  return skynet::total(sums);
}

void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { skynet::measure(r, compute); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "skynet", "weft", {{"skynet", {0, 1, 2}, run}});
}
