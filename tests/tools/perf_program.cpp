// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>

#include <weft/scheduler.h>
#include <weft/sleep.h>

// A program for a profiler to look at: a task that computes, and has waited before.
namespace {

volatile unsigned sink;

[[gnu::noinline]] void computeInTask() {
  for (int i = 0; i < 100'000'000; ++i) {  // for some hundred milliseconds
    sink = sink * 3 + 1;
  }
}

}  // namespace

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  const weft::Scheduler::Binding bound(scheduler);
  weft::schedule([] {
    weft::sleep_for(std::chrono::milliseconds(1));
    computeInTask();
  });
}
