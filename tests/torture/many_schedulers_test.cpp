// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Schedulers by the thousands.

#include <gtest/gtest.h>

#include <dirent.h>

#include <atomic>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "../with_scheduler.h"

namespace weft {
namespace {

using tests::scaled;
using tests::smallConfig;

using ManySchedulersTest = tests::WithAllocator;

int numThreads() {
  DIR* const threads = opendir("/proc/self/task");
  int count = 0;
  while (const dirent* entry = readdir(threads)) {
    count += entry->d_name[0] != '.' ? 1 : 0;
  }
  closedir(threads);
  return count;
}

// Makes a scheduler, uses it in one of several ways, and destroys it.
// Returns: how many tasks it has run.
int useOne(int way, Allocator* allocator) {
  const int numWorkers = way % 4;
  std::atomic<int> numRun{0};
  {
    Scheduler scheduler(smallConfig(numWorkers, allocator));
    if (numWorkers == 0 || way % 3 == 0) {
      const Scheduler::Binding bound(scheduler);
      const Event go(Event::Mode::Manual);
      for (int i = 0; i < 4; ++i) {
        schedule([&numRun, go] {
          go.wait();
          ++numRun;
        });
      }
      go.signal();
    } else {
      for (int i = 0; i < 4; ++i) {
        scheduler.enqueue(Task([&numRun, i] {
          sleep_for(std::chrono::microseconds(10 * i));
          ++numRun;
        }));
      }
    }
  }
  return numRun;
}

TEST_F(ManySchedulersTest, AreMadeAndDestroyedBySeveralThreadsAtOnce) {
  constexpr int kThreads = 4;
  const int rounds = scaled(1'000, 60);
  // ThreadSanitizer has a thread of its own once the program has had a second one.
  std::thread([] {}).join();
  const int before = numThreads();
  std::atomic<int> numRun{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < rounds; ++round) {
        numRun += useOne(round + i, allocator());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(numRun, kThreads * rounds * 4);
  // A thread that was joined may be listed for a moment.
  while (numThreads() > before) {
    std::this_thread::yield();
  }
}

// Each is destroyed by another thread than the one that made it.
TEST_F(ManySchedulersTest, AreHandedOnFromThreadToThread) {
  const int rounds = scaled(500, 60);
  std::atomic<int> numRun{0};
  std::unique_ptr<Scheduler> handed;
  for (int round = 0; round < rounds; ++round) {
    std::thread([&, round] {
      auto next = std::make_unique<Scheduler>(smallConfig(1 + round % 3, allocator()));
      next->enqueue(Task([&numRun] { ++numRun; }));
      handed = std::move(next);  // ends the one before
    }).join();
  }
  handed.reset();
  EXPECT_EQ(numRun, rounds);
}

}  // namespace
}  // namespace weft
