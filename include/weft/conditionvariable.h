// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <stop_token>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/lock_access.h"
#include "weft/detail/wait/condition_core.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"
#include "weft/memory.h"
#include "weft/mutex.h"
#include "weft/tsa.h"

namespace weft::inline v0_1 {

// Lets fibers and threads wait for a condition that a lock guards. Any type with lock() and unlock() will do.
//
//   weft::lock lock(queueMutex);
//   filled.wait(lock, [&] { return !queue.empty(); });
//   use(queue.front());
// Each notify_one() wakes the longest waiter that has not been notified yet.
// Lifetime: may be destroyed once the last waiter was notified, even if its wait() has not returned. Waits
// that are timed or take a token must have returned.
class WEFT_EXPORT ConditionVariable {
 public:
  explicit(false) ConditionVariable(Allocator* = Allocator::Default) {}
  ~ConditionVariable();
  ConditionVariable(const ConditionVariable&) = delete;
  ConditionVariable& operator=(const ConditionVariable&) = delete;

  // Wake one waiter, or all waiters. Neither suspends nor blocks. The lock may be held or not.
  void notify_one() {
    // Whoever changed the condition under the lock sees every waiter that had looked at it before.
    if (core_.isAwaited()) {
      notify(false);
    }
  }
  void notify_all() {
    if (core_.isAwaited()) {
      notify(true);
    }
  }

  // Suspends the fiber, or blocks the thread, until notified. `lock` is released meanwhile, and held again on
  // return. May return without a notification: look at the condition again.
  // Requires: `lock` is held, and its unlock() does not wait.
  // Errors: what unlock() throws, such as that of a std::unique_lock that is not held; before it waits.
  template <class Lock>
  void wait(Lock& lock) {
    waitOnce(lock, detail::kNever);
  }

  // Waits until pred() is true. pred is called with the lock held, and may be annotated as requiring it.
  template <class Lock, class Predicate>
  void wait(Lock& lock, Predicate&& pred) WEFT_NO_THREAD_SAFETY_ANALYSIS {
    if constexpr (assertCondition<Predicate>()) {
      detail::assertCallable(pred, kWaitName);
      while (!pred()) {
        waitOnce(lock, detail::kNever);
      }
    }
  }

  // As wait(lock, pred), for at most `duration`.
  // Returns: pred().
  template <class Lock, class Rep, class Period, class Predicate>
  bool wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& duration, Predicate&& pred) {
    return wait_until(lock, detail::deadlineAfter(duration), pred);
  }

  // As wait(lock, pred), at most until `time`, never early by that clock.
  // Returns: pred().
  template <class Lock, class Clock, class Duration, class Predicate>
  bool wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& time, Predicate&& pred) {
    return wait_until(lock, std::stop_token(), time, pred);
  }

  // As wait(lock, pred), but also ends at a stop of `token`.
  // Returns: pred(). A true condition wins against a stop. No notify_one() goes to a stopped waiter.
  template <class Lock, class Predicate>
  bool wait(Lock& lock, const std::stop_token& token, Predicate&& pred) {
    return wait_until(lock, token, detail::kNever, pred);
  }

  // As wait(lock, token, pred), for at most `duration`.
  template <class Lock, class Rep, class Period, class Predicate>
  bool wait_for(Lock& lock, const std::stop_token& token, const std::chrono::duration<Rep, Period>& duration,
                Predicate&& pred) {
    return wait_until(lock, token, detail::deadlineAfter(duration), pred);
  }

  // As wait(lock, token, pred), at most until `time`, never early by that clock.
  template <class Lock, class Clock, class Duration, class Predicate>
  bool wait_until(Lock& lock, const std::stop_token& token,
                  const std::chrono::time_point<Clock, Duration>& time,
                  Predicate&& pred) WEFT_NO_THREAD_SAFETY_ANALYSIS {
    if constexpr (assertCondition<Predicate>()) {
      detail::assertCallable(pred, kWaitName);
      // waitUntilByClock waits again if the clock was set back. Look at the condition in between: a notify
      // before the relock found no waiter to wake. A woken waiter looks at the condition before the token.
      bool isTrue = false;
      const auto waitOrLook = [&](detail::TimePoint deadline) WEFT_NO_THREAD_SAFETY_ANALYSIS {
        return waitOnce(lock, deadline, token) || (isTrue = static_cast<bool>(pred()));
      };
      while (!isTrue && !pred()) {
        if (token.stop_requested()) {
          return false;
        }
        if (!detail::waitUntilByClock(time, token, waitOrLook)) {
          return isTrue;
        }
      }
      return true;
    } else {
      return false;
    }
  }

 private:
  static constexpr const char* kWaitName = "a wait of a ConditionVariable";

  template <class Predicate>
  static constexpr bool assertCondition() {
    constexpr bool kIsCondition = requires(Predicate& pred) { static_cast<bool>(pred()); };
    static_assert(kIsCondition,
                  "ConditionVariable: wait(lock, f), wait_for() and wait_until() call f() without arguments, "
                  "and it returns whether the condition is true. Write wait(lock, [&] { return isReady; }).");
    return kIsCondition;
  }

  // Returns: false if the deadline or the stop came first.
  template <class Lock>
  bool waitOnce(Lock& lock, detail::TimePoint deadline, const std::stop_token& token = {}) {
    detail::Waiter& self = detail::currentWaiter();
    core_.queue(self);
    LeavesUnlessUnlocked queued{*this, self};
    detail::Unlocked<Lock> unlocked(lock);
    queued.isUnlocked = true;
    return block(self, deadline, token);
  }

  // Takes the waiter out again if the lock's unlock() throws.
  struct LeavesUnlessUnlocked {
    ~LeavesUnlessUnlocked() {
      if (!isUnlocked) [[unlikely]] {
        variable.leave(waiter);
      }
    }
    ConditionVariable& variable;
    detail::Waiter& waiter;
    bool isUnlocked = false;
  };

  bool block(detail::Waiter& self, detail::TimePoint deadline, const std::stop_token& token);
  void leave(detail::Waiter& self);
  void notify(bool all);

  detail::ConditionCore<> core_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
