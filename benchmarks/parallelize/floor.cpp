// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Both functions one after the other, called through pointers that the compiler does not know.

#include "problem.h"

namespace {

void first(parallelize::Counts& counts) { counts.first++; }
void second(parallelize::Counts& counts) { counts.second++; }

void two(bench::Run& r) {
  void (*functions[])(parallelize::Counts&) = {first, second};
  asm volatile("" : : "r"(functions) : "memory");
  parallelize::measure(r, [&](parallelize::Counts& counts) {
    functions[0](counts);
    functions[1](counts);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "parallelize", "floor", {{"two", {1}, two}});
}
