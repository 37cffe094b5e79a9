// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void both(int64_t count, int depth, switching::Turns& turns) {
  weft::WaitGroup started(2), done(2);
  for (int who = 0; who < 2; who++) {
    weft::schedule([=, &turns] {
      started.done();
      started.wait();
      switching::takeTurns(count, depth, who, turns, [] { weft::yield(); });
      done.done();
    });
  }
  done.wait();
}

template <int depth>
void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&] { switching::measure(r, depth, both); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "switch", "weft",
                        {{"yield", {0, 1}, run<0>}, {"yield-frames", {0, 1}, run<switching::kFrames>}});
}
