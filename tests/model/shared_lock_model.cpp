// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/shared_lock.h>

#include <chrono>

#include "explore.h"
#include "lock_host.h"
#include "model_waiter.h"

// Seeded bug: wait/shared_word.h:1
// Seeded bug: wait/shared_word.h:1:split
// Seeded bug: wait/shared_word.h:2
// Seeded bug: wait/shared_word.h:2:split
// Seeded bug: wait/shared_word.h:3
// Seeded bug: wait/shared_word.h:3:split
// Seeded bug: wait/shared_word.h:4
// Seeded bug: wait/shared_word.h:4:split
// Seeded bug: wait/shared_word.h:5
// Seeded bug: wait/shared_word.h:5:split
// Seeded bug: wait/shared_word.h:6:split
// Seeded bug: wait/shared_word.h:7:split
// Seeded bug: wait/wait_word.h:3
// Seeded bug: wait/wait_word.h:3:split
// Seeded bug: base/spin_lock.h:1
namespace weft::model {
namespace {

// One newcomer may pass, so that all ways are taken.
using Lock = detail::SharedLock<WaiterList, RelacySync, 1>;
using How = Lock::How;
using detail::TimePoint;
using std::chrono::milliseconds;

constexpr How kWrites = How::kExclusive, kReads = How::kShared;

template <bool kLooksAgain>
struct Host : LockHost<kLooksAgain> {
  bool blockAtFirst(Waiter& self) const { return this->blockUntil(self, TimePoint()); }
  static void giveWay(Waiter&) {}
  static void wakeAll(WaiterList woken) { woken.wakeAll(); }
};

// Of one whose time may be up at any moment.
struct LimitedHost : Host<true> {
  static constexpr TimePoint limit() { return TimePoint(milliseconds(7)); }
};

// Of one that a stop may end.
struct StoppedHost : Host<false> {
  explicit StoppedHost(Stop& one) : stop(one) {}
  bool isStopped() const { return stop.isRequested(); }
  bool hasLeft() const { return left.get() != 0; }
  Stop& stop;
  RelacySync::Var<int> left{0};
};

// As SharedMutex. Returns: whether the caller has the lock.
template <class H>
bool take(Lock& lock, Waiter& self, How how, const H& host) {
  return (how == kWrites ? lock.tryLock() : lock.tryLockShared()) || lock.lock(self, how, host);
}
template <class H>
bool tryTake(Lock& lock, How how, const H& host) {
  return (how == kWrites ? lock.tryLock() : lock.tryLockShared()) || lock.tryTake(how, host);
}
template <class H>
void release(Lock& lock, How how, const H&) {
  WaiterList granted;
  if (how == kReads) {
    check(lock.unlockShared(granted), "a reader holds the lock");
  } else if (!lock.tryUnlock()) {
    granted = lock.unlock();
  }
  granted.wakeAll();
}

// What the lock guards: there is a data race if it does not exclude or order its holders.
struct Data {
  void use(How how) {
    if (how == kWrites) {
      value.set(value.get() + 1);
    } else {
      check(value.get() <= 6, "the data is seen");
    }
  }
  RelacySync::Var<int> value{0};
};

// Three, each twice.
template <How kSecond, How kThird, bool kLooksAgain>
struct Exclude : rl::test_suite<Exclude<kSecond, kThird, kLooksAgain>, 3> {
  Lock lock;
  Waiter waiters[3];
  Data data;

  void thread(unsigned index) {
    const How how = index == 0 ? kWrites : index == 1 ? kSecond : kThird;
    const Host<kLooksAgain> host;
    for (int round = 0; round < 2; ++round) {
      take(lock, waiters[index], how, host);
      data.use(how);
      release(lock, how, host);
    }
  }

  void after() {
    check(lock.isIdle(), "the lock is free at the end");
    checkNoneLeft(waiters);
  }
};

// One whose time is up leaves, beside two that wait until they are woken.
template <How kTimed>
struct GiveUpInTime : rl::test_suite<GiveUpInTime<kTimed>, 3> {
  Lock lock;
  Waiter waiters[3];
  Data data;

  void thread(unsigned index) {
    const How how = index == 0 ? kTimed : index == 1 ? kWrites : kReads;
    for (int round = 0; round < 2; ++round) {
      index == 0 ? use(waiters[0], how, LimitedHost()) : use(waiters[index], how, Host<false>());
    }
  }
  template <class H>
  void use(Waiter& self, How how, const H& host) {
    if (take(lock, self, how, host)) {
      data.use(how);
      release(lock, how, host);
    }
  }

  void after() {
    check(lock.isIdle(), "the lock is free at the end");
    checkNoneLeft(waiters);
  }
};

// One that is stopped, beside one that waits and a reader that holds the lock: it may hold it until both
// others have had their way.
template <How kStopped, How kOther>
struct GiveUpByStop : rl::test_suite<GiveUpByStop<kStopped, kOther>, 3> {
  Lock lock;
  Waiter waiters[2];
  Stop stop;
  RelacySync::Atomic<int> numDone{0};
  Data data;

