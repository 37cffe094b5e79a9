// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/future/timer.h"

#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <new>
#include <system_error>

#include "os/detached_thread.h"
#include "os/stack_overflow.h"
#include "scheduler/worker/process_fork.h"
#include "weft/conditionvariable.h"

namespace weft::inline v0_1::detail {
namespace {

// The process's timers. It exists as long as the process does, and its thread too. In a child of fork(), the
// next timer that is started starts a thread.
class TimerThread {
 public:
  static TimerThread& get() {
    alignas(TimerThread) static std::byte memory[sizeof(TimerThread)];
    static auto* const only = ::new (static_cast<void*>(memory)) TimerThread;  // it is never destroyed
    return *only;
  }

  void start(Timer& timer) {
    assertNotForked("a timer");
    std::scoped_lock guard(mutex_);
    startThread();
    heap_.add(&timer);
    if (heap_.earliest() == &timer) {
      changed_.notify_one();
    }
  }

  bool cancel(Timer& timer) {
    std::scoped_lock guard(mutex_);
    const bool isPending = timer.timerIndex != kNotInHeap;
    heap_.remove(&timer);
    return isPending;
  }

 private:
  void startThread() {
    if (hasThread_) {
      return;
    }
    watchForks();
    registerForkHandlers();
    if (const int error = startDetachedThread(&run, this); error != 0) {
      throw std::system_error(error, std::generic_category(),
                              "weft: the system granted no thread for timers. Run fewer threads, or raise "
                              "the limit on threads (ulimit -u, the cgroup's pids.max)");
    }
    hasThread_ = true;
  }

  static void registerForkHandlers() {
    static const int error = pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); },
                                            [] { get().enterChild(); });
    if (error != 0) {
      throw std::system_error(error, std::generic_category(), "weft: pthread_atfork() for timers");
    }
  }

  // What the parent's timers call may lie on stacks of threads that are the parent's alone. So they stay, to
  // be cancelled, and expire in the parent only. The parent's thread waits in `changed_`, which is made anew
  // without a look at that.
  void enterChild() {
    hasThread_ = false;
    for (Timer* timer = heap_.earliest(); timer != nullptr && timer->deadline != kNever;
         timer = heap_.earliest()) {
      heap_.remove(timer);
      timer->deadline = kNever;
      heap_.add(timer);
    }
    ::new (static_cast<void*>(&changed_)) ConditionVariable;
    mutex_.unlock();
  }

  static void* run(void* self) {
    pthread_setname_np(pthread_self(), "weft:timer");
    AlternateStack signalStack;
    static_cast<TimerThread*>(self)->callDue();
    return nullptr;
  }

  [[noreturn]] void callDue() {
    std::unique_lock guard(mutex_);
    for (;;) {
      if (Timer* const due = heap_.popExpired(TimePoint::clock::now())) {
        guard.unlock();
        due->expire(*due);
        assertReturnsInParent("what a timer calls");
        guard.lock();
      } else if (const Timer* const next = heap_.earliest()) {
        const TimePoint deadline = next->deadline;
        const auto isChanged = [&] { return heap_.earliest() != next || next->deadline != deadline; };
        changed_.wait_until(guard, deadline, isChanged);
      } else {
        changed_.wait(guard);
      }
    }
  }

  std::mutex mutex_;           // held for a few steps, and never while a fiber is suspended
  TimerHeap<Timer> heap_;      // guarded by mutex_
  bool hasThread_ = false;     // guarded by mutex_
  ConditionVariable changed_;  // there is a new earliest timer
};

}  // namespace

void startTimer(Timer& timer) { TimerThread::get().start(timer); }

bool cancelTimer(Timer& timer) { return TimerThread::get().cancel(timer); }

}  // namespace weft::inline v0_1::detail
