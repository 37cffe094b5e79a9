// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <thread>
#include <vector>

#include <weft/blockingcall.h>
#include <weft/future/after.h>

#include "program.h"
#include "runner.h"

namespace weft::fuzz {
namespace {

// Starts all threads that outlive the program that needs them, before any thread has ended. LeakSanitizer
// does not know a thread with the number of one that has ended (docs/reliability.md).
void startBlockingThreads() {
  BlockingThreads::setIdleTime(std::chrono::hours(24));
  std::latch allRun(kMaxScripts);
  std::vector<std::thread> callers;
  for (size_t i = 0; i < kMaxScripts; ++i) {
    callers.emplace_back([&allRun] { blocking_call([&allRun] { allRun.arrive_and_wait(); }); });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
}

void begin() {
  beginWatching();
  startBlockingThreads();
  after(std::chrono::seconds(0)).wait();  // starts the thread of the timers
}

}  // namespace
}  // namespace weft::fuzz

// Runs the program of an input.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  [[maybe_unused]] static const bool hasBegun = (weft::fuzz::begin(), true);
  static const bool prints = std::getenv("WEFT_FUZZ_PRINT") != nullptr;
  const weft::fuzz::Program program = weft::fuzz::decode(data, size);
  if (prints) {
    std::fputs(toString(program).c_str(), stderr);
  }
  weft::fuzz::run(program);
  return 0;
}
