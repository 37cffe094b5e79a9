// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <pthread.h>

#include <utility>

#include "fair/core.h"
#include "scheduler/report/run_or_die.h"
#include "weft/debug.h"
#include "weft/detail/base/ticks.h"

// What a thread of a fair::TaskScheduler does while there is work: it dispatches, runs steps, and looks at
// the front queue and the deadlines now and then.
namespace weft::inline v0_1::detail {
namespace {

using Hold = DispatcherLock<>::Hold;

// How often a thread looks for work that only the holder of the dispatcher lock can give it, before it
// sleeps.
constexpr uint32_t kRoundsBesideDispatcher = 64;

}  // namespace

constinit thread_local FairWorker* currentFairWorker = nullptr;

void FairWorker::watchForksOfSteps() {
  watchForks();
  // So that look() finds out after the step. If this fails for want of memory, only the message in a child is
  // lost.
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] {
    if (currentFairWorker != nullptr) {
      currentFairWorker->pacer_.lookNext();
    }
  });
}

FairWorker::FairWorker(FairCore& fairCore) : core(fairCore), queued_(fairCore.dispatcher) {}

void FairWorker::run() {
  currentFairWorker = this;
  pacer_.restart(TimePoint::clock::now(), numSteps.get());
  while (FairTask* task = next()) {
    runStep(*task);
  }
  core.exitThread();
  currentFairWorker = nullptr;
}

void FairWorker::runStep(FairTask& task) {
  // (1) orders what this thread has queued before its look at hasNoPoller; pairs with the (1) of
  // DispatcherLock: a poller that joins has set hasNoPoller before.
  StdSync::lightFence();
  // relaxed: a thread that becomes idle meanwhile polls by itself, until it has left a mark.
  if (core.hasNoPoller.load(std::memory_order_relaxed) || owesMark_) [[unlikely]] {
    seeToTheIdle();
  }
  ++numSteps;
  const bool hadDeadline = task.deadline != FairTask::kNoDeadline;
  const bool wasDue = task.state.start();
  task.isExpired = wasDue || !hadDeadline;
  task.deadline = FairTask::kNoDeadline;
  // relaxed: from here on the task belongs to the step, on this thread.
  task.postedTo.store(nullptr, std::memory_order_relaxed);
  current = &task;
  runStepOrDie(task);
  current = nullptr;
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
    if (FairTask* task = queued_.popBefore(!core.dispatcher.isBacklogEmpty())) {
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
  while (!core.isStopping.load(std::memory_order_relaxed)) {
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
         !hasQueued() && (isAlone() || !core.dispatcher.lock.isTaken()) &&
         !core.isStopping.load(std::memory_order_relaxed);
}

// Queues a task that its own step has posted, by a shorter way where there is one.
// Returns: the task to run next, or null if that is still to be found.
FairTask* FairWorker::requeue(FairTask& task) {
  // relaxed: written by the step.
  FairCore& to = *task.postedTo.load(std::memory_order_relaxed);
  to.dispatcher.hints.addOnItsWay(task);
  if (&to != &core) [[unlikely]] {
    to.enqueueKept(task);
    return nullptr;
  }
  // The task goes into the backlog at once, behind what was posted before, unless other threads post so much
  // that it does not pay to take their tasks in each time.
  const bool hasFront = !core.dispatcher.front.empty();
  // relaxed: as in next().
  if (isAlone() && (!hasFront || !core.dispatcher.hints.hasBacklog()) &&
      !core.isStopping.load(std::memory_order_relaxed)) {
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

// The next task, for a thread that is the only active one and has a backlog. dispatch() would give the same
// task, but makes sure of more, which takes a tenth of a short step's time.
// Returns: null if it does not apply. Another thread is active, tasks are queued before the backlog, or there
// is no backlog.
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

// Called before a step, which may be long: an idle thread must learn of what is queued, now or later.
void FairWorker::seeToTheIdle() {
  owesMark_ = false;
  // This is done however short the last steps were, since the next one may be long. The thread that is woken
  // polls for some ticks, and no other thread is woken during these.
  // relaxed: hints; this thread sees what it has changed itself.
  const bool isUnarmed = core.dispatcher.hints.earliest() < core.armed.load(std::memory_order_relaxed);
  if (hasQueued() || isUnarmed) {
    core.appointPoller();
  } else if (!core.dispatcher.front.isParked()) {
    core.lock.lock();
    const bool isLeft = core.idle == nullptr || core.poller != nullptr || core.leaveMark(*core.idle);
    core.lock.unlock();
    if (!isLeft) {
      core.appointPoller();
    }
  }
}

void FairCore::enqueue(FairTask& newest, FairTask& oldest) {
  const FairWorker* worker = currentFairWorker;
  if (numThreads == 1 && worker != nullptr && &worker->core == this && &newest == &oldest &&
      dispatcher.front.empty()) {
    // An only thread always has the dispatcher lock, and nobody needs to be woken.
    dispatcher.accept(newest);
    dispatcher.publishBacklog();
    return;
  }
  // The scheduler may be gone after the push.
  if (const uintptr_t mark = dispatcher.front.pushChain(&newest, &oldest)) {
    wakeMarked(mark);
  }
}

bool FairWorker::hasQueued() {
  return core.dispatcher.hints.hasBacklog() || !core.dispatcher.front.empty() || !queued_.isEmpty();
}

bool FairWorker::hasWork() { return hasQueued() || core.dispatcher.hints.hasDue(); }

uint64_t FairCore::numStepsOfAll() const {
  uint64_t sum = 0;
  for (const auto& worker : workers) {
    sum += worker->numSteps.get();
  }
  return sum;
}

}  // namespace weft::inline v0_1::detail
