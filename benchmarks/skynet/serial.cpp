// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

[[gnu::noinline]] int64_t compute(int64_t first, int64_t leaves) {
  if (leaves == 1) {
    return first;
  }
  int64_t sums[skynet::kWays];
  for (int i = 0; i < skynet::kWays; i++) {
    sums[i] = compute(first + i * (leaves / skynet::kWays), leaves / skynet::kWays);
  }
  return skynet::total(sums);
}

}  // namespace

int main(int argc, char** argv) {
  auto run = [](bench::Run& r) { skynet::measure(r, compute); };
  return bench::runMain(argc, argv, "skynet", "serial", {{"skynet", {1}, run}});
}
