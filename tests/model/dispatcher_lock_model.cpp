// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The test must fail with each of these in the code (see README.md):
// Seeded bug: fair/dispatcher_lock.h:1:relaxed
// Seeded bug: fair/dispatcher_lock.h:2:relaxed
// Seeded bug: fair/dispatcher_lock.h:3:relaxed
// Seeded bug: fair/dispatcher_lock.h:4:relaxed
// Seeded bug: fair/dispatcher_lock.h:5:relaxed
// Seeded bug: fair/dispatcher_lock.h:6:relaxed
// Seeded bug: fair/dispatcher_lock.h:7:relaxed
// Seeded bug: fair/dispatcher_lock.h:7:split
// Seeded bug: fair/dispatcher_lock.h:8:relaxed

#include <weft/detail/fair/dispatcher_lock.h>

#include "explore.h"

namespace weft::model {
namespace {

using Lock = detail::DispatcherLock<RelacySync>;

// What the role guards: Relacy reports two who touch it at the same time.
struct RoleSuite {
  Lock dispatcherLock;
  RelacySync::Var<int> guarded{0};
  RelacySync::Lock lock;
  int numTimes = 0;

  bool work() {
    const Lock::Hold hold = dispatcherLock.tryTake();
    if (hold == Lock::Hold::None) {
      return false;
    }
    guarded.set(guarded.get() + 1);
    numTimes++;
    dispatcherLock.leave(hold);
    return true;
  }
  void begin() {
    lock.lock();
    dispatcherLock.begin();
    lock.unlock();
  }
  void end() {
    lock.lock();
    dispatcherLock.end();
    lock.unlock();
  }
  void checkWork() { check(guarded.get() == numTimes, "nothing of the work is lost"); }
};

// One thread works all the time, alone or not; others come and go.
struct Coming : rl::test_suite<Coming, 3>, RoleSuite {
  void before() { dispatcherLock.beginAll(1); }
  void after() { checkWork(); }
  void thread(unsigned index) {
    if (index == 0) {
      for (int i = 0; i < 3; i++) {
        work();
      }
      return;
    }
    begin();
    work();
    end();
  }
};

// All are active at first; who is left works alone.
struct Going : rl::test_suite<Going, 2>, RoleSuite {
  void before() { dispatcherLock.beginAll(2); }
  void after() { checkWork(); }
  void thread(unsigned index) {
    work();
    if (index == 0) {
      end();
      begin();
    }
    while (!work()) {
      RelacySync::pause();
    }
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return exploreFinite<Coming>("coming", 500'000) && exploreFinite<Going>("going", 500'000);
  });
}
