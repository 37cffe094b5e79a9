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
#include "weft/detail/wait/mutex_core.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"
#include "weft/tsa.h"

namespace weft::inline v0_1 {

namespace detail {
class LockCase;
}

// A lock that suspends the fiber, or blocks the thread if no scheduler is bound. It may be held across a
// suspension. Fibers and threads may share it.
//
//   weft::mutex mutex;
//   {
//     weft::lock lock(mutex);
//     total += read(file);  // may suspend
//   }
// Waiters are woken first in, first out. A running fiber or thread may take the mutex before a woken waiter,
// for a millisecond. Then the mutex is kept for the waiters, and lock() suspends until one of them has had
// it. If a woken waiter cannot run because its thread is busy, the mutex is kept from the others for a
// millisecond too, and again now and then until it comes.
// Lifetime: may be destroyed once the last unlock() has let the last waiter go on. Destroying it while it is
// held or waited for ends the program with a message.
class WEFT_CAPABILITY("mutex") WEFT_EXPORT mutex {
 public:
  constexpr mutex() = default;
  ~mutex() {
    if (isInUse()) [[unlikely]] {
      reportDestroyedInUse();
    }
  }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  // Waits until the caller holds the mutex.
  // Requires: the caller does not hold it; otherwise a message ends the program.
  // Memory ordering: the lock() that follows an unlock() sees what was written before the unlock().
  void lock() WEFT_ACQUIRE() { lockAs(kName); }

  // Takes the mutex if it is free and not kept (for a millisecond at most). Neither suspends nor blocks.
  // Returns: whether it did.
  [[nodiscard]] bool try_lock() WEFT_TRY_ACQUIRE(true) {
    if (!tryTake()) {
      return false;
    }
    setOwner(detail::currentOwner());
    return true;
  }

  // As lock(), but also ends at a stop of `token`, after `duration` or at `time`; never early by that clock.
  // Returns: false if one of these came first. A mutex that try_lock() would take wins.
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

  // Releases the mutex, and wakes a waiter if need be.
  // Requires: the caller, a fiber or else a thread, holds the mutex; otherwise a message ends the program.
  void unlock() WEFT_RELEASE() {
    if (!isHeldByCaller()) [[unlikely]] {
      reportNotHeld();
    }
    setOwner(nullptr);
    // The mutex may be gone after this.
    if (!core_.tryUnlock()) [[unlikely]] {
      unlockSlow();
    }
  }

 private:
  friend struct detail::LayoutAccess;
  friend class detail::LockCase;
  friend class RecursiveMutex;
  static constexpr const char* kName = "mutex";

  bool isInUse() const { return !core_.isIdle(); }
  // relaxed: see setOwner.
  bool isHeldByCaller() const { return owner_.load(std::memory_order_relaxed) == detail::currentOwner(); }
  // relaxed: only the holder compares it with itself; to others all other values mean the same.
  void setOwner(const void* owner) { owner_.store(owner, std::memory_order_relaxed); }

  // Does not write to a mutex that is held.
  bool tryTake() { return core_.isLocked() ? core_.isOffered() && tryTakeOffer() : core_.tryLock(); }
  // `name` is for reports.
  void lockAs(const char* name) {
    if (!core_.tryLock()) [[unlikely]] {
      lockSlow(name);
    }
    setOwner(detail::currentOwner());
  }
  bool lockUntil(detail::TimePoint deadline, const std::stop_token& token, const char* name = kName) {
    if (!tryTake() && !waitFor(deadline, token, name)) {
      return false;
    }
    setOwner(detail::currentOwner());
    return true;
  }
  void lockSlow(const char* name);
  bool waitFor(detail::TimePoint deadline, const std::stop_token& token, const char* name);
  bool tryTakeOffer();
  void unlockSlow();
  [[noreturn]] void reportNotHeld() const;
  [[noreturn]] static void reportDestroyedInUse();

  detail::MutexCore<> core_;
  std::atomic<const void*> owner_{nullptr};  // written by the holder
};

// Holds a mutex for a scope. It may release the mutex and take it again in between.
class WEFT_SCOPED_CAPABILITY lock {
 public:
  // Locks `guarded`, as mutex::lock() does. The destructor unlocks it, if it is locked by this object.
  explicit lock(mutex& guarded) WEFT_ACQUIRE(guarded) : mutex_(&guarded) { mutex_->lock(); }
  ~lock() WEFT_RELEASE() {
    if (isHeld_) {
      mutex_->unlock();
    }
  }
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

  // Returns: whether the mutex is locked by this object.
  bool owns_lock() const { return isHeld_; }
  // Lock and unlock the mutex, unseen by clang's thread-safety analysis. For code that it cannot follow.
  void lock_no_tsa() WEFT_NO_THREAD_SAFETY_ANALYSIS {
    mutex_->lock();
    isHeld_ = true;
  }
  void unlock_no_tsa() WEFT_NO_THREAD_SAFETY_ANALYSIS {
    isHeld_ = false;
    mutex_->unlock();
  }

 private:
  mutex* mutex_;
  bool isHeld_ = true;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
