// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/park/idle.h>
#include <weft/detail/park/quiescence.h>
#include <weft/detail/queue/inbox.h>
#include <weft/detail/queue/segmented_queue.h>
#include <weft/detail/queue/steal_gate.h>
#include <weft/detail/queue/stealing_deque.h>

#include <utility>

#include "explore.h"
#include "model_allocator.h"

// Seeded bug: park/idle.h:4
// Seeded bug: park/parker.h:1
// Seeded bug: park/parker.h:4
// Seeded bug: park/parker.h:4:split
// Seeded bug: queue/stealing_deque.h:2
// Seeded bug: queue/stealing_deque.h:7:split
namespace weft::model {
namespace {

// All parts of a scheduler in the shape that Worker and SchedulerCore give them: deque, injector, inbox,
// search, sleep, wake and shutdown. A task that must not be alone holds its worker until its mate has begun,
// so that a worker which sleeps beside a queued task is a deadlock, and the checker finds it.

using Parker = detail::Parker<RelacySync>;

// A task, or the fiber that it blocked on: what runs next, when it is resumed.
struct Job {
  detail::InboxLink<Job, RelacySync> inboxNext;
  RelacySync::Var<int> numRuns{0};
  int what = 0;
  unsigned worker = 0;  // where it blocked
};

struct Core;

struct Worker {
  using Deque = detail::StealingDeque<Job, RelacySync, 4>;
  using Injector = detail::SegmentedQueue<Job*, RelacySync, 2>;

  Worker(Core& itsCore, unsigned itsIndex);

  Core* const core;
  const unsigned index;
  Injector::Consumer injected;
  detail::StealGate<RelacySync>::Stealer thief;
  Job* next = nullptr;
  Job* ready = nullptr;
  Deque deque;
  detail::Inbox<Job, RelacySync> inbox;
  Parker parker;
  detail::TaskCounters<RelacySync> counters;
  detail::IdleSet<RelacySync>::Sleeper sleeper;

  void schedule(Job& job);
  void wake(Job& job);
  void run();

  bool shouldEnd();
  bool takeFromInjector();
  bool findOwnWork() {
    if (next != nullptr || ready != nullptr) {
      return true;
    }
    ready = inbox.popAll();
    if (ready != nullptr) {
      return true;
    }
    next = deque.take(thief);
    return next != nullptr || shouldEnd();
  }
  bool findSharedWork();
  bool seesSharedWork();
  bool findWork() { return findOwnWork() || findSharedWork(); }
  bool spinForWork() { return findWork(); }
  bool tryParkInbox() { return inbox.tryPark(); }
  void cancelParkInbox() { inbox.cancelPark(); }
  void tidyUp() {}
  void park() {
    thief.leave();
    parker.park();
  }
};

struct Core {
  static constexpr unsigned kWorkers = 2;

  detail::IdleSet<RelacySync> idle{kWorkers};
  Worker::Injector injector{&allocator, 1};
  detail::StealGate<RelacySync> stealGate;
  Worker workers[kWorkers] = {Worker(*this, 0), Worker(*this, 1)};
  RelacySync::Atomic<int> isStopping{0};
  RelacySync::Atomic<int> isDone{0};
  RelacySync::Atomic<uint64_t> numEntered{0};
  RelacySync::Atomic<int> numAtExit{0};
  Parker allAtExit;
  void* suite = nullptr;
  void (*body)(void* suite, Worker&, Job&) = nullptr;

  void enqueueFromOutside(Job& job) {
    // relaxed: the injector publishes it.
    numEntered.fetch_add(1, std::memory_order_relaxed);
    injector.push(&job);
    idle.onPublishFromOutside();
  }

  bool isFinished() {
    // (1) acquire: pairs with (2).
    if (isDone.load(std::memory_order_acquire) != 0) {
      return true;
    }
    const bool isQuiet = detail::isQuiescent<RelacySync>(
        [this](auto&& f) {
          for (Worker& worker : workers) {
            f(worker.counters);
          }
        },
        // relaxed: see quiescence.h.
        [this] { return numEntered.load(std::memory_order_relaxed); });
    if (isQuiet) {
      // (2) release: pairs with (1).
      isDone.store(1, std::memory_order_release);
      for (Worker& worker : workers) {
        worker.parker.unpark();
      }
    }
    return isQuiet;
  }

