// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/event_core.h>

#include "explore.h"
#include "model_waiter.h"

// Seeded bug: wait/event_core.h:1
// Seeded bug: wait/event_core.h:2
// Seeded bug: wait/event_core.h:3
// Seeded bug: wait/event_core.h:3:split
// Seeded bug: wait/event_core.h:4
// Seeded bug: wait/event_core.h:4:split
// Seeded bug: wait/event_core.h:4:touch
// Seeded bug: wait/event_core.h:5
// Seeded bug: wait/event_core.h:5:split
// Seeded bug: wait/wait_word.h:2
// Seeded bug: base/spin_lock.h:1
// Seeded bug: base/spin_lock.h:1:split
namespace weft::model {
namespace {

using Core = detail::EventCore<WaiterList, RelacySync>;

constexpr bool kAuto = true, kManual = false;

// As Event.
void signal(Core& core) {
  const auto wake = [](Waiter& first) {
    check(first.mark == 1, "the waiter is complete");
    first.wake();
  };
  if (!core.trySignal(wake)) {
    Core::Claimed claimed = core.signalAndUnlock(core.lock());
    if (claimed.first != nullptr) {
      wake(*claimed.first);
    }
    claimed.all.wakeAll();
  }
}

bool wait(Core& core, Waiter& self, Limit limit, Stop& stop) {
  self.mark = 1;
  if (mayStop(limit)) {
    if (core.tryWait()) {
      return true;
    }
    if (stop.isRequested()) {
      return false;
    }
    return !core.queue(self) || blockQueued(self, core, limit, stop);
  }
  return (!core.tryQueueAlone(self) && (core.tryWait() || !core.queue(self))) ||
         blockQueued(self, core, limit, stop);
}

// One waits, and destroys the event when it is back, while the one that signals may be returning.
template <bool kMode, Limit kLimit>
struct Destroy : rl::test_suite<Destroy<kMode, kLimit>, mayStop(kLimit) ? 3 : 2> {
  Core* core = nullptr;
  Waiter waiter;
  Stop stop;
  RelacySync::Var<int> data;

  void before() { core = new Core(kMode, false); }

  void thread(unsigned index) {
    if (index == 2) {
      stop.request();
    } else if (index == 0) {
      data.set(1);
      signal(*core);
    } else {
      while (!wait(*core, waiter, limitAgain(kLimit, stop), stop)) {
        RelacySync::pause();
      }
      check(data.get() == 1, "what came before the signal is seen");
      delete core;
    }
  }

  void after() { waiter.checkNoneLeft(); }
};

// Two wait for the two signals of a third, which looks whether the first was used before it makes the second.
// One of them may give up: a signal is left then.
template <Limit kLimit>
struct UseUp : rl::test_suite<UseUp<kLimit>, mayStop(kLimit) ? 4 : 3> {
  Core core{kAuto, false};
  Waiter waiters[2];
  Stop stop;
  RelacySync::Var<int> data[2];
  int numUsed = 0, numGivenUp = 0;
  RelacySync::Atomic<int> numBack{0};

  void thread(unsigned index) {
    if (index == 3) {
      stop.request();
    } else if (index == 2) {
      for (int i = 0; i < 2; ++i) {
        signal(core);
        while (core.isSignalled() && numBack.load(std::memory_order_relaxed) < 2) {
          RelacySync::pause();
        }
      }
    } else {
      wait(core, waiters[index], index == 0 ? kLimit : Limit::None, stop) ? ++numUsed : ++numGivenUp;
      numBack.fetch_add(1, std::memory_order_relaxed);
    }
  }

  void after() {
    numUsed += core.tryWait() ? 1 : 0;
    check(numUsed == 2 && !core.tryWait(), "each signal is used once");
    check(!core.isAwaited(), "nobody waits at the end");
    checkNoneLeft(waiters);
  }
};

// Three hand an automatic event from one to the next, as they would a lock.
template <Limit kLimit>
struct Exclude : rl::test_suite<Exclude<kLimit>, 3> {
  Core core{kAuto, true};
  Waiter waiters[3];
  Stop stop;
  RelacySync::Var<int> data;
  int numTimes = 0;

  void before() { data.set(0); }

  void thread(unsigned index) {
    for (int round = 0; round < 2; ++round) {
      if (wait(core, waiters[index], index == 0 ? kLimit : Limit::None, stop)) {
        data.set(data.get() + 1);
        ++numTimes;
        signal(core);
      }
      if (mayStop(kLimit) && index == 1 && round == 0) {
        stop.request();
      }
    }
  }

  void after() {
    check(data.get() == numTimes, "each had it as often as it was told");
    check(core.tryWait() && !core.isAwaited(), "the signal is there at the end");
    checkNoneLeft(waiters);
  }
};

// A manual event wakes all who wait; one may give up, and one only looks.
template <Limit kLimit>
struct WakeAll : rl::test_suite<WakeAll<kLimit>, 4> {
  Core core{kManual, false};
  Waiter waiters[2];
  Stop stop;
  RelacySync::Var<int> data;

  void thread(unsigned index) {
    if (index == 3) {
      if (mayStop(kLimit)) {
        stop.request();
      }
      if (core.isSignalled()) {
        check(data.get() == 1, "what came before the signal is seen");
      }
    } else if (index == 2) {
      data.set(1);
      signal(core);
    } else if (wait(core, waiters[index], index == 0 ? kLimit : Limit::None, stop)) {
      check(data.get() == 1, "what came before the signal is seen");
    }
  }

  void after() {
    check(core.isSignalled() && !core.isAwaited(), "the event is signalled");
    checkNoneLeft(waiters);
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Destroy<kAuto, Limit::None>>("one waits and destroys an automatic event", 100'000) &&
           explore<Destroy<kManual, Limit::Time>>("one that gives up now and then, a manual one", 100'000) &&
           explore<Destroy<kAuto, Limit::TimeAndStop>>("one that is stopped, an automatic one", 100'000) &&
           explore<UseUp<Limit::None>>("two that use a signal each", 100'000) &&
           explore<UseUp<Limit::Time>>("two, one of whom gives up", 100'000) &&
           explore<UseUp<Limit::Stop>>("two, one of whom is stopped", 100'000) &&
           explore<Exclude<Limit::None>>("three in turn", 100'000) &&
           explore<Exclude<Limit::Time>>("three in turn, one of whom gives up", 100'000) &&
           explore<WakeAll<Limit::Time>>("a manual event, beside one that gives up", 100'000) &&
           explore<WakeAll<Limit::Stop>>("a manual event, beside one that is stopped", 100'000);
  });
}
