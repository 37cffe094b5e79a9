// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void one(bench::Run& r) {
  bench::inArena(r.workers(), [&] {
    tbb::task_group group;
    async::measure(r, [&](int64_t& sum) {
      group.run([&sum] { sum++; });
      group.wait();
    });
  });
}

}  // namespace

int main(int argc, char** argv) { return bench::runMain(argc, argv, "async", "tbb", {{"one", {1, 2}, one}}); }
