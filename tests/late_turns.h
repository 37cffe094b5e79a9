// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <thread>

// Tells how late a timer is by an order of events.
namespace weft::tests {

// Counts the turns that others have on a thread between the time of a timer and the turn of whoever waits
// for it.
class LateTurns {
 public:
  // More than a timer that is looked at in time lets pass, beside the fibers that are ready already; much
  // less than what passes in a millisecond.
  static constexpr int kMost = 100;

  // Calls wait(deadline), which is to return once that time has come.
  // Returns: how many turns others had on this thread from then on until wait() returned.
  template <class Wait>
  int during(std::chrono::milliseconds duration, Wait wait) {
    const auto deadline = std::chrono::steady_clock::now() + duration;
    count_ = 0;
    thread_ = std::this_thread::get_id();
    deadline_ = deadline.time_since_epoch().count();
    wait(deadline);
    thread_ = std::thread::id();
    return count_;
  }

  // A turn of one of the others. Any thread.
  void add() {
    if (thread_.load() == std::this_thread::get_id() &&
        std::chrono::steady_clock::now().time_since_epoch().count() >= deadline_) {
      ++count_;
    }
  }

 private:
  std::atomic<std::thread::id> thread_{};
  std::atomic<std::chrono::steady_clock::rep> deadline_{0};
  std::atomic<int> count_{0};
};

}  // namespace weft::tests
