// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "problem.h"

int main(int argc, char** argv) {
  const auto random = [](bench::Run& r) {
    sorting::measure(r, [](auto begin, auto end) { std::sort(begin, end); });
  };
  const auto stable = [](bench::Run& r) {
    sorting::measure(r, [](auto begin, auto end) { std::stable_sort(begin, end); });
  };
  return bench::runMain(argc, argv, "sort", "std", {{"random", {1}, random}, {"stable", {1}, stable}});
}
