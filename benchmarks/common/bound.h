// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace bench {

// A scheduler of weft or of marl, of `workers` workers, bound to this thread for the lifetime of the object.
template <class Scheduler>
class BoundScheduler {
 public:
  explicit BoundScheduler(int workers)
      : scheduler_(typename Scheduler::Config().setWorkerThreadCount(workers)) {
    scheduler_.bind();
  }
  ~BoundScheduler() { Scheduler::unbind(); }
  BoundScheduler(const BoundScheduler&) = delete;
  BoundScheduler& operator=(const BoundScheduler&) = delete;

 private:
  Scheduler scheduler_;
};

}  // namespace bench
