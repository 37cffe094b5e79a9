// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

void run(bench::Run& r) {
  provider::measure(r, [](std::vector<uint64_t>& answers) {
    for (size_t i = 0; i < answers.size(); i++) {
      answers[i] = provider::tinyWork(i);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "provider", "serial", {{"provider", {1}, run}});
}
