// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <oneapi/tbb/parallel_invoke.h>

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void two(bench::Run& r) {
  bench::inArena(r.workers(), [&] {
    parallelize::measure(r, [](parallelize::Counts& counts) {
      tbb::parallel_invoke([&] { counts.first++; }, [&] { counts.second++; });
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "parallelize", "tbb", {{"two", {1, 2}, two}});
}
