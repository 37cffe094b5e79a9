// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/watchdog_rules.h"

#include <algorithm>

#include "inspect/lock_cycles.h"

namespace weft::inline v0_1::detail {
namespace {

using Nanoseconds = WatchdogRules::Nanoseconds;

// Looks that have to see a cycle of fibers whose waits are as old as the look before, or not.
constexpr uint32_t kFewLooks = 2;
constexpr uint32_t kManyLooks = 6;

// Returns: the one with that key, or null. Requires: they are sorted by it.
template <class T, class Key>
const T* findBy(const std::pmr::vector<T>& all, const Key& key, Key T::* member) {
  const auto found = std::ranges::lower_bound(all, key, {}, member);
  return found != all.end() && (*found).*member == key ? &*found : nullptr;
}

// Returns: a number that is another one for another `value`, or after another `before`.
uint64_t mixed(uint64_t before, uint64_t value) {
  const uint64_t mixed = (before ^ value) * 0x9e3779b97f4a7c15u;
  return mixed ^ (mixed >> 32);
}

std::span<const inspect::Worker> workersOf(const inspect::Snapshot& snapshot,
                                           const inspect::Scheduler& scheduler) {
  return std::span(snapshot.workers).subspan(scheduler.firstWorker, scheduler.numWorkers);
}

// Returns: whether the worker does nothing, and has nothing to do but what another thread may bring. The code
// of a bound thread is another thread's as long as it waits for nothing of weft's.
bool isAtRest(const inspect::Snapshot& snapshot, const inspect::Worker& worker) {
  if (worker.numReady + worker.numQueued + worker.numTimers != 0) {
    return false;
  }
  const inspect::Fiber* const running = snapshot.runningOn(worker);
  const bool isOwnCode = worker.id < 0 && running != nullptr && inspect::isOutsideOfTasks(*running) &&
                         running->state == inspect::Fiber::State::Running;
  return worker.state == inspect::Worker::State::Asleep || isOwnCode;
}

bool waitsForOutside(const inspect::Snapshot& snapshot, const inspect::Fiber& fiber) {
  return fiber.what >= snapshot.names.size() || snapshot.names[fiber.what].starts_with("io::");
}

// Returns: who waits for what, mixed, if nothing can go on unless another thread does something; 0 otherwise.
uint64_t standstillOf(const inspect::Snapshot& snapshot) {
  const bool isAnythingQueued = std::ranges::any_of(
      snapshot.schedulers, [](const inspect::Scheduler& scheduler) { return scheduler.numInjected != 0; });
  if (!snapshot.isComplete || isAnythingQueued ||
      !std::ranges::all_of(snapshot.workers,
                           [&](const auto& worker) { return isAtRest(snapshot, worker); })) {
    return 0;
  }
  uint64_t all = 0;
  for (const inspect::Fiber& fiber : snapshot.fibers) {
    if (fiber.state == inspect::Fiber::State::Ready) {
      return 0;
    }
    if (fiber.state == inspect::Fiber::State::Blocked) {
      if (waitsForOutside(snapshot, fiber)) {
        return 0;
      }
      all = mixed(mixed(mixed(all, fiber.address), fiber.object), fiber.taskNumber) | 1;
    }
  }
  for (const inspect::Worker& worker : snapshot.workers) {
    all = all == 0 ? 0 : mixed(all, worker.numTasksRun) | 1;
  }
  return all;
}

}  // namespace

WatchdogRules::WatchdogRules(const Limits& limits, IsNobodyLeft isNobodyLeft,
                             std::pmr::memory_resource* memory)
    : limits_(limits),
      isNobodyLeft_(isNobodyLeft),
      runs_(memory),
      newRuns_(memory),
      queues_(memory),
      newQueues_(memory),
      cycles_(memory),
      newCycles_(memory),
      findings_(memory) {}

std::span<const Finding> WatchdogRules::look(const inspect::Snapshot& snapshot, Nanoseconds now) {
  elapsed_ = hasLooked_ ? std::clamp(now - lastNow_, Nanoseconds(0), limits_.step) : Nanoseconds(0);
  lastNow_ = now;
  time_ += elapsed_;
  hasLooked_ = true;
  findings_.clear();
  lookAtSchedulers(snapshot);
  tellEndedTasks();
  runs_.swap(newRuns_);
  queues_.swap(newQueues_);
  lookForStandstill(snapshot);
  lookForCycles(snapshot);
  return findings_;
}

void WatchdogRules::lookAtSchedulers(const inspect::Snapshot& snapshot) {
  newRuns_.clear();
  newQueues_.clear();
  for (uint32_t i = 0; i < snapshot.schedulers.size(); ++i) {
    const inspect::Scheduler& scheduler = snapshot.schedulers[i];
    const Queue* const before = findBy(queues_, scheduler.address, &Queue::scheduler);
    lookAtQueue(snapshot, i, before);
    const bool isStolenFrom = before == nullptr || before->numSteals != newQueues_.back().numSteals;
    for (uint32_t j = 0; j < scheduler.numWorkers; ++j) {
      lookAtWorker(snapshot, scheduler.firstWorker + j, isStolenFrom);
    }
  }
  std::ranges::sort(newQueues_, {}, &Queue::scheduler);
  std::ranges::sort(newRuns_, {}, &Run::worker);
}

void WatchdogRules::lookAtQueue(const inspect::Snapshot& snapshot, uint32_t index, const Queue* before) {
  const inspect::Scheduler& scheduler = snapshot.schedulers[index];
  Queue queue;
  queue.scheduler = scheduler.address;
  queue.numInjected = scheduler.numInjected;
  queue.since = time_;
  for (const inspect::Worker& worker : workersOf(snapshot, scheduler)) {
    queue.numSteals += worker.numSteals;
    queue.progress += worker.numTasksRun;
    for (uint32_t i = worker.firstFiber; i < worker.firstFiber + worker.numFibers; ++i) {
      queue.progress =
          mixed(queue.progress, snapshot.fibers[i].task != 0 ? snapshot.fibers[i].taskNumber : 0);
    }
  }
  const bool stands = before != nullptr && queue.numInjected != 0 && before->numInjected != 0 &&
                      queue.numInjected >= before->numInjected && queue.progress == before->progress;
  if (stands) {
    queue.since = before->since;
    queue.isTold = before->isTold;
    if (!queue.isTold && time_ - queue.since >= limits_.delay) {
      queue.isTold = true;
      Finding& finding = findings_.emplace_back();
      finding.condition = Watchdog::Condition::StuckQueue;
      finding.duration = time_ - queue.since;
      finding.scheduler = scheduler.address;
      finding.numQueued = scheduler.numInjected;
    }
  }
  newQueues_.push_back(queue);
}

void WatchdogRules::lookAtWorker(const inspect::Snapshot& snapshot, uint32_t index, bool isStolenFrom) {
  const inspect::Worker& worker = snapshot.workers[index];
  const inspect::Fiber* const running = snapshot.runningOn(worker);
  Run run;
  run.worker = worker.address;
  run.turn = worker.turn;
  run.threadId = worker.threadId;
  run.begin = run.waitedSince = run.queuedSince = time_;
  const bool isRunning = worker.state == inspect::Worker::State::Busy && running != nullptr;
  if (isRunning) {
    run.fiber = running->address;
    run.task = running->task;
    run.taskNumber = running->taskNumber;
  }
  compareRun(run, findBy(runs_, run.worker, &Run::worker), worker, isStolenFrom);
  tellLongTask(run, index, isRunning);
  tellDelay(run, index);
  newRuns_.push_back(run);
}

void WatchdogRules::compareRun(Run& run, const Run* before, const inspect::Worker& worker,
                               bool isStolenFrom) {
  const bool isTimerDue = worker.numTimers != 0 && worker.untilTimer < Nanoseconds(0);
  run.isWaitedFor = worker.numReady != 0 || worker.numPinned != 0 || isTimerDue;
  run.numQueued = worker.numQueued;
  run.hasQueued = worker.numQueued > worker.numPinned;
  if (before == nullptr || !run.isSame(*before)) {
    return;
  }
  run.begin = before->begin;
  run.isTaskTold = before->isTaskTold;
  if (run.isWaitedFor && before->isWaitedFor) {
    run.waitedSince = before->waitedSince;
  }
  // Others take them, if not at once.
  if (run.hasQueued && before->hasQueued && !isStolenFrom && run.numQueued >= before->numQueued) {
    run.queuedSince = before->queuedSince;
  }
  run.isDelayTold = before->isDelayTold && (run.isWaitedFor || run.hasQueued);
}

void WatchdogRules::tellLongTask(Run& run, uint32_t index, bool isRunning) {
  if (isRunning && run.task != 0 && !run.isTaskTold && time_ - run.begin >= limits_.task) {
    run.isTaskTold = true;
    Finding& finding = findings_.emplace_back();
    finding.condition = Watchdog::Condition::LongTask;
    finding.duration = time_ - run.begin;
    finding.worker = index;
  }
}

void WatchdogRules::tellDelay(Run& run, uint32_t index) {
  const Nanoseconds waited = run.isWaitedFor ? time_ - run.waitedSince : Nanoseconds(0);
  const Nanoseconds queued = run.hasQueued ? time_ - run.queuedSince : Nanoseconds(0);
  const Nanoseconds longest = std::max(waited, queued);
  if (!run.isDelayTold && longest >= limits_.delay) {
    run.isDelayTold = true;
    Finding& finding = findings_.emplace_back();
    finding.condition = Watchdog::Condition::Delay;
    finding.duration = longest;
    finding.worker = index;
  }
}

// The scheduler may have ended too.
void WatchdogRules::tellEndedTasks() {
  for (const Run& run : runs_) {
    const Run* const now = run.isTaskTold ? findBy(newRuns_, run.worker, &Run::worker) : nullptr;
    if (run.isTaskTold && (now == nullptr || !now->isSame(run))) {
      Finding& finding = findings_.emplace_back();
      finding.condition = Watchdog::Condition::LongTaskOver;
      finding.duration = time_ - elapsed_ - run.begin;  // it was seen by the look before
      finding.task = run.task;
      finding.threadId = run.threadId;
    }
  }
}

void WatchdogRules::lookForStandstill(const inspect::Snapshot& snapshot) {
  const uint64_t standstill = standstillOf(snapshot);
  if (standstill == 0 || standstill != standstill_) {
    standstill_ = standstill;
    standstillSince_ = time_;
    isStandstillTold_ = false;
  }
  const Nanoseconds duration = time_ - standstillSince_;
  if (standstill != 0 && !isStandstillTold_ && duration >= limits_.standstill && isNobodyLeft_(snapshot)) {
    isStandstillTold_ = true;
    Finding& finding = findings_.emplace_back();
    finding.condition = Watchdog::Condition::Standstill;
    finding.duration = duration;
  }
}

// A look is not an instant: fibers that take locks quickly one after the other may look like a cycle, even in
// two looks. But then their waits are shorter than the time between. Waits with a time limit may look short,
// since each try to get the lock may count as a wait: their cycle is certain once many looks have seen it.
void WatchdogRules::lookForCycles(const inspect::Snapshot& snapshot) {
  hasCycleToConfirm_ = false;
  const inspect::LockCycles found = inspect::findCycles(snapshot, snapshot.fibers.get_allocator().resource());
  if (found.isRefused()) {
    return;
  }
  newCycles_.clear();
  for (size_t i = 0; i < found.size(); ++i) {
    Cycle cycle;
    bool isOld = true;
    for (const uint32_t member : found[i]) {
      const inspect::Fiber& fiber = snapshot.fibers[member];
      cycle.identity = mixed(mixed(mixed(cycle.identity, fiber.address), fiber.taskNumber), fiber.object);
      isOld = isOld && fiber.blockedFor >= elapsed_ / 2;
    }
    const Cycle* const before = findBy(cycles_, cycle.identity, &Cycle::identity);
    if (before != nullptr) {
      cycle = {cycle.identity, before->numLooks + 1, before->isTold};
    }
    if (!cycle.isTold && cycle.numLooks >= (isOld ? kFewLooks : kManyLooks)) {
      cycle.isTold = true;
      Finding& finding = findings_.emplace_back();
      finding.condition = Watchdog::Condition::Deadlock;
      finding.firstOfCycle = snapshot.fibers[found[i][0]].address;
    }
    hasCycleToConfirm_ = hasCycleToConfirm_ || !cycle.isTold;
    newCycles_.push_back(cycle);
  }
  std::ranges::sort(newCycles_, {}, &Cycle::identity);
  cycles_.swap(newCycles_);
}

}  // namespace weft::inline v0_1::detail