  void before() { check(lock.tryLockShared(), "a free lock can be shared"); }

  void thread(unsigned index) {
    const Host<false> host;
    if (index == 0) {
      useUnlessStopped();
    } else if (index == 1) {
      take(lock, waiters[1], kOther, host);
      data.use(kOther);
      release(lock, kOther, host);
    } else {
      const unsigned howLong = rl::rand(3);
      if (howLong != 0) {
        stop.request();
      }
      // A reader that waits behind a writer goes on when that gives up.
      const int numAwaited = howLong != 2 ? 0 : kOther == kReads ? 2 : 1;
      while (numDone.load(std::memory_order_relaxed) < numAwaited) {
        RelacySync::pause();
      }
      release(lock, kReads, host);
      if (howLong == 0) {
        stop.request();
      }
    }
    numDone.fetch_add(1, std::memory_order_relaxed);
  }
  void useUnlessStopped() {
    StoppedHost host(stop);
    bool holds = false;
    {
      const auto leave = [&] {
        if (lock.leave(waiters[0], host)) {
          host.left.set(1);
          waiters[0].wake();
        }
      };
      const Stop::Callback<decltype(leave)> callback(stop, leave);
      holds = take(lock, waiters[0], kStopped, host);
    }
    if (holds) {
      data.use(kStopped);
      release(lock, kStopped, host);
    }
  }

  void after() {
    check(lock.isIdle(), "the lock is free at the end");
    checkNoneLeft(waiters);
  }
};

// One waits for others that leave, perhaps not until its time is up, and comes again; when it has had the
// lock, it destroys it.
template <How kHolders, How kWaiter, unsigned kNumHolders, class H>
struct Destroy : rl::test_suite<Destroy<kHolders, kWaiter, kNumHolders, H>, kNumHolders + 1> {
  Lock* lock = nullptr;
  Waiter waiter;
  RelacySync::Var<int> data[kNumHolders];

  void before() {
    lock = new Lock();
    for (RelacySync::Var<int>& each : data) {
      check(kHolders == kWrites ? lock->tryLock() : lock->tryLockShared(), "a free lock can be taken");
      each.set(0);
    }
  }

  void thread(unsigned index) {
    if (index < kNumHolders) {
      data[index].set(1);
      release(*lock, kHolders, Host<false>());
      return;
    }
    if (!take(*lock, waiter, kWaiter, H())) {
      take(*lock, waiter, kWaiter, Host<false>());
    }
    for (const RelacySync::Var<int>& each : data) {
      check(each.get() == 1, "it sees that the others are done");
    }
    release(*lock, kWaiter, Host<false>());
    delete lock;
  }

  void after() { waiter.checkNoneLeft(); }
};

// One releases, once; one that may be woken for that cannot run before the third had the lock. The third has
// it nevertheless.
template <How kFirst, How kStuck, How kOther>
struct Stuck : rl::test_suite<Stuck<kFirst, kStuck, kOther>, 3> {
  Lock lock;
  Waiter waiters[2];
  RelacySync::Atomic<int> thirdHadIt{0};

  void before() { check(kFirst == kWrites ? lock.tryLock() : lock.tryLockShared(), "it is free"); }

  void thread(unsigned index) {
    const Host<true> host;
    if (index == 2) {
      release(lock, kFirst, host);
    } else if (index == 1) {
      take(lock, waiters[1], kOther, host);
      thirdHadIt.store(1, std::memory_order_relaxed);
      release(lock, kOther, host);
    } else {
      const SlowHost<Host<true>> slow(thirdHadIt);
      take(lock, waiters[0], kStuck, slow);
      release(lock, kStuck, slow);
    }
  }

  void after() { check(lock.isIdle(), "the lock is free at the end"); }
};

// One takes and releases the lock again and again, and another, on the same thread, runs only once that one
// has suspended. A third one may have had the lock since the other was woken.
template <How kLoops, How kOther, How kThird>
struct SameThread : rl::test_suite<SameThread<kLoops, kOther, kThird>, 3> {
  struct SuspendingHost : Host<true> {
    explicit SuspendingHost(RelacySync::Atomic<int>& flag) : hasSuspended(flag) {}
    bool blockUntil(Waiter& waiter, TimePoint deadline) const {
      hasSuspended.store(1, std::memory_order_relaxed);
      return Host<true>::blockUntil(waiter, deadline);
    }
    bool blockAtFirst(Waiter& waiter) const { return blockUntil(waiter, TimePoint()); }
    void giveWay(Waiter&) const { hasSuspended.store(1, std::memory_order_relaxed); }
    RelacySync::Atomic<int>& hasSuspended;
  };

