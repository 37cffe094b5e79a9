// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/mutex_core.h>

#include <chrono>

#include "explore.h"
#include "lock_host.h"
#include "model_waiter.h"

// Seeded bug: wait/mutex_core.h:1
// Seeded bug: wait/mutex_core.h:1:split
// Seeded bug: wait/mutex_core.h:2
// Seeded bug: wait/mutex_core.h:2:split
// Seeded bug: wait/mutex_core.h:3
// Seeded bug: wait/mutex_core.h:3:split
// Seeded bug: wait/wait_word.h:3
// Seeded bug: wait/wait_word.h:3:split
// Seeded bug: base/spin_lock.h:1
namespace weft::model {
namespace {

using Core = detail::MutexCore<WaiterList, RelacySync, 1>;
using detail::TimePoint;
using std::chrono::milliseconds;

template <bool kLooksAgain>
using Host = LockHost<kLooksAgain>;

// Of one whose time may be up at any moment.
struct TimedHost : Host<true> {
  static constexpr TimePoint limit() { return TimePoint(milliseconds(7)); }
};

// A stop, and the callback that ends a wait by it.
struct Stop {
  void request(Core& core, Waiter& waiter) {
    isRequested.store(1, std::memory_order_release);
    if (core.leave(waiter)) {
      hasLeft.set(1);
      waiter.wake();
    }
    isOver.store(1, std::memory_order_release);
  }
  // As a std::stop_callback's destructor: not while the callback runs.
  void endWait() {
    while (isRequested.load(std::memory_order_acquire) != 0 && isOver.load(std::memory_order_acquire) == 0) {
      RelacySync::pause();
    }
  }
  RelacySync::Atomic<int> isRequested{0}, isOver{0};
  RelacySync::Var<int> hasLeft{0};
};
struct StoppableHost : Host<false> {
  explicit StoppableHost(Stop& one) : stop(one) {}
  bool isStopped() const { return stop.isRequested.load(std::memory_order_acquire) != 0; }
  bool hasLeft() const { return stop.hasLeft.get() != 0; }
  Stop& stop;
};

template <class H>
void lock(Core& core, Waiter& self, const H& host) {
  if (!core.tryLock()) {
    core.lock(self, host);
  }
}

template <class H>
void unlock(Core& core, const H& host) {
  if (!core.tryUnlock()) {
    core.unlock(host).wakeAll();
  }
}

// There is a data race if the mutex does not exclude or order them, and a deadlock if a wake is lost.
template <bool kLooksAgain>
struct Exclude : rl::test_suite<Exclude<kLooksAgain>, 3> {
  Core core;
  Waiter waiters[3];
  RelacySync::Var<int> data;

  void before() { data.set(0); }

  void thread(unsigned index) {
    const Host<kLooksAgain> host;
    for (int round = 0; round < 2; ++round) {
      lock(core, waiters[index], host);
      data.set(data.get() + 1);
      unlock(core, host);
    }
  }

  void after() {
    check(data.get() == 6, "each had it twice");
    check(core.isIdle(), "the mutex is free at the end");
    checkNoneLeft(waiters);
  }
};

// One whose time is up leaves, beside two that wait until they are woken: no wake is lost, and none is left.
struct GiveUpInTime : rl::test_suite<GiveUpInTime, 3> {
  Core core;
  Waiter waiters[3];
  RelacySync::Var<int> data;
  int numTimes = 0;

  void before() { data.set(0); }

  void thread(unsigned index) {
    for (int round = 0; round < 2; ++round) {
      if (index != 0) {
        use(waiters[index], Host<false>());
      } else if (const TimedHost host; core.tryLock() || core.lock(waiters[0], host)) {
        data.set(data.get() + 1);
        unlock(core, host);
        ++numTimes;
      }
    }
  }

  template <class H>
  void use(Waiter& self, const H& host) {
    lock(core, self, host);
    data.set(data.get() + 1);
    unlock(core, host);
  }

  void after() {
    check(data.get() == 4 + numTimes, "each had it as often as it was told");
    check(core.isIdle(), "the mutex is free at the end");
    checkNoneLeft(waiters);
  }
};

// One that is stopped, beside one that waits and one that holds the mutex: it may go on to hold it until the
// other has given up.
struct GiveUpByStop : rl::test_suite<GiveUpByStop, 3> {
  Core core;
  Waiter waiters[2];
  Stop stop;
  RelacySync::Atomic<int> hasReturned{0};
  RelacySync::Var<int> data;
  int numTimes = 2;

  void before() {
    check(core.tryLock(), "a free mutex can be taken");
    data.set(0);
  }

  void useAndUnlock() {
    data.set(data.get() + 1);
    unlock(core, Host<false>());
  }

  void thread(unsigned index) {
    if (index == 0) {
      const bool holds = core.tryLock() || core.lock(waiters[0], StoppableHost(stop));
      stop.endWait();
      hasReturned.store(1, std::memory_order_relaxed);
      if (holds) {
        ++numTimes;
        useAndUnlock();
      }
    } else if (index == 1) {
      lock(core, waiters[1], Host<false>());
      useAndUnlock();
    } else {
      const unsigned how = rl::rand(3);
      const bool stopsFirst = how != 0;
      if (stopsFirst) {
        stop.request(core, waiters[0]);
      }
      while (how == 2 && hasReturned.load(std::memory_order_relaxed) == 0) {
        RelacySync::pause();
      }
      useAndUnlock();
      if (!stopsFirst) {
        stop.request(core, waiters[0]);
      }
    }
  }

