// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void find(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    algorithms::measureFind(r, [](auto& numbers, auto is) { return weft::parallelFind(numbers, is); });
  });
}

void count(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    algorithms::measureCount(r, [](auto& numbers, auto is) { return weft::parallelCountIf(numbers, is); });
  });
}

void copyIf(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    algorithms::measureCopyIf(
        r, [](auto& numbers, auto out, auto is) { return weft::parallelCopyIf(numbers, out, is); });
  });
}

void merge(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] {
    algorithms::measureMerge(
        r, [](auto& first, auto& second, auto out) { weft::parallelMerge(first, second, out); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "algorithms", "weft",
                        {{"find", {1, 2}, find},
                         {"count", {1, 2}, count},
                         {"copy_if", {1, 2}, copyIf},
                         {"merge", {1, 2}, merge}});
}
