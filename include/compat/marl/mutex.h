// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"
#include "weft/detail/base/macros_begin.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include <weft/detail/base/callable.h>

#include "tsa.h"

namespace marl {

// A std::mutex: it blocks the thread. A fiber may suspend with it if no other one of its thread wants it.
class CAPABILITY("mutex") mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

  // Blocks the thread until `pred` is true, as std::condition_variable does.
  // Requires: this mutex is held.
  template <class Predicate>
  void wait_locked(std::condition_variable& cv, Predicate&& pred) REQUIRES(this) {
    weft::detail::assertCallable(pred, "marl::mutex::wait_locked()");
    Adopted adopted(mutex_);
    cv.wait(adopted.lock, std::forward<Predicate>(pred));
  }

  // As wait_locked(), at most until `timeout`. Returns: pred().
  template <class Predicate, class Time>
  bool wait_until_locked(std::condition_variable& cv, Time&& timeout, Predicate&& pred) REQUIRES(this) {
    weft::detail::assertCallable(pred, "marl::mutex::wait_until_locked()");
    Adopted adopted(mutex_);
    return cv.wait_until(adopted.lock, timeout, std::forward<Predicate>(pred));
  }

 private:
  friend class lock;

  // Lends the mutex, which the caller holds, to the standard library.
  struct Adopted {
    explicit Adopted(std::mutex& held) : lock(held, std::adopt_lock) {}
    ~Adopted() { lock.release(); }
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;
    std::unique_lock<std::mutex> lock;
  };

  std::mutex mutex_;
};

// Holds a mutex for a scope; released by ConditionVariable::wait() and Scheduler::Fiber::wait().
class SCOPED_CAPABILITY lock {
 public:
  explicit(false) lock(mutex& guarded) ACQUIRE(guarded) : lock_(guarded.mutex_) {}
  ~lock() RELEASE() = default;
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

  // Blocks the thread until `pred` is true, as std::condition_variable does.
  template <class Predicate>
  void wait(std::condition_variable& cv, Predicate&& pred) {
    weft::detail::assertCallable(pred, "marl::lock::wait()");
    cv.wait(lock_, std::forward<Predicate>(pred));
  }

  // As wait(), at most until `timeout`. Returns: pred().
  template <class Predicate, class Time>
  bool wait_until(std::condition_variable& cv, Time&& timeout, Predicate&& pred) {
    weft::detail::assertCallable(pred, "marl::lock::wait_until()");
    return cv.wait_until(lock_, timeout, std::forward<Predicate>(pred));
  }

  bool owns_lock() const { return lock_.owns_lock(); }

  // For code that clang's thread-safety analysis cannot follow.
  void lock_no_tsa() NO_THREAD_SAFETY_ANALYSIS { lock_.lock(); }
  void unlock_no_tsa() NO_THREAD_SAFETY_ANALYSIS { lock_.unlock(); }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace marl

#include "weft/detail/base/macros_end.h"
