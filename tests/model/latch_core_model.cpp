// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/latch_core.h>

#include "explore.h"
#include "model_waiter.h"

// Seeded bug: wait/latch_core.h:1
// Seeded bug: wait/latch_core.h:2
// Seeded bug: wait/latch_core.h:2:split
// Seeded bug: wait/latch_core.h:2:touch
// Seeded bug: wait/wait_word.h:1
// Seeded bug: wait/wait_word.h:1:split
// Seeded bug: wait/wait_word.h:2
// Seeded bug: wait/wait_word.h:4
// Seeded bug: wait/wait_word.h:4:split
// Seeded bug: wait/wait_word.h:5
// Seeded bug: wait/wait_word.h:5:split
// Seeded bug: base/spin_lock.h:1
// Seeded bug: base/spin_lock.h:1:split
namespace weft::model {
namespace {

using Core = detail::LatchCore<WaiterList, RelacySync>;

// As Latch.
void countDown(Core& core) {
  if (core.countDown(1)) {
    core.open().wakeAll();
  }
}

bool wait(Core& core, Waiter& self, Limit limit, Stop& stop) {
  if (core.isOpen()) {
    return true;
  }
  if (mayStop(limit) && stop.isRequested() && !core.isZero()) {
    return false;
  }
  return !core.queue(self) || blockQueued(self, core, limit, stop);
}

// One waits, again where it was not for long enough, and destroys the latch when it is back, while the others
// may be returning.
template <Limit kLimit>
struct Destroy : rl::test_suite<Destroy<kLimit>, mayStop(kLimit) ? 4 : 3> {
  Core* core = nullptr;
  Waiter waiter;
  Stop stop;
  RelacySync::Var<int> data[2];

  void before() { core = new Core(2); }

  void thread(unsigned index) {
    if (index == 3) {
      stop.request();
      return;
    }
    if (index < 2) {
      data[index].set(1);
      countDown(*core);
      return;
    }
    while (!wait(*core, waiter, limitAgain(kLimit, stop), stop)) {
      RelacySync::pause();
    }
    check(data[0].get() == 1 && data[1].get() == 1, "the work of the others is seen");
    delete core;
  }

  void after() { waiter.checkNoneLeft(); }
};

// Two wait, of whom one may give up; all see that it is open at the end.
template <Limit kLimit>
struct GiveUp : rl::test_suite<GiveUp<kLimit>, 3> {
  Core core{1};
  Waiter waiters[2];
  Stop stop;
  RelacySync::Var<int> data;

  void thread(unsigned index) {
    if (index == 2) {
      if (mayStop(kLimit) && rl::rand(2) == 0) {
        stop.request();
      }
      data.set(1);
      countDown(core);
      if (mayStop(kLimit)) {
        stop.request();
      }
    } else if (wait(core, waiters[index], index == 0 ? kLimit : Limit::None, stop)) {
      check(data.get() == 1, "what came before is seen");
    }
  }

  void after() {
    check(core.isOpen(), "the latch is open at the end");
    checkNoneLeft(waiters);
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Destroy<Limit::None>>("one waits and destroys it", 200'000) &&
           explore<Destroy<Limit::Time>>("one that gives up now and then destroys it", 200'000) &&
           explore<Destroy<Limit::TimeAndStop>>("one that is stopped destroys it", 200'000) &&
           explore<GiveUp<Limit::Time>>("one whose time is up", 200'000) &&
           explore<GiveUp<Limit::Stop>>("one that is stopped", 200'000);
  });
}
