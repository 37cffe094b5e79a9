// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/semaphore_core.h>

#include "explore.h"
#include "model_waiter.h"

// Seeded bug: wait/semaphore_core.h:1
// Seeded bug: wait/semaphore_core.h:1:split
// Seeded bug: wait/semaphore_core.h:2
// Seeded bug: wait/semaphore_core.h:2:split
// Seeded bug: wait/semaphore_core.h:2:touch
// Seeded bug: wait/wait_word.h:3
// Seeded bug: wait/wait_word.h:3:split
// Seeded bug: wait/wait_word.h:3:touch
// Seeded bug: wait/wait_word.h:4
// Seeded bug: wait/wait_word.h:4:split
// Seeded bug: wait/wait_word.h:5
// Seeded bug: wait/wait_word.h:5:split
// Seeded bug: base/spin_lock.h:1
// Seeded bug: base/spin_lock.h:1:split
namespace weft::model {
namespace {

using Core = detail::SemaphoreCore<WaiterList, RelacySync>;

// As Semaphore.
void release(Core& core, uint32_t count) {
  if (!core.tryGive(count)) {
    core.give(count).wakeAll();
  }
}

struct Leave {
  Core& core;
  bool giveUp(Waiter& self) {
    WaiterList served;
    const bool wasThere = core.giveUp(self, served);
    served.wakeAll();
    return wasThere;
  }
};

bool acquire(Core& core, Waiter& self, Limit limit, Stop& stop, uint32_t count = 1) {
  if (core.tryTake(count)) {
    return true;
  }
  if (mayStop(limit) && stop.isRequested()) {
    return false;
  }
  Leave leave{core};
  return core.takeOrQueue(self, count) || blockQueued(self, leave, limit, stop);
}

// Three use one permit in turn, twice each, as they would a lock: there is a data race if the semaphore does
// not exclude or order them, and a deadlock if a wake is lost. One may give up.
template <Limit kLimit>
struct Exclude : rl::test_suite<Exclude<kLimit>, 3> {
  Core core{1};
  Waiter waiters[3];
  Stop stop;
  RelacySync::Var<int> data;
  int numTimes = 0;

  void before() { data.set(0); }

  void thread(unsigned index) {
    for (int round = 0; round < 2; ++round) {
      if (acquire(core, waiters[index], index == 0 ? kLimit : Limit::None, stop)) {
        data.set(data.get() + 1);
        ++numTimes;
        release(core, 1);
      }
      if (mayStop(kLimit) && index == 1 && round == 0) {
        stop.request();
      }
    }
  }

  void after() {
    check(data.get() == numTimes, "each had it as often as it was told");
    check(core.tryTake() && !core.tryTake() && !core.isAwaited(), "one permit is there at the end");
    checkNoneLeft(waiters);
  }
};

// One waits for the permits of two others, and destroys the semaphore while they may be returning.
template <Limit kLimit>
struct Destroy : rl::test_suite<Destroy<kLimit>, mayStop(kLimit) ? 4 : 3> {
  Core* core = nullptr;
  Waiter waiter;
  Stop stop;
  RelacySync::Var<int> data[2];

  void before() { core = new Core(0); }

  void thread(unsigned index) {
    if (index == 3) {
      stop.request();
      return;
    }
    if (index < 2) {
      data[index].set(1);
      release(*core, 1);
      return;
    }
    for (int taken = 0; taken < 2;) {
      const Limit limit = limitAgain(kLimit, stop);
      if (acquire(*core, waiter, limit, stop)) {
        ++taken;
      } else {
        RelacySync::pause();
      }
    }
    check(data[0].get() == 1 && data[1].get() == 1, "what came before the permits is seen");
    delete core;
  }

  void after() { waiter.checkNoneLeft(); }
};

// Permits that are given at once go to two who wait, and to one who only tries, or stay.
struct GiveTwo : rl::test_suite<GiveTwo, 3> {
  Core core{0};
  Waiter waiters[2];
  Stop stop;
  int numTaken = 0;

  void thread(unsigned index) {
    if (index == 2) {
      release(core, 3);
      numTaken += core.tryTake() ? 1 : 0;
    } else {
      numTaken += acquire(core, waiters[index], index == 0 ? Limit::Time : Limit::None, stop) ? 1 : 0;
    }
  }

