// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "report.h"
#include "scheduler_core.h"
#include "weft/debug.h"
#include "worker.h"
#include "worker_inl.h"

// What a worker does while it has nothing to run: look, search, sleep, and give back what it does not need.
namespace weft::detail {
namespace {

using std::chrono::milliseconds;

constexpr int kInboxLooksPerSearch = 8;

// While tasks come that are taken back at once: each that finds nobody searching wakes a worker.
constexpr auto kLongestSearchBesideTasks = std::chrono::microseconds(400);

// Idle fibers that a worker keeps for good; those beyond that it has not needed for a while are given back, in steps.
constexpr uint64_t kIdleFibersKept = 64;
constexpr uint64_t kIdleFibersTrimmedAtOnce = 512;
constexpr auto kHoldBack = milliseconds(1);
constexpr uint64_t kStartsPerHold = 4;
constexpr uint64_t kStartsPerForeignWake = 8;

constexpr auto kTrimAfter = milliseconds(100);
constexpr auto kTrimPause = milliseconds(1);

constexpr uint64_t kMostReported = 100;  // fibers of a worker, lest very many fill the terminal

}  // namespace

void Worker::waitForWork() {
  if (mayHoldBack()) [[unlikely]] {
    holdBack();
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

bool Worker::mayHoldBack() const {
  return hasThieves_ && hasBlockedAtOnce_ && next_ == nullptr && numBlocked_.get() > kBlockedFreely;
}

// Waits a little for a wake before the next task is started.
//
// Where each of a million tasks waits for the one before, every worker but one only opens fiber after fiber for tasks whose turn
// has not come, which takes gigabytes of stacks, and a wake across threads for each task. So a worker of several whose tasks block
// at once, and which has a thousand fibers blocked, waits for one of them to go on. Where their number does not fall for a
// millisecond, it starts some more, and as many again if all the other workers wait too, so that tasks which all wait for each
// other are all started. What is woken by a timer or from outside of the workers waits for something else than tasks of this
// scheduler, and lets further ones start.
void Worker::holdBack() {
  const uint64_t blocked = numBlocked_.get();
  blockedLimit_ = std::max(std::min(blockedLimit_, 4 * blocked), kBlockedFreely);
  if (blocked <= blockedLimit_) {
    heldAt_ = 0;
    return;
  }
  if (heldAt_ == 0 || blocked < heldAt_) {
    heldAt_ = blocked;
    heldUntil_ = TimePoint::clock::now() + kHoldBack;
  }
  awaitReady(heldUntil_);
  if (TimePoint::clock::now() >= heldUntil_) {
    heldAt_ = 0;
    bool doAllWait = ready_.isEmpty();
    core_.forEachWorker([&](Worker& worker) { doAllWait = doAllWait && (&worker == this || worker.isWaiting()); });
    blockedLimit_ = blocked + (doAllWait ? blocked : kStartsPerHold);
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
  if (--untilPoll_ == 0) {
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
  if (timers_.empty() && core_.numWorkers == 0) {
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
  ++numParks_;
  // relaxed: whoever sets it unparks afterwards.
  if (!isReportWanted_.load(std::memory_order_relaxed)) [[likely]] {
    parkUntil(tidyAt_);
  }
}

void Worker::parkUntil(TimePoint deadline) {
  thief_.leave();
  // relaxed, both: a hint for holdBack().
  isParked_.store(true, std::memory_order_relaxed);
  parker_->parkUntil(timers_.empty() ? deadline : std::min(deadline, timers_.earliest()->deadline));
  isParked_.store(false, std::memory_order_relaxed);
}

// Gives back idle fibers of which so many were not needed at any time since the last period began. Returns: when to call
// again.
TimePoint Worker::trimIdleFibers(TimePoint now) {
  if (numIdle_.get() <= kIdleFibersKept) {
    return kNever;
  }
  if (now < trimAt_) {
    return trimAt_;
  }
  for (uint64_t i = 0; i < kIdleFibersTrimmedAtOnce && fewestIdle_ > kIdleFibersKept; ++i) {
    FiberBlock* fiber = idle_.popFront();
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
  for (FiberBlock* fiber = inbox_.popAll(); fiber != nullptr;) {
    FiberBlock* next = fiber->inboxNext.get();
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
  const TimePoint now = TimePoint::clock::now();
  while (FiberBlock* fiber = timers_.popExpired(now)) {
    fiber->isTimedOut = true;
    blockedLimit_ += kStartsPerForeignWake;
    makeReady(*fiber);
    any = true;
  }
  return any;
}

void Worker::reportBlockedFibers() const {
  const int id = mode_ == Mode::MultiThreaded ? id_ : kBoundThread;
  uint64_t numBlocked = 0;
  const auto report = [&](const FiberBlock& fiber) {
    if (fiber.blockedOn != nullptr && ++numBlocked <= kMostReported) {
      reportBlockedFiber(fiber, id);
    }
  };
  report(main_);
  fibers_.forEach(report);
  reportNumBlocked(id, numBlocked);
}

void Worker::askForReport() {
  // relaxed: unpark() publishes it to a worker that sleeps; any other comes to see it.
  isReportWanted_.store(true, std::memory_order_relaxed);
  parker_->unpark();
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
        "deadlock: every fiber waits, no timer is set, nothing is left to run, and this is the process's only thread. See the "
        "fibers listed above: signal what they wait for before they wait, or from a task that can still run.");
  }
}

}  // namespace weft::detail
