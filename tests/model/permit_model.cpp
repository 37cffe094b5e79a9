// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/park/parker.h>
#include <weft/detail/park/permit.h>

#include "explore.h"

// Seeded bug: park/permit.h:1
// Seeded bug: park/permit.h:1:split
// Seeded bug: park/permit.h:2:split
// Seeded bug: park/permit.h:3
// Seeded bug: park/permit.h:3:split
// Seeded bug: park/permit.h:4
// Seeded bug: park/permit.h:5
// Seeded bug: park/permit.h:5:split
namespace weft::model {
namespace {

using Permit = detail::Permit<RelacySync>;
using Parker = detail::Parker<RelacySync>;

// What a fiber is to its permit. A wake is delivered exactly once; one that comes when nobody waits for it is
// an error.
struct Host {
  void wake() {
    link.set(1);
    // As an inbox does: what the waker did is seen by the owner. Merged permits must be ordered by
    // themselves.
    numWakes.fetch_add(1, std::memory_order_release);
    parker.unpark();
  }
  void block() {
    while (numWakes.load(std::memory_order_acquire) == numTaken) {
      parker.park();
    }
    ++numTaken;
  }
  bool blockUntil(const detail::TimePoint& deadline) {
    while (numWakes.load(std::memory_order_acquire) == numTaken) {
      if (!parker.parkUntil(deadline)) {
        return false;
      }
    }
    ++numTaken;
    return true;
  }

  RelacySync::Var<int> link;  // the owner's until it waits, then the waker's, as the fiber's link in an inbox
  RelacySync::Atomic<int> numWakes{0};
  int numTaken = 0;
  Parker parker;
};

// A notify is not lost, whether it comes before or after the wait, and brings what was written before.
struct NotifyOnce : rl::test_suite<NotifyOnce, 2> {
  Permit permit;
  Host host;
  RelacySync::Var<int> data;

  void thread(unsigned index) {
    if (index == 0) {
      host.link.set(0);
      permit.wait(host);
      check(data.get() == 7, "the data came with the permit");
    } else {
      data.set(7);
      permit.notify(host);
    }
  }
  void after() { check(host.numWakes.newest() == host.numTaken, "no wake is left behind"); }
};

// A timeout against a notify: exactly one wins, and the loser leaves neither a wake nor a permit.
struct Timeout : rl::test_suite<Timeout, 2> {
  Permit permit;
  Host host;
  RelacySync::Var<int> data;
  bool first = false;

  void thread(unsigned index) {
    if (index == 0) {
      first = permit.waitUntil(host, detail::TimePoint());
      if (!first) {
        permit.wait(host);
      }
      check(data.get() == 7, "the data came with the permit");
    } else {
      data.set(7);
      permit.notify(host);
    }
  }
  void after() {
    check(host.numWakes.newest() == host.numTaken, "no wake is left behind");
    check(!permit.waitBy([&] { return !permit.cancel(); }), "no permit is left behind");
  }
};

// After a timeout nobody owes a wake: one would end a later wait for nothing.
struct NothingAfterTimeout : rl::test_suite<NothingAfterTimeout, 2> {
  Permit permit;
  Host host;

  void thread(unsigned index) {
    if (index == 0) {
      (void)permit.waitUntil(host, detail::TimePoint());
    } else {
      permit.notify(host);
    }
  }
  void after() { check(host.numWakes.newest() == host.numTaken, "no wake is left behind"); }
};

// Two notifiers: the owner sees what both wrote by the time it has waited until both are in, and merged
// permits are not lost ones.
struct TwoNotifiers : rl::test_suite<TwoNotifiers, 3> {
  Permit permit;
  Host host;
  RelacySync::Atomic<int> arrived{0};

  void thread(unsigned index) {
    if (index == 0) {
      // relaxed: the permit has to order it.
      while (arrived.load(std::memory_order_relaxed) != 2) {
        permit.wait(host);
      }
    } else {
      arrived.fetch_add(1, std::memory_order_relaxed);
      permit.notify(host);
    }
  }
  void after() { check(host.numWakes.newest() == host.numTaken, "no wake is left behind"); }
};

// A stop from another thread against a notify: exactly one wakes the owner, and a permit that comes too late
// stays.
struct Stop : rl::test_suite<Stop, 3> {
  Permit permit;
  Host host;
  RelacySync::Var<int> data;
  RelacySync::Atomic<bool> isStopped{false};

  void thread(unsigned index) {
    if (index == 0) {
      host.link.set(0);
      const bool isNotified = permit.waitBy([&] {
        host.block();
        // As for a stop callback: its flag comes with the wake.
        return !isStopped.load(std::memory_order_relaxed);
      });
      if (!isNotified) {
        permit.wait(host);
      }
      check(data.get() == 7, "the data came with the permit");
    } else if (index == 1) {
      data.set(7);
      permit.notify(host);
    } else if (permit.cancel()) {
      isStopped.store(true, std::memory_order_relaxed);
      host.wake();
    }
  }
  void after() { check(host.numWakes.newest() == host.numTaken, "no wake is left behind"); }
};

// A task in place and the one that waits for it: two permits of one host. A notify() of the outer one neither
// ends the inner one's wait nor is lost, whichever comes first.
struct TwoTasksOfAHost : rl::test_suite<TwoTasksOfAHost, 3> {
  Permit outer, inner;
  Host host;
  RelacySync::Var<int> outerData, innerData;

  void thread(unsigned index) {
    if (index == 0) {
      host.link.set(0);
      inner.wait(host);
      check(innerData.get() == 7, "the data came with the inner permit");
      outer.wait(host);
      check(outerData.get() == 7, "the data came with the outer permit");
    } else {
      Permit& permit = index == 1 ? outer : inner;
      (index == 1 ? outerData : innerData).set(7);
      permit.notify(host);
    }
  }
  void after() { check(host.numWakes.newest() == host.numTaken, "no wake is left behind"); }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return exploreFinite<NotifyOnce>("notify once", 300'000) && exploreFinite<Timeout>("timeout", 300'000) &&
           exploreFinite<NothingAfterTimeout>("nothing after a timeout", 300'000) &&
           exploreFinite<TwoNotifiers>("two notifiers", 300'000) && exploreFinite<Stop>("a stop", 300'000) &&
           exploreFinite<TwoTasksOfAHost>("two tasks of a host", 300'000);
  });
}
