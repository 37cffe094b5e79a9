// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "fair/core.h"
#include "scheduler/trace/recorder.h"
#include "weft/debug.h"
#include "weft/detail/base/ticks.h"

namespace weft::inline v0_1::detail {
namespace {

using std::chrono::nanoseconds;
using Hold = DispatcherLock<>::Hold;

// How often a thread looks for work that only the holder of the dispatcher lock can give it, before it
// sleeps.
constexpr uint32_t kRoundsBesideDispatcher = 64;

// A search for work before the sleep: about as long as waking costs.
constexpr nanoseconds kLongestSpin = std::chrono::microseconds(40);
constexpr nanoseconds kShortestSpin = std::chrono::microseconds(4);
constexpr int kLooksPerClock = 8;

}  // namespace

constinit thread_local FairWorker* currentFairWorker = nullptr;

void FairWorker::watchForksOfSteps() {
  watchForks();
  // So that look() learns of the fork after the step. If this fails for want of memory, only the message in a
  // child is lost.
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] {
    if (currentFairWorker != nullptr) {
      currentFairWorker->pacer_.lookNext();
    }
  });
}

FairWorker::FairWorker(FairCore& fairCore) : core(fairCore), queued_(fairCore.dispatcher, numSteps) {}

void FairWorker::assertNotInStepOf(const FairCore& core, const char* what) {
  WEFT_ASSERT(currentFairWorker == nullptr || &currentFairWorker->core != &core,
              "fair::TaskScheduler::%s was called in a step of the same scheduler, "
              "and would wait for that step. Call it from another thread.",
              what);
}

void FairWorker::assertKeepsNoneFor(const FairCore& to, const char* what) {
  const FairWorker* worker = currentFairWorker;
  // relaxed: written by the step.
  WEFT_ASSERT(worker == nullptr || worker->reposted_ == nullptr ||
                  worker->reposted_->postedTo.load(std::memory_order_relaxed) != &to,
              "fair::TaskScheduler::%s was called in a step that has posted its own task to \"%s\", "
              "and would wait for that step: the task is queued only when its step returns. "
              "Call it before the post, or from another thread.",
              what, to.name.c_str());
}

void FairWorker::run() {
  currentFairWorker = this;
  followRecorder();
  pacer_.restart(TimePoint::clock::now(), numSteps.get());
  while (FairTask* task = next()) {
    runStep(*task);
  }
  core.quiescence.exitThread();
  currentFairWorker = nullptr;
}

void FairWorker::runStep(FairTask& task) {
  // (1) orders what this thread has queued before its look at hasNoWatcher; pairs with the (1) of
  // DispatcherLock: a watcher that joins has set hasNoWatcher before.
  StdSync::lightFence();
  if (core.idle.hasNoWatcher() || owesMark_) [[unlikely]] {
    owesMark_ = false;
    core.idle.seeToTheIdle(hasQueued());
  }
  ++numSteps;
  const bool hadDeadline = task.deadline != FairTask::kNoDeadline;
  const bool wasDue = task.state.start();
  task.isExpired = wasDue || !hadDeadline;
  task.deadline = FairTask::kNoDeadline;
  // relaxed: from here on the task belongs to the step, on this thread.
  task.postedTo.store(nullptr, std::memory_order_relaxed);
  current = &task;
  callStep_(task);
  current = nullptr;
}

void FairWorker::runStepRecorded(FairTask& task) {
  TraceEvents().add(TraceKind::StepBegan, reinterpret_cast<const void*>(task.ops->run));
  runStepOrDie(task);  // the task may be gone afterwards
  TraceEvents().add(TraceKind::StepEnded);
}

inline bool FairWorker::isAlone() const { return core.dispatcher.lock.numActive() == 1; }

// With the dispatcher lock.
// Returns: the next ready task. The tasks behind it are queued for the other threads.
inline FairTask* FairWorker::dispatch() {
  ++numDispatches;
  if (core.dispatcher.isBacklogEmpty()) {
    core.dispatcher.intake();  // which also queues what is due
  }
  // Another thread may have dispatched meanwhile. What it has queued comes first.
  if (!queued_.isEmpty()) [[unlikely]] {
    if (FairTask* task = queued_.popQueued(!core.dispatcher.isBacklogEmpty())) {
      core.dispatcher.publishBacklog();  // requeue() may have appended to the backlog
      return task;
    }
  }
  return core.dispatcher.isBacklogEmpty() ? nullptr : core.dispatcher.popAndShare();
}

// Returns: the task to run next; null when the thread is to end.
FairTask* FairWorker::next() {
  if (pacer_.countStep() || (core.dispatcher.hints.hasTimed() && pacer_.wasLong(ticks()))) {
    look();
  }
  // relaxed, below: stop() waits for the end of the thread, and for nothing else.
  if (FairTask* const own = std::exchange(reposted_, nullptr)) {
    if (!core.dispatcher.hints.hasBacklog() && isNext(*own)) {
      return own;
    }
    if (FairTask* task = requeue(*own)) {
      return task;
    }
  }
  bool isRetiring = std::exchange(isRetired_, false);
  uint32_t round = 0;
  while (!core.idle.isStopping()) {
    if (!isRetiring) {
      FairTask* task = takeAlone();
      task = task != nullptr ? task : takeNext();
      if (task != nullptr) [[likely]] {
        return task;
      }
      // Another thread dispatches. It will see to the idle threads before its next step.
      isRetiring = round >= kRoundsBesideDispatcher;
    }
    if (!isRetiring && hasWork()) {
      StdSync::relax(round);
      continue;
    }
    waitForWork(std::exchange(isRetiring, false));
    round = 0;
    pacer_.restart(TimePoint::clock::now(), numSteps.get());
  }
  return nullptr;
}

