// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <omp.h>

#include "problem.h"

namespace {

// Static shares, which suit the even loops; the skewed one takes an iteration at a time.
const auto forEach = [](size_t n, auto body) {
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) {
    body(i);
  }
};

const auto forEachDynamic = [](size_t n, auto body) {
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < n; i++) {
    body(i);
  }
};

void large(bench::Run& r) {
  omp_set_num_threads(r.workers());
  loop::measureLarge(r, forEach);
}

void small(bench::Run& r) {
  omp_set_num_threads(r.workers());
  loop::measureSmall(r, forEach);
}

void skewed(bench::Run& r) {
  omp_set_num_threads(r.workers());
  loop::measureSkewed(r, forEachDynamic);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "loop", "openmp",
                        {{"large", {1, 2}, large}, {"small", {1, 2}, small}, {"skewed", {1, 2}, skewed}});
}
