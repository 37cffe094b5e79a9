// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A stream through a ring that one thread fills and another one empties, with nothing but two counters; with
// one worker the same thread does both in turn, a ring at a time.

#include <atomic>
#include <thread>
#include <vector>

#include "problem.h"

namespace {

// Each side looks at the other's counter only where its own copy says that the ring is full, or empty.
class Ring {
 public:
  explicit Ring(int64_t capacity) : slots_(static_cast<size_t>(capacity)), capacity_(capacity) {}

  bool trySend(int64_t value) {
    if (sent_.load(std::memory_order_relaxed) - seenReceived_ == capacity_) {
      seenReceived_ = received_.load(std::memory_order_acquire);
      if (sent_.load(std::memory_order_relaxed) - seenReceived_ == capacity_) {
        return false;
      }
    }
    const int64_t at = sent_.load(std::memory_order_relaxed);
    slots_[static_cast<size_t>(at % capacity_)] = value;
    sent_.store(at + 1, std::memory_order_release);
    return true;
  }

  bool tryReceive(int64_t& value) {
    const int64_t at = received_.load(std::memory_order_relaxed);
    if (at == seenSent_) {
      seenSent_ = sent_.load(std::memory_order_acquire);
      if (at == seenSent_) {
        return false;
      }
    }
    value = slots_[static_cast<size_t>(at % capacity_)];
    received_.store(at + 1, std::memory_order_release);
    return true;
  }

 private:
  std::vector<int64_t> slots_;
  const int64_t capacity_;
  alignas(64) std::atomic<int64_t> sent_{0};  // by the sender alone, as the next
  int64_t seenReceived_ = 0;
  alignas(64) std::atomic<int64_t> received_{0};  // by the receiver alone, as the next
  int64_t seenSent_ = 0;
};

int64_t streamAcross(int64_t count, int64_t capacity) {
  Ring ring(capacity);
  std::thread sender([&] {
    for (int64_t i = 0; i < count; i++) {
      while (!ring.trySend(i)) {
        std::this_thread::yield();
      }
    }
  });
  int64_t sum = 0;
  for (int64_t i = 0, value = 0; i < count; i++, sum += value) {
    while (!ring.tryReceive(value)) {
      std::this_thread::yield();
    }
  }
  sender.join();
  return sum;
}

int64_t streamAlone(int64_t count, int64_t capacity) {
  Ring ring(capacity);
  int64_t sum = 0, sent = 0, received = 0, value = 0;
  while (received < count) {
    while (sent < count && ring.trySend(sent)) {
      sent++;
    }
    while (ring.tryReceive(value)) {
      sum += value;
      received++;
    }
  }
  return sum;
}

template <int64_t capacity>
void stream(bench::Run& r) {
  channel::measureStream(r, [&](int64_t count) {
    return r.workers() == 1 ? streamAlone(count, capacity) : streamAcross(count, capacity);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "channel", "floor",
                        {{"stream-128", {1, 2}, stream<128>}, {"stream-1024", {1, 2}, stream<1024>}});
}
