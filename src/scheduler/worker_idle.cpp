// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "scheduler/report.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/worker.h"
#include "scheduler/worker_inl.h"
#include "weft/debug.h"

// What a worker does while it has nothing to run: look, search, sleep, and give back what it does not need.
namespace weft::detail {
namespace {

using std::chrono::milliseconds;

constexpr int kInboxLooksPerSearch = 8;

// While tasks come that are taken back at once: each that finds nobody searching wakes a worker.
constexpr auto kLongestSearchBesideTasks = std::chrono::microseconds(400);

// Idle fibers that a worker keeps for good; those beyond that it has not needed for a while are given back,
// in steps.
constexpr uint64_t kIdleFibersKept = 64;
constexpr uint64_t kIdleFibersTrimmedAtOnce = 512;
constexpr auto kHoldBack = milliseconds(1);
constexpr uint64_t kStartsPerHold = 4;
constexpr uint64_t kStartsPerVainHold = 128;
constexpr uint64_t kStartsPerForeignWake = 8;

constexpr auto kTrimAfter = milliseconds(100);
constexpr auto kTrimPause = milliseconds(1);

constexpr uint64_t kMostReported = 100;  // fibers of a worker, lest very many fill the terminal

}  // namespace

void Worker::waitForWork() {
  if (mayThrottle()) [[unlikely]] {
    throttle();
  }
  if (findOwnWork()) {
    return;
  }
  if (mode_ == Mode::MultiThreaded) {
    if (!takeFromInjector()) {
      waitForSharedWork(core_.idle, sleeper_, *this);
    }
    return;
  }
  do {
    sleepForOwnWork();
  } while (!findOwnWork());
}

bool Worker::mayThrottle() const {
  return hasThieves_ && hasBlockedAtOnce_ && next_ == nullptr && numBlocked_.get() > kBlockedFreely;
}

// Waits a little for a wake before the next task is started.
//
// Where each of a million tasks waits for the one before, every worker but one only opens fiber after fiber
// for tasks whose turn has not come, which takes gigabytes of stacks, and a wake across threads for each
// task. So a worker of several whose tasks block at once, and which has a thousand fibers blocked, waits for
// one of them to end, for a millisecond. If some have by then, but as many others have come to wait, it
// starts a few more. If none has, waiting longer frees nobody: it starts as many again where all the other
// workers wait too, and else 128 more, which is half as fast as fibers can be made. So tasks which all wait
// for each other, or for one that takes long elsewhere, are all started without much delay; and a row opens
// no more than 128 fibers for each millisecond for which the system keeps the thread from running whose turn
// it is, which looks the same from here. What is woken by a timer or from outside of the workers waits for
// something else than tasks of this scheduler, and lets further ones start.
//
// Rejected: as many again in all cases, since a turn that comes some milliseconds late then costs gigabytes.
void Worker::throttle() {
  const uint64_t blocked = numBlocked_.get();
  blockedLimit_ = std::max(std::min(blockedLimit_, 4 * blocked), kBlockedFreely);
  if (blocked <= blockedLimit_) {
    heldAt_ = 0;
    return;
  }
  if (heldAt_ == 0 || blocked < heldAt_) {
    heldAt_ = blocked;
    endedBefore_ = lane_.counters.ended();
    heldUntil_ = TimePoint::clock::now() + kHoldBack;
  }
  awaitReady(heldUntil_);
  if (TimePoint::clock::now() >= heldUntil_) {
    heldAt_ = 0;
    const bool hasFreed = lane_.counters.ended() != endedBefore_ || !ready_.isEmpty();
    bool doAllWait = true;
    core_.forEachWorker(
        [&](Worker& worker) { doAllWait = doAllWait && (&worker == this || worker.isWaiting()); });
    blockedLimit_ = blocked + (hasFreed ? kStartsPerHold : doAllWait ? blocked : kStartsPerVainHold);
  }
}

// Waits for a fiber to become ready, first busily.
void Worker::awaitReady(TimePoint until) {
  TimePoint now = TimePoint::clock::now();
  const TimePoint busyUntil = now + kLongestSearch;
  for (; ready_.isEmpty() && now < until; now = TimePoint::clock::now()) {
    if (now < busyUntil) {
      for (int i = 0; i < kInboxLooksPerSearch && inbox_.empty(); ++i) {
        StdSync::pause();
      }
    } else if (inbox_.tryPark()) {
      parkUntil(until);
      inbox_.cancelPark();
    }
    drainInbox();
    expireTimers();
  }
}

bool Worker::findOwnWork() {
  if (--lane_.untilPoll == 0) {
    poll();
  }
  if (next_ != nullptr) {
    return true;
  }
  if (!inbox_.empty()) {
    drainInbox();
  }
  if (!ready_.isEmpty()) {
    return true;
  }
  next_ = takeTask();
  return next_ != nullptr || expireTimers() || shouldEnd();
}

bool Worker::findSharedWork(bool isPatient) { return takeFromInjector() || steal(isPatient); }

bool Worker::spinForWork() { return findOwnWork() || findSharedWork(true) || spin(true); }

bool Worker::spinOnInbox() { return numBlocked_.get() != 0 && spin(false); }

// The search grows after a success and shrinks after a failure, so that tasks far apart cost little.
bool Worker::spin(bool forSharedWork) {
  TimePoint now = TimePoint::clock::now();
  const TimePoint longest = now + kLongestSearchBesideTasks;
  TimePoint end = now + searchBudget_;
  do {
    hasHesitated_ = false;
    // A wake from another worker is what is waited for most urgently, and what costs least to look for.
    for (int i = 0; i < kInboxLooksPerSearch && inbox_.empty(); ++i) {
      StdSync::pause();
    }
    if (findOwnWork() || (forSharedWork && findSharedWork(true))) {
      searchBudget_ = std::min(2 * searchBudget_, kLongestSearch);
      return true;
    }
    now = TimePoint::clock::now();
    if (hasHesitated_) {
      end = std::min(now + kLongestSearch, longest);
    }
  } while (now < end);
  searchBudget_ = std::max(searchBudget_ / 2, kShortestSearch);
  return false;
}

void Worker::sleepForOwnWork() {
  tidyUp();
  if (!inbox_.tryPark()) {
    return;
  }
  if (timers_.size() == numLookingAgain_ && core_.numWorkers == 0) {
    reportDeadlockIfCertain();
  }
  park();
  inbox_.cancelPark();
}

void Worker::tidyUp() {
  reportIfAsked();
  const TimePoint now = TimePoint::clock::now();
  tidyAt_ = std::min(fibers_.giveBackSurplus(now), trimIdleFibers(now));
}

void Worker::park() {
  // relaxed: whoever sets it unparks afterwards.
  if (!isReportWanted_.load(std::memory_order_relaxed)) [[likely]] {
    parkUntil(tidyAt_);
  }
}

void Worker::parkUntil(TimePoint deadline) {
  ++numParks_;
  lane_.thief.leave();
  // relaxed, both: a hint for throttle().
  isParked_.store(true, std::memory_order_relaxed);
  parker_->parkUntil(timers_.empty() ? deadline : std::min(deadline, timers_.earliest()->deadline));
  isParked_.store(false, std::memory_order_relaxed);
}

// Gives back idle fibers of which so many were not needed at any time since the last period began. Returns:
// when to call again.
TimePoint Worker::trimIdleFibers(TimePoint now) {
  if (numIdle_.get() <= kIdleFibersKept) {
    return kNever;
  }
  if (now < trimAt_) {
    return trimAt_;
  }
  for (uint64_t i = 0; i < kIdleFibersTrimmedAtOnce && fewestIdle_ > kIdleFibersKept; ++i) {
    FiberControlBlock* fiber = idle_.popFront();
    --fewestIdle_;
    --numIdle_;
    --numFibers_;
    fibers_.destroy(*fiber);
  }
  if (fewestIdle_ > kIdleFibersKept) {
    return trimAt_ = now + kTrimPause;
  }
  fewestIdle_ = numIdle_.get();
  trimAt_ = now + kTrimAfter;
  return fewestIdle_ > kIdleFibersKept ? trimAt_ : kNever;
}

void Worker::drainInbox() {
  for (FiberControlBlock* fiber = inbox_.popAll(); fiber != nullptr;) {
    FiberControlBlock* next = fiber->inboxNext.get();
    fiber->isWoken = true;
    blockedLimit_ += fiber->isWokenFromOutside ? kStartsPerForeignWake : 0;
    makeReady(*fiber);
    fiber = next;
  }
}

bool Worker::expireTimers() {
  if (timers_.empty()) {
    return false;
  }
  bool any = false;
  const TimePoint now = due_.now();
  while (FiberControlBlock* fiber = timers_.popExpired(now)) {
    fiber->isTimedOut = true;
    blockedLimit_ += kStartsPerForeignWake;
    makeReady(*fiber);
    any = true;
  }
  if (!timers_.empty()) {
    due_.expect(timers_.earliest()->deadline);
  }
  return any;
}

bool Worker::expireIfDue() { return !timers_.empty() && due_.mayHaveCome() && expireTimers(); }

void Worker::reportBlockedFibers() const {
  const int id = reportedId();
  uint64_t numBlocked = 0;
  const auto report = [&](const FiberControlBlock& fiber) {
    if (fiber.blockedOn != nullptr && ++numBlocked <= kMostReported) {
      reportBlockedFiber(fiber, id);
    }
  };
  report(main_);
  fibers_.forEach(report);
  reportNumBlocked(id, numBlocked);
}

void Worker::askForReport(TimePoint now) {
  // relaxed: unpark() publishes it to a worker that sleeps; any other comes to see it.
  if (!isReportWanted_.exchange(true, std::memory_order_relaxed)) {
    seenSince_ = now;
    seenAt_ = currentPlace();
    seenEnded_ = lane_.counters.ended();
  }
  parker_->unpark();
}

// relaxed: a hint.
bool Worker::hasNotAnswered() const { return isReportWanted_.load(std::memory_order_relaxed); }

SilentWorker Worker::describeSilence(TimePoint now) {
  const TaskPlace place = currentPlace();
  const uint64_t ended = lane_.counters.ended();
  if (place != seenAt_ || ended != seenEnded_) {
    seenAt_ = place;
    seenEnded_ = ended;
    seenSince_ = now;
  }
  return {place, now - seenSince_};
}

TaskPlace Worker::placeOf(const FiberControlBlock& fiber) const {
  return {reportedId(), fiber.id, &fiber == &main_, fiber.task.look()};
}

// Any thread. The fiber is looked up: its address alone does not publish it.
TaskPlace Worker::currentPlace() const {
  TaskPlace place{reportedId()};
  findFiberOf(current_.look()->scope(), place);
  return place;
}

bool Worker::findFiberOf(const void* scope, TaskPlace& place) const {
  const FiberControlBlock* fiber = scope == main_.scope() ? &main_ : fibers_.findByScope(scope);
  if (fiber != nullptr) {
    place = placeOf(*fiber);
  }
  return fiber != nullptr;
}

bool Worker::findStackOf(const void* scope, TaskPlace& place) const {
  const FiberControlBlock* fiber = fibers_.findByStack(scope);
  if (fiber != nullptr) {
    place = placeOf(*fiber);
  }
  return fiber != nullptr;
}

void Worker::reportIfAsked() {
  // relaxed, both: the report is of what is the worker's own.
  if (isReportWanted_.load(std::memory_order_relaxed)) [[unlikely]] {
    isReportWanted_.store(false, std::memory_order_relaxed);
    reportBlockedFibers();
  }
}

void Worker::reportDeadlockIfCertain() {
  // A thread that has ended meanwhile may have woken a fiber before: then the mark is no longer there.
  if (isOnlyThreadOfProcess() && inbox_.cancelPark()) {
    reportBlockedFibers();
    WEFT_FATAL(
        "deadlock: every fiber waits, no timer is set, nothing is left to run, and this is the process's "
        "only thread. See the "
        "fibers listed above: signal what they wait for before they wait, or from a task that can still "
        "run.");
  }
}

}  // namespace weft::detail
