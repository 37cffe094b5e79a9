// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/once_core.h>

#include "explore.h"
#include "model_waiter.h"

// Seeded bug: wait/once_core.h:1
// Seeded bug: wait/once_core.h:2
// Seeded bug: wait/once_core.h:2:split
// Seeded bug: wait/once_core.h:3
// Seeded bug: wait/once_core.h:3:split
// Seeded bug: wait/once_core.h:3:touch
// Seeded bug: wait/wait_word.h:1
// Seeded bug: wait/wait_word.h:2
// Seeded bug: wait/wait_word.h:4
// Seeded bug: wait/wait_word.h:5
// Seeded bug: wait/wait_word.h:5:split
// Seeded bug: base/spin_lock.h:1
// Seeded bug: base/spin_lock.h:1:split
namespace weft::model {
namespace {

using Core = detail::OnceCore<WaiterList, RelacySync>;
using Turn = Core::Turn;

// As Once::call(), with a function that returns whether it does not throw.
template <class Function>
Turn call(Core& core, Waiter& self, Limit limit, Stop& stop, Function function) {
  if (core.isDone()) {
    return Turn::Done;
  }
  self.mark = 1;  // an earlier wait may have left any
  Turn turn = core.tryBegin() ? Turn::Mine : core.begin(self, mayStop(limit) && stop.isRequested());
  if (turn == Turn::Waits) {
    turn = blockQueued(self, core, limit, stop) ? core.turnOf(self) : Turn::Stopped;
  }
  if (turn == Turn::Mine) {
    const bool hasReturned = function();
    if (!core.tryEnd(hasReturned)) {
      core.end(hasReturned).wakeAll();
    }
  }
  return turn;
}

// Three call, of whom one may give up; the first function of all, or the first two, throw.
template <Limit kLimit, int kThrows>
struct Call : rl::test_suite<Call<kLimit, kThrows>, mayStop(kLimit) ? 4 : 3> {
  Core core;
  Waiter waiters[3];
  Stop stop;
  RelacySync::Var<int> numRuns;

  void before() { numRuns.set(0); }

  void thread(unsigned index) {
    if (index == 3) {
      stop.request();
      return;
    }
    const Turn turn = call(core, waiters[index], index == 0 ? kLimit : Limit::None, stop, [&] {
      numRuns.set(numRuns.get() + 1);
      return numRuns.get() > kThrows;
    });
    if (turn == Turn::Done) {
      check(numRuns.get() == kThrows + 1, "what the function has written is seen");
    }
    check(turn != Turn::Stopped || index == 0, "only one may give up");
  }

  void after() {
    check(core.isDone() ? numRuns.get() == kThrows + 1 : numRuns.get() <= kThrows, "one has returned");
    check(!core.isRunning(), "nobody runs at the end");
    checkNoneLeft(waiters);
  }
};

// One that is back destroys it, while the one that has run its function may be returning.
template <Limit kLimit>
struct Destroy : rl::test_suite<Destroy<kLimit>, 3> {
  Core* core = nullptr;
  Waiter waiters[2];
  Stop stop;
  RelacySync::Var<int> data;
  RelacySync::Atomic<int> hasBegun{0};

  void before() { core = new Core(); }

  void thread(unsigned index) {
    if (index == 2) {
      stop.request();
      return;
    }
    if (index == 0) {
      call(*core, waiters[0], Limit::None, stop, [&] {
        hasBegun.store(1, std::memory_order_relaxed);
        data.set(1);
        return true;
      });
      return;
    }
    while (hasBegun.load(std::memory_order_relaxed) == 0) {
      RelacySync::pause();
    }
    while (call(*core, waiters[1], limitAgain(kLimit, stop), stop, [] { return true; }) == Turn::Stopped) {
      RelacySync::pause();
    }
    check(data.get() == 1, "what the function has written is seen");
    delete core;
  }

  void after() { checkNoneLeft(waiters); }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Call<Limit::None, 0>>("three call", 200'000) &&
           explore<Call<Limit::None, 1>>("three call, and one throws", 200'000) &&
           explore<Call<Limit::Time, 1>>("three call, and one gives up", 200'000) &&
           explore<Call<Limit::Stop, 2>>("three call, and one is stopped", 200'000) &&
           explore<Destroy<Limit::Time>>("one that waits now and then destroys it", 200'000) &&
           explore<Destroy<Limit::Stop>>("one that is stopped destroys it", 200'000);
  });
}
