// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <algorithm>
#include <cstddef>
#include <functional>

#include "../common/tbb_harness.h"
#include "problem.h"

// oneTBB has loops, reductions and scans. Of these algorithms a reduction can count; the others have no call.
namespace {

void count(bench::Run& r) {
  bench::inArena(r.workers(), [&] {
    algorithms::measureCount(r, [](auto& numbers, auto is) {
      const auto countPart = [is](const auto& part, size_t before) {
        return before + static_cast<size_t>(std::count_if(part.begin(), part.end(), is));
      };
      return tbb::parallel_reduce(tbb::blocked_range(numbers.begin(), numbers.end()), size_t{0}, countPart,
                                  std::plus<>());
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "algorithms", "tbb", {{"count", {1, 2}, count}});
}
