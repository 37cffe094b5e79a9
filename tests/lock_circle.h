// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <mutex>
#include <stop_token>

#include <weft/mutex.h>
#include <weft/task.h>
#include <weft/tsa.h>
#include <weft/waitgroup.h>

namespace weft::tests {

// Two tasks that each hold a lock and wait for that of the other, until letGo(). Must outlive both.
class LockCircle {
 public:
  Task first() {
    return Task([this] { lockBoth(a_, b_); });
  }
  Task second() {
    return Task([this] { lockBoth(b_, a_); });
  }

  // Returns once both have ended.
  void letGo() {
    stop_.request_stop();
    ended_.wait();
  }

 private:
  void lockBoth(mutex& mine, mutex& others) WEFT_NO_THREAD_SAFETY_ANALYSIS {
    const WaitGroup ended = ended_;
    {
      const std::scoped_lock lock(mine);
      held_.done();
      held_.wait();
      // The first that gives up lets go of the lock that the other one waits for.
      if (others.lock(stop_.get_token())) {
        others.unlock();
      }
    }
    ended.done();
  }

  mutex a_, b_;
  std::stop_source stop_;
  const WaitGroup held_{2};
  const WaitGroup ended_{2};
};

}  // namespace weft::tests
