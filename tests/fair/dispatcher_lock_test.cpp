// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/fair/dispatcher_lock.h>

#include <gtest/gtest.h>

namespace weft::inline v0_1::detail {
namespace {

using Lock = DispatcherLock<>;

TEST(DispatcherLockTest, IsTakenByTheOnlyActiveThreadWithoutAnExchange) {
  Lock lock;
  lock.beginAll(1);
  EXPECT_FALSE(lock.isTaken());
  EXPECT_EQ(lock.tryTake(), Lock::Hold::Alone);
  EXPECT_TRUE(lock.isTaken());
  lock.leave(Lock::Hold::Alone);
  EXPECT_FALSE(lock.isTaken());
  EXPECT_EQ(lock.tryTake(), Lock::Hold::Alone);
  lock.leave(Lock::Hold::Alone);
}

TEST(DispatcherLockTest, IsTakenByOneOfSeveralActiveThreads) {
  Lock lock;
  lock.beginAll(2);
  EXPECT_EQ(lock.numActive(), 2u);
  EXPECT_EQ(lock.tryTake(), Lock::Hold::BesideOthers);
  EXPECT_TRUE(lock.isTaken());
  EXPECT_EQ(lock.tryTake(), Lock::Hold::None);
  lock.leave(Lock::Hold::BesideOthers);
  EXPECT_FALSE(lock.isTaken());
}

TEST(DispatcherLockTest, IsNotTakenByOneThatComesWhileTheOnlyActiveThreadHasIt) {
  Lock lock;
  lock.beginAll(1);
  EXPECT_EQ(lock.tryTake(), Lock::Hold::Alone);
  lock.begin();
  EXPECT_EQ(lock.tryTake(), Lock::Hold::None);
  lock.leave(Lock::Hold::Alone);
  EXPECT_EQ(lock.tryTake(), Lock::Hold::BesideOthers);
  lock.leave(Lock::Hold::BesideOthers);
  lock.end();
  EXPECT_EQ(lock.numActive(), 1u);
  EXPECT_EQ(lock.tryTake(), Lock::Hold::Alone);
  lock.leave(Lock::Hold::Alone);
}

}  // namespace
}  // namespace weft::inline v0_1::detail
