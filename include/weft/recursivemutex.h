// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/owner.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"
#include "weft/mutex.h"
#include "weft/tsa.h"

namespace weft::inline v0_1 {

// A lock that its holder, a task or a thread outside of fibers, may lock again, and must unlock as often. It
// suspends the fiber, or blocks the thread if no scheduler is bound, and may be held across a suspension.
// Functions have the names of std::recursive_timed_mutex.
//
//   weft::RecursiveMutex mutex;
//   void add(const Node& node) {
//     std::scoped_lock lock(mutex);
//     for (const Node& child : node.children) add(child);
//   }
// Order, memory ordering and lifetime are those of weft::mutex. Clang's thread-safety analysis does not know
// this lock.
class WEFT_EXPORT RecursiveMutex {
 public:
  constexpr RecursiveMutex() = default;
  ~RecursiveMutex() {
    if (mutex_.isInUse()) [[unlikely]] {
      reportDestroyedInUse();
    }
  }
  RecursiveMutex(const RecursiveMutex&) = delete;
  RecursiveMutex& operator=(const RecursiveMutex&) = delete;

  // Waits until the caller holds the mutex, once more if it held it already. If a task or thread has ended
  // without unlocking it, and the caller is a later task on that fiber, or a later thread in that memory, a
  // message ends the program.
  void lock() {
    if (!enterAgain()) {
      mutex_.lockAs(kName);
      enterFirst();
    }
  }

  // Takes the mutex if the caller holds it, or if weft::mutex::try_lock() would. Neither suspends nor blocks.
  // Returns: whether it took the mutex.
  [[nodiscard]] bool try_lock() WEFT_NO_THREAD_SAFETY_ANALYSIS {
    return enterAgain() || (mutex_.try_lock() && enterFirst());
  }

  // As lock(), but also ends at a stop of `token`, after `duration`, or at `time`, never early by its clock.
  // Returns: whether it took the mutex: false if the stop or the time came first. Takes it if try_lock()
  // would.
  [[nodiscard]] bool lock(const std::stop_token& token) { return lockUntil(detail::kNever, token); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& duration,
                                  const std::stop_token& token = {}) {
    return lockUntil(detail::deadlineAfter(duration), token);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time,
                                    const std::stop_token& token = {}) {
    return detail::waitUntilByClock(time, token,
                                    [&](detail::TimePoint deadline) { return lockUntil(deadline, token); });
  }

  // Ends one hold: the mutex is free after as many calls as there were locks. Neither suspends nor blocks.
  // Requires: the caller, a fiber or else a thread, holds the mutex; otherwise a message ends the program.
  void unlock() WEFT_NO_THREAD_SAFETY_ANALYSIS {
    if (!mutex_.isHeldByCaller()) [[unlikely]] {
      reportNotHeld();
    }
    assertHolderLives();
    if (again_ > 0) {
      --again_;
    } else {
      mutex_.unlock();
    }
  }

 private:
  static constexpr const char* kName = "RecursiveMutex";

  // relaxed: see holder_. Returns: true.
  bool enterFirst() {
    holder_.store(detail::currentOwnerNumber(), std::memory_order_relaxed);
    return true;
  }
  // Requires: the holder, which may have ended before the caller began, has the caller's address.
  void assertHolderLives() const {
    // relaxed: see holder_.
    if (holder_.load(std::memory_order_relaxed) != detail::currentOwnerNumber()) [[unlikely]] {
      reportHolderEnded();
    }
  }
  // Returns: whether the caller held the mutex already, and now holds it once more.
  bool enterAgain() {
    if (!mutex_.isHeldByCaller()) {
      return false;
    }
    assertHolderLives();
    if (again_ == UINT32_MAX) [[unlikely]] {
      reportTooOften();
    }
    ++again_;
    return true;
  }
  bool lockUntil(detail::TimePoint deadline, const std::stop_token& token) {
    return enterAgain() || (mutex_.lockUntil(deadline, token, kName) && enterFirst());
  }
  [[noreturn]] void reportTooOften() const;
  [[noreturn]] void reportHolderEnded() const;
  [[noreturn]] void reportNotHeld() const;
  [[noreturn]] static void reportDestroyedInUse();

  mutex mutex_;
  // The holder's number. Written by the holder, read by it or a later owner with its address.
  std::atomic<uint64_t> holder_{0};
  uint32_t again_ = 0;  // how often it was locked by its holder beyond the first time; the holder's
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
