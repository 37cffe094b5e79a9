// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void run(bench::Run& r) {
  bench::Bound bound(r.workers());
  weft::WaitGroup group;
  auto kick = [&] {
    group.add();
    weft::schedule([group] { group.done(); });
  };
  for (int i = 0; i < 10000; i++) {
    kick();
  }
  group.wait();
  idle::measure(r, kick);
  group.wait();
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "idle", "weft",
                        {{"idle", {2}, run}, {"rate-100", {2}, run}, {"rate-1000", {2}, run}});
}
