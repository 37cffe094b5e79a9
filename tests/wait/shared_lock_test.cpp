// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <vector>

#include <weft/detail/wait/shared_lock.h>

// Who gets the lock behind weft's SharedMutex, and in which order. One thread plays all parts.
namespace weft::detail {
namespace {

class SharedLockTest : public ::testing::Test {
 protected:
  static constexpr unsigned kMaxPasses = 2;
  using Lock = SharedLock<WaitList, StdSync, kMaxPasses>;
  using Waiters = std::vector<Waiter*>;

  void TearDown() override { EXPECT_TRUE(lock.isIdle()) << "somebody holds it, or waits"; }

  static Waiters takeAll(WaitList granted) {
    Waiters waiters;
    while (Waiter* waiter = granted.popFront()) {
      waiters.push_back(waiter);
    }
    return waiters;
  }

  // Each returns whom to wake.
  Waiters unlock() { return takeAll(lock.unlock()); }
  Waiters unlockShared() {
    WaitList granted;
    EXPECT_TRUE(lock.unlockShared(granted));
    return takeAll(granted);
  }
  Waiters giveUp(Waiter& waiter) {
    WaitList granted;
    EXPECT_TRUE(lock.giveUp(waiter, granted));
    return takeAll(granted);
  }

  void queueToWrite(Waiter& waiter) { EXPECT_FALSE(lock.takeOrQueue(waiter, Lock::kExclusive)); }
  void queueToRead(Waiter& waiter) { EXPECT_FALSE(lock.takeOrQueue(waiter, Lock::kShared)); }

