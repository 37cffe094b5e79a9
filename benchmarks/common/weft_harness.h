// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the weft programs share.

#pragma once

#include <weft/weft.h>

#include <atomic>
#include <utility>

#include "bound.h"

namespace bench {

using Bound = BoundScheduler<weft::Scheduler>;

// Runs `f` as a task and waits for it.
template <class F>
void runTask(F&& f) {
  weft::WaitGroup done(1);
  weft::schedule([&f, done] {
    f();
    done.done();
  });
  done.wait();
}

// Counts down without a lock; the last of `count` calls of done() wakes the one that waits. Tasks hold it by
// reference, so it outlives them: destroy it after wait() only.
class Countdown {
 public:
  explicit Countdown(int64_t count) : left_(count) {}

  void done() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      finished_.done();
    }
  }

  void wait() { finished_.wait(); }

 private:
  std::atomic<int64_t> left_;
  weft::WaitGroup finished_{1};
};

}  // namespace bench
