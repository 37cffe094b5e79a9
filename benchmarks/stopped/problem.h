// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How often and how long a consumer is held up by a producer that is stopped in the middle of a push: two
// producers and a consumer, beside one thread per processor that computes, so that any of them loses its
// processor at any instruction. And what a push costs that nobody disturbs.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "../common/harness.h"
#include "../common/hogs.h"

namespace stopped {

// When the calling thread began to wait for another one that is in the middle of something. 0: it did not.
inline thread_local int64_t waitsSince = 0;

inline void noteWait() {
  if (waitsSince == 0) {
    waitsSince = bench::nowNs();
  }
}

// `Queue` has items of its type Item, push(Item*), by any thread, and takeAll(), by one, which returns how
// many items it took.
template <class Queue>
void measure(bench::Run& run) {
  constexpr int kProducers = 2;
  const auto seconds = std::chrono::milliseconds(run.size(10000, 20));
  std::vector<typename Queue::Item> items(run.size(1 << 16, 1 << 8));
  Queue queue;

  const double alone = run.medianNs([&] {
    for (auto& item : items) {
      queue.push(&item);
    }
    uint64_t taken = 0;
    while (taken < items.size()) {
      taken += queue.takeAll();
    }
  });
  run.metric("push_and_pop_ns", alone / static_cast<double>(items.size()));

  const bench::Hogs hogs;
  std::atomic<uint64_t> numPushed{0};
  std::atomic<uint64_t> numTaken{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> producers;
  for (int i = 0; i < kProducers; i++) {
    producers.emplace_back([&, i] {
      const size_t share = items.size() / kProducers;
      while (!stop.load(std::memory_order_relaxed)) {
        numPushed.fetch_add(share);
        for (size_t k = 0; k < share; k++) {
          queue.push(&items[static_cast<size_t>(i) * share + k]);
        }
        // Once all are taken whose push has begun, these are, and can be pushed again.
        const uint64_t begun = numPushed.load();
        while (numTaken.load() < begun && !stop.load(std::memory_order_relaxed)) {
          std::this_thread::yield();
        }
      }
    });
  }
  std::vector<double> waits;
  const auto end = std::chrono::steady_clock::now() + seconds;
  uint64_t taken = 0;
  while (std::chrono::steady_clock::now() < end) {
    const uint64_t count = queue.takeAll();
    if (waitsSince != 0) {
      waits.push_back(static_cast<double>(bench::nowNs() - waitsSince));
      waitsSince = 0;
    }
    taken += count;
    numTaken.store(taken);
    if (count == 0) {
      std::this_thread::yield();
    }
  }
  stop.store(true);
  for (std::thread& producer : producers) {
    producer.join();
  }
  taken += queue.takeAll();
  bench::check(taken == numPushed.load(), "stopped");
  run.metric("items", static_cast<double>(taken));
  run.metric("waits_per_million", static_cast<double>(waits.size()) * 1e6 / static_cast<double>(taken));
  run.metric("median_wait_ns", waits.empty() ? 0 : bench::median(waits));
  run.metric("longest_wait_ns", waits.empty() ? 0 : bench::percentile(waits, 1));
}

}  // namespace stopped
