// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

[[gnu::noinline]] int64_t compute(int n) { return n < 2 ? n : compute(n - 1) + compute(n - 2); }

}  // namespace

int main(int argc, char** argv) {
  auto run = [](bench::Run& r) { fib::measure(r, compute); };
  return bench::runMain(argc, argv, "fib", "serial", {{"fib", {1}, run}});
}
