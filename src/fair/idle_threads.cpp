// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "fair/core.h"
#include "weft/debug.h"

// How the threads of a fair::TaskScheduler sleep and are woken.
//
// A thread is active (in a step or between two) or idle (on the stack of idle threads, asleep or about to
// sleep). A thread that queues work does not look at the idle threads. Instead, whenever threads are idle,
// one of these holds:
//
//   mark      The front queue bears the mark of an idle thread, which sleeps until the earliest deadline. The
//             thread that replaces the mark wakes it, through its parker alone: no access to the scheduler
//             follows the push.
//   poller    An idle thread sleeps for a tick at a time while others are active, and looks for work that
//             nobody takes. The tick grows from 50 us to 1 ms. When the poller has found nothing for that
//             long, it leaves its mark instead, and looks once more a tick later.
//   between   An active thread is between two steps. Before it runs the next step, it makes one of the other
//             conditions hold (seeToTheIdle). Before it becomes idle, it looks at every queue again
//             (beginIdle).
//   woken     The thread that has replaced the mark is about to wake the mark's thread.
//
// So a post wakes at most one thread, a thread that works alone wakes nobody, and no work waits beside an
// idle thread for longer than a tick and a wake.
//
// A poller that finds work joins in, unless the active threads run such short steps that a further thread
// would only get in their way. Then it goes on watching, and joins as soon as a step turns out to be long. An
// active thread that finds itself among others with such short steps becomes idle ("retires"). So the cost of
// steps is measured.
//
// The last thread that becomes idle takes the mark, and the deadline, over from the thread that left it. If
// that fails, something was pushed. If it succeeds, nothing is queued: all other threads were idle already,
// and left nothing behind, because each thread looks at every queue, with the lock, after its last step. That
// is also the moment in which the scheduler may be empty.
//
// Rejected: waking a thread for each ready task, because a wake costs 12 us on a virtual machine, and a step
// may cost 20 ns. Rejected: a count of tasks, which only waitEmpty() would use, and which costs two more
// contended read-modify-writes for each step.
namespace weft::inline v0_1::detail {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds kFirstTick = microseconds(50);
constexpr nanoseconds kLongestTick = microseconds(1'000);
constexpr nanoseconds kLongestTickBesideWork = microseconds(400);

// A search for work before the sleep: about as long as waking costs.
constexpr nanoseconds kLongestSpin = microseconds(40);
constexpr nanoseconds kShortestSpin = microseconds(4);
constexpr int kLooksPerClock = 8;

TimePoint timeOf(int64_t ticks) { return TimePoint(TimePoint::duration(ticks)); }

}  // namespace

// Returns when there may be something to do, or the thread is to end. `isRetiring`: the thread becomes idle
// although there is work.
void FairWorker::waitForWork(bool isRetiring) {
  if (!isRetiring && spin()) {
    return;
  }
  TimePoint until = kNever;
  if (!beginIdle(isRetiring, until)) {
    return;
  }
  for (;;) {
    ++numParks;
    parker->parkUntil(until);
    core.lock.lock();
    const bool stays = staysIdle(until);
    core.lock.unlock();
    if (!stays) {
      return;
    }
  }
}

// Looks for work for a little while, if no other thread does.
// Returns: whether it saw some.
bool FairWorker::spin() {
  // relaxed, throughout: the queues have orders of their own.
  if (core.isSpinning.load(std::memory_order_relaxed) ||
      core.isSpinning.exchange(true, std::memory_order_relaxed)) {
    return hasWork();
  }
  if (core.dispatcher.front.isParked()) {
    core.lock.lock();
    if (core.marked != nullptr) {
      core.dispatcher.front.cancelPark(FairCore::markOf(*core.marked));
    }
    core.lock.unlock();
  }
  bool found = false;
  const TimePoint end = TimePoint::clock::now() + spinBudget_;
  TimePoint now{};
  do {
    for (int i = 0; i < kLooksPerClock && !found; ++i) {
      StdSync::pause();
      found = hasQueued() || core.isStopping.load(std::memory_order_relaxed);
    }
    now = TimePoint::clock::now();
    found = found || core.dispatcher.hints.isDue(now);
  } while (!found && now < end);
  spinBudget_ = found ? std::min(2 * spinBudget_, kLongestSpin) : std::max(spinBudget_ / 2, kShortestSpin);
  core.isSpinning.store(false, std::memory_order_relaxed);
  return found;
}

// Returns: false if there is something to do instead. `until`: when the thread wakes by itself.
bool FairWorker::beginIdle(bool isRetiring, TimePoint& until) {
  WaitList woken;
  core.lock.lock();
  const bool isLast = core.dispatcher.lock.numActive() == 1;
  // relaxed: sleeping threads are woken after it is set.
  const bool isWanted = core.isStopping.load(std::memory_order_relaxed) ||
                        (isRetiring ? isLast : core.dispatcher.hasQueued() || core.dispatcher.hints.hasDue());
  const bool isIdling = !isWanted && (!isLast || core.takeMark(*this));
  if (isIdling) {
    core.enterIdle(*this);
    if (isLast) {
      core.poller = nullptr;
      until = core.sleepUntil(kNever);
      core.wakeIfEmpty(woken);
    } else if (core.poller == nullptr) {
      const TimePoint now = TimePoint::clock::now();
      core.beginWatch(*this, now);
      until = core.sleepUntil(now + tick);
    }
    core.publishIdle();
  }
  core.lock.unlock();
  wakeAll(woken);
  return isIdling;
}

// With the lock, after a sleep.
// Returns: whether to sleep on, and in `until` for how long.
bool FairWorker::staysIdle(TimePoint& until) {
  const TimePoint now = TimePoint::clock::now();
  const bool isPolling = core.poller == this;
  const bool isQueued = core.dispatcher.hasQueued() || core.dispatcher.hints.isDue(now);
  const bool areOthersActive = core.dispatcher.lock.numActive() != 0;
  const bool leavesItToOthers = isPolling && areOthersActive && core.areStepsFine(now);
  // relaxed: sleeping threads are woken after it is set.
  bool stays = !core.isStopping.load(std::memory_order_relaxed) && (!isQueued || leavesItToOthers);
  until = kNever;
  if (stays && !areOthersActive) {
    core.poller = isPolling ? nullptr : core.poller;
    if (core.marked == this || !core.dispatcher.front.isParked()) {
      stays = core.takeMark(*this);
      until = core.sleepUntil(kNever);
    }
  } else if (stays && isPolling) {
    watchOn(now, isQueued, until);
  } else if (stays && core.poller == nullptr && !core.dispatcher.front.isParked()) {
    core.beginWatch(*this, now);
    until = core.sleepUntil(now + tick);
  } else if (stays && core.poller == nullptr) {
    // This thread has stopped watching, or has the mark: some thread must sleep until the deadline.
    core.sleepUntil(kNever);
    // (1) `armed` before another look at the deadlines: a thread that now adds an earlier one sees that no
    // thread sleeps for it; pairs with the fence of runStep().
    StdSync::heavyFence();
    until = core.sleepUntil(kNever);
  }
  if (stays) {
    core.publishIdle();
  } else {
    core.leaveIdle(*this);
  }
  return stays;
}

// With the lock: the poller has found nothing that it should do itself.
void FairWorker::watchOn(TimePoint now, bool isQueued, TimePoint& until) {
  tick *= 2;
  if (isQueued) {
    tick = std::min(tick, kLongestTickBesideWork);
  } else if (tick > kLongestTick && core.leaveMark(*this)) {
    // Another thread may have queued something and not have looked at hasNoPoller yet, which is still false:
    // one more tick.
    core.poller = nullptr;
    until = core.sleepUntil(now + kLongestTick);
    return;
  }
  tick = std::min(tick, kLongestTick);
  until = core.sleepUntil(now + tick);
}

bool FairCore::isEmptyLocked() { return dispatcher.isEmpty() && numKept == 0; }

void FairCore::enterIdle(FairWorker& worker) {
  worker.below = idle;
  idle = &worker;
  dispatcher.lock.end();
}

void FairCore::leaveIdle(FairWorker& worker) {
  FairWorker** link = &idle;
  while (*link != &worker) {
    link = &(*link)->below;
  }
  *link = worker.below;
  if (poller == &worker) {
    poller = nullptr;
  }
  if (marked == &worker) {
    dispatcher.front.cancelPark(markOf(worker));
    marked = nullptr;
  }
  // Before the thread is active: see runStep().
  publishIdle();
  dispatcher.lock.begin();
  // relaxed: a hint to threads without the lock.
  armed.store(DispatchHints::kNoEarliest, std::memory_order_relaxed);
}

// Leaves the mark of an idle thread.
// Returns: whether a mark is there now; if not, something was pushed.
bool FairCore::leaveMark(FairWorker& worker) {
  if (dispatcher.front.tryPark(markOf(worker))) {
    marked = &worker;
    return true;
  }
  return dispatcher.front.isParked();
}

// Replaces the mark by that of `worker`.
// Returns: false if something was pushed.
bool FairCore::takeMark(FairWorker& worker) {
  if (marked != nullptr) {
    dispatcher.front.cancelPark(markOf(*marked));
    marked = nullptr;
  }
  if (!dispatcher.front.tryPark(markOf(worker))) {
    return false;
  }
  marked = &worker;
  return true;
}

void FairCore::beginWatch(FairWorker& worker, TimePoint now) {
  poller = &worker;
  worker.tick = kFirstTick;
  watchedSteps = numStepsOfAll();
  watchedAt = now;
}

// Whether the active threads have run short steps since the poller looked last.
bool FairCore::areStepsFine(TimePoint now) {
  const uint64_t steps = numStepsOfAll();
  const uint64_t numNew = steps - std::exchange(watchedSteps, steps);
  const auto ns = static_cast<uint64_t>((now - std::exchange(watchedAt, now)).count());
  return ns * dispatcher.lock.numActive() < numNew * LookPacer::kFineStepNs;
}

// Returns: the earlier of `until` and the earliest deadline. The caller sleeps until then.
TimePoint FairCore::sleepUntil(TimePoint until) {
  // relaxed: a hint; the thread that makes `earliest` earlier sees to the idle threads.
  const int64_t at = std::min<int64_t>(until.time_since_epoch().count(), dispatcher.hints.earliest());
  armed.store(at, std::memory_order_relaxed);
  return timeOf(at);
}

void FairCore::publishIdle() {
  // relaxed: a hint to threads between two steps.
  hasNoPoller.store(idle != nullptr && poller == nullptr, std::memory_order_relaxed);
}

// Wakes an idle thread, which finds out whether it is of use, unless there is a poller already.
void FairCore::appointPoller() {
  Parker<>* parker = nullptr;
  lock.lock();
  if (idle != nullptr && poller == nullptr) {
    beginWatch(*idle, TimePoint::clock::now());
    parker = idle->parker;
    publishIdle();
  }
  lock.unlock();
  if (parker != nullptr) {
    parker->unpark();
  }
}

void FairCore::exitThread() {
  WaitList woken;
  lock.lock();
  dispatcher.lock.end();
  wakeIfEmpty(woken);
  if (--numRunning == 0) {
    woken.claimAll(stopWaiters);
  }
  lock.unlock();
  wakeAll(woken);
}

// With the lock: if the scheduler is empty, claims the threads and fibers that wait for that.
void FairCore::wakeIfEmpty(WaitList& woken) {
  if (isEmptyLocked()) {
    woken.claimAll(emptyWaiters);
  }
}

}  // namespace weft::inline v0_1::detail
