// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <oneapi/tbb/parallel_for.h>

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

const auto forEach = [](size_t n, auto body) { tbb::parallel_for(size_t{0}, n, body); };

}  // namespace

int main(int argc, char** argv) {
  const auto large = [](bench::Run& r) {
    bench::inArena(r.workers(), [&] { loop::measureLarge(r, forEach); });
  };
  const auto small = [](bench::Run& r) {
    bench::inArena(r.workers(), [&] { loop::measureSmall(r, forEach); });
  };
  const auto skewed = [](bench::Run& r) {
    bench::inArena(r.workers(), [&] { loop::measureSkewed(r, forEach); });
  };
  return bench::runMain(argc, argv, "loop", "tbb",
                        {{"large", {1, 2}, large}, {"small", {1, 2}, small}, {"skewed", {1, 2}, skewed}});
}
