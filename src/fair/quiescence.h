// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <mutex>

#include "fair/dispatcher.h"
#include "weft/debug.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// When a fair::TaskScheduler is empty, when its threads have ended, and who waits for that.
//
// `lock` guards all of it. It also guards the members of IdleThreads, and which threads are active: begin()
// and end() of the dispatcher lock are called with it. The functions take it, but for wakeIfEmpty().
class FairQuiescence {
 public:
  explicit FairQuiescence(Dispatcher& dispatcher) : dispatcher_(dispatcher) {}
  ~FairQuiescence() {
    WEFT_ASSERT(
        emptyWaiters_.isEmpty(),
        "a fair::TaskScheduler was destroyed while somebody waits in waitEmpty(). Let it return first.");
  }

  // Returns: false if the threads run already.
  bool beginThreads(uint32_t count) {
    const std::scoped_lock guard(lock);
    if (numRunning_ != 0) {
      return false;
    }
    numRunning_ = count;
    dispatcher_.lock.beginAll(count);
    return true;
  }
  // A thread ends, which is active.
  void exitThread() {
    locked([&](WaitList& woken) {
      dispatcher_.lock.end();
      wakeIfEmpty(woken);
      if (--numRunning_ == 0) {
        woken.claimAll(stopWaiters_);
      }
    });
  }
  void awaitThreads() {
    (void)blockUnless([this] { return numRunning_ == 0; }, lock, stopWaiters_, kNever,
                      "the threads of a fair::TaskScheduler", this);
  }

  // Whether all threads have ended, or none has been started.
  bool isStopped() {
    const std::scoped_lock guard(lock);
    return numRunning_ == 0;
  }

  // Counts the caller as an active thread until letGo(): the scheduler is not empty meanwhile.
  // Requires: it is stopped.
  void hold() {
    const std::scoped_lock guard(lock);
    dispatcher_.lock.begin();
  }
  void letGo() {
    locked([&](WaitList& woken) {
      dispatcher_.lock.end();
      wakeIfEmpty(woken);
    });
  }

  // A step of another scheduler has posted its own task to this one. Until endKept(), when that step has
  // ended and queued the task, this scheduler is not empty, and does not end.
  void expectKept() {
    const std::scoped_lock guard(lock);
    ++numKept_;
  }
  void endKept() {
    locked([&](WaitList& woken) {
      --numKept_;
      // The task may have run meanwhile, or a thread in awaitKept() may take it back.
      wakeIfEmpty(woken);
      if (numKept_ == 0) {
        woken.claimAll(keptWaiters_);
      }
    });
  }
  void awaitKept() {
    (void)blockUnless([this] { return numKept_ == 0; }, lock, keptWaiters_, kNever,
                      "steps that have posted their tasks to a fair::TaskScheduler", this);
  }

  bool isEmpty() {
    const std::scoped_lock guard(lock);
    return isEmptyLocked();
  }
  bool waitEmptyUntil(TimePoint deadline) {
    return blockUnless([this] { return isEmptyLocked(); }, lock, emptyWaiters_, deadline,
                       "a fair::TaskScheduler to be empty", this);
  }
  // With the lock. If the scheduler is empty, claims the threads and fibers that wait for that.
  void wakeIfEmpty(WaitList& woken) {
    if (isEmptyLocked()) {
      woken.claimAll(emptyWaiters_);
    }
  }

  SpinLock lock;

 private:
  // Calls `change` with the lock, and then wakes whom it has claimed.
  template <class F>
  void locked(const F& change) {
    WaitList woken;
    lock.lock();
    change(woken);
    lock.unlock();
    wakeAll(woken);
  }
  bool isEmptyLocked() { return dispatcher_.isEmpty() && numKept_ == 0; }

  Dispatcher& dispatcher_;
  uint32_t numRunning_ = 0;  // threads
  uint32_t numKept_ = 0;     // tasks that expectKept() has told of
  WaitList emptyWaiters_, stopWaiters_, keptWaiters_;
};

}  // namespace weft::inline v0_1::detail
