// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void run(bench::Run& r) {
  latency::Apart apart;
  bench::besideArena(r.workers(), [&](tbb::task_arena& arena) {
    latency::measure(r, apart, [&](std::atomic<int64_t>& started) {
      arena.enqueue([&started] { started.store(bench::nowNs(), std::memory_order_release); });
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "latency", "tbb", {{"outside", {1, 2}, run}});
}
