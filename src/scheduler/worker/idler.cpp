// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/worker/idler.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "scheduler/report/dump.h"
#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_group.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/debug.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr int kInboxLooksPerSearch = 8;

// How long a search keeps the processor at first: fibers that wake each other across workers wait for less.
constexpr auto kAlone = std::chrono::microseconds(1);

void watchInbox(const Inbox<FiberControlBlock>& inbox) {
  for (int i = 0; i < kInboxLooksPerSearch && inbox.empty(); ++i) {
    StdSync::pause();
  }
}

// Returns: true only if the calling thread is certainly the only thread of the process.
bool isOnlyThreadOfProcess() {
  struct stat status{};
  // The directory has one subdirectory a thread, and two links for "." and "..".
  return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;
}

SearchBudget::Duration longestSearch(const WorkerGroup& group, Worker::Mode mode) {
  return mode == Worker::Mode::MultiThreaded
             ? group.config.idleSearch
             : std::min(group.config.idleSearch, SearchBudget::kLongestOfOthers);
}

}  // namespace

Idler::Idler(Worker& worker, const Parts& parts)
    : worker_(worker),
      pollHub_(worker.group().pollHub),
      parts_(parts),
      parker_(acquireParker()),
      search_(longestSearch(worker.group(), worker.mode())) {
  sleeper_.parker = parker_;
}

Idler::~Idler() { releaseParker(parker_); }

Work Idler::waitForWork() {
  idleSince_ = {};
  const bool isMultiThreaded = worker_.mode() == Worker::Mode::MultiThreaded;
  const Work work = worker_.findWork(isMultiThreaded ? SearchScope::Injector : SearchScope::Own);
  if (work || worker_.shouldEnd()) {
    return work;
  }
  idleVisibly([&] {
    if (isMultiThreaded) {
      waitForSharedWork(worker_.group().idle, sleeper_, *this);
    } else {
      while (!spin(SearchScope::Own)) {
        sleepForOwnWork();
      }
    }
  });
  return std::exchange(found_, Work());
}

// An order to end counts as work.
bool Idler::look(SearchScope scope) {
  lookOutside();
  found_ = worker_.findWork(scope);
  return found_ || worker_.shouldEnd();
}

bool Idler::seesSharedWork() { return worker_.seesSharedWork() || pollHub_.needsWatcher(); }

// Looks again and again, until there is something to do, or for as long as a search is worth its cost.
bool Idler::spin(SearchScope scope) {
  ++numSearches_;
  record(TraceKind::SearchBegan);
  const bool isHit = search(scope);
  record(TraceKind::SearchEnded, uint64_t{isHit});
  return isHit;
}

bool Idler::search(SearchScope scope) {
  TimePoint now = TimePoint::clock::now();
  idleSince_ = idleSince_ == TimePoint{} ? now : idleSince_;
  const TimePoint firstYield = now + kAlone;
  const TimePoint end = now + search_.length(now);
  do {
    // A wake from another worker is the most urgent thing to wait for, and the cheapest to look for.
    watchInbox(parts_.inbox);
    if (look(scope)) {
      search_.recordHit(takeGap(now));
      return true;
    }
    if (!search_.giveWay(now, now >= firstYield)) {
      return false;
    }
  } while (now < end);
  search_.recordMiss(now);
  return false;
}

// Returns: for how long the worker has had nothing to run; now it has.
SearchBudget::Duration Idler::takeGap(TimePoint now) { return now - std::exchange(idleSince_, TimePoint{}); }

// Calls `function`, in which nothing runs on the thread. Meanwhile the frames of the fiber that has waited
// last can be seen from outside: the thread is still on its stack.
template <class Function>
void Idler::idleVisibly(Function&& function) {
  worker_.noteIdleBegan();
  isIdle_.store(true, std::memory_order_relaxed);  // relaxed, both: for who looks at the stack
  OSFiber::callVisibly(
      worker_.fibers().current().os, [](void* called) { (*static_cast<Function*>(called))(); }, &function);
  isIdle_.store(false, std::memory_order_relaxed);
  worker_.noteIdleEnded(found_.fiber);
}

void Idler::awaitReady(TimePoint until) {
  idleVisibly([&] { searchForReady(until); });
}