  Lock lock;
  Waiter a, b, c, d, e;
};

TEST_F(SharedLockTest, IsHeldByOneWriterOrByReaders) {
  EXPECT_TRUE(lock.tryLock());
  EXPECT_FALSE(lock.tryLock());
  EXPECT_FALSE(lock.tryLockShared());
  WaitList granted;
  EXPECT_FALSE(lock.unlockShared(granted)) << "nobody shares it";
  EXPECT_TRUE(lock.tryUnlock());
  EXPECT_FALSE(lock.unlockShared(granted)) << "nobody shares it";

  EXPECT_TRUE(lock.tryLockShared());
  EXPECT_TRUE(lock.tryLockShared());
  EXPECT_FALSE(lock.tryLock());
  EXPECT_EQ(unlockShared(), Waiters{});
  EXPECT_FALSE(lock.tryLock());
  EXPECT_EQ(unlockShared(), Waiters{});
  EXPECT_TRUE(lock.isIdle());
  EXPECT_TRUE(lock.tryLock());
  EXPECT_EQ(unlock(), Waiters{});
}

TEST_F(SharedLockTest, IsTakenInsteadOfWaitedForWhereItCanBeHad) {
  EXPECT_TRUE(lock.takeOrQueue(a, Lock::kExclusive));
  EXPECT_TRUE(lock.tryUnlock());
  EXPECT_TRUE(lock.takeOrQueue(a, Lock::kShared));
  EXPECT_TRUE(lock.takeOrQueue(b, Lock::kShared)) << "beside another reader";
  queueToWrite(c);
  EXPECT_EQ(unlockShared(), Waiters{});
  EXPECT_EQ(unlockShared(), Waiters{&c});
  EXPECT_EQ(unlock(), Waiters{});
}

TEST_F(SharedLockTest, GoesToWaitersInTurnReadersBeforeTheNextWriterTogether) {
  EXPECT_TRUE(lock.tryLock());
  queueToRead(a);
  queueToRead(b);
  queueToWrite(c);
  queueToRead(d);
  queueToWrite(e);
  EXPECT_FALSE(lock.tryUnlock()) << "somebody waits";
  EXPECT_EQ(unlock(), (Waiters{&a, &b}));
  EXPECT_EQ(unlockShared(), Waiters{});
  EXPECT_EQ(unlockShared(), Waiters{&c});
  EXPECT_FALSE(lock.tryLockShared());
  EXPECT_EQ(unlock(), Waiters{&d});
  EXPECT_FALSE(lock.tryLock());
  EXPECT_EQ(unlockShared(), Waiters{&e});
  EXPECT_FALSE(lock.tryLockShared());
  EXPECT_EQ(unlock(), Waiters{});
}

TEST_F(SharedLockTest, ReadersPassAWriterThatWaitsSoManyTimesAndThenQueue) {
  EXPECT_TRUE(lock.tryLockShared());
  EXPECT_TRUE(lock.tryLockShared());
  queueToWrite(a);
  for (unsigned i = 0; i < kMaxPasses; ++i) {
    EXPECT_TRUE(lock.tryLockShared());
    EXPECT_EQ(unlockShared(), Waiters{});
  }
  EXPECT_FALSE(lock.tryLockShared()) << "so many have passed";
  queueToRead(b);
  queueToWrite(c);
  EXPECT_EQ(unlockShared(), Waiters{});
  EXPECT_EQ(unlockShared(), Waiters{&a});
  EXPECT_EQ(unlock(), Waiters{&b});
  for (unsigned i = 0; i < kMaxPasses; ++i) {
    EXPECT_TRUE(lock.tryLockShared()) << "a waiter has had its turn";
    EXPECT_EQ(unlockShared(), Waiters{});
  }
  EXPECT_FALSE(lock.tryLockShared());
  EXPECT_EQ(unlockShared(), Waiters{&c});
  EXPECT_EQ(unlock(), Waiters{});
}

TEST_F(SharedLockTest, ReadersThatPassHoldIt) {
  EXPECT_TRUE(lock.tryLockShared());
  queueToWrite(a);
  EXPECT_TRUE(lock.tryLockShared());
  EXPECT_EQ(unlockShared(), Waiters{}) << "one still reads";
  EXPECT_EQ(unlockShared(), Waiters{&a});
  EXPECT_EQ(unlock(), Waiters{});
}

TEST_F(SharedLockTest, PassesCountUntilAWaiterHasItsTurn) {
  EXPECT_TRUE(lock.tryLockShared());
  queueToWrite(a);
  queueToWrite(b);
  EXPECT_TRUE(lock.tryLockShared());
  EXPECT_TRUE(lock.tryLockShared());
  EXPECT_EQ(giveUp(a), Waiters{}) << "there are readers";
  EXPECT_FALSE(lock.tryLockShared()) << "the other writer was passed, too";
  EXPECT_EQ(giveUp(b), Waiters{});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(lock.tryLockShared()) << "nobody waits";
  }
  queueToWrite(c);
  EXPECT_TRUE(lock.tryLockShared()) << "the count begins again";
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(unlockShared(), Waiters{});
  }
  EXPECT_EQ(unlockShared(), Waiters{&c});
  EXPECT_EQ(unlock(), Waiters{});
}

TEST_F(SharedLockTest, WhereAWriterGivesUpTheReadersBehindItGoOn) {
  EXPECT_TRUE(lock.tryLockShared());
  queueToWrite(a);
  queueToRead(b);
  queueToRead(c);
  queueToWrite(d);
  EXPECT_EQ(giveUp(a), (Waiters{&b, &c}));
  EXPECT_EQ(giveUp(d), Waiters{});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(unlockShared(), Waiters{});
  }
}

TEST_F(SharedLockTest, WhereOneGivesUpBesideAWriterThatHoldsItNobodyElseGoesOn) {
  EXPECT_TRUE(lock.tryLock());
  queueToRead(a);
  queueToRead(b);
  queueToWrite(c);
  EXPECT_EQ(giveUp(a), Waiters{});
  EXPECT_EQ(giveUp(b), Waiters{});
  EXPECT_FALSE(lock.tryLock());
  EXPECT_EQ(unlock(), Waiters{&c});
  WaitList granted;
  EXPECT_FALSE(lock.giveUp(c, granted)) << "it is woken already";
  EXPECT_TRUE(granted.isEmpty());
  queueToWrite(d);
  EXPECT_FALSE(lock.giveUp(c, granted)) << "beside another that waits";
  EXPECT_TRUE(granted.isEmpty());
  EXPECT_EQ(unlock(), Waiters{&d});
  EXPECT_TRUE(lock.tryUnlock());
}

}  // namespace
}  // namespace weft::detail
