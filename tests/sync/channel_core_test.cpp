// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The usual ways of ChannelCore, by one thread: when they are taken, and what they look at. That nothing is
// lost or doubled among threads: channel_test.cpp, and tests/model/channel_model.cpp.

#include <weft/detail/channel/core.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace weft::inline v0_1::detail {
namespace {

class ChannelCoreTest : public testing::Test {
 protected:
  static constexpr uintptr_t kMe = 1, kAnother = 2;
  static constexpr size_t kCapacity = 3;

  // A side's number is read with acquire by the other side alone. A hint is stored relaxed, the word is not.
  struct CountingSync : StdSync {
    template <class T>
    class Atomic : public std::atomic<T> {
     public:
      using std::atomic<T>::atomic;

      T load(std::memory_order order) const {
        numLooks += order == std::memory_order_acquire ? 1 : 0;
        return std::atomic<T>::load(order);
      }
      void store(T value, std::memory_order order) {
        numHints += order == std::memory_order_relaxed ? 1 : 0;
        std::atomic<T>::store(value, order);
      }
    };
  };

  struct Host {
    static bool claim(Waiter&) { return true; }
    static Waiter& owner(Waiter& waiter) { return waiter; }
    static void wake(Waiter&) {}
  };

  using Core = ChannelCore<CountingSync, Host>;

  void SetUp() override { numLooks = numHints = 0; }

  bool put(int value, uintptr_t who = kMe) {
    return core.tryPut(who, [value](void* slot) { *static_cast<int*>(slot) = value; });
  }

  // Returns: the value, or -1.
  int get(uintptr_t who = kMe) {
    int value = -1;
    const bool isThere = core.tryGet(who, [&value](void* slot) { value = *static_cast<int*>(slot); });
    EXPECT_EQ(isThere, value != -1);
    return value;
  }

  // Returns: how often a side has read the other side's number since the last call.
  static int looks() { return std::exchange(numLooks, 0); }

  static inline int numLooks = 0, numHints = 0;

  int slots[4] = {};
  Core core{valueTypeOf<int>, kCapacity, std::size(slots), reinterpret_cast<unsigned char*>(slots)};
};

TEST_F(ChannelCoreTest, TheUsualWayServesWhileThereIsRoomAndWhileThereAreValues) {
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(put(1));
    EXPECT_TRUE(put(2));
    EXPECT_TRUE(put(3));
    EXPECT_FALSE(put(4));
    EXPECT_EQ(core.size(), kCapacity);
    EXPECT_EQ(get(), 1);
    EXPECT_TRUE(put(5));
    EXPECT_FALSE(put(6));
    EXPECT_EQ(get(), 2);
    EXPECT_EQ(get(), 3);
    EXPECT_EQ(get(), 5);
    EXPECT_EQ(get(), -1);
    EXPECT_EQ(core.size(), 0u);
  }
}

// Each look takes a cache line from the other side.
TEST_F(ChannelCoreTest, ASideLooksAtTheOtherOnlyWhenItHasSeenNoMore) {
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(put(i));
  }
  EXPECT_EQ(looks(), 0);
  EXPECT_FALSE(put(4));
  EXPECT_EQ(looks(), 1);
  EXPECT_EQ(get(), 1);
  EXPECT_EQ(looks(), 1) << "three values are there";
  EXPECT_EQ(get(), 2);
  EXPECT_EQ(get(), 3);
  EXPECT_EQ(looks(), 0);
  EXPECT_EQ(get(), -1);
  EXPECT_EQ(looks(), 1);
  EXPECT_TRUE(put(4));
  EXPECT_EQ(looks(), 1) << "three slots are free";
  EXPECT_TRUE(put(5));
  EXPECT_TRUE(put(6));
  EXPECT_EQ(looks(), 0);
}

TEST_F(ChannelCoreTest, WhoeverWaitsOrClosesTurnsTheOtherSideToTheSections) {
  Waiter waiter;
  {
    Core::Section section(core);
    core.receivers().pushBack(waiter);
  }
  EXPECT_FALSE(put(1));
  {
    Core::Section section(core);
    core.receivers().remove(waiter);
  }
  EXPECT_TRUE(put(1));
  {
    Core::Section section(core);
    core.senders().pushBack(waiter);
  }
  EXPECT_EQ(get(), -1);
  EXPECT_TRUE(put(2));
  {
    Core::Section section(core);
    core.senders().remove(waiter);
    core.close(section);
  }
  EXPECT_FALSE(put(3));
  EXPECT_EQ(get(), 1);
  EXPECT_EQ(get(), 2);
}

TEST_F(ChannelCoreTest, ASectionSendsWhileThereIsRoom) {
  int value = 7;
  Transfer mine{&value, &core.type(), {}};
  Core::Section section(core);
  for (size_t i = 0; i < kCapacity; ++i) {
    EXPECT_EQ(core.send(section, mine), ChannelEnd::Done);
  }
  EXPECT_EQ(core.send(section, mine), ChannelEnd::WouldWait);
}

TEST_F(ChannelCoreTest, EachSideRemembersItsLastUserAndWritesThatOnceForEach) {
  EXPECT_EQ(core.sendersSide().lastUser(), 0u);
  EXPECT_EQ(core.receiversSide().lastUser(), 0u);
  put(1, kMe);
  put(2, kMe);
  EXPECT_EQ(core.sendersSide().lastUser(), kMe);
  EXPECT_EQ(core.receiversSide().lastUser(), 0u);
  get(kAnother);
  get(kAnother);
  EXPECT_EQ(core.sendersSide().lastUser(), kMe);
  EXPECT_EQ(core.receiversSide().lastUser(), kAnother);
  EXPECT_EQ(numHints, 2) << "once for each side";
  put(3, kAnother);
  EXPECT_EQ(core.sendersSide().lastUser(), kAnother);
  core.sendersSide().setPatience(7);
  EXPECT_EQ(core.sendersSide().patience(), 7u);
}

}  // namespace
}  // namespace weft::inline v0_1::detail
