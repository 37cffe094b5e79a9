// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The test must fail with each of these in the code (see README.md):
// Seeded bug: park/parker.h:1:relaxed
// Seeded bug: park/parker.h:1:split
// Seeded bug: park/parker.h:2:relaxed
// Seeded bug: park/parker.h:2:split
// Seeded bug: park/parker.h:3:relaxed
// Seeded bug: park/parker.h:3:split
// Seeded bug: park/parker.h:4:relaxed
// Seeded bug: park/parker.h:4:acquire
// Seeded bug: park/parker.h:4:release
// Seeded bug: park/parker.h:4:split
// Seeded bug: park/parker.h:5:relaxed
// Seeded bug: park/parker.h:5:split

#include <weft/detail/park/parker.h>

#include "explore.h"
#include "with_wake_fd.h"

namespace weft::model {
namespace {

using Parker = detail::Parker<RelacySync>;

detail::TimePoint someDeadline() { return detail::TimePoint(); }

// Two wakers raise a count and unpark; the owner parks until it has seen both. A lost permit would be a
// deadlock.
struct TwoWakers : rl::test_suite<TwoWakers, 3> {
  Parker parker;
  RelacySync::Atomic<int> numArrived{0};

  void thread(unsigned index) {
    if (index != 0) {
      // relaxed: the parker has to order it.
      numArrived.fetch_add(1, std::memory_order_relaxed);
      parker.unpark();
      return;
    }
    while (numArrived.load(std::memory_order_relaxed) != 2) {
      parker.park();
    }
  }
};

// Two permits merge into one, and what came before either unpark is seen by who consumes it.
struct Merge : rl::test_suite<Merge, 3> {
  Parker parker;
  RelacySync::Var<int> data[2];
  RelacySync::Atomic<int> numUnparked{0};

  void thread(unsigned index) {
    if (index != 0) {
      data[index - 1].set(1);
      parker.unpark();
      // relaxed: says that both have come without ordering anything (Relacy keeps the order of the two
      // steps).
      numUnparked.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    while (numUnparked.load(std::memory_order_relaxed) != 2) {
      RelacySync::pause();
    }
    parker.park();
    check(data[0].get() == 1 && data[1].get() == 1, "the permit covers both");
    check(!parker.tryPark(), "the two permits were one");
  }
};

// One waker, timed waits: a timeout leaves nothing behind, and a permit is either consumed or still there.
struct Timeouts : rl::test_suite<Timeouts, 2> {
  Parker parker;
  RelacySync::Var<int> data;
  bool consumed = false;

  void thread(unsigned index) {
    if (index == 1) {
      data.set(7);
      parker.unpark();
      return;
    }
    for (int i = 0; i < 2 && !consumed; i++) {
      consumed = parker.parkUntil(someDeadline());
    }
    if (consumed) {
      check(data.get() == 7, "the data came with the permit");
    }
  }
  void after() {
    if (!consumed) {
      check(parker.tryPark(), "an unconsumed permit stays");
    }
    check(!parker.tryPark(), "one unpark, one permit");
  }
};

// After a timeout the parker works as before.
struct ParkAfterTimeout : rl::test_suite<ParkAfterTimeout, 2> {
  Parker parker;
  RelacySync::Var<int> data;

  void thread(unsigned index) {
    if (index == 1) {
      data.set(7);
      parker.unpark();
      return;
    }
    if (!parker.parkUntil(someDeadline())) {
      parker.park();
    }
    check(data.get() == 7, "the data came with the permit");
  }
};

// As TwoWakers. The owner makes its wake eventfd while others may give permits already.
struct TwoWakersElsewhere : rl::test_suite<TwoWakersElsewhere, 3> {
  WithWakeFd owner;
  RelacySync::Atomic<int> numArrived{0};

  void thread(unsigned index) {
    if (index != 0) {
      // relaxed: the parker has to order it.
      numArrived.fetch_add(1, std::memory_order_relaxed);
      owner.parker.unpark();
      return;
    }
    owner.makeWakeFd();
    while (numArrived.load(std::memory_order_relaxed) != 2) {
      owner.sleepElsewhere(nullptr);
    }
  }
};

// The data comes with the permit, in whichever of the owner's sleeps it is consumed; and there is but one.
struct ElsewhereAndHere : rl::test_suite<ElsewhereAndHere, 2> {
  WithWakeFd owner;
  RelacySync::Var<int> data;
  bool consumed = false;

  void thread(unsigned index) {
    const detail::TimePoint deadline = someDeadline();
    if (index == 1) {
      data.set(7);
      owner.parker.unpark();
      return;
    }
    owner.makeWakeFd();
    for (int i = 0; i < 2 && !consumed; i++) {
      consumed = owner.sleepElsewhere(&deadline) || owner.parker.parkUntil(deadline);
    }
    if (consumed) {
      check(data.get() == 7, "the data came with the permit");
    }
  }
  void after() {
    if (!consumed) {
      check(owner.parker.tryPark(), "an unconsumed permit stays");
    }
    check(!owner.parker.tryPark(), "one unpark, one permit");
  }
};

// The owner consumes the permit of a waker that has not rung yet, and goes. The ring reaches the next owner,
// which then waits for another waker's permit, and gets it.
struct LateRing : rl::test_suite<LateRing, 3> {
  WithWakeFd slot;
  RelacySync::Var<int> data;
  RelacySync::Atomic<int> isNextThere{0};

  void thread(unsigned index) {
    if (index == 1) {
      slot.parker.unpark();
      return;
    }
    if (index == 2) {
      while (isNextThere.load(std::memory_order_relaxed) == 0) {
        RelacySync::pause();
      }
      data.set(7);
      slot.parker.unpark();
      return;
    }
    slot.makeWakeFd();
    while (!slot.sleepElsewhere(nullptr)) {
    }
    isNextThere.store(1, std::memory_order_relaxed);
    while (!slot.sleepElsewhere(nullptr)) {
    }
    check(data.get() == 7, "the data came with the permit");
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return exploreFinite<TwoWakers>("two wakers", 600'000) && exploreFinite<Merge>("merge", 600'000) &&
           exploreFinite<Timeouts>("timeouts", 600'000) &&
           exploreFinite<ParkAfterTimeout>("park after timeout", 600'000) &&
           exploreFinite<TwoWakersElsewhere>("two wakers, elsewhere", 600'000) &&
           exploreFinite<ElsewhereAndHere>("elsewhere and here", 600'000) &&
           exploreFinite<LateRing>("late ring", 600'000);
  });
}
