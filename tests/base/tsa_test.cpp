// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Compiled with -Wthread-safety -Werror by clang: that this file compiles is most of the test.

#include <weft/tsa.h>

#if defined(CAPABILITY) || defined(GUARDED_BY) || defined(REQUIRES) || defined(ACQUIRE) || defined(RELEASE)
#error "names without a prefix leak from weft/tsa.h"
#endif

#include <gtest/gtest.h>

namespace {

class WEFT_CAPABILITY("mutex") Mutex {
 public:
  void lock() WEFT_ACQUIRE() {}
  void unlock() WEFT_RELEASE() {}
  void lockShared() WEFT_ACQUIRE_SHARED() {}
  void unlockShared() WEFT_RELEASE_SHARED() {}
  bool tryLock() WEFT_TRY_ACQUIRE(true) { return true; }
  bool tryLockShared() WEFT_TRY_ACQUIRE_SHARED(true) { return true; }
  void assertHeld() WEFT_ASSERT_CAPABILITY(this) {}
  void assertShared() WEFT_ASSERT_SHARED_CAPABILITY(this) {}
};

class WEFT_SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) WEFT_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() WEFT_RELEASE() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

struct Ordered {
  Mutex first WEFT_ACQUIRED_BEFORE(second);
  Mutex second;
  Mutex third WEFT_ACQUIRED_AFTER(second);
};

class Account {
 public:
  void add(int amount) WEFT_EXCLUDES(mutex_) {
    Lock lock(mutex_);
    addLocked(amount);
  }
  bool tryAdd(int amount) WEFT_EXCLUDES(mutex_) {
    if (!mutex_.tryLock()) {
      return false;
    }
    addLocked(amount);
    mutex_.unlock();
    return true;
  }
  int balance() WEFT_EXCLUDES(mutex_) {
    mutex_.lockShared();
    const int result = balanceLocked();
    mutex_.unlockShared();
    return result;
  }
  int balanceIfShared() {
    int result = -1;
    if (mutex_.tryLockShared()) {
      result = balanceLocked();
      mutex_.unlockShared();
    }
    return result;
  }
  int balanceWhereHeld() {
    mutex_.assertHeld();
    return *pointer_;
  }
  int balanceWhereShared() {
    mutex_.assertShared();
    return balance_;
  }
  int balanceUnchecked() WEFT_NO_THREAD_SAFETY_ANALYSIS { return balance_; }
  Mutex& mutex() WEFT_RETURN_CAPABILITY(mutex_) { return mutex_; }

 private:
  void addLocked(int amount) WEFT_REQUIRES(mutex_) { balance_ += amount; }
  int balanceLocked() const WEFT_REQUIRES_SHARED(mutex_) { return balance_; }

  Mutex mutex_;
  int balance_ WEFT_GUARDED_BY(mutex_) = 0;
  int* pointer_ WEFT_PT_GUARDED_BY(mutex_) = &balance_;
};

TEST(TsaTest, AnnotationsChangeNothingAtRunTime) {
  Account account;
  account.add(1);
  EXPECT_TRUE(account.tryAdd(2));
  EXPECT_EQ(account.balance(), 3);
  EXPECT_EQ(account.balanceIfShared(), 3);
  EXPECT_EQ(account.balanceWhereHeld(), 3);
  EXPECT_EQ(account.balanceWhereShared(), 3);
  EXPECT_EQ(account.balanceUnchecked(), 3);
  Ordered ordered;
  Lock first(ordered.first);
  Lock second(ordered.second);
  Lock third(ordered.third);
}

}  // namespace
