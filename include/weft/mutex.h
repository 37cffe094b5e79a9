// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/owner.h"
#include "weft/detail/waiter.h"
#include "weft/export.h"
#include "weft/tsa.h"

namespace weft {

// A mutual exclusion lock that suspends the fiber, or blocks the thread where no scheduler is bound, and that may be held
// across a suspension. Fibers and threads may share it.
//
//   weft::mutex mutex;
//   {
//     weft::lock lock(mutex);
//     total += read(file);  // may suspend
//   }
//
// Waiters are woken first in, first out. A fiber that runs may take the mutex before one that has been woken; a waiter that was
// passed over for a millisecond is handed the mutex, so that none waits for ever.
// Lifetime: may be destroyed as soon as the last unlock() has let the last waiter go on; destroying it while somebody
// holds it or waits for it ends the program with a message.
class WEFT_CAPABILITY("mutex") WEFT_EXPORT mutex {
 public:
  constexpr mutex() = default;
  ~mutex() {
    // relaxed: nobody else may use it any more.
    if (word_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      reportDestroyedInUse();
    }
  }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  // Waits until it holds the mutex. Requires: the caller does not hold it; else a message ends the program.
  // Memory ordering: what was written before unlock() is seen after the lock() that follows.
  void lock() WEFT_ACQUIRE() {
    // (1) acquire: sees what the holder before wrote; pairs with (2).
    if ((word_.fetch_or(kLocked, std::memory_order_acquire) & kLocked) != 0) [[unlikely]] {
      lockSlow();
    }
    setOwner(detail::currentOwner());
  }

  // Takes the mutex if it is free. Returns: whether it did. Neither suspends nor blocks.
  [[nodiscard]] bool try_lock() WEFT_TRY_ACQUIRE(true) {
    // relaxed: a held mutex is not written to.
    if ((word_.load(std::memory_order_relaxed) & kLocked) != 0) {
      return false;
    }
    // (3) acquire: sees what the holder before wrote; pairs with (2).
    if ((word_.fetch_or(kLocked, std::memory_order_acquire) & kLocked) != 0) {
      return false;
    }
    setOwner(detail::currentOwner());
    return true;
  }

  // Requires: the fiber, or the thread outside of fibers, that calls holds the mutex; else a message ends the program.
  void unlock() WEFT_RELEASE() {
    // relaxed: see setOwner.
    if (owner_.load(std::memory_order_relaxed) != detail::currentOwner()) [[unlikely]] {
      reportNotHeld();
    }
    setOwner(nullptr);
    uint32_t expected = kLocked;
    // (2) release: the next holder sees what this one wrote; pairs with (1, 3). The mutex may be gone after it.
    if (!word_.compare_exchange_strong(expected, 0, std::memory_order_release, std::memory_order_relaxed)) [[unlikely]] {
      unlockSlow();
    }
  }

 private:
  // kLocked     held
  // kListLocked list_ is being changed
  // kWaiters    list_ is not empty
  // kUrgent     the first of them is to be handed the mutex
  // kWoken      a waiter was woken and has not tried yet: unlock() need not wake another
  static constexpr uint32_t kLocked = 1, kListLocked = 2, kWaiters = 4, kUrgent = 8, kWoken = 16;
  static constexpr uint32_t kListBits = kWaiters | kUrgent;

  // relaxed: the holder alone compares it with itself; to all others any other value says the same.
  void setOwner(const void* owner) { owner_.store(owner, std::memory_order_relaxed); }

  uint32_t listBits() const;
  void lockSlow();
  void unlockSlow();
  [[noreturn]] void reportNotHeld() const;
  [[noreturn]] static void reportDestroyedInUse();

  std::atomic<uint32_t> word_{0};
  std::atomic<const void*> owner_{nullptr};  // written by the holder
  detail::WaitList list_;        // guarded by kListLocked
};

// Holds a mutex for the time of a scope; may release it and take it again in between.
class WEFT_SCOPED_CAPABILITY lock {
 public:
  explicit lock(mutex& guarded) WEFT_ACQUIRE(guarded) : mutex_(&guarded) { mutex_->lock(); }
  ~lock() WEFT_RELEASE() {
    if (isHeld_) {
      mutex_->unlock();
    }
  }
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

  bool owns_lock() const { return isHeld_; }
  // The names with _no_tsa are marl's, for code that clang's thread-safety analysis cannot follow.
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

}  // namespace weft
