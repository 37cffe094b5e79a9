// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/future/word.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

// The states of a future's word. One thread plays all parts.
namespace weft::inline v0_1::detail {
namespace {

struct alignas(8) Listener {};

struct List {
  using Listeners = std::vector<Listener*>;

  void pushBack(Listener& listener) { listeners.push_back(&listener); }
  void pushClaimed(Listener& listener) { listeners.push_back(&listener); }
  void takeAll(List& other) {
    listeners.insert(listeners.end(), other.listeners.begin(), other.listeners.end());
    other.listeners.clear();
  }
  void remove(Listener& listener) {
    const auto at = std::find(listeners.begin(), listeners.end(), &listener);
    ASSERT_NE(at, listeners.end()) << "who is taken out is there";
    listeners.erase(at);
  }
  Listeners listeners;
};

class FutureWordTest : public ::testing::Test {
 protected:
  using Word = FutureWord<Listener, List>;
  using Listeners = List::Listeners;

  void TearDown() override { delete word.room(); }

  Word::Room* makeRoom() {
    ++numMade;
    return new Word::Room;
  }
  void freeRoom(Word::Room* room) {
    ++numFreed;
    delete room;
  }
  bool listen(Listener& listener) {
    return word.listen(listener, [this] { return makeRoom(); }, [this](Word::Room* room) { freeRoom(room); });
  }
  Word::Room* enter() {
    return word.enter([this] { return makeRoom(); }, [this](Word::Room* room) { freeRoom(room); });
  }
  Listeners publish() {
    List told;
    word.publish(told);
    return told.listeners;
  }

  Word word;
  Listener a, b, c;
  int numMade = 0, numFreed = 0;
};

TEST_F(FutureWordTest, OneListenerNeedsNoRoom) {
  EXPECT_TRUE(word.isUntouched());
  EXPECT_TRUE(listen(a));
  EXPECT_FALSE(word.isUntouched());
  EXPECT_FALSE(word.isReady());
  EXPECT_EQ(word.room(), nullptr);
  EXPECT_TRUE(word.claim());
  EXPECT_FALSE(word.claim());
  EXPECT_EQ(publish(), Listeners{&a});
  EXPECT_TRUE(word.isReady());
  EXPECT_FALSE(word.claim());
  EXPECT_FALSE(word.leave(a)) << "it was told";
  EXPECT_FALSE(listen(b)) << "it is ready";
  EXPECT_EQ(word.room(), nullptr);
  EXPECT_EQ(numMade, 0);
}

TEST_F(FutureWordTest, OneListenerMayLeaveAndCome) {
  EXPECT_TRUE(word.claim());
  EXPECT_TRUE(listen(a)) << "the result is not there yet";
  EXPECT_TRUE(word.leave(a));
  EXPECT_TRUE(listen(b));
  EXPECT_FALSE(word.claim()) << "it stays claimed";
  EXPECT_EQ(publish(), Listeners{&b});
  EXPECT_EQ(numMade, 0);
}

TEST_F(FutureWordTest, FurtherListenersAreInARoom) {
  EXPECT_TRUE(listen(a));
  EXPECT_TRUE(listen(b));
  EXPECT_NE(word.room(), nullptr);
  EXPECT_TRUE(listen(c));
  EXPECT_EQ(numMade, 1);
  EXPECT_FALSE(word.isReady());
  EXPECT_TRUE(word.claim());
  EXPECT_EQ(publish(), (Listeners{&a, &b, &c}));
  EXPECT_TRUE(word.isReady());
  EXPECT_NE(word.room(), nullptr) << "it stays until the end";
}

TEST_F(FutureWordTest, EachMayLeaveTheRoom) {
  EXPECT_TRUE(listen(a));
  EXPECT_TRUE(listen(b));
  EXPECT_TRUE(listen(c));
  EXPECT_TRUE(word.leave(b));
  EXPECT_TRUE(word.leave(a)) << "who was there before the room";
  EXPECT_EQ(publish(), Listeners{&c});
  EXPECT_FALSE(word.leave(c)) << "it was told";
}

TEST_F(FutureWordTest, AClosedRoomTakesNobody) {
  Word::Room* const room = enter();
  ASSERT_NE(room, nullptr);
  EXPECT_EQ(enter(), room);
  EXPECT_TRUE(room->add(a));
  EXPECT_EQ(publish(), Listeners{&a});
  EXPECT_FALSE(room->add(b));
  EXPECT_FALSE(room->remove(b));
  EXPECT_FALSE(listen(c));
  EXPECT_EQ(room->list.listeners, Listeners{}) << "nobody would tell them";
  EXPECT_EQ(enter(), nullptr);
}

TEST_F(FutureWordTest, ARoomThatComesTooLateIsTakenBack) {
  const auto freeIt = [this](Word::Room* room) { freeRoom(room); };
  EXPECT_TRUE(listen(a));
  Word::Room* const entered = word.enter(
      [this] {
        EXPECT_EQ(publish(), Listeners{&a});
        return makeRoom();
      },
      freeIt);
  EXPECT_EQ(entered, nullptr) << "it is ready";
  EXPECT_EQ(numMade, 1);
  EXPECT_EQ(numFreed, 1);

  Word other;
  Word::Room* first = nullptr;
  const auto make = [this] { return makeRoom(); };
  Word::Room* const second = other.enter(
      [&] {
        first = other.enter(make, freeIt);
        return makeRoom();
      },
      freeIt);
  EXPECT_EQ(second, first);
  EXPECT_EQ(numMade, 3);
  EXPECT_EQ(numFreed, 2);
  delete other.room();
}

TEST_F(FutureWordTest, AClaimStaysBesideARoom) {
  EXPECT_TRUE(listen(a));
  EXPECT_TRUE(word.claim());
  ASSERT_NE(enter(), nullptr);
  EXPECT_FALSE(word.claim());
  EXPECT_EQ(publish(), Listeners{&a});
}

TEST_F(FutureWordTest, IsPublishedByOneThatNobodyListensTo) {
  EXPECT_TRUE(word.claim());
  word.publishAlone();
  EXPECT_TRUE(word.isReady());
  EXPECT_FALSE(listen(a));
  EXPECT_EQ(word.room(), nullptr);
}

}  // namespace
}  // namespace weft::inline v0_1::detail
