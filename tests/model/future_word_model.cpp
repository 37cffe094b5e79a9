// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/future/word.h>
#include <weft/detail/park/parker.h>
#include <weft/detail/wait/select_node.h>

#include "explore.h"

// Seeded bug: future/word.h:1
// Seeded bug: future/word.h:2
// Seeded bug: future/word.h:2:split
// Seeded bug: future/word.h:3
// Seeded bug: future/word.h:3:split
// Seeded bug: future/word.h:4
// Seeded bug: future/word.h:4:split
// Seeded bug: future/word.h:5
// Seeded bug: future/word.h:6:split
// Seeded bug: future/word.h:7
// Seeded bug: future/word.h:8
// Seeded bug: future/word.h:8:split
// Seeded bug: wait/select_node.h:1:split
namespace weft::model {
namespace {

using Choice = detail::SelectChoice<RelacySync>;

// One who is to be told, as a continuation, a wait or a case of a select is.
struct alignas(16) Listener {
  // As that of a SelectNode.
  bool claim() {
    Choice* const choice = selectChoice.get();
    return choice == nullptr || choice->tryChoose(index.get());
  }

  RelacySync::Var<Listener*> next;
  RelacySync::Var<bool> isListed;
  RelacySync::Var<bool> hasLeft;
  RelacySync::Atomic<int> numTold{0};
  RelacySync::Var<detail::Parker<RelacySync>*> parker;
  RelacySync::Var<Choice*> selectChoice;  // null: of no select
  RelacySync::Var<uint32_t> index;
};

// As FutureListeners; one that may leave early can be taken out.
struct List {
  RelacySync::Var<Listener*> first;

  void pushBack(Listener& listener) {
    listener.isListed.set(true);
    pushClaimed(listener);
  }
  void pushClaimed(Listener& listener) {
    listener.next.set(first.get());
    first.set(&listener);
  }
  void takeAll(List& other) {
    while (Listener* listener = other.popFront()) {
      check(!listener->hasLeft.get(), "a listener is claimed that has left");
      listener->isListed.set(false);
      if (listener->claim()) {
        pushClaimed(*listener);
      }
    }
  }
  Listener* popFront() {
    Listener* listener = first.get();
    if (listener != nullptr) {
      first.set(listener->next.get());
    }
    return listener;
  }
  bool remove(Listener& listener) {
    if (!listener.isListed.get()) {
      return false;
    }
    if (first.get() == &listener) {
      first.set(listener.next.get());
    } else {
      Listener* before = first.get();
      while (before->next.get() != &listener) {
        before = before->next.get();
      }
      before->next.set(listener.next.get());
    }
    listener.isListed.set(false);
    return true;
  }
};

using Word = detail::FutureWord<Listener, List, RelacySync>;

// A state, as the tasks and handles of a future use it.
struct Future {
  Word word;
  Word::Room rooms[8];  // each is made at most once
  RelacySync::Atomic<int> numRooms{0};
  RelacySync::Var<int> result;

  auto makeRoom() {
    return [this] {
      Word::Room& room = rooms[numRooms.fetch_add(1, std::memory_order_relaxed)];
      room.isOpen.set(true);
      return &room;
    };
  }
  static void freeRoom(Word::Room*) {}

  void set(int value) {
    result.set(value);
    List told;
    word.publish(told);
    while (Listener* listener = told.popFront()) {
      check(!listener->hasLeft.get(), "a listener is told that has left");
      check(listener->numTold.fetch_add(1, std::memory_order_relaxed) == 0, "a listener is told twice");
      listener->parker.get()->unpark();
    }
  }

  void expectResult(int value) { check(result.get() == value, "the result is seen"); }

  // As FutureCore::waitSlow().
  void wait(Listener& listener, detail::Parker<RelacySync>& parker, int expected) {
    listener.parker.set(&parker);
    if (word.listen(listener, makeRoom(), freeRoom)) {
      parker.park();
      check(listener.numTold.newest() == 1, "a wait returns that was not told");
    }
    expectResult(expected);
  }

  // As FutureCore::waitUntil(), whose time is up at once.
  void waitBriefly(Listener& listener, detail::Parker<RelacySync>& parker, int expected) {
    listener.parker.set(&parker);
    Word::Room* room = word.enter(makeRoom(), freeRoom);
    if (room == nullptr || !room->add(listener)) {
      expectResult(expected);
      return;
    }
    room->lock.lock();
    const bool gaveUp = room->list.remove(listener);
    room->lock.unlock();
    if (!gaveUp) {
      parker.park();
      expectResult(expected);
    }
  }

  // As FutureCore::tellWhenReady() and forget(), twice with the same memory.
  void listenAndLeave(Listener& listener, detail::Parker<RelacySync>& parker, int expected) {
    for (int round = 0; round < 2; ++round) {
      listener.hasLeft.set(false);
      listener.parker.set(&parker);
      if (!word.listen(listener, makeRoom(), freeRoom)) {
        expectResult(expected);
        return;
      }
      if (!word.leave(listener)) {
        parker.park();
        expectResult(expected);
        return;
      }
      listener.hasLeft.set(true);
    }
  }
};

// One sets, two others wait, or listen without waiting.
struct OneSetter : rl::test_suite<OneSetter, 3> {
  Future future;
  Listener listeners[3];
  detail::Parker<RelacySync> parkers[3];

