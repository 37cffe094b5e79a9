// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <type_traits>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/lock_access.h"
#include "weft/detail/base/task_scope.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"
#include "weft/tsa.h"

namespace weft::inline v0_1 {

// A lightweight thread that its scheduler suspends and resumes, always on the same system thread.
//
// Each task runs on a fiber, and so does a thread's code between bind() and unbind(). notify() gives a binary
// permit, and wait() takes it: a notify before the wait is not lost, and several count as one.
//
//   weft::Fiber* consumer = weft::Fiber::current();
//   weft::schedule([=] { produce(); consumer->notify(); });
//   consumer->wait();
// A task that runs in place, on the fiber of its waiter (docs/scheduler.md), has its own Fiber and permit.
//
// The fibers of a thread share its floating-point environment: rounding mode, exception flags and masks
// (mxcsr, the x87 control word). A task that changes it must restore it before it waits.
// Lifetime: a fiber is valid until the task that runs on it has ended. Later tasks reuse fibers.
class WEFT_EXPORT Fiber : protected detail::TaskScope {
 public:
  // Returns: the fiber of the running task, or of the code between bind() and unbind(). Null if no scheduler
  // is bound: then wait() and yield() on it end the program with a message.
  static Fiber* current() noexcept;

  // Suspends this fiber until notify(), or takes the permit that is there.
  // Requires: this is current().
  // Memory ordering: after wait() the caller sees what was written before notify().
  void wait();

  // As wait(), but also ends at a stop of `token`, or at `time`; never early by that clock.
  // Returns: false if one of these came first. A permit that is there wins, and one that comes later stays.
  bool wait(const std::stop_token& token) { return waitUntil(detail::kNever, token); }
  template <class Clock, class Duration>
  bool wait(const std::chrono::time_point<Clock, Duration>& time, const std::stop_token& token = {}) {
    return detail::waitUntilByClock(time, token,
                                    [&](detail::TimePoint deadline) { return waitUntil(deadline, token); });
  }

  // Suspends this fiber until pred() is true. Calls pred() each time the fiber is notified. `lock` is held
  // when pred() is called and when this returns, and released in between.
  // Requires: this is current(), and `lock` is held.
  template <class Lock, class Predicate>
    requires std::is_invocable_v<const Predicate&>
  void wait(Lock& lock, const Predicate& pred) WEFT_NO_THREAD_SAFETY_ANALYSIS {
    detail::assertCallable(pred, "Fiber::wait()");
    while (!pred()) {
      detail::Unlocked<Lock> unlocked(lock);
      wait();
    }
  }

  // As wait(lock, pred), at most until `time`.
  // Returns: pred().
  template <class Lock, class Clock, class Duration, class Predicate>
  bool wait(Lock& lock, const std::chrono::time_point<Clock, Duration>& time,
            const Predicate& pred) WEFT_NO_THREAD_SAFETY_ANALYSIS {
    detail::assertCallable(pred, "Fiber::wait()");
    while (!pred()) {
      bool notified = false;
      {
        detail::Unlocked<Lock> unlocked(lock);
        notified = wait(time);
      }
      if (!notified) {
        return pred();
      }
    }
    return true;
  }

  // Gives the permit. A fiber that waits for it becomes runnable. Any thread. Neither suspends nor blocks.
  void notify();

  // Lets the other runnable fibers of this thread run first.
  // Requires: this is current().
  void yield();

  // Returns: how many bytes of the stack were in use at most, in whole pages: from its top to the deepest
  // page that has memory or is swapped out. So earlier tasks on this stack count too, since its memory was
  // last given back to the system. A task in place has the stack of the task that waits for it; a bound
  // thread's own code that of the thread, of which the topmost GiB counts. 0 where the system does not tell
  // (no /proc/self/pagemap), and for a bound thread's own code on another thread.
  // Any thread. Requires: the task of this fiber has not ended. Neither suspends nor blocks; costs
  // microseconds of system calls.
  size_t stackHighWater() const noexcept;

  // Unique among the fibers of one worker that exist at the same time. For messages to people.
  const uint32_t id;

 protected:
  explicit Fiber(uint32_t fiberId) : id(fiberId) {}
  ~Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

 private:
  static void assertIsCurrent(Fiber* fiber, const char* function);
  bool waitUntil(detail::TimePoint deadline, const std::stop_token& token);
};

// Lets the other runnable fibers of this thread run first. If no scheduler is bound, lets other threads run.
WEFT_EXPORT void yield();

namespace detail {

// The fiber whose stack is in use on this thread, even if a task runs in place on it. Only the scheduler
// writes it. Its address may be kept across suspensions, since a fiber never changes threads.
extern WEFT_EXPORT constinit thread_local Fiber* currentFiber WEFT_TLS;

}  // namespace detail

inline Fiber* Fiber::current() noexcept {
  Fiber* fiber = detail::currentFiber;
  return detail::currentTask == fiber ? fiber : detail::inPlaceFiber();
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
