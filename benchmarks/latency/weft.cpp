// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "../common/weft_harness.h"
#include "problem.h"

namespace {

void wake(std::atomic<int64_t>& started) {
  weft::schedule([&started] { started.store(bench::nowNs(), std::memory_order_release); });
}

void run(bench::Run& r) {
  latency::Apart apart;
  bench::Bound bound(r.workers());
  latency::measure(r, apart, wake);
}

void runBesideHogs(bench::Run& r) {
  bench::Bound bound(r.workers());
  latency::measureBesideHogs(r, wake);
}

void runTimed(bench::Run& r) {
  bench::Bound bound(r.workers());
  bench::runTask([&r] {
    weft::Event never;
    latency::measureLateness(r, [&](auto duration) { never.wait_for(duration); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(
      argc, argv, "latency", "weft",
      {{"outside", {1, 2}, run}, {"beside-hogs", {1, 2}, runBesideHogs}, {"timed-wait", {1, 2}, runTimed}});
}
