// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <scheduler/worker/poll_watch.h>

#include <mutex>

#include <weft/detail/park/idle.h>
#include <weft/detail/queue/inbox.h>

#include "explore.h"

// Seeded bug: src/scheduler/worker/poll_watch.h:1:acq_rel
// Seeded bug: src/scheduler/worker/poll_watch.h:1:split
// Seeded bug: src/scheduler/worker/poll_watch.h:2:acquire
// Seeded bug: src/scheduler/worker/poll_watch.h:3:release
// Seeded bug: src/scheduler/worker/poll_watch.h:4:acquire
// Seeded bug: src/scheduler/worker/poll_watch.h:5
// Seeded bug: src/scheduler/worker/poll_watch.h:6:acquire
// Seeded bug: park/idle.h:3
// Seeded bug: park/idle.h:4
namespace weft::model {
namespace {

struct Item {
  detail::InboxLink<Item, RelacySync> inboxNext;
};

struct Host;
using Idle = detail::IdleSet<RelacySync>;
using Watch = detail::PollWatch<Host, RelacySync>;
using Parker = detail::Parker<RelacySync>;
using Guard = std::lock_guard<RelacySync::Lock>;

// A scheduler's idle set, and its hub with one source of one request.
struct Hub {
  explicit Hub(uint32_t numWorkers) : idle(numWorkers) {}

  // As PollCore::list(): room first, and the node itself after the look for a watcher.
  void start() {
    set(hasRoom, true);
    const bool isUnwatched = watch.noteStarted(true);
    set(isListed, true);
    if (isUnwatched) {
      idle.onPublishFromOutside();
    }
  }
  void await() { done.park(); }

  // As test(). Returns: whether that gave `tester` something to do.
  bool test(Host& tester);
  // As watch(). Returns: whether the sleep should end for a test.
  bool isToWatch(Host& self);
  void endWatch(Host& self) {
    const Guard guard(lock);
    if (watch.isWatcher(self)) {
      watch.end();
    }
  }

  Idle idle;
  Watch watch;
  Parker done;
  Host* starter = nullptr;  // who goes on when the request is done, if that is one of the workers

 private:
  void set(RelacySync::Var<bool>& what, bool value) {
    const Guard guard(listLock);
    what.set(value);
  }

  RelacySync::Lock lock;      // the hub's
  RelacySync::Lock listLock;  // the source's; guards what follows
  RelacySync::Var<bool> hasRoom{false};
  RelacySync::Var<bool> isListed{false};
};

// As Idler, of a worker that gets nothing to run but what is in its inbox.
struct Host {
  explicit Host(Hub& itsHub) : hub(itsHub) { sleeper.parker = &parker; }

  void run() { waitForSharedWork(hub.idle, sleeper, *this); }
  // The same in two parts, for one that is the watcher at first, for requests that are done.
  void beginAsWatcher() {
    hub.idle.beginSearch();
    hub.idle.addSleeper(sleeper);
    check(tryParkInbox(), "there is nothing to do");
    hub.watch.begin(*this);
  }
  void runOn() {
    park();
    cancelParkInbox();
    if (hub.idle.removeSleeper(sleeper)) {
      hub.idle.endSearch(*this);
    }
    run();
  }
  // Any thread: has run() end.
  void wake() {
    if (inbox.push(&item)) {
      parker.unpark();
    }
  }

  bool findWork() {
    hasFound = (hub.watch.isAwaited() && hub.test(*this)) || hasFound;
    return hasOwnWork();
  }
  bool hasOwnWork() {
    hasFound = hasFound || inbox.popAll() != nullptr;
    return hasFound;
  }
  bool seesSharedWork() { return hub.watch.needsWatcher(); }
  bool spinForWork() {
    const bool isFound = findWork();
    while (mate != nullptr && mate->isBusy.load(std::memory_order_relaxed) == 0) {
      RelacySync::pause();
    }
    return isFound || mate != nullptr;
  }
  bool tryParkInbox() { return inbox.tryPark(); }
  void cancelParkInbox() { inbox.cancelPark(); }
  void tidyUp() {}

  // As Idler::searchForReady(), of a worker that is held back before it starts a task.
  void holdBack() {
    if (tryParkInbox()) {
      park(true);
      cancelParkInbox();
    }
    if (hub.watch.needsWatcher()) {
      hub.idle.onPublishFromOutside();
    }
  }

