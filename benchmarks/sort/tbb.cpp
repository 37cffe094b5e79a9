// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <oneapi/tbb/parallel_sort.h>

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void random(bench::Run& r) {
  bench::inArena(r.workers(),
                 [&] { sorting::measure(r, [](auto begin, auto end) { tbb::parallel_sort(begin, end); }); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "sort", "tbb", {{"random", {1, 2}, random}});
}