void Idler::dumpVisibly() {
  idleVisibly([] { dumpToStderr(); });
}

void Idler::searchForReady(TimePoint until) {
  TimePoint now = TimePoint::clock::now();
  const TimePoint busyUntil = now + SearchBudget::kUsual;
  for (; !worker_.gatherReady() && now < until; now = TimePoint::clock::now()) {
    if (now < busyUntil) {
      watchInbox(parts_.inbox);
    } else if (tryParkInbox()) {
      parkUntil(until);
      cancelParkInbox();
    }
    lookOutside();
  }
  // It was no searcher, and may be busy for long now. If it was the watcher, another worker has to watch.
  if (pollHub_.needsWatcher()) {
    worker_.group().idle.onPublishFromOutside();
  }
}

void Idler::sleepForOwnWork() {
  tidyUp();
  if (!tryParkInbox()) {
    return;
  }
  if (parts_.timers.doAllLookAgain() && worker_.group().numWorkers == 0 && !isOutsideAwaited()) {
    endIfDeadlocked();
  }
  park();
  cancelParkInbox();
}

void Idler::tidyUp() {
  const TimePoint now = TimePoint::clock::now();
  lastReading_ = ClockReading::at(now);
  tidyAt_ = parts_.pool.giveBackSurplus(now);
}

void Idler::park() {
  if (parkUntil(tidyAt_)) [[likely]] {
    search_.recordGap(takeGap(TimePoint::clock::now()));
  }
}

// Returns: whether the sleep was ended by a wake.
bool Idler::parkUntil(TimePoint deadline) {
  ++numParks_;
  worker_.localDeque().stealer.leave();
  (void)parts_.timers.date();
  const TimePoint until = std::min(deadline, parts_.timers.earliest());
  // relaxed, both: a hint for Worker::holdBack(), and for who looks from outside.
  isParked_.store(true, std::memory_order_relaxed);
  record(TraceKind::Parked);
  const bool isWoken = sleepUntil(until);
  record(TraceKind::Unparked, uint64_t{isWoken});
  isParked_.store(false, std::memory_order_relaxed);
  worker_.endSleep();
  return isWoken;
}

// Returns: whether the sleep was ended by a wake. Tests requests of poll sources meanwhile, if the worker is
// one that does. A round of tests takes several windows: to sleep between two of them would cost more than
// they do. If `due` stays, another thread tests just now: a sleep leaves the processor to it.
bool Idler::sleepUntil(TimePoint until) {
  TimePoint lastDue = kNever;
  while (pollHub_.mayWatch(worker_)) {
    const TimePoint due = pollHub_.watch(worker_);
    if (due == kNever) {
      break;
    }
    const bool hasMoved = std::exchange(lastDue, due) != due;
    const bool isInRound = hasMoved && !isReactorAwaited() && due <= TimePoint::clock::now();
    bool isWoken = isInRound ? parker_->tryPark() : sleepOnce(std::min(until, due));
    isWoken = isWoken || (pollHub_.test(worker_) && worker_.hasOwnWork());
    if (isWoken || TimePoint::clock::now() >= until) {
      pollHub_.endWatch(worker_);
      return isWoken;
    }
  }
  return sleepOnce(until);
}

bool Idler::sleepOnce(TimePoint until) {
  return isReactorAwaited() ? reactor_->park(*parker_, until) : parker_->parkUntil(until);
}

bool Idler::pollOutside() {
  const bool hasPolled = isReactorAwaited() && reactor_->poll();
  return (pollHub_.isAwaited() && pollHub_.test(worker_)) || hasPolled;
}

void Idler::endIfDeadlocked() {
  // A thread that has ended meanwhile may have woken a fiber before: then the mark is no longer there.
  if (isOnlyThreadOfProcess() && parts_.inbox.cancelPark()) {
    isParked_.store(true, std::memory_order_relaxed);  // relaxed: for the dump, on this thread
    dumpToStderr();
    WEFT_FATAL(
        "deadlock: every fiber waits, no timer is set, nothing is left to run, "
        "and this is the process's only thread. See the fibers listed above: "
        "signal what they wait for before they wait, or from a task that can still run.");
  }
}

}  // namespace weft::inline v0_1::detail
