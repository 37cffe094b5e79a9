// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The floor: two threads that pass one cache line to and fro. And, for comparison, the same by futex through
// std::atomic::wait and by condition variable, where each wake is the kernel's.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "problem.h"

namespace {

int64_t passLine(int64_t rounds) {
  alignas(128) static std::atomic<int64_t> line;
  line.store(0);
  int64_t replies = 0;
  std::thread other([&] {
    for (int64_t i = 0; i < rounds; i++) {
      while (line.load(std::memory_order_acquire) != 2 * i + 1) {
      }
      replies++;
      line.store(2 * i + 2, std::memory_order_release);
    }
  });
  for (int64_t i = 0; i < rounds; i++) {
    line.store(2 * i + 1, std::memory_order_release);
    while (line.load(std::memory_order_acquire) != 2 * i + 2) {
    }
  }
  other.join();
  return replies;
}

class FutexEvent {
 public:
  void signal() {
    state_.store(1, std::memory_order_release);
    state_.notify_one();
  }
  void wait() {
    state_.wait(0, std::memory_order_acquire);
    state_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<int> state_{0};
};

class ConditionEvent {
 public:
  void signal() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      signalled_ = true;
    }
    condition_.notify_one();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    condition_.wait(lock, [this] { return signalled_; });
    signalled_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool signalled_ = false;
};

template <class Event>
int64_t betweenThreads(int64_t rounds) {
  Event ping, pong;
  int64_t replies = 0;
  std::thread other([&] { across::reply(rounds, ping, pong, replies); });
  across::begin(rounds, ping, pong);
  other.join();
  return replies;
}

void line(bench::Run& r) { across::measure(r, r.size(2000000, 200), passLine); }
void futex(bench::Run& r) { across::measure(r, r.size(20000, 50), betweenThreads<FutexEvent>); }
void condition(bench::Run& r) { across::measure(r, r.size(20000, 50), betweenThreads<ConditionEvent>); }

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(
      argc, argv, "event_across", "floor",
      {{"cache-line", {2}, line}, {"atomic-wait", {2}, futex}, {"condition", {2}, condition}});
}
