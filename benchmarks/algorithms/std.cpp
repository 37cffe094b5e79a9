// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "problem.h"

int main(int argc, char** argv) {
  const auto find = [](bench::Run& r) {
    algorithms::measureFind(
        r, [](auto& numbers, auto is) { return std::find_if(numbers.begin(), numbers.end(), is); });
  };
  const auto count = [](bench::Run& r) {
    algorithms::measureCount(
        r, [](auto& numbers, auto is) { return std::count_if(numbers.begin(), numbers.end(), is); });
  };
  const auto copyIf = [](bench::Run& r) {
    algorithms::measureCopyIf(r, [](auto& numbers, auto out, auto is) {
      return std::copy_if(numbers.begin(), numbers.end(), out, is);
    });
  };
  const auto merge = [](bench::Run& r) {
    algorithms::measureMerge(r, [](auto& first, auto& second, auto out) {
      std::merge(first.begin(), first.end(), second.begin(), second.end(), out);
    });
  };
  return bench::runMain(
      argc, argv, "algorithms", "std",
      {{"find", {1}, find}, {"count", {1}, count}, {"copy_if", {1}, copyIf}, {"merge", {1}, merge}});
}
