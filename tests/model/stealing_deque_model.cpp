// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The test must fail with each of these in the code (see README.md):
// Seeded bug: queue/stealing_deque.h:2:relaxed
// Seeded bug: queue/stealing_deque.h:4:relaxed
// Seeded bug: queue/stealing_deque.h:4:acq_rel
// Seeded bug: queue/stealing_deque.h:5:relaxed
// Seeded bug: queue/stealing_deque.h:5:acq_rel
// Seeded bug: queue/stealing_deque.h:6:relaxed
// Seeded bug: queue/stealing_deque.h:7:split
// Seeded bug: queue/stealing_deque.h:10:split
// Seeded bug: queue/stealing_deque.h:11:split
// Seeded bug: queue/stealing_deque.h:14:relaxed
// Seeded bug: queue/steal_gate.h:1:relaxed
// Seeded bug: queue/steal_gate.h:3:relaxed
// Seeded bug: queue/steal_gate.h:4:relaxed

#include <weft/detail/queue/steal_gate.h>
#include <weft/detail/queue/stealing_deque.h>

#include "explore.h"

namespace weft::model {
namespace {

constexpr int kItems = 5;

struct Item {
  RelacySync::Var<int> payload;
  RelacySync::Var<int> numTaken;
};

// One owner and two thieves: every item is taken once, by somebody who sees what was put into it.
struct DequeSuite {
  using Deque = detail::StealingDeque<Item, RelacySync, 2>;
  using StealGate = detail::StealGate<RelacySync>;
  using Stealer = typename StealGate::Stealer;

  StealGate gate;
  Stealer stealers[3] = {Stealer(gate), Stealer(gate), Stealer(gate)};
  Deque deque;
  Item items[kItems];
  int numPushed = 0;

  void consume(Item* item) {
    check(item->payload.get() == 42, "the payload is there");
    item->numTaken.set(item->numTaken.get() + 1);
  }

  void takeNewest() {
    if (Item* item = deque.take(stealers[0])) {
      consume(item);
    }
  }

  bool pushNext() {
    Item& item = items[numPushed];
    item.payload.set(42);
    if (!deque.push(&item)) {
      return false;
    }
    numPushed++;
    return true;
  }

  // Pushes up to `count` items at once.
  void pushTogether(int count) {
    Item* batch[kItems];
    for (int i = 0; i < count; i++) {
      batch[i] = &items[numPushed + i];
      batch[i]->payload.set(42);
    }
    numPushed += static_cast<int>(deque.pushBatch(batch, static_cast<uint32_t>(count)));
  }

  void pushAndTake() {
    pushNext();
    pushNext();
    takeNewest();
    pushNext();
    takeNewest();
    takeNewest();
  }

  // Returns: whether it got an item.
  bool stealOne(unsigned thief) {
    stealers[thief].enter();
    for (;;) {
      const typename Deque::Stolen stolen = deque.steal();
      if (stolen.item != nullptr) {
        consume(stolen.item);
      }
      if (!stolen.lostRace) {
        return stolen.item != nullptr;
      }
    }
  }

  void drain() {
    stealers[1].leave();
    stealers[2].leave();
    while (Item* item = deque.take(stealers[0])) {
      consume(item);
    }
    check(deque.empty(), "the owner has emptied it");
    for (int i = 0; i < numPushed; i++) {
      check(items[i].numTaken.get() == 1, "an item is taken exactly once");
    }
  }
};

struct PushTakeSteal : rl::test_suite<PushTakeSteal, 3>, DequeSuite {
  void thread(unsigned index) {
    if (index != 0) {
      stealOne(index);
      stealers[index].leave();
      stealOne(index);
      return;
    }
    pushAndTake();
  }
  void after() { drain(); }
};

// The same with an owner that steals too, from others.
struct TakeAsThief : PushTakeSteal {
  void before() { stealers[0].enter(); }
};

// Two thieves steal twice each, while the owner does what own() says.
template <class Suite>
struct BesideThieves : rl::test_suite<Suite, 3>, DequeSuite {
  void thread(unsigned index) {
    if (index == 0) {
      static_cast<Suite*>(this)->own();
      return;
    }
    stealOne(index);
    stealOne(index);
  }
  void after() { drain(); }
};

// The thieves have come before and stay.
struct TakeBesideThieves : BesideThieves<TakeBesideThieves> {
  void before() {
    stealers[1].enter();
    stealers[2].enter();
  }
  void own() { pushAndTake(); }
};

// The owner pushes two at once, or as many as there is room for, and goes round the slots.
struct Batches : BesideThieves<Batches> {
  void own() {
    pushTogether(2);
    takeNewest();
    pushTogether(2);
    if (Item* item = deque.takeOldest()) {
      consume(item);
    }
    pushTogether(kItems - numPushed < 2 ? kItems - numPushed : 2);
  }
};

// The owner closes the deque, opens it again, and goes round the slots. A thief counts while it is closed.
struct Closed : BesideThieves<Closed> {
  void own() {
    pushNext();
    pushNext();
    for (int i = 0; i < 3; i++) {
      deque.close();
      check(!deque.push(&items[numPushed]), "a closed deque takes nothing");
      deque.open();
      pushNext();
    }
    takeNewest();
  }
};

// The owner fills the deque several times, and goes round the slots.
struct Overflow : BesideThieves<Overflow> {
  void own() {
    while (numPushed < kItems) {
      if (pushNext()) {
        continue;
      }
      if (numPushed % 2 == 0) {
        Item* out[2];
        const uint32_t count = deque.takeOldestBatch(out, 2);
        for (uint32_t i = 0; i < count; i++) {
          consume(out[i]);
        }
        if (count == 2) {
          check(out[0] < out[1], "the oldest comes first");
        }
      } else if (Item* item = deque.takeOldest()) {
        consume(item);
      }
    }
    takeNewest();
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<PushTakeSteal>("push, take, steal", 600'000) &&
           explore<TakeAsThief>("take as a thief", 600'000) &&
           explore<TakeBesideThieves>("take beside thieves", 600'000) &&
           explore<Batches>("batches", 600'000) && explore<Closed>("closed", 600'000) &&
           explore<Overflow>("overflow", 600'000);
  });
}
