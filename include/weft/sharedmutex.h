// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <atomic>
#include <chrono>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/owner.h"
#include "weft/detail/wait/shared_lock.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"
#include "weft/tsa.h"

namespace weft::inline v0_1 {

// A lock that one writer holds alone, or many readers together. It suspends the fiber, or blocks the thread
// if no scheduler is bound, and may be held across a suspension. Functions have the names of
// std::shared_timed_mutex: std::unique_lock and std::shared_lock work with it.
//
//   weft::SharedMutex mutex;
//   {
//     std::shared_lock lock(mutex);
//     show(table.at(key));
//   }
//   std::unique_lock lock(mutex);
//   table[key] = load(key);  // may suspend
// A reader cannot become the writer: a lock() by a caller that holds the mutex shared waits forever. If what
// you read decides whether you write, unlock, lock() and read again, or use lock() from the beginning. A
// reader must not lock the mutex again either: a writer that comes in between waits for the first
// lock_shared(), and the second lock_shared() may wait for that writer.
//
// Waiters are served first in, first out. Up to 64 readers that come while others read may pass a waiting
// writer. So neither readers nor writers starve. A waiter loses its turn if its thread is busy: the others go
// on after some milliseconds, or an eighth of the time that they have waited, if that is longer.
// Lifetime: may be destroyed once the last unlock has let the last waiter go on. Destroying it while it is
// held or waited for ends the program with a message.
class WEFT_CAPABILITY("shared_mutex") WEFT_EXPORT SharedMutex {
 public:
  constexpr SharedMutex() = default;
  ~SharedMutex() {
    if (!lock_.isIdle()) [[unlikely]] {
      reportDestroyedInUse();
    }
  }
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  // Waits until the caller holds the mutex alone.
  // Requires: the caller does not hold the mutex. If it holds it alone, a message ends the program.
  // Memory ordering: sees what was written before each earlier unlock() and unlock_shared().
  void lock() WEFT_ACQUIRE() {
    if (!lock_.tryLock()) [[unlikely]] {
      (void)waitFor(How::kExclusive, detail::kNever, {});
    }
    setOwner(detail::currentOwner());
  }

  // Takes the mutex if nobody holds it. Neither suspends nor blocks.
  // Returns: whether it took the mutex.
  [[nodiscard]] bool try_lock() WEFT_TRY_ACQUIRE(true) {
    return (lock_.tryLock() || tryTake(How::kExclusive)) && setOwner(detail::currentOwner());
  }

  // As lock(), but also ends at a stop of `token`, after `duration`, or at `time`, never early by its clock.
  // Returns: whether the caller holds it now: false if the stop or the time came first. Takes a free mutex at
  // the call.
  [[nodiscard]] bool lock(const std::stop_token& token) WEFT_TRY_ACQUIRE(true) {
    return lockUntil(detail::kNever, token);
  }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& duration,
                                  const std::stop_token& token = {}) WEFT_TRY_ACQUIRE(true) {
    return lockUntil(detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time,
                                    const std::stop_token& token = {}) WEFT_TRY_ACQUIRE(true) {
    return detail::waitUntilByClock(time, token,
                                    [&](detail::TimePoint deadline) { return lockUntil(deadline, token); });
  }

  // Ends the hold of the writer. Neither suspends nor blocks.
  // Requires: the caller, a fiber or else a thread, is the writer; otherwise a message ends the program.
  void unlock() WEFT_RELEASE() {
    if (!isHeldByCaller()) [[unlikely]] {
      reportNotHeld();
    }
    setOwner(nullptr);
    if (!lock_.tryUnlock()) [[unlikely]] {
      unlockSlow();
    }
  }

  // As the functions without "shared", for readers: many may hold the mutex together. unlock_shared() ends
  // the program with a message only if nobody holds the mutex shared: it does not check that the caller does.
  // Memory ordering: lock_shared() sees what was written before each earlier unlock().
  void lock_shared() WEFT_ACQUIRE_SHARED() {
    if (!lock_.tryLockShared()) [[unlikely]] {
      (void)waitFor(How::kShared, detail::kNever, {});
    }
  }
  [[nodiscard]] bool try_lock_shared() WEFT_TRY_ACQUIRE_SHARED(true) {
    return lock_.tryLockShared() || tryTake(How::kShared);
  }
  [[nodiscard]] bool lock_shared(const std::stop_token& token) WEFT_TRY_ACQUIRE_SHARED(true) {
    return lockSharedUntil(detail::kNever, token);
  }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& duration,
                                         const std::stop_token& token = {}) WEFT_TRY_ACQUIRE_SHARED(true) {
    return lockSharedUntil(detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time,
                                           const std::stop_token& token = {}) WEFT_TRY_ACQUIRE_SHARED(true) {
    return detail::waitUntilByClock(
        time, token, [&](detail::TimePoint deadline) { return lockSharedUntil(deadline, token); });
  }
  void unlock_shared() WEFT_RELEASE_SHARED() {
    detail::WaitList granted;
    if (!lock_.unlockShared(granted)) [[unlikely]] {
      reportNotShared();
    }
    if (!granted.isEmpty()) [[unlikely]] {
      detail::wakeAll(granted);
    }
  }

  // Returns: whether the calling task, or thread outside of fibers, holds the mutex alone.
  bool isHeldByCaller() const {
    // relaxed: only the holder finds itself there.
    return owner_.load(std::memory_order_relaxed) == detail::currentOwner();
  }

 private:
  static constexpr const char* kName = "SharedMutex";
  friend struct detail::LayoutAccess;
  using How = detail::SharedLock<>::How;

  // Returns: true.
  // relaxed: only the holder compares it with itself; to others all other values mean the same.
  bool setOwner(const void* owner) {
    owner_.store(owner, std::memory_order_relaxed);
    return true;
  }
  bool lockUntil(detail::TimePoint deadline, const std::stop_token& token) {
    return (lock_.tryLock() || waitFor(How::kExclusive, deadline, token)) && setOwner(detail::currentOwner());
  }
  bool lockSharedUntil(detail::TimePoint deadline, const std::stop_token& token) {
    return lock_.tryLockShared() || waitFor(How::kShared, deadline, token);
  }
  bool tryTake(How how);
  bool waitFor(How how, detail::TimePoint deadline, const std::stop_token& token);
  void unlockSlow();
  [[noreturn]] void reportNotHeld() const;
  [[noreturn]] void reportNotShared() const;
  [[noreturn]] static void reportDestroyedInUse();

  detail::SharedLock<> lock_;
  std::atomic<const void*> owner_{nullptr};  // written by the writer that holds it
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
