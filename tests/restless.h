// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include <weft/scheduler.h>
#include <weft/task.h>
#include <weft/waitgroup.h>

namespace weft::tests {

// Tasks that schedule themselves again until they are told to stop.
class Restless {
 public:
  // There are `count`, for each of which start() must be called. Each calls `round` each time it runs.
  explicit Restless(
      int count, std::function<void()> round = [] {}, Task::Flags flags = Task::Flags::None)
      : round_(std::move(round)), flags_(flags), running_(static_cast<unsigned>(count)) {}
  ~Restless() { stop(); }
  Restless(const Restless&) = delete;
  Restless& operator=(const Restless&) = delete;

  // Schedules one of them, where it is called.
  void start() {
    schedule(Task(
        [this] {
          if (mayStop_) {
            running_.done();
          } else {
            round_();
            start();
          }
        },
        flags_));
  }

  void requestStop() { mayStop_ = true; }

  // Returns once all have ended.
  void stop() {
    requestStop();
    running_.wait();
  }

 private:
  const std::function<void()> round_;
  const Task::Flags flags_;
  std::atomic<bool> mayStop_{false};
  WaitGroup running_;
};

}  // namespace weft::tests