// Whether a task that its own step has posted comes next: nothing is queued, and no other thread dispatches.
inline bool FairWorker::isNext(const FairTask& task) {
  // relaxed, both: the first is written by the step; the second is as in next().
  return task.deadline == FairTask::kNoDeadline && task.postedTo.load(std::memory_order_relaxed) == &core &&
         !hasQueued() && (isAlone() || !core.dispatcher.lock.isTaken()) && !core.idle.isStopping();
}

// Queues a task that its own step has posted, by a shorter way where there is one.
// Returns: the task to run next, or null if that is still to be found.
FairTask* FairWorker::requeue(FairTask& task) {
  // relaxed: written by the step.
  FairCore& to = *task.postedTo.load(std::memory_order_relaxed);
  to.dispatcher.hints.addOnItsWay(task);
  if (&to != &core) [[unlikely]] {
    to.enqueue(task, task);
    to.quiescence.endKept();
    return nullptr;
  }
  // The task goes into the backlog at once, behind what was posted before, unless other threads post so much
  // that it does not pay to take their tasks in each time.
  const bool hasFront = !core.dispatcher.front.empty();
  // relaxed: see next().
  if (isAlone() && (!hasFront || !core.dispatcher.hints.hasBacklog()) && !core.idle.isStopping()) {
    if (const auto hold = core.dispatcher.lock.tryTake(); hold != Hold::None) {
      if (hasFront) {
        core.dispatcher.intake();
      }
      core.dispatcher.accept(task);
      FairTask* next = dispatch();
      core.dispatcher.lock.leave(hold);
      return next;
    }
  }
  // The push may replace the mark of an idle thread. That thread need not be woken: this thread looks at the
  // front queue itself before it sleeps, or sees to the idle threads before its next step.
  owesMark_ = core.dispatcher.front.push(&task) != 0 || owesMark_;
  return nullptr;
}

// For a thread that is the only active one, where nothing is queued before the backlog. dispatch() would give
// the same task, after more checks, which take a tenth of a short step's time.
// Returns: null if that does not apply.
inline FairTask* FairWorker::takeAlone() {
  if (!isAlone() || !core.dispatcher.hints.hasBacklog()) {
    return nullptr;
  }
  const auto hold = core.dispatcher.lock.tryTake();
  FairTask* task = nullptr;
  if (hold == Hold::Alone && queued_.isEmpty() && !core.dispatcher.isBacklogEmpty()) [[likely]] {
    ++numDispatches;
    task = core.dispatcher.pop();
  }
  if (hold != Hold::None) [[likely]] {
    core.dispatcher.lock.leave(hold);
  }
  return task;
}

FairTask* FairWorker::takeNext() {
  if (FairTask* task = queued_.pop()) {
    return task;
  }
  if (hasWork()) {
    if (const auto hold = core.dispatcher.lock.tryTake(); hold != Hold::None) {
      FairTask* task = dispatch();
      core.dispatcher.lock.leave(hold);
      return task;
    }
  }
  queued_.endTurn();
  return nullptr;
}

// Called now and then, however much there is to run. Takes in what was posted, so that its deadlines are
// watched, and queues the tasks whose deadlines have come.
void FairWorker::look() {
  assertReturnsInParent("a step of a fair::Task");
  followRecorder();
  const TimePoint now = TimePoint::clock::now();
  isRetired_ = pacer_.noteLook(now, numSteps.get(), isAlone());
  const bool isTurn = pacer_.isIntakesTurn(now, core.dispatcher.hints.hasTimedOnItsWay());
  if (core.dispatcher.hints.isDue(now) || (isTurn && !core.dispatcher.front.empty())) {
    if (const auto hold = core.dispatcher.lock.tryTake(); hold != Hold::None) {
      ++numDispatches;
      core.dispatcher.intake();
      core.dispatcher.lock.leave(hold);
      pacer_.noteIntake(now);
    }
  }
}

// Returns when there may be something to do, or the thread is to end. `isRetiring`: the thread becomes idle
// although there is work.
void FairWorker::waitForWork(bool isRetiring) {
  TimePoint until = kNever;
  if ((!isRetiring && spin()) || !core.idle.beginIdle(*this, isRetiring, until)) {
    return;
  }
  record(TraceKind::Parked);
  do {
    ++numParks;
    parker->parkUntil(until);
  } while (core.idle.staysIdle(*this, until));
  record(TraceKind::Unparked);
  followRecorder();
}

// Looks for work for a little while, if no other thread does.
// Returns: whether it saw some.
bool FairWorker::spin() {
  if (!core.idle.tryBeginSpin()) {
    return hasWork();
  }
  bool found = false;
  const TimePoint end = TimePoint::clock::now() + spinBudget_;
  TimePoint now{};
  do {
    for (int i = 0; i < kLooksPerClock && !found; ++i) {
      StdSync::pause();
      found = hasQueued() || core.idle.isStopping();
    }
    now = TimePoint::clock::now();
    found = found || core.dispatcher.hints.isDue(now);
  } while (!found && now < end);
  spinBudget_ = found ? std::min(2 * spinBudget_, kLongestSpin) : std::max(spinBudget_ / 2, kShortestSpin);
  core.idle.endSpin();
  return found;
}

bool FairWorker::hasQueued() {
  return core.dispatcher.hints.hasBacklog() || !core.dispatcher.front.empty() || !queued_.isEmpty();
}

bool FairWorker::hasWork() { return hasQueued() || core.dispatcher.hints.hasDue(); }

}  // namespace weft::inline v0_1::detail