  void shutDown() {
    // (3) release: pairs with (4).
    isStopping.store(1, std::memory_order_release);
    for (Worker& worker : workers) {
      worker.parker.unpark();
    }
    // (5) acquire: all that the workers did comes before the end; pairs with (6).
    while (numAtExit.load(std::memory_order_acquire) != kWorkers) {
      allAtExit.park();
    }
  }
};

Worker::Worker(Core& itsCore, unsigned itsIndex)
    : core(&itsCore), index(itsIndex), injected(itsCore.injector), thief(itsCore.stealGate) {
  sleeper.parker = &parker;
}

void Worker::schedule(Job& job) {
  counters.countScheduled();
  check(deque.push(&job), "the deque has room");
  core->idle.onPublish();
}

// Any thread.
void Worker::wake(Job& job) {
  Parker& target = parker;
  if (inbox.push(&job)) {
    target.unpark();
  }
}

bool Worker::shouldEnd() {
  // (4) acquire: pairs with (3).
  return core->isStopping.load(std::memory_order_acquire) != 0 && core->isFinished();
}

bool Worker::takeFromInjector() {
  Job* batch[2];
  uint32_t count = injected.popBatch(batch, 2);
  if (count == 0) {
    return false;
  }
  next = batch[0];
  while (count > 1) {
    check(deque.push(batch[--count]), "the deque has room");
  }
  core->idle.onPublish();
  return true;
}

bool Worker::findSharedWork() {
  if (takeFromInjector()) {
    return true;
  }
  Deque::Stolen stolen;
  do {
    thief.enter();
    stolen = core->workers[1 - index].deque.steal();
  } while (stolen.lostRace);
  next = stolen.item;
  return next != nullptr;
}

bool Worker::seesSharedWork() {
  return !injected.empty() || !core->workers[0].deque.empty() || !core->workers[1].deque.empty();
}

void Worker::run() {
  for (;;) {
    for (;;) {
      if (ready == nullptr) {
        ready = inbox.popAll();
      }
      Job* job = ready;
      if (job != nullptr) {
        ready = job->inboxNext.get();
        check(job->worker == index, "a fiber stays where it began");
      } else {
        job = std::exchange(next, nullptr);
        if (job == nullptr) {
          job = deque.take(thief);
        }
        if (job == nullptr) {
          break;
        }
      }
      core->body(core->suite, *this, *job);
    }
    if (shouldEnd()) {
      break;
    }
    if (!findOwnWork() && !takeFromInjector()) {
      waitForSharedWork(core->idle, sleeper, *this);
    }
  }
  // (6) release: pairs with (5).
  core->numAtExit.fetch_add(1, std::memory_order_release);
  core->allAtExit.unpark();
}

template <class Suite>
struct WithCore : rl::test_suite<Suite, 3> {
  Core core;
  Job jobs[2];
  Parker begun[2];
  Parker bothBegun;  // lest the shutdown, which wakes all, make up for a wake that was lost before

  void before() {
    core.suite = static_cast<Suite*>(this);
    core.body = [](void* suite, Worker& worker, Job& job) {
      job.numRuns.set(job.numRuns.get() + 1);
      static_cast<Suite*>(suite)->runJob(worker, job);
    };
    for (int i = 0; i < 2; i++) {
      jobs[i].what = i;
    }
  }
  void thread(unsigned index) {
    if (index < 2) {
      core.workers[index].run();
    } else {
      static_cast<Suite*>(this)->begin();
      core.shutDown();
      for (int i = 0; i < 2; i++) {
        check(jobs[i].numRuns.get() == Suite::kRuns[i],
              "each task has run as often as it should before the end");
      }
    }
  }
};

// Two tasks from outside, that may come to a worker in one batch. Each holds its worker until the other has
// begun.
struct BatchFromOutside : WithCore<BatchFromOutside> {
  static constexpr int kRuns[2] = {1, 1};
  void begin() {
    core.enqueueFromOutside(jobs[0]);
    core.enqueueFromOutside(jobs[1]);
    bothBegun.park();
  }
  void runJob(Worker& worker, Job& job) {
    begun[1 - job.what].unpark();
    begun[job.what].park();
    if (job.what == 0) {
      bothBegun.unpark();
    }
    worker.counters.countEnded();
  }
};

// A task schedules another and holds its worker until that has begun elsewhere; the other blocks, and is
// woken by the first. The shutdown waits for it.
struct ChildThatBlocks : WithCore<ChildThatBlocks> {
  static constexpr int kRuns[2] = {1, 2};
  void begin() {
    core.enqueueFromOutside(jobs[0]);
    bothBegun.park();
  }
  void runJob(Worker& worker, Job& job) {
    if (job.what == 0) {
      worker.schedule(jobs[1]);
      begun[0].park();
      bothBegun.unpark();
      core.workers[jobs[1].worker].wake(jobs[1]);
      worker.counters.countEnded();
    } else if (job.numRuns.get() == 1) {
      job.worker = worker.index;
      begun[0].unpark();
    } else {
      worker.counters.countEnded();
    }
  }
};

// The last task schedules another while the scheduler shuts down.
struct LastTaskSchedules : WithCore<LastTaskSchedules> {
  static constexpr int kRuns[2] = {1, 1};
  void begin() { core.enqueueFromOutside(jobs[0]); }
  void runJob(Worker& worker, Job& job) {
    if (job.what == 0) {
      worker.schedule(jobs[1]);
    }
    worker.counters.countEnded();
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<BatchFromOutside>("batch from outside", 100'000) &&
           explore<ChildThatBlocks>("child that blocks", 100'000) &&
           explore<LastTaskSchedules>("last task schedules", 100'000);
  });
}