  void thread(unsigned index) {
    if (index == 0) {
      future.set(7);
    } else {
      future.wait(listeners[index], parkers[index], 7);
    }
  }
};

// The one who looks without waiting.
struct Poll : rl::test_suite<Poll, 2> {
  Future future;

  void thread(unsigned index) {
    if (index == 0) {
      future.set(7);
    } else if (future.word.isReady()) {
      future.expectResult(7);
    }
  }
};

// Two may want to set; the first does.
struct TwoSetters : rl::test_suite<TwoSetters, 3> {
  Future future;
  Listener listener;
  detail::Parker<RelacySync> parker;
  RelacySync::Atomic<int> numSet{0};

  void thread(unsigned index) {
    if (index == 2) {
      future.wait(listener, parker, 7);
    } else if (future.word.claim()) {
      check(numSet.fetch_add(1, std::memory_order_relaxed) == 0, "two set a future");
      future.set(7);
    }
  }

  void after() { check(numSet.newest() == 1, "nobody sets the future"); }
};

// Those who do not stay, by a function of Future, beside those who wait.
using Come = void (Future::*)(Listener&, detail::Parker<RelacySync>&, int);
template <unsigned kNumBrief, Come brief>
struct Brief : rl::test_suite<Brief<kNumBrief, brief>, 3> {
  Future future;
  Listener listeners[3];
  detail::Parker<RelacySync> parkers[3];

  void thread(unsigned index) {
    const unsigned self = index % 3;
    if (self == 0) {
      future.set(7);
    } else if (self <= kNumBrief) {
      (future.*brief)(listeners[self], parkers[self], 7);
    } else {
      future.wait(listeners[self], parkers[self], 7);
    }
  }
};

template <unsigned kNumBrief>
using GivingUp = Brief<kNumBrief, &Future::waitBriefly>;
// As those of whenAny() that have lost.
template <unsigned kNumBrief>
using Leaving = Brief<kNumBrief, &Future::listenAndLeave>;

// One who selects among two futures, as Selection::run() does with cases that are one-sided.
struct Selector {
  static constexpr uint32_t kNone = 2;

  // Returns: which future is ready, or kNone if the time was up.
  uint32_t select(bool isTimed) {
    for (uint32_t i = 0; i < 2; ++i) {
      if (futures[i].word.isReady()) {
        return i;
      }
    }
    const bool hasTaken = takeOrLink(0) || takeOrLink(1);
    const bool isTimeUp = !hasTaken && isTimed && !parker.parkUntil(detail::TimePoint());
    const bool hasGivenUp = isTimeUp && choice.tryChoose(kNone);
    if (!hasTaken && (!isTimed || (isTimeUp && !hasGivenUp))) {
      parker.park();
    }
    for (uint32_t i = 0; i < 2; ++i) {
      if (i != choice.get()) {
        unlink(i);
      }
      // The frame ends here: nobody may use it later.
      listeners[i].hasLeft.set(true);
    }
    return choice.get();
  }

 private:
  // As FutureCase::takeOrLink() and unlink().
  bool takeOrLink(uint32_t i) {
    listeners[i].parker.set(&parker);
    listeners[i].selectChoice.set(&choice);
    listeners[i].index.set(i);
    rooms[i] = futures[i].word.enter(futures[i].makeRoom(), Future::freeRoom);
    return (rooms[i] == nullptr || !rooms[i]->add(listeners[i])) && choice.tryChoose(i);
  }
  void unlink(uint32_t i) {
    if (rooms[i] != nullptr) {
      rooms[i]->lock.lock();
      (void)rooms[i]->list.remove(listeners[i]);
      rooms[i]->lock.unlock();
    }
  }

 public:
  Future* futures = nullptr;
  Listener listeners[2];
  Word::Room* rooms[2] = {};
  Choice choice;
  detail::Parker<RelacySync> parker;
};

// One selects among two futures, perhaps until a deadline. Both become ready, and who sets the second waits
// for the first, too.
template <bool kIsTimed>
struct Selecting : rl::test_suite<Selecting<kIsTimed>, 3> {
  Future futures[2];
  Selector selector;
  Listener listener;
  detail::Parker<RelacySync> parker;

  void before() { selector.futures = futures; }

  void thread(unsigned index) {
    if (index == 2) {
      const uint32_t chosen = selector.select(kIsTimed);
      check(kIsTimed || chosen != Selector::kNone, "a future is ready");
      if (chosen != Selector::kNone) {
        futures[chosen].expectResult(static_cast<int>(chosen) + 7);
      }
      return;
    }
    futures[index].set(static_cast<int>(index) + 7);
    if (index == 1) {
      futures[0].wait(listener, parker, 7);
    }
  }

  void after() {
    const int numTold = selector.listeners[0].numTold.newest() + selector.listeners[1].numTold.newest();
    check(numTold <= 1, "the select is told twice");
    check(!selector.parker.tryPark(), "no wake is left behind");
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Poll>("a look", 20'000) && explore<OneSetter>("one sets, two wait", 300'000) &&
           explore<TwoSetters>("two want to set", 200'000) &&
           explore<GivingUp<1>>("a wait that gives up, and one that does not", 300'000) &&
           explore<GivingUp<2>>("two waits that give up", 200'000) &&
           explore<Leaving<1>>("a listener that leaves, and one that waits", 200'000) &&
           explore<Leaving<2>>("two listeners that leave", 300'000) &&
           explore<Selecting<false>>("a select of two futures", 200'000) &&
           explore<Selecting<true>>("a select of two futures until a deadline", 200'000);
  });
}
