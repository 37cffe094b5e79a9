// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "fair/idle_threads.h"

#include <algorithm>
#include <mutex>
#include <utility>

// How the threads of a fair::TaskScheduler sleep and are woken.
//
// A thread is active (in a step or between two) or idle (on the stack of idle threads, asleep or about to
// sleep). A thread that queues work does not look at the idle threads. Instead, whenever threads are idle,
// one of these holds:
//
//   mark      The front queue bears the mark of an idle thread, which sleeps until the earliest deadline. The
//             thread that replaces the mark wakes it, through its parker alone: no access to the scheduler
//             follows the push.
//   watcher    An idle thread sleeps for a tick at a time while others are active, and looks for work that
//             nobody takes. The tick grows from 50 us to 1 ms. When the watcher has found nothing after
//             such a long tick, it leaves its mark instead, and looks once more a tick later.
//   between   An active thread is between two steps. Before it runs the next step, it makes one of the other
//             conditions hold (seeToTheIdle). Before it becomes idle, it looks at every queue again
//             (beginIdle).
//   woken     The thread that has replaced the mark is about to wake the mark's thread.
//
// So a post wakes at most one thread, a thread that works alone wakes nobody, and no work waits beside an
// idle thread for longer than a tick and a wake.
//
// A watcher that finds work joins in, unless the active threads run such short steps that a further thread
// would only get in their way. Then it goes on watching, and joins as soon as a step turns out to be long. An
// active thread that finds itself among others with such short steps becomes idle ("retires"). Both need to
// know the cost of a step, which is therefore measured.
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

TimePoint timeOf(int64_t ticks) { return TimePoint(TimePoint::duration(ticks)); }

}  // namespace

// Returns: whether the caller may look, and no other thread does.
bool IdleThreads::tryBeginSpin() {
  // relaxed, both: the queues have orders of their own.
  if (isSpinning_.load(std::memory_order_relaxed) || isSpinning_.exchange(true, std::memory_order_relaxed)) {
    return false;
  }
  if (dispatcher_.front.isParked()) {
    const std::scoped_lock guard(quiescence_.lock);
    if (marked_ != nullptr) {
      dispatcher_.front.cancelPark(markOf(*marked_));
    }
  }
  return true;
}

void IdleThreads::stop() {
  const std::scoped_lock guard(quiescence_.lock);
  isStopping_.store(true, std::memory_order_relaxed);  // relaxed: see isStopping()
  for (FairWorker* worker = idle_; worker != nullptr; worker = worker->below) {
    worker->parker->unpark();
  }
}

bool IdleThreads::beginIdle(FairWorker& worker, bool isRetiring, TimePoint& until) {
  WaitList woken;
  quiescence_.lock.lock();
  const bool isLast = dispatcher_.lock.numActive() == 1;
  const bool isWanted =
      isStopping() || (isRetiring ? isLast : dispatcher_.hasQueued() || dispatcher_.hints.hasDue());
  const bool isIdling = !isWanted && (!isLast || takeMark(worker));
  if (isIdling) {
    enterIdle(worker);
    if (isLast) {
      watcher_ = nullptr;
      until = sleepUntil(kNever);
      quiescence_.wakeIfEmpty(woken);
    } else if (watcher_ == nullptr) {
      const TimePoint now = TimePoint::clock::now();
      beginWatch(worker, now);
      until = sleepUntil(now + worker.tick);
    }
    publishIdle();
  }
  quiescence_.lock.unlock();
  wakeAll(woken);
  return isIdling;
}

bool IdleThreads::staysIdle(FairWorker& worker, TimePoint& until) {
  const std::scoped_lock guard(quiescence_.lock);
  const TimePoint now = TimePoint::clock::now();
  const bool isWatching = watcher_ == &worker;
  const bool isQueued = dispatcher_.hasQueued() || dispatcher_.hints.isDue(now);
  const bool areOthersActive = dispatcher_.lock.numActive() != 0;
  const bool leavesItToOthers = isWatching && areOthersActive && areStepsFine(now);
  bool stays = !isStopping() && (!isQueued || leavesItToOthers);
  until = kNever;
  if (stays && !areOthersActive) {
    watcher_ = isWatching ? nullptr : watcher_;
    if (marked_ == &worker || !dispatcher_.front.isParked()) {
      stays = takeMark(worker);
      until = sleepUntil(kNever);
    }
  } else if (stays && isWatching) {
    watchOn(worker, now, isQueued, until);
  } else if (stays && watcher_ == nullptr && !dispatcher_.front.isParked()) {
    beginWatch(worker, now);
    until = sleepUntil(now + worker.tick);
  } else if (stays && watcher_ == nullptr) {
    // This thread has stopped watching, or has the mark: some thread must sleep until the deadline.
    sleepUntil(kNever);
    // (1) `armed_` before another look at the deadlines: a thread that now adds an earlier one sees that no
    // thread sleeps for it; pairs with the fence of runStep().
    StdSync::heavyFence();
    until = sleepUntil(kNever);
  }
  if (stays) {
    publishIdle();
  } else {
    leaveIdle(worker);
  }
  return stays;
}

