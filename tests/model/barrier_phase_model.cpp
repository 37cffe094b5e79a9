// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/barrier_phase.h>

#include "explore.h"
#include "model_waiter.h"

// Seeded bug: wait/barrier_phase.h:1
// Seeded bug: wait/barrier_phase.h:1:split
// Seeded bug: wait/barrier_phase.h:2
// Seeded bug: wait/wait_word.h:1
// Seeded bug: wait/wait_word.h:1:split
// Seeded bug: wait/wait_word.h:2
// Seeded bug: wait/wait_word.h:4
// Seeded bug: wait/wait_word.h:4:split
// Seeded bug: wait/wait_word.h:5
// Seeded bug: base/spin_lock.h:1
namespace weft::model {
namespace {

using Phase = detail::BarrierPhase<WaiterList, RelacySync>;

// As Barrier. complete() is the completion function.
template <class Complete>
uint32_t arrive(Phase& phase, uint32_t expected, Complete complete) {
  const auto arrival = phase.arrive(1);
  check(arrival.isAllowed, "an arrival is expected");
  if (arrival.isLast) {
    complete();
    WaiterList claimed = phase.endPhase(expected);
    claimed.wakeAll();
  }
  return arrival.phase;
}

// Returns: false if the time was up first, where `isTimed`.
bool wait(Phase& phase, uint32_t number, Waiter& self, bool isTimed) {
  if (phase.hasEnded(number) || !phase.queue(self, number)) {
    return true;
  }
  if (!isTimed) {
    self.block();
    return true;
  }
  if (!self.blockUntilSomeTime()) {
    if (phase.giveUp(self)) {
      return false;
    }
    self.block();
  }
  return true;
}

// Three members, two phases: the completion function sees what all have done, and is seen by all.
struct Phases : rl::test_suite<Phases, 3> {
  Phase phase{3};
  Waiter waiters[3];
  RelacySync::Var<int> done[3];
  RelacySync::Var<int> sum;

  void before() {
    sum.set(0);
    for (auto& count : done) {
      count.set(0);
    }
  }

  void thread(unsigned index) {
    for (int round = 1; round <= 2; ++round) {
      done[index].set(round);
      const uint32_t number =
          arrive(phase, 3, [&] { sum.set(done[0].get() + done[1].get() + done[2].get()); });
      // One of them gives up now and then, and comes again.
      while (!wait(phase, number, waiters[index], index == 0)) {
        RelacySync::pause();
      }
      check(sum.get() == 3 * round, "the completion function saw all, and is seen");
    }
  }

  void after() { checkNoneLeft(waiters); }
};

// One waits, and destroys the barrier when it is back, while the others may be returning.
struct Destroy : rl::test_suite<Destroy, 3> {
  Phase* phase = nullptr;
  Waiter waiter;
  RelacySync::Var<int> data[2];

  void before() { phase = new Phase(3); }

  void thread(unsigned index) {
    if (index < 2) {
      data[index].set(1);
      (void)arrive(*phase, 3, [] {});
      return;
    }
    const uint32_t number = arrive(*phase, 3, [] {});
    while (!wait(*phase, number, waiter, true)) {
      RelacySync::pause();
    }
    check(data[0].get() == 1 && data[1].get() == 1, "the work of the others is seen");
    delete phase;
  }

  void after() { waiter.checkNoneLeft(); }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Phases>("three members, two phases", 500'000) &&
           explore<Destroy>("one destroys it", 500'000);
  });
}
