// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void feed(std::vector<uint64_t>& answers) {
  tbb::task_group group;
  for (size_t i = 0; i < answers.size(); i++) {
    group.run([&answers, i] { answers[i] = provider::tinyWork(i); });
  }
  group.wait();
}

void run(bench::Run& r) {
  bench::inArena(r.workers(), [&] { provider::measure(r, feed); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "provider", "tbb", {{"provider", {1, 2, 4, 8}, run}});
}
