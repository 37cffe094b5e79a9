// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void feed(std::vector<uint64_t>& answers) {
  weft::WaitGroup group(static_cast<unsigned>(answers.size()));
  for (size_t i = 0; i < answers.size(); i++) {
    weft::schedule([&answers, i, group] {
      answers[i] = provider::tinyWork(i);
      group.done();
    });
  }
  group.wait();
}

void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { provider::measure(r, feed); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "provider", "weft", {{"provider", {1, 2, 4, 8}, run}});
}
