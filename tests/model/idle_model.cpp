// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/park/idle.h>
#include <weft/detail/queue/inbox.h>
#include <weft/detail/queue/stealing_deque.h>

#include <utility>

#include "explore.h"
#include "with_wake_fd.h"

// Seeded bug: park/idle.h:2
// Seeded bug: park/idle.h:3
// Seeded bug: park/idle.h:4
// Seeded bug: park/idle.h:5
// Seeded bug: park/idle.h:5:acq_rel
namespace weft::model {
namespace {

struct Item {
  detail::InboxLink<Item, RelacySync> inboxNext;
};

using Deque = detail::StealingDeque<Item, RelacySync, 4>;
using Idle = detail::IdleSet<RelacySync>;
using Inbox = detail::Inbox<Item, RelacySync>;
using Parker = detail::Parker<RelacySync>;

// What Worker is to waitForSharedWork: one source of tasks to steal from, and an inbox. As where fibers of a
// worker wait for I/O now and then, each sleep is on the futex or elsewhere.
struct Host {
  Host(Deque& from) : victim(from) { sleeper.parker = &parker; }

  bool findOwnWork() {
    if (received == nullptr) {
      received = inbox.popAll();
    }
    return received != nullptr;
  }
  bool findSharedWork() {
    Deque::Stolen attempt;
    do {
      attempt = victim.steal();
    } while (attempt.lostRace);
    if (attempt.item != nullptr) {
      stolen = attempt.item;
    }
    return stolen != nullptr;
  }
  bool seesSharedWork() { return !victim.empty(); }
  bool findWork() { return findOwnWork() || findSharedWork(); }
  bool spinForWork() { return findWork(); }
  bool tryParkInbox() { return inbox.tryPark(); }
  void cancelParkInbox() { inbox.cancelPark(); }
  void tidyUp() {}
  void park() {
    if (rl::rand(2) == 0) {
      parker.park();
      return;
    }
    if (!hasWakeFd) {
      hasWakeFd = true;
      elsewhere.makeWakeFd();
    }
    elsewhere.sleepElsewhere(nullptr);
  }

  Deque& victim;
  WithWakeFd elsewhere;
  Parker& parker = elsewhere.parker;
  bool hasWakeFd = false;
  Inbox inbox;
  Idle::Sleeper sleeper;
  Item* stolen = nullptr;
  Item* received = nullptr;
};

void publish(Deque& deque, Idle& idle, Item& item) {
  check(deque.push(&item), "the deque has room");
  idle.onPublish();
}

void wakeInbox(Host& target, Item& item) {
  Parker& parker = target.parker;
  if (target.inbox.push(&item)) {
    parker.unpark();
  }
}

// A busy worker publishes one task; the other must find it, asleep or not: the first waits for it.
struct OneTask : rl::test_suite<OneTask, 2> {
  Idle idle{2};
  Deque deque;
  Item task;
  Parker ran;
  Host thief{deque};

  void thread(unsigned index) {
    if (index == 0) {
      publish(deque, idle, task);
      ran.park();
    } else {
      waitForSharedWork(idle, thief.sleeper, thief);
      check(thief.stolen == &task, "the thief found the task");
      ran.unpark();
    }
  }
};

// The same with a producer that is no worker, so that every worker sleeps.
struct OneTaskFromOutside : rl::test_suite<OneTaskFromOutside, 2> {
  Idle idle{1};
  Deque deque;
  Item task;
  Parker ran;
  Host thief{deque};

  void thread(unsigned index) {
    if (index == 0) {
      check(deque.push(&task), "the deque has room");
      idle.onPublishFromOutside();
      ran.park();
    } else {
      waitForSharedWork(idle, thief.sleeper, thief);
      check(thief.stolen == &task, "the thief found the task");
      ran.unpark();
    }
  }
};

// The same with a producer that is a external thread while it publishes.
struct OneTaskFromExternal : rl::test_suite<OneTaskFromExternal, 2> {
  Idle idle{1};
  Deque deque;
  Item task;
  Parker ran;
  Host thief{deque};

  void thread(unsigned index) {
    if (index == 0) {
      idle.addExternal();
      publish(deque, idle, task);
      ran.park();
      idle.removeExternal();
    } else {
      waitForSharedWork(idle, thief.sleeper, thief);
      check(thief.stolen == &task, "the thief found the task");
      ran.unpark();
    }
  }
};

// Two tasks that each hold their worker until both have begun. The one who finds the first must see to it
// that the other worker does not sleep beside the second.
struct TwoLongTasks : rl::test_suite<TwoLongTasks, 3> {
  Idle idle{3};
  Deque deque;
  Item tasks[2];
  Host workers[2] = {Host(deque), Host(deque)};
  Parker begun[2];

  void thread(unsigned index) {
    if (index == 2) {
      publish(deque, idle, tasks[0]);
      publish(deque, idle, tasks[1]);
      return;
    }
    Host& self = workers[index];
    waitForSharedWork(idle, self.sleeper, self);
    check(self.stolen != nullptr, "nobody returns empty-handed");
    begun[1 - index].unpark();
    begun[index].park();
  }
};

// One worker is woken through its inbox and for a task at the same time; neither may be lost.
struct InboxAndTask : rl::test_suite<InboxAndTask, 3> {
  Idle idle{3};
  Deque deque;
  Item task;
  Item fiber;
  Host worker{deque};

  void thread(unsigned index) {
    if (index == 0) {
      publish(deque, idle, task);
    } else if (index == 1) {
      wakeInbox(worker, fiber);
    } else {
      while (worker.stolen == nullptr || worker.received == nullptr) {
        Item* had = worker.stolen != nullptr ? worker.stolen : worker.received;
        // What was found is put aside, so that the next wait is for the other.
        Item* stolen = std::exchange(worker.stolen, nullptr);
        Item* received = std::exchange(worker.received, nullptr);
        waitForSharedWork(idle, worker.sleeper, worker);
        check(had == nullptr || worker.stolen != had, "each is found once");
        worker.stolen = worker.stolen != nullptr ? worker.stolen : stolen;
        worker.received = worker.received != nullptr ? worker.received : received;
      }
    }
  }
};

// A worker that is chosen for a task, but finds its inbox filled first, hands the task on: it counted as the
// searcher.
struct ChosenButBusy : rl::test_suite<ChosenButBusy, 3> {
  Idle idle{3};
  Deque deque;
  Item task;
  Item fibers[2];
  Host workers[2] = {Host(deque), Host(deque)};
  Parker ran[2];
  Parker producerRan;

  void thread(unsigned index) {
    if (index == 2) {
      publish(deque, idle, task);
      wakeInbox(workers[0], fibers[0]);
      producerRan.park();
      wakeInbox(workers[1], fibers[1]);
      return;
    }
    Host& self = workers[index];
    waitForSharedWork(idle, self.sleeper, self);
    if (self.stolen != nullptr) {
      producerRan.unpark();
    } else if (index == 0) {
      // Long work: only the other worker is left for the task.
      ran[0].park();
    }
    if (index == 1) {
      ran[0].unpark();
    }
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return exploreFinite<OneTask>("one task", 300'000) &&
           exploreFinite<OneTaskFromOutside>("one task from outside", 300'000) &&
           exploreFinite<OneTaskFromExternal>("one task from a external thread", 300'000) &&
           exploreFinite<TwoLongTasks>("two long tasks", 300'000) &&
           exploreFinite<InboxAndTask>("inbox and task", 200'000) &&
           exploreFinite<ChosenButBusy>("chosen but busy", 200'000);
  });
}
