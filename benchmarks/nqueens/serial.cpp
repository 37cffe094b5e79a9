// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

int main(int argc, char** argv) {
  auto run = [](bench::Run& r) { nqueens::measure(r, nqueens::serially); };
  return bench::runMain(argc, argv, "nqueens", "serial", {{"nqueens", {1}, run}});
}