  void after() {
    for (; core.tryTake(); ++numTaken) {
    }
    check(numTaken == 3, "no permit is lost, and none is taken twice");
    checkNoneLeft(waiters);
  }
};

// Two give while one gives up, and one takes the first permit that is left.
struct TwoGive : rl::test_suite<TwoGive, 4> {
  Core core{0};
  Waiter waiter;
  Stop stop;
  int numTaken = 0;

  void thread(unsigned index) {
    if (index < 2) {
      release(core, 1);
    } else if (index == 2) {
      numTaken += acquire(core, waiter, Limit::Time, stop) ? 1 : 0;
    } else {
      while (!core.tryTake()) {
        RelacySync::pause();
      }
      ++numTaken;
    }
  }

  void after() {
    for (; core.tryTake(); ++numTaken) {
    }
    check(numTaken == 2, "no permit is lost, and none is taken twice");
    waiter.checkNoneLeft();
  }
};

// One takes both permits at once, two take one each, all twice: the one excludes the two. It may give up, and
// then leaves what was set aside for it to the others.
template <Limit kLimit>
struct TakeBoth : rl::test_suite<TakeBoth<kLimit>, 3> {
  Core core{2};
  Waiter waiters[3];
  Stop stop;
  RelacySync::Var<int> data[3];

  void before() {
    for (auto& each : data) {
      each.set(0);
    }
  }

  void thread(unsigned index) {
    for (int round = 0; round < 2; ++round) {
      const uint32_t count = index == 0 ? 2 : 1;
      if (acquire(core, waiters[index], index == 0 ? kLimit : Limit::None, stop, count)) {
        if (index == 0) {
          data[0].set(data[1].get() + data[2].get());
        } else {
          (void)data[0].get();
          data[index].set(data[index].get() + 1);
        }
        release(core, count);
      }
      if (mayStop(kLimit) && index == 1 && round == 0) {
        stop.request();
      }
    }
  }

  void after() {
    check(data[1].get() + data[2].get() == 4, "those that do not give up had their permits");
    check(core.tryTake(2) && !core.tryTake() && !core.isAwaited(), "two permits are there at the end");
    checkNoneLeft(waiters);
  }
};

// Permits come one by one to one who wants two, while another takes one whenever the word has one. It takes
// no more than the first waiter leaves.
struct TakeTwoOfThree : rl::test_suite<TakeTwoOfThree, 4> {
  Core core{0};
  Waiter waiters[2];
  Stop stop;
  int numTaken = 0;

  void thread(unsigned index) {
    if (index < 2) {
      release(core, index + 1);
    } else if (index == 2) {
      check(acquire(core, waiters[0], Limit::None, stop, 2), "there are enough for all");
      numTaken += 2;
    } else {
      numTaken += acquire(core, waiters[1], Limit::Time, stop) ? 1 : 0;
    }
  }

  void after() {
    numTaken += core.tryTake() ? 1 : 0;
    check(numTaken == 3 && !core.tryTake(), "no permit is lost, and none is taken twice");
    checkNoneLeft(waiters);
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Exclude<Limit::None>>("three that use one permit", 150'000) &&
           explore<Exclude<Limit::Time>>("three, one of whom gives up", 150'000) &&
           explore<Exclude<Limit::Stop>>("three, one of whom is stopped", 150'000) &&
           explore<Destroy<Limit::None>>("one waits and destroys it", 150'000) &&
           explore<Destroy<Limit::Time>>("one that gives up now and then destroys it", 150'000) &&
           explore<Destroy<Limit::TimeAndStop>>("one that is stopped destroys it", 150'000) &&
           explore<GiveTwo>("three permits at once", 150'000) && explore<TwoGive>("two that give", 50'000) &&
           explore<TakeBoth<Limit::None>>("one takes both permits at once", 150'000) &&
           explore<TakeBoth<Limit::Time>>("one takes both, or gives up", 150'000) &&
           explore<TakeBoth<Limit::Stop>>("one takes both, or is stopped", 150'000) &&
           explore<TakeTwoOfThree>("two of three permits that come one by one", 100'000);
  });
}
