// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/condition_core.h>

#include "explore.h"
#include "model_waiter.h"

// Seeded bug: wait/wait_word.h:1
// Seeded bug: wait/wait_word.h:2
// Seeded bug: wait/wait_word.h:5
// Seeded bug: wait/wait_word.h:5:split
// Seeded bug: base/spin_lock.h:1
// Seeded bug: base/spin_lock.h:1:split
namespace weft::model {
namespace {

using Core = detail::ConditionCore<WaiterList, RelacySync>;

// As ConditionVariable.
void notifyOne(Core& core) {
  if (core.isAwaited()) {
    if (Waiter* first = core.claimFirst()) {
      first->wake();
    }
  }
}
void notifyAll(Core& core) {
  if (core.isAwaited()) {
    core.claimAll().wakeAll();
  }
}

template <class Predicate>
bool wait(Core& core, RelacySync::Lock& lock, Waiter& self, Limit limit, Stop& stop, Predicate isTrue) {
  while (!isTrue()) {
    if (mayStop(limit) && stop.isRequested()) {
      return false;
    }
    core.queue(self);
    lock.unlock();
    const bool isWoken = blockQueued(self, core, limit, stop);
    lock.lock();
    if (!isWoken) {
      return isTrue();
    }
  }
  return true;
}

// Two take what a third brings, one at a time, and tells by notify_one(). One of them may give up, and uses
// up no notify then: else the other waits for good.
template <Limit kLimit>
struct TakeOne : rl::test_suite<TakeOne<kLimit>, mayStop(kLimit) ? 4 : 3> {
  Core core;
  RelacySync::Lock lock;
  Waiter waiters[2];
  Stop stop;
  RelacySync::Var<int> numThere;
  int numTaken = 0;

  void before() { numThere.set(0); }

  void thread(unsigned index) {
    if (index == 3) {
      stop.request();
    } else if (index == 2) {
      for (int i = 0; i < 2; ++i) {
        lock.lock();
        numThere.set(numThere.get() + 1);
        lock.unlock();
        notifyOne(core);
      }
    } else {
      lock.lock();
      if (wait(core, lock, waiters[index], index == 0 ? kLimit : Limit::None, stop,
               [&] { return numThere.get() > 0; })) {
        numThere.set(numThere.get() - 1);
        ++numTaken;
      }
      lock.unlock();
    }
  }

  void after() {
    check(numTaken + numThere.get() == 2, "each is taken once");
    check(!core.isAwaited(), "nobody waits at the end");
    checkNoneLeft(waiters);
  }
};

// One wakes all, and destroys the variable: those who wait need not have returned.
struct DestroyByNotifier : rl::test_suite<DestroyByNotifier, 3> {
  Core* core = nullptr;
  RelacySync::Lock lock;
  Waiter waiters[2];
  Stop stop;
  RelacySync::Var<int> numComing, isTrue;

  void before() {
    core = new Core();
    numComing.set(2);
    isTrue.set(0);
  }

  void thread(unsigned index) {
    if (index < 2) {
      lock.lock();
      numComing.set(numComing.get() - 1);
      wait(*core, lock, waiters[index], Limit::None, stop, [&] { return isTrue.get() != 0; });
      lock.unlock();
      return;
    }
    for (;;) {
      lock.lock();
      if (numComing.get() == 0) {
        break;
      }
      lock.unlock();
      RelacySync::pause();
    }
    isTrue.set(1);
    lock.unlock();
    notifyAll(*core);
    delete core;
  }

  void after() { checkNoneLeft(waiters); }
};

// One that may give up destroys the variable when its wait has returned. The notify comes with the lock held.
template <Limit kLimit>
struct DestroyByWaiter : rl::test_suite<DestroyByWaiter<kLimit>, mayStop(kLimit) ? 3 : 2> {
  Core* core = nullptr;
  RelacySync::Lock lock;
  Waiter waiter;
  Stop stop;
  RelacySync::Var<int> isTrue;

  void before() {
    core = new Core();
    isTrue.set(0);
  }

  void thread(unsigned index) {
    if (index == 2) {
      stop.request();
      return;
    }
    lock.lock();
    if (index == 0) {
      isTrue.set(1);
      rl::rand(2) == 0 ? notifyOne(*core) : notifyAll(*core);
    } else {
      while (!wait(*core, lock, waiter, limitAgain(kLimit, stop), stop, [&] { return isTrue.get() != 0; })) {
        lock.unlock();
        RelacySync::pause();
        lock.lock();
      }
      delete core;
    }
    lock.unlock();
  }

  void after() { waiter.checkNoneLeft(); }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<TakeOne<Limit::None>>("two that take one each", 200'000) &&
           explore<TakeOne<Limit::Time>>("two, one of whom gives up", 200'000) &&
           explore<TakeOne<Limit::Stop>>("two, one of whom is stopped", 200'000) &&
           explore<DestroyByNotifier>("one wakes all and destroys it", 200'000) &&
           explore<DestroyByWaiter<Limit::Time>>("one whose time is up destroys it", 200'000) &&
           explore<DestroyByWaiter<Limit::TimeAndStop>>("one that is stopped destroys it", 200'000);
  });
}
