// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

// Asks MPI after each sixteen rows.
void step(heat::Strip& strip) {
  std::array<MPI_Request, 2> requests = heat::post(strip);
  int areDone = 0;
  for (int y = strip.firstInner(); y < strip.endInner(); ++y) {
    strip.compute(y);
    if (areDone == 0 && y % 16 == 0) {
      MPI_Testall(2, requests.data(), &areDone, MPI_STATUSES_IGNORE);
    }
  }
  if (areDone == 0) {
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }
  strip.compute(strip.border());
  strip.swap();
}

}  // namespace

int main(int argc, char** argv) {
  return heat::runMain(argc, argv, "polling", {{"heat", {1}, [](bench::Run& r) { heat::measure(r, step); }}});
}
