// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The test must fail with each of these in the code (see README.md):
// Seeded bug: fair/state.h:1:relaxed
// Seeded bug: fair/state.h:1:split
// Seeded bug: fair/state.h:2:relaxed
// Seeded bug: fair/state.h:2:split
// Seeded bug: fair/state.h:3:relaxed
// Seeded bug: fair/state.h:4:relaxed
// Seeded bug: fair/state.h:5:relaxed
// Seeded bug: fair/state.h:5:split
// Seeded bug: fair/state.h:6:relaxed
// Seeded bug: fair/state.h:6:split
// Seeded bug: fair/state.h:7:relaxed

#include <weft/detail/fair/state.h>
#include <weft/detail/park/parker.h>
#include <weft/detail/queue/inbox.h>

#include "explore.h"

namespace weft::model {
namespace {

struct Task {
  detail::InboxLink<Task, RelacySync> inboxNext;
  RelacySync::Var<int> postedBy{0};
  detail::FairState<RelacySync> state;
};

// Front queue, role and the one that runs the steps in one thread, the first.
struct OneTask {
  detail::Inbox<Task, RelacySync> inbox;
  detail::Parker<RelacySync> parker;
  alignas(Task) unsigned char memory[sizeof(Task)];
  Task* task = nullptr;

  void make() { task = ::new (static_cast<void*>(memory)) Task(); }
  void end() { task->~Task(); }

  void push() {
    check(task->postedBy.get() == 1, "a claimer sees the task as it was posted");
    if (inbox.push(task)) {
      parker.unpark();
    }
  }
  void signal() {
    if (task->state.signal()) {
      push();
    }
  }
  void wakeup() {
    if (task->state.wakeup()) {
      push();
    }
  }

  // The role looks at the task: with a deadline that may come at any time, or with none.
  void post(bool mayExpire) {
    task->postedBy.set(1);
    if (task->state.tryWait() && !(mayExpire && task->state.expire())) {
      awaitPush();
    }
  }
  // A push that is lost is a deadlock.
  void awaitPush() {
    for (;;) {
      Task* pushed = inbox.popAll();
      if (pushed != nullptr) {
        check(pushed == task && pushed->inboxNext.get() == nullptr, "a task is pushed once");
        return;
      }
      if (inbox.tryPark()) {
        parker.park();
      }
    }
  }
};

// A request with a timeout: whoever has received the signal deletes the task, whatever the signaller is at.
struct DeletesItself : rl::test_suite<DeletesItself, 2>, OneTask {
  RelacySync::Var<int> answer{0};

  void before() { make(); }
  void thread(unsigned index) {
    if (index == 1) {
      answer.set(42);
      signal();
      return;
    }
    post(true);
    task->state.start();
    if (!task->state.receiveSignal()) {
      post(false);
      check(!task->state.start(), "no deadline, only the signal");
      check(task->state.receiveSignal(), "the signal has come");
    }
    check(answer.get() == 42, "the answer came with the signal");
    end();
  }
};

// Two wakers and deadlines: the task goes on until it has seen both. A wakeup that is lost is a deadlock.
struct TwoWakers : rl::test_suite<TwoWakers, 3>, OneTask {
  RelacySync::Atomic<int> numArrived{0};

  void before() { make(); }
  void thread(unsigned index) {
    if (index != 0) {
      // relaxed: the state has to order it.
      numArrived.fetch_add(1, std::memory_order_relaxed);
      wakeup();
      return;
    }
    bool mayExpire = true;
    do {
      post(std::exchange(mayExpire, false));
      task->state.start();
    } while (numArrived.load(std::memory_order_relaxed) != 2);
  }
  void after() {
    // A wakeup that came last may stand for the next dispatch.
    task->state.start();
    check(task->state.tryWait(), "nothing else is left behind");
    end();
  }
};

// What came before a wakeup of a task that is ready already is seen by the step, or by the next one, which it
// then causes.
struct WokenWhileReady : rl::test_suite<WokenWhileReady, 3>, OneTask {
  RelacySync::Var<int> data[2];
  RelacySync::Atomic<int> numWoken{0};

  void before() { make(); }
  void thread(unsigned index) {
    if (index != 0) {
      data[index - 1].set(1);
      if (index == 1) {
        wakeup();
      } else {
        signal();
      }
      // relaxed: says that both have come without ordering anything.
      numWoken.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    post(false);
    while (numWoken.load(std::memory_order_relaxed) != 2) {
      RelacySync::pause();
    }
    do {
      task->state.start();
      task->state.receiveSignal();
    } while (!task->state.tryWait());
    check(data[0].get() == 1 && data[1].get() == 1, "both are seen");
  }
  void after() { end(); }
};

// The step sees what came before the signal that made it run, also if it does not receive it.
struct SeenWithoutReceiving : rl::test_suite<SeenWithoutReceiving, 2>, OneTask {
  RelacySync::Var<int> data{0};

  void before() { make(); }
  void thread(unsigned index) {
    if (index == 1) {
      data.set(1);
      signal();
      return;
    }
    post(false);
    task->state.start();
    check(data.get() == 1, "it is seen");
  }
  void after() { end(); }
};

// With threads that count and send.
struct CountedSignals : OneTask {
  RelacySync::Atomic<int> numSent{0};

  void send() {
    // relaxed: the state has to order it.
    numSent.fetch_add(1, std::memory_order_relaxed);
    signal();
  }
};

// Each edge from unsignalled to signalled is received once, and none is lost between two receives.
struct TwoSignals : rl::test_suite<TwoSignals, 3>, CountedSignals {
  int numReceived = 0;

  void before() { make(); }
  void thread(unsigned index) {
    if (index != 0) {
      send();
      return;
    }
    while (numSent.load(std::memory_order_relaxed) != 2 || numReceived == 0) {
      post(true);
      task->state.start();
      if (task->state.receiveSignal()) {
        numReceived++;
      }
    }
  }
  void after() {
    if (task->state.receiveSignal()) {
      numReceived++;
    }
    check(numReceived == 1 || numReceived == 2, "one for each edge");
    end();
  }
};

// Whoever looks at the signal sees what came before it.
struct Looks : rl::test_suite<Looks, 2>, OneTask {
  RelacySync::Var<int> data{0};

  void before() { make(); }
  void thread(unsigned index) {
    if (index == 1) {
      data.set(1);
      signal();
    } else if (task->state.isSignaled()) {
      check(data.get() == 1, "it is seen");
    }
  }
  void after() { end(); }
};

// Two signals, and one step that takes one of them or both: it sees what came before those that it took.
struct TakesWhatItSees : rl::test_suite<TakesWhatItSees, 3>, CountedSignals {
  int numSeen = 0;

  void before() { make(); }
  void thread(unsigned index) {
    if (index != 0) {
      send();
      return;
    }
    while (!task->state.receiveSignal()) {
      RelacySync::pause();
    }
    numSeen = numSent.load(std::memory_order_relaxed);
  }
  void after() {
    check(task->state.isSignaled() || numSeen == 2, "both are seen, unless one is left");
    end();
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<DeletesItself>("deletes itself", 300'000) && explore<TwoWakers>("two wakers", 300'000) &&
           explore<WokenWhileReady>("woken while ready", 300'000) &&
           explore<SeenWithoutReceiving>("seen without receiving", 100'000) &&
           explore<TwoSignals>("two signals", 300'000) && explore<Looks>("looks", 100'000) &&
           explore<TakesWhatItSees>("takes what it sees", 100'000);
  });
}
