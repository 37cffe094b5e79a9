// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

void feed(std::vector<uint64_t>& answers) {
  for (size_t i = 0; i < answers.size(); i++) {
#pragma omp task shared(answers) firstprivate(i)
    answers[i] = provider::tinyWork(i);
  }
#pragma omp taskwait
}

void run(bench::Run& r) {
#pragma omp parallel num_threads(r.workers())
#pragma omp single
  provider::measure(r, feed);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "provider", "openmp", {{"provider", {1, 2, 4, 8}, run}});
}
