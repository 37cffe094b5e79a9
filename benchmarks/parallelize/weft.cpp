// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void two(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    parallelize::measure(r, [](parallelize::Counts& counts) {
      weft::parallelize([&] { counts.first++; }, [&] { counts.second++; });
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "parallelize", "weft", {{"two", {0, 1, 2}, two}});
}
