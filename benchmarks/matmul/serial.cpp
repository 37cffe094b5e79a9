// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

void run(bench::Run& r) { matmul::measure(r, matmul::serially); }

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "matmul", "serial", {{"matmul", {1}, run}});
}
