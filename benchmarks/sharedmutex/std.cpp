// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "problem.h"

namespace {

// A thread that lives as long as the object and does nothing.
class SecondThread {
 public:
  ~SecondThread() {
    stop_.store(true);
    stop_.notify_one();
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_{[this] { stop_.wait(false); }};
};

void read(bench::Run& r) {
  SecondThread second;
  std::shared_mutex mutex;
  shared_mutexes::measureReads(r, mutex);
}

void write(bench::Run& r) {
  SecondThread second;
  std::shared_mutex mutex;
  shared_mutexes::measureWrites(r, mutex);
}

void mixed(bench::Run& r) {
  shared_mutexes::measureMixed<std::shared_mutex>(
      r, [](std::shared_mutex& mutex, int64_t& counter, int64_t rounds) {
        std::vector<std::thread> threads;
        for (int i = 0; i < shared_mutexes::kHolders; i++) {
          threads.emplace_back([&, rounds] { shared_mutexes::readAndWrite(mutex, counter, rounds); });
        }
        for (auto& thread : threads) {
          thread.join();
        }
      });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "sharedmutex", "std",
                        {{"read", {1}, read}, {"write", {1}, write}, {"mixed", {2}, mixed}});
}