  void after() {
    check(data.get() == numTimes, "each had it as often as it was told");
    check(core.isIdle(), "the mutex is free at the end");
    checkNoneLeft(waiters);
  }
};

// One that has given up comes again, and destroys it.
struct DestroyAfterGivingUp : rl::test_suite<DestroyAfterGivingUp, 2> {
  Core* core = nullptr;
  Waiter waiter;

  void before() {
    core = new Core();
    check(core->tryLock(), "a free mutex can be taken");
  }

  void thread(unsigned index) {
    if (index == 0) {
      unlock(*core, Host<false>());
    } else {
      if (!core->lock(waiter, TimedHost())) {
        lock(*core, waiter, Host<false>());
      }
      unlock(*core, Host<false>());
      delete core;
    }
  }

  void after() { waiter.checkNoneLeft(); }
};

// Who comes last destroys it.
template <bool kLooksAgain>
struct Destroy : rl::test_suite<Destroy<kLooksAgain>, 2> {
  Core* core = nullptr;
  Waiter waiter;

  void before() {
    core = new Core();
    check(core->tryLock(), "a free mutex can be taken");
  }

  void thread(unsigned index) {
    const Host<kLooksAgain> host;
    if (index == 1) {
      lock(*core, waiter, host);
    }
    unlock(*core, host);
    if (index == 1) {
      delete core;
    }
  }

  void after() { waiter.checkNoneLeft(); }
};

// One unlocks, once; one that may be woken for that cannot run before the third had the mutex. The third has
// it nevertheless.
struct Stuck : rl::test_suite<Stuck, 3> {
  Core core;
  Waiter waiters[2];
  RelacySync::Atomic<int> thirdHadIt{0};

  void before() { check(core.tryLock(), "a free mutex can be taken"); }

  void thread(unsigned index) {
    const Host<true> host;
    if (index == 2) {
      unlock(core, host);
    } else if (index == 1) {
      lock(core, waiters[1], host);
      thirdHadIt.store(1, std::memory_order_relaxed);
      unlock(core, host);
    } else {
      const SlowHost<Host<true>> slow(thirdHadIt);
      lock(core, waiters[0], slow);
      unlock(core, slow);
    }
  }

  void after() { check(core.isIdle(), "the mutex is free at the end"); }
};

// One locks and unlocks again and again, and another, on the same thread, runs only once that one has
// suspended.
// kThird: beside a third one, which may have had it since the other was woken.
template <bool kThird>
struct SameThread : rl::test_suite<SameThread<kThird>, kThird ? 3 : 2> {
  struct SuspendingHost : Host<true> {
    explicit SuspendingHost(RelacySync::Atomic<int>& flag) : hasSuspended(flag) {}
    bool blockUntil(Waiter& waiter, TimePoint deadline) const {
      hasSuspended.store(1, std::memory_order_relaxed);
      return Host<true>::blockUntil(waiter, deadline);
    }
    RelacySync::Atomic<int>& hasSuspended;
  };

  Core core;
  Waiter waiters[3];
  RelacySync::Atomic<int> hasSuspended{0}, otherHadIt{0};

  void before() { check(core.tryLock(), "a free mutex can be taken"); }

  void thread(unsigned index) {
    if (index == 0) {
      const SuspendingHost host(hasSuspended);
      while (otherHadIt.load(std::memory_order_relaxed) == 0) {
        unlock(core, host);
        lock(core, waiters[0], host);
      }
      unlock(core, host);
    } else if (index == 2) {
      const Host<true> host;
      lock(core, waiters[2], host);
      unlock(core, host);
    } else {
      const SlowHost<Host<false>> host(hasSuspended);
      lock(core, waiters[1], host);
      otherHadIt.store(1, std::memory_order_relaxed);
      unlock(core, host);
    }
  }

  void after() { check(core.isIdle(), "the mutex is free at the end"); }
};

// One that only tries, beside a waiter that cannot run before: it gets what was offered.
struct OnlyTries : rl::test_suite<OnlyTries, 3> {
  Core core;
  Waiter waiters[2];
  RelacySync::Atomic<int> triedHadIt{0};
  RelacySync::Var<int> data;

  void before() {
    check(core.tryLock(), "a free mutex can be taken");
    data.set(0);
  }

  template <class H>
  void useAndUnlock(const H& host) {
    data.set(data.get() + 1);
    unlock(core, host);
  }

  void thread(unsigned index) {
    const Host<true> host;
    if (index == 2) {
      for (int round = 0; round < 2; ++round) {
        useAndUnlock(host);
        while (!(core.isOffered() ? core.tryTakeOffer(host) : core.tryLock())) {
          RelacySync::pause();
        }
      }
      triedHadIt.store(1, std::memory_order_relaxed);
      useAndUnlock(host);
    } else {
      const SlowHost<Host<true>> slow(triedHadIt);
      lock(core, waiters[index], slow);
      useAndUnlock(slow);
    }
  }

  void after() {
    check(data.get() == 5, "each had it in turn");
    check(core.isIdle(), "the mutex is free at the end");
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Exclude<false>>("three that lock it twice", 200'000) &&
           explore<Exclude<true>>("three that look again", 200'000) &&
           explore<Destroy<false>>("a waiter destroys it", 100'000) &&
           explore<Destroy<true>>("a waiter that looks again destroys it", 100'000) &&
           explore<Stuck>("a woken waiter cannot run", 100'000) &&
           explore<SameThread<false>>("a waiter of the same thread", 100'000) &&
           explore<SameThread<true>>("a waiter of the same thread, and a third", 100'000) &&
           explore<OnlyTries>("one that only tries", 100'000) &&
           explore<GiveUpInTime>("one whose time is up", 200'000) &&
           explore<GiveUpByStop>("one that is stopped", 200'000) &&
           explore<DestroyAfterGivingUp>("one that gave up destroys it", 100'000);
  });
}