  Lock lock;
  Waiter waiters[3];
  RelacySync::Atomic<int> hasSuspended{0}, otherHadIt{0};

  void before() { check(kLoops == kWrites ? lock.tryLock() : lock.tryLockShared(), "it is free"); }

  void thread(unsigned index) {
    if (index == 0) {
      const SuspendingHost host(hasSuspended);
      while (otherHadIt.load(std::memory_order_relaxed) == 0) {
        release(lock, kLoops, host);
        take(lock, waiters[0], kLoops, host);
      }
      release(lock, kLoops, host);
    } else if (index == 2) {
      const Host<true> host;
      take(lock, waiters[2], kThird, host);
      release(lock, kThird, host);
    } else {
      const SlowHost<Host<false>> host(hasSuspended);
      take(lock, waiters[1], kOther, host);
      otherHadIt.store(1, std::memory_order_relaxed);
      release(lock, kOther, host);
    }
  }

  void after() { check(lock.isIdle(), "the lock is free at the end"); }
};

// One that only tries, beside waiters that cannot run before: it gets what is kept for them.
template <How kTries, How kWaits>
struct OnlyTries : rl::test_suite<OnlyTries<kTries, kWaits>, 3> {
  Lock lock;
  Waiter waiters[2];
  RelacySync::Atomic<int> triedHadIt{0};
  Data data;

  void before() { check(lock.tryLock(), "a free lock can be taken"); }

  void thread(unsigned index) {
    const Host<true> host;
    if (index == 2) {
      release(lock, kWrites, host);
      for (int round = 0; round < 2; ++round) {
        while (!tryTake(lock, kTries, host)) {
          RelacySync::pause();
        }
        data.use(kTries);
        if (round == 1) {
          triedHadIt.store(1, std::memory_order_relaxed);
        }
        release(lock, kTries, host);
      }
    } else {
      const SlowHost<Host<true>> slow(triedHadIt);
      take(lock, waiters[index], kWaits, slow);
      data.use(kWaits);
      release(lock, kWaits, slow);
    }
  }

  void after() { check(lock.isIdle(), "the lock is free at the end"); }
};

// While a reader holds the lock and a writer waits, one reader passes it, and no other.
struct Pass : rl::test_suite<Pass, 3> {
  Lock lock;
  Waiter writer;
  RelacySync::Atomic<int> numTried{0};
  bool hasPassed[2] = {};

  void before() { check(lock.tryLockShared(), "a free lock can be shared"); }

  void thread(unsigned index) {
    const Host<false> host;
    if (index == 2) {
      take(lock, writer, kWrites, host);
      release(lock, kWrites, host);
      return;
    }
    hasPassed[index] = tryTake(lock, kReads, host);
    check(!tryTake(lock, kWrites, host), "it is shared");
    if (numTried.fetch_add(1, std::memory_order_acq_rel) == 1) {
      for (int i = 0; i < 1 + hasPassed[0] + hasPassed[1]; ++i) {
        release(lock, kReads, host);
      }
    }
  }

  void after() {
    check(lock.isIdle(), "the lock is free at the end");
    writer.checkNoneLeft();
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Exclude<kWrites, kReads, false>>("two writers and a reader", 100'000) &&
           explore<Exclude<kReads, kReads, false>>("a writer and two readers", 100'000) &&
           explore<Exclude<kReads, kReads, true>>("three that look again", 100'000) &&
           explore<GiveUpInTime<kWrites>>("a writer whose time is up", 100'000) &&
           explore<GiveUpInTime<kReads>>("a reader whose time is up", 100'000) &&
           explore<GiveUpByStop<kWrites, kReads>>("a writer that is stopped", 100'000) &&
           explore<GiveUpByStop<kReads, kWrites>>("a reader that is stopped", 100'000) &&
           explore<Destroy<kReads, kWrites, 2, LimitedHost>>("a writer destroys it", 100'000) &&
           explore<Destroy<kWrites, kReads, 1, LimitedHost>>("a reader destroys it", 100'000) &&
           explore<Destroy<kWrites, kWrites, 1, Host<false>>>("a writer after a writer destroys it",
                                                              50'000) &&
           explore<Stuck<kWrites, kReads, kWrites>>("a woken reader cannot run", 50'000) &&
           explore<Stuck<kReads, kWrites, kReads>>("a woken writer cannot run", 50'000) &&
           explore<Stuck<kWrites, kReads, kReads>>("one of two readers cannot run", 50'000) &&
           explore<SameThread<kWrites, kReads, kWrites>>("a reader of the same thread", 50'000) &&
           explore<SameThread<kReads, kWrites, kReads>>("a writer of the same thread", 50'000) &&
           explore<OnlyTries<kWrites, kReads>>("a writer that only tries", 50'000) &&
           explore<OnlyTries<kReads, kWrites>>("a reader that only tries", 50'000) &&
           explore<Pass>("a reader passes", 50'000);
  });
}
