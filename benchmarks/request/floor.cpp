// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Threads that sleep in a futex. One FUTEX_WAKE for each that a burst can use, which then share the burst by
// a counter; the last to end wakes the thread that waits.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "problem.h"

namespace {

class FutexGate {
 public:
  void signal() {
    word_.store(1, std::memory_order_release);
    syscall(SYS_futex, &word_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
  }

  void wait() {
    while (word_.exchange(0, std::memory_order_acquire) == 0) {
      syscall(SYS_futex, &word_, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, nullptr, nullptr, 0);
    }
  }

 private:
  std::atomic<uint32_t> word_{0};
};

void run(bench::Run& r) {
  const auto shape = request::Shape::of(r);
  const bench::Work work(shape.taskUs);
  const int numThreads = std::min(r.workers(), shape.burst);
  std::vector<FutexGate> begun(static_cast<size_t>(numThreads));
  FutexGate done;
  std::atomic<int> next{0}, left{0};
  std::atomic<bool> isOver{false};
  std::vector<std::thread> threads;
  for (FutexGate& gate : begun) {
    threads.emplace_back([&] {
      for (gate.wait(); !isOver.load(); gate.wait()) {
        while (next.fetch_add(1) < shape.burst) {
          work();
        }
        if (left.fetch_sub(1) == 1) {
          done.signal();
        }
      }
    });
  }
  const auto runBurst = [&] {
    next.store(0);
    left.store(numThreads);
    for (FutexGate& gate : begun) {
      gate.signal();
    }
    done.wait();
  };
  request::measureHops<FutexGate>(r, shape, [] {}, [] {}, runBurst);
  isOver.store(true);
  for (FutexGate& gate : begun) {
    gate.signal();
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "request", "floor", request::workloads(run));
}
