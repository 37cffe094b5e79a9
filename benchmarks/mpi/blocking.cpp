// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

void step(heat::Strip& strip) {
  heat::exchange(strip);
  strip.computeInner();
  strip.compute(strip.border());
  strip.swap();
}

}  // namespace

int main(int argc, char** argv) {
  return heat::runMain(argc, argv, "blocking",
                       {{"heat", {1}, [](bench::Run& r) { heat::measure(r, step); }}});
}
