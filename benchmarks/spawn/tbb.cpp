// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <thread>

#include "../common/tbb_harness.h"
#include "problem.h"

namespace {

void empty(bench::Run& r) {
  bench::inArena(r.workers(), [&] {
    spawn::measure(r, [](int64_t n) {
      tbb::task_group group;
      for (int64_t i = 0; i < n; i++) {
        group.run([] { spawn::Ran::count(); });
      }
      group.wait();
      bench::check(spawn::Ran::take() == n, "spawn");
    });
  });
}

void counter(bench::Run& r) {
  bench::inArena(r.workers(), [&] { spawn::measure(r, bench::spawnCounted); });
}

void thousand(bench::Run& r) {
  bench::inArena(r.workers(), [&] {
    spawn::measure(r, [](int64_t n) {
      for (int64_t i = 0; i < n; i += spawn::kBatch) {
        bench::spawnCounted(spawn::kBatch);
      }
    });
  });
}

// enqueue() of a plain callable is cheaper than that of a task_group's handle (350 against 450 ns), so the
// waiting is done by asking for the tasks that ran.
void outside(bench::Run& r) {
  bench::besideArena(r.workers(), [&](tbb::task_arena& arena) {
    spawn::measure(r, [&](int64_t n) {
      for (int64_t i = 0; i < n; i++) {
        arena.enqueue([] { spawn::Ran::count(); });
      }
      for (int64_t ran = 0; ran < n; ran += spawn::Ran::take()) {
        std::this_thread::yield();
      }
      bench::check(spawn::Ran::take() == 0, "spawn");
    });
  });
}

void outsideCounter(bench::Run& r) {
  bench::besideArena(r.workers(), [&](tbb::task_arena& arena) {
    spawn::measure(r, [&](int64_t n) {
      std::atomic<int64_t> left{n};
      std::atomic<bool> finished{false};
      for (int64_t i = 0; i < n; i++) {
        arena.enqueue([&] {
          if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            finished.store(true, std::memory_order_release);
            finished.notify_one();
          }
        });
      }
      finished.wait(false);
      bench::check(left.load() == 0, "spawn");
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "spawn", "tbb",
                        {{"task", {1, 2}, empty},
                         {"task-counter", {1, 2}, counter},
                         {"task-thousand", {1, 2}, thousand},
                         {"outside", {1, 2}, outside},
                         {"outside-counter", {1, 2}, outsideCounter}});
}
