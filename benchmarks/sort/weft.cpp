// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void random(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { sorting::measure(r, [](auto begin, auto end) { weft::parallelSort(begin, end); }); });
}

void stable(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask(
      [&] { sorting::measure(r, [](auto begin, auto end) { weft::parallelStableSort(begin, end); }); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "sort", "weft", {{"random", {1, 2}, random}, {"stable", {1, 2}, stable}});
}