  // As Idler::sleepUntil(), for any reason to end the sleep.
  void park(bool isTimed = false) {
    while (hub.watch.mayWatch(*this)) {
      if (!hub.isToWatch(*this)) {
        break;
      }
      const bool isWoken = parker.parkUntil(detail::TimePoint());
      hasFound = hub.test(*this) || hasFound;
      if (isWoken || hasFound || rl::rand(4) == 0) {
        hub.endWatch(*this);
        return;
      }
    }
    isTimed ? (void)parker.parkUntil(detail::TimePoint()) : parker.park();
  }

  Hub& hub;
  Parker parker;
  detail::Inbox<Item, RelacySync> inbox;
  Idle::Sleeper sleeper;
  Item item;
  bool hasFound = false;
  bool maySeeTheEnd = true;  // of the request: its tests are not too early
  Host* mate = nullptr;      // finds something when this one has
  RelacySync::Atomic<int> isBusy{0};
};

// The source may not be due.
bool Hub::test(Host& tester) {
  {
    const Guard guard(lock);
    if (rl::rand(2) == 0) {
      return false;
    }
  }
  {
    const Guard guard(listLock);
    if (!tester.maySeeTheEnd || !isListed.get()) {
      return false;
    }
    isListed.set(false);
    hasRoom.set(false);
    watch.noteDone(true);
  }
  done.unpark();
  return &tester == starter;
}

// Which of two would wake first, and for how long the watcher goes on without requests, is open.
bool Hub::isToWatch(Host& self) {
  const Guard guard(lock);
  bool isAwaited = false;
  {
    const Guard ofList(listLock);
    isAwaited = hasRoom.get();
  }
  if (isAwaited) {
    if (watch.watcher() != nullptr && !watch.isWatcher(self) && rl::rand(2) == 0) {
      return false;
    }
  } else if (!watch.isWatcher(self) || (rl::rand(2) == 0 && watch.tryEnd(self))) {
    return false;
  }
  watch.begin(self);
  return true;
}

// One starts requests in turn, and the only other worker sleeps when it can: as the watcher, or no longer.
struct RequestsInTurn : rl::test_suite<RequestsInTurn, 2> {
  Hub hub{2};
  Host worker{hub};

  void thread(unsigned index) {
    if (index == 1) {
      worker.run();
      return;
    }
    for (int i = 0; i < 2; ++i) {
      hub.start();
      hub.await();
    }
    worker.wake();
  }
};

// The watcher gets something to do while a request is started, for as long as that takes: another one
// watches.
struct BusyWatcher : rl::test_suite<BusyWatcher, 3> {
  Hub hub{3};
  Host workers[2] = {Host(hub), Host(hub)};
  Parker isOver;

  void before() {
    workers[0].beginAsWatcher();
    workers[0].maySeeTheEnd = false;
  }
  void thread(unsigned index) {
    if (index == 2) {
      workers[0].wake();
      hub.start();
      hub.await();
      isOver.unpark();
      workers[1].wake();
      return;
    }
    if (index == 1) {
      workers[1].run();
    } else {
      workers[0].runOn();
      isOver.park();
    }
  }
};

// A worker is held back, and may watch meanwhile. Then it is busy until the request was done.
struct HeldBack : rl::test_suite<HeldBack, 3> {
  Hub hub{3};
  Host workers[2] = {Host(hub), Host(hub)};
  Parker isOver;

  void before() { workers[0].maySeeTheEnd = false; }
  void thread(unsigned index) {
    if (index == 0) {
      workers[0].holdBack();
      isOver.park();
    } else if (index == 1) {
      workers[1].run();
    } else {
      hub.start();
      hub.await();
      isOver.unpark();
      workers[1].wake();
    }
  }
};

// A worker starts the request and sleeps, and leaves it to the watcher, which gets something to do. So does
// another searcher, after its look at the source: as the last one it sees to it that somebody watches.
struct LastSearcher : rl::test_suite<LastSearcher, 3> {
  Hub hub{3};
  Host workers[3] = {Host(hub), Host(hub), Host(hub)};
  Parker isOver;

  void before() {
    workers[0].beginAsWatcher();
    workers[0].maySeeTheEnd = false;
    workers[1].maySeeTheEnd = false;
    workers[1].mate = &workers[0];
    hub.starter = &workers[2];
  }
  void thread(unsigned index) {
    if (index == 0) {
      workers[0].runOn();
      workers[0].isBusy.store(1, std::memory_order_relaxed);
      isOver.park();
    } else if (index == 1) {
      workers[1].run();
    } else {
      workers[0].wake();
      hub.start();
      workers[2].run();
      isOver.unpark();
    }
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<RequestsInTurn>("requests in turn", 400'000) &&
           explore<LastSearcher>("the last searcher", 300'000) &&
           explore<HeldBack>("one that is held back watches", 200'000) &&
           explore<BusyWatcher>("the watcher gets something to do", 300'000);
  });
}
