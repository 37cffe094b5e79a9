// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/mpi.h>

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void step(heat::Strip& strip) {
  const int neighbour = 1 - heat::rank();
  std::array<weft::mpi::Request, 2> requests{weft::mpi::world().irecv(strip.received(), neighbour),
                                             weft::mpi::world().isend(strip.row(strip.border()), neighbour)};
  weft::TaskGroup border;
  border.run([&] {
    weft::mpi::waitAll(requests);
    strip.compute(strip.border());
  });
  weft::parallelFor(strip.firstInner(), strip.endInner(), [&](int y) { strip.compute(y); });
  border.wait();
  strip.swap();
}

void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  const weft::mpi::Environment environment;
  bench::runTask([&] { heat::measure(r, step); });
}

}  // namespace

int main(int argc, char** argv) { return heat::runMain(argc, argv, "weft", {{"heat", {1}, run}}); }
