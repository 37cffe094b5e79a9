// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <boost/fiber/all.hpp>

#include <mutex>

namespace bench {

// Boost.Fiber has no event: a flag behind its mutex and condition variable.
class BoostEvent {
 public:
  void signal() {
    {
      std::lock_guard<boost::fibers::mutex> lock(mutex_);
      signalled_ = true;
    }
    condition_.notify_one();
  }

  void wait() {
    std::unique_lock<boost::fibers::mutex> lock(mutex_);
    condition_.wait(lock, [this] { return signalled_; });
    signalled_ = false;
  }

 private:
  boost::fibers::mutex mutex_;
  boost::fibers::condition_variable condition_;
  bool signalled_ = false;
};

}  // namespace bench
