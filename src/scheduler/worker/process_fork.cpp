// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/worker/process_fork.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "os/tick_rate.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/worker/worker.h"
#include "weft/debug.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/forkjoin/fork_join.h"

namespace weft::inline v0_1::detail {
namespace {

// relaxed, both, everywhere: a thread that forks knows of the schedulers that it uses.
constinit SpinLock lock;                           // guards the count and the list of schedulers
constinit std::atomic<int> numSchedulers{0};       // changes under the lock
constinit std::atomic<bool> isForkedChild{false};  // false -> true, in the child, by its only thread
constinit std::atomic<bool> isBindingLost{false};  // false -> true, in the child of a bound thread
constinit thread_local bool hasForked = false;     // false -> true, in the child, of the thread that forked

void enterChild() {
  // Another thread of the parent may have held the lock.
  lock.unlock();
  hasForked = true;
  if (numSchedulers.load(std::memory_order_relaxed) != 0) {
    isForkedChild.store(true, std::memory_order_relaxed);
    isBindingLost.store(currentFiber != nullptr, std::memory_order_relaxed);
    if (currentFiber != nullptr) {
      // The worker finds out once its task returns or lets others run: see Worker::beginPoll().
      static_cast<FiberControlBlock*>(currentFiber)->worker->localDeque().untilPoll = 1;
    }
    // Code that looks for the current fiber or task finds none, and asks why. A fork of tasks is plain calls.
    currentFiber = nullptr;
    currentTask = nullptr;
    currentLocalDeque = nullptr;
  }
}

}  // namespace

void watchForks() noexcept {
  // If pthread_atfork() fails for want of memory, only the message in a child is lost.
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, &enterChild);
}

constinit ListedScheduler* newestScheduler = nullptr;
constinit ClockReading firstClockReading;

SchedulerExists::SchedulerExists() noexcept {
  watchForks();
  // The lock makes a second scheduler wait until the first one has decided on the fences and calibrated the
  // ticks.
  const std::scoped_lock guard(lock);
  if (numSchedulers.fetch_add(1, std::memory_order_relaxed) == 0) {
    agreeOnFences();
    calibrateTicks();
  }
}

SchedulerExists::~SchedulerExists() {
  const std::scoped_lock guard(lock);
  numSchedulers.fetch_sub(1, std::memory_order_relaxed);
}

ListedScheduler::ListedScheduler() noexcept {
  const std::scoped_lock guard(lock);
  if (firstClockReading.ticks == 0) {
    firstClockReading = ClockReading::now();
  }
  older = newestScheduler;
  newestScheduler = this;
}

ListedScheduler::~ListedScheduler() {
  const std::scoped_lock guard(lock);
  ListedScheduler** link = &newestScheduler;
  while (*link != this) {
    link = &(*link)->older;
  }
  *link = older;
}

bool isChildWithoutWorkers() noexcept { return isForkedChild.load(std::memory_order_relaxed); }

void assertNotForked(const char* what) noexcept {
  WEFT_ASSERT(!isChildWithoutWorkers(),
              "%s was called in a child of fork(), in which the scheduler's threads do not exist. "
              "Call exec() or _exit() there, or fork before the first scheduler is made.",
              what);
}

void assertBindingNotLost(const char* what) noexcept {
  if (isBindingLost.load(std::memory_order_relaxed)) {
    assertNotForked(what);
  }
}

void assertReturnsInParent(const char* what) noexcept {
  WEFT_ASSERT(!hasForked,
              "%s returned in a child of fork(), in which nobody waits for it, since the child has no other "
              "thread. Call exec() or _exit() there.",
              what);
}

}  // namespace weft::inline v0_1::detail
