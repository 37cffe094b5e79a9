// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A task that looks at a counter every two milliseconds, while others count, and reports five times.

#include <weft/weft.h>

#include <atomic>
#include <chrono>
#include <cstdio>

int main() {
  using namespace std::chrono_literals;
  weft::fair::TaskScheduler scheduler("statistics", 2);
  std::atomic<int> numHits{0};
  std::atomic<bool> isOver{false};

  weft::fair::Task counter([&](weft::fair::Task* self) {
    ++numHits;
    if (!isOver) {
      scheduler.postDelay(self, 100us);
    }
  });

  int numReports = 0;
  int last = 0;
  weft::fair::Task statistics([&](weft::fair::Task* self) {
    const int now = numHits;
    std::printf("report %d: %s\n", ++numReports, now >= last ? "counting" : "counting backwards?");
    last = now;
    if (numReports < 5) {
      scheduler.postDelay(self, 2ms);
    } else {
      isOver = true;
    }
  });

  scheduler.post(&counter);
  scheduler.postDelay(&statistics, 2ms);
  scheduler.waitEmpty();
}
