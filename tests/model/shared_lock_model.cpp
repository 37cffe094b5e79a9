// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/shared_lock.h>

#include "explore.h"
#include "model_waiter.h"

// Seeded bug: wait/shared_lock.h:1
// Seeded bug: wait/shared_lock.h:1:split
// Seeded bug: wait/shared_lock.h:2
// Seeded bug: wait/shared_lock.h:2:split
// Seeded bug: wait/shared_lock.h:3
// Seeded bug: wait/shared_lock.h:3:split
// Seeded bug: wait/shared_lock.h:4
// Seeded bug: wait/shared_lock.h:4:split
// Seeded bug: wait/shared_lock.h:5
// Seeded bug: wait/shared_lock.h:5:split
// Seeded bug: wait/wait_word.h:3
// Seeded bug: wait/wait_word.h:3:split
// Seeded bug: wait/wait_word.h:4
// Seeded bug: wait/wait_word.h:4:split
// Seeded bug: wait/wait_word.h:5
// Seeded bug: wait/wait_word.h:5:split
// Seeded bug: base/spin_lock.h:1
namespace weft::model {
namespace {

// One reader may pass, so that all three ways of a reader are taken.
using Lock = detail::SharedLock<WaiterList, RelacySync, 1>;

// As SharedMutex. Returns: false if the time was up first, where `isTimed`.
bool take(Lock& lock, Waiter& self, Lock::How how, bool isTimed) {
  if (how == Lock::kExclusive ? lock.tryLock() : lock.tryLockShared()) {
    return true;
  }
  if (lock.takeOrQueue(self, how)) {
    return true;
  }
  if (!isTimed || self.blockUntilSomeTime()) {
    if (!isTimed) {
      self.block();
    }
    return true;
  }
  WaiterList granted;
  if (lock.giveUp(self, granted)) {
    granted.wakeAll();
    return false;
  }
  self.block();
  return true;
}

void release(Lock& lock, Lock::How how) {
  WaiterList granted;
  if (how == Lock::kShared) {
    check(lock.unlockShared(granted), "a reader holds the lock");
  } else if (!lock.tryUnlock()) {
    granted = lock.unlock();
  }
  granted.wakeAll();
}

constexpr unsigned kNobody = 3;

// Two writers and a reader, or one and two, each twice: there is a data race if the lock does not exclude or
// order them. One of them may give up.
template <Lock::How kThird, unsigned kTimed>
struct Exclude : rl::test_suite<Exclude<kThird, kTimed>, 3> {
  Lock lock;
  Waiter waiters[3];
  RelacySync::Var<int> data;

  void before() { data.set(0); }

  void thread(unsigned index) {
    const Lock::How how = index == 0 ? Lock::kExclusive : index == 1 ? Lock::kShared : kThird;
    for (int round = 0; round < 2; ++round) {
      if (!take(lock, waiters[index], how, index == kTimed)) {
        continue;
      }
      if (how == Lock::kExclusive) {
        data.set(data.get() + 1);
      } else {
        check(data.get() <= 4, "the data is seen");
      }
      release(lock, how);
    }
  }

  void after() {
    check(lock.isIdle(), "the lock is free at the end");
    checkNoneLeft(waiters);
  }
};

// A writer waits for two readers that leave, and may give up and come again. When it has had the lock it
// destroys it.
struct DestroyByWriter : rl::test_suite<DestroyByWriter, 3> {
  Lock* lock = nullptr;
  Waiter waiter;
  RelacySync::Var<int> data[2];

  void before() {
    lock = new Lock();
    check(lock->tryLockShared() && lock->tryLockShared(), "a free lock can be shared");
  }

  void thread(unsigned index) {
    if (index < 2) {
      data[index].set(1);
      release(*lock, Lock::kShared);
      return;
    }
    while (!take(*lock, waiter, Lock::kExclusive, true)) {
      RelacySync::pause();
    }
    check(data[0].get() == 1 && data[1].get() == 1, "the writer sees that the readers are done");
    release(*lock, Lock::kExclusive);
    delete lock;
  }

  void after() { waiter.checkNoneLeft(); }
};

// A reader waits for a writer that leaves, and destroys the lock.
struct DestroyByReader : rl::test_suite<DestroyByReader, 2> {
  Lock* lock = nullptr;
  Waiter waiter;
  RelacySync::Var<int> data;

  void before() {
    lock = new Lock();
    check(lock->tryLock(), "a free lock can be taken");
  }

  void thread(unsigned index) {
    if (index == 0) {
      data.set(1);
      release(*lock, Lock::kExclusive);
      return;
    }
    while (!take(*lock, waiter, Lock::kShared, true)) {
      RelacySync::pause();
    }
    check(data.get() == 1, "the reader sees what the writer wrote");
    release(*lock, Lock::kShared);
    delete lock;
  }

  void after() { waiter.checkNoneLeft(); }
};

// While a reader holds the lock, a writer gives up, and the reader behind it gets in without anybody's
// release.
struct LetIn : rl::test_suite<LetIn, 2> {
  Lock lock;
  Waiter waiters[2];

  void before() { check(lock.tryLockShared(), "a free lock can be shared"); }

  void thread(unsigned index) {
    const Lock::How how = index == 0 ? Lock::kExclusive : Lock::kShared;
    if (take(lock, waiters[index], how, index == 0)) {
      release(lock, how);
    }
  }

  void after() {
    WaiterList granted;
    check(lock.unlockShared(granted) && granted.isEmpty() && lock.isIdle(), "the first reader is the last");
    checkNoneLeft(waiters);
  }
};

// While a reader holds the lock and a writer waits, one reader passes it, and no other.
struct Pass : rl::test_suite<Pass, 2> {
  Lock lock;
  Waiter writer;
  bool hasPassed[2] = {};

  void before() {
    check(lock.tryLockShared(), "a free lock can be shared");
    check(!lock.takeOrQueue(writer, Lock::kExclusive), "a shared lock is not to be had alone");
  }

  void thread(unsigned index) { hasPassed[index] = lock.tryLockShared(); }

  void after() {
    check(hasPassed[0] != hasPassed[1], "one reader passes");
    WaiterList granted;
    check(lock.unlockShared(granted) && granted.isEmpty(), "the writer waits for both readers");
    check(lock.unlockShared(granted) && granted.front() == &writer, "then it has its turn");
    check(lock.tryUnlock() && lock.isIdle(), "and nothing is left");
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Exclude<Lock::kExclusive, kNobody>>("two writers and a reader", 100'000) &&
           explore<Exclude<Lock::kShared, kNobody>>("a writer and two readers", 100'000) &&
           explore<Exclude<Lock::kShared, 0>>("a writer that gives up", 100'000) &&
           explore<Exclude<Lock::kShared, 1>>("a reader that gives up", 100'000) &&
           explore<DestroyByWriter>("a writer destroys it", 200'000) &&
           explore<DestroyByReader>("a reader destroys it", 200'000) &&
           explore<LetIn>("a reader is let in", 100'000) && explore<Pass>("a reader passes", 100'000);
  });
}