// The watcher has found nothing that it should do itself.
void IdleThreads::watchOn(FairWorker& worker, TimePoint now, bool isQueued, TimePoint& until) {
  worker.tick *= 2;
  if (isQueued) {
    worker.tick = std::min(worker.tick, kLongestTickBesideWork);
  } else if (worker.tick > kLongestTick && leaveMark(worker)) {
    // Another thread may have queued something and not have looked at hasNoWatcher() yet, which is still
    // false: one more tick.
    watcher_ = nullptr;
    until = sleepUntil(now + kLongestTick);
    return;
  }
  worker.tick = std::min(worker.tick, kLongestTick);
  until = sleepUntil(now + worker.tick);
}

void IdleThreads::enterIdle(FairWorker& worker) {
  worker.below = idle_;
  idle_ = &worker;
  dispatcher_.lock.end();
}

void IdleThreads::leaveIdle(FairWorker& worker) {
  FairWorker** link = &idle_;
  while (*link != &worker) {
    link = &(*link)->below;
  }
  *link = worker.below;
  if (watcher_ == &worker) {
    watcher_ = nullptr;
  }
  if (marked_ == &worker) {
    dispatcher_.front.cancelPark(markOf(worker));
    marked_ = nullptr;
  }
  // Before the thread is active: see runStep().
  publishIdle();
  dispatcher_.lock.begin();
  // relaxed: a hint to threads without the lock.
  armed_.store(DispatchHints::kNoEarliest, std::memory_order_relaxed);
}

// Leaves the mark of an idle thread.
// Returns: whether a mark is there now; if not, something was pushed.
bool IdleThreads::leaveMark(FairWorker& worker) {
  if (dispatcher_.front.tryPark(markOf(worker))) {
    marked_ = &worker;
    return true;
  }
  return dispatcher_.front.isParked();
}

// Replaces the mark by that of `worker`.
// Returns: false if something was pushed.
bool IdleThreads::takeMark(FairWorker& worker) {
  if (marked_ != nullptr) {
    dispatcher_.front.cancelPark(markOf(*marked_));
    marked_ = nullptr;
  }
  if (!dispatcher_.front.tryPark(markOf(worker))) {
    return false;
  }
  marked_ = &worker;
  return true;
}

void IdleThreads::beginWatch(FairWorker& worker, TimePoint now) {
  watcher_ = &worker;
  worker.tick = kFirstTick;
  watchedSteps_ = numStepsOfAll();
  watchedAt_ = now;
}

// Whether the active threads have run short steps since the watcher looked last.
bool IdleThreads::areStepsFine(TimePoint now) {
  const uint64_t steps = numStepsOfAll();
  const uint64_t numNew = steps - std::exchange(watchedSteps_, steps);
  const auto ns = static_cast<uint64_t>((now - std::exchange(watchedAt_, now)).count());
  return ns * dispatcher_.lock.numActive() < numNew * LookPacer::kFineStepNs;
}

// Returns: the earlier of `until` and the earliest deadline. The caller sleeps until then.
TimePoint IdleThreads::sleepUntil(TimePoint until) {
  // relaxed: a hint; the thread that makes `earliest` earlier calls seeToTheIdle().
  const int64_t at = std::min<int64_t>(until.time_since_epoch().count(), dispatcher_.hints.earliest());
  armed_.store(at, std::memory_order_relaxed);
  return timeOf(at);
}

void IdleThreads::publishIdle() {
  // relaxed: a hint to threads between two steps.
  hasNoWatcher_.store(idle_ != nullptr && watcher_ == nullptr, std::memory_order_relaxed);
}

void IdleThreads::seeToTheIdle(bool isQueued) {
  // This is done however short the last steps were, since the next one may be long. The thread that is woken
  // watches for some ticks, and no other thread is woken during these.
  // relaxed: a hint; this thread sees what it has changed itself.
  const bool isUnarmed = dispatcher_.hints.earliest() < armed_.load(std::memory_order_relaxed);
  if (isQueued || isUnarmed) {
    appointWatcher();
  } else if (!dispatcher_.front.isParked()) {
    quiescence_.lock.lock();
    const bool isLeft = idle_ == nullptr || watcher_ != nullptr || leaveMark(*idle_);
    quiescence_.lock.unlock();
    if (!isLeft) {
      appointWatcher();
    }
  }
}

// Wakes an idle thread, which finds out whether it is of use, unless there is a watcher already.
void IdleThreads::appointWatcher() {
  Parker<>* parker = nullptr;
  quiescence_.lock.lock();
  if (idle_ != nullptr && watcher_ == nullptr) {
    beginWatch(*idle_, TimePoint::clock::now());
    parker = idle_->parker;
    publishIdle();
  }
  quiescence_.lock.unlock();
  if (parker != nullptr) {
    parker->unpark();
  }
}

uint64_t IdleThreads::numStepsOfAll() const {
  uint64_t sum = 0;
  for (const auto& worker : workers_) {
    sum += worker->numSteps.get();
  }
  return sum;
}

}  // namespace weft::inline v0_1::detail
