// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <omp.h>

#include "problem.h"

namespace {

// The first thread exchanges the rows, and then takes part in the loop.
void step(heat::Strip& strip) {
  const int begin = strip.firstInner();
  const int end = strip.endInner();
#pragma omp parallel
  {
#pragma omp master
    heat::exchange(strip);
#pragma omp for schedule(dynamic, 16)
    for (int y = begin; y < end; ++y) {
      strip.compute(y);
    }
  }
  strip.compute(strip.border());
  strip.swap();
}

void run(bench::Run& r) {
  omp_set_num_threads(r.workers());
  heat::measure(r, step);
}

}  // namespace

// With one thread nothing else would compute during the exchange.
int main(int argc, char** argv) { return heat::runMain(argc, argv, "openmp", {{"heat", {2}, run}}); }
