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

// Tasks that the dispatcher hands to the ready queue at once.
constexpr uint32_t kRefill = 64;
// Due tasks that run in a row before one from the ready queue.
constexpr uint32_t kDueInARow = 16;

// How often a thread looks for work that only the holder of the dispatcher lock can give it, before it
// sleeps.
constexpr uint32_t kRoundsBesideDispatcher = 64;

// Tasks often lie in a row: in an array, or in nodes that were allocated one after another. So the address of
// a task that was posted some posts before `older` is guessed, and its line is fetched from the poster's
// cache. The intake takes a quarter less time by it, and no more if the guess is wrong.
void prefetchBefore(const FairTask* older, const FairTask& task) {
  constexpr uintptr_t kAhead = 8;  // posts
  const auto at = reinterpret_cast<uintptr_t>(older);
  const uintptr_t stride = at - reinterpret_cast<uintptr_t>(&task);
  __builtin_prefetch(reinterpret_cast<const void*>(at + kAhead * stride));
}

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

FairWorker::FairWorker(FairCore& fairCore) : core(fairCore), due_(fairCore.due), ready_(fairCore.ready) {}

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

inline bool FairWorker::isAlone() const { return core.dispatcherLock.numActive() == 1; }

// With the dispatcher lock.
// Returns: the next ready task. The tasks behind it are queued for the other threads.
inline FairTask* FairWorker::dispatch() {
  ++numDispatches;
  if (core.backlog.isEmpty()) {
    core.intake();  // which also queues what is due
  }
  // Another thread may have dispatched meanwhile. What it has queued comes first.
  if (!due_.empty() || !ready_.empty()) [[unlikely]] {
    if (FairTask* task = popQueued()) {
      core.publishBacklog();  // requeue() may have appended to the backlog
      return task;
    }
  }
  if (core.backlog.isEmpty()) {
    return nullptr;
  }
  FairTask* task = core.backlog.pop();
  if (!isAlone() && !core.backlog.isEmpty()) {
    core.refillReady();
  }
  core.publishBacklog();
  return task;
}

// Returns: the task to run next; null when the thread is to end.
FairTask* FairWorker::next() {
  if (pacer_.countStep() || (core.hasTimed() && pacer_.wasLong(ticks()))) {
    look();
  }
  // relaxed, below: stop() waits for the end of the thread, and for nothing else.
  if (FairTask* const own = std::exchange(reposted_, nullptr)) {
    if (core.backlogIsEmpty() && isNext(*own)) {
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
         !hasQueued() && (isAlone() || !core.dispatcherLock.isTaken()) &&
         !core.isStopping.load(std::memory_order_relaxed);
}

// Queues a task that its own step has posted, by a shorter way where there is one.
// Returns: the task to run next, or null if that is still to be found.
FairTask* FairWorker::requeue(FairTask& task) {
  // relaxed: written by the step.
  FairCore& to = *task.postedTo.load(std::memory_order_relaxed);
  if (task.deadline != FairTask::kNoDeadline) [[unlikely]] {
    to.countTimed(task);
  }
  if (&to != &core) [[unlikely]] {
    to.enqueueKept(task);
    return nullptr;
  }
  // The task goes into the backlog at once, behind what was posted before, unless other threads post so much
  // that it does not pay to take their tasks in each time.
  const bool hasFront = !core.front.empty();
  // relaxed: as in next().
  if (isAlone() && (!hasFront || core.backlogIsEmpty()) && !core.isStopping.load(std::memory_order_relaxed)) {
    if (const auto hold = core.dispatcherLock.tryTake(); hold != Hold::None) {
      if (hasFront) {
        core.intake();
      }
      core.accept(task);
      FairTask* next = dispatch();
      core.dispatcherLock.leave(hold);
      return next;
    }
  }
  // The push may replace the mark of an idle thread. That thread need not be woken: this thread looks at the
  // front queue itself before it sleeps, or sees to the idle threads before its next step.
  owesMark_ = core.front.push(&task) != 0 || owesMark_;
  return nullptr;
}

// The next task, for a thread that is the only active one and has a backlog. dispatch() would give the same
// task, but makes sure of more, which takes a tenth of a short step's time.
// Returns: null if it does not apply. Another thread is active, tasks are queued before the backlog, or there
// is no backlog.
inline FairTask* FairWorker::takeAlone() {
  if (!isAlone() || core.backlogIsEmpty()) {
    return nullptr;
  }
  const auto hold = core.dispatcherLock.tryTake();
  FairTask* task = nullptr;
  if (hold == Hold::Alone && due_.empty() && ready_.empty() && !core.backlog.isEmpty()) [[likely]] {
    ++numDispatches;
    task = core.backlog.pop();
    if (core.backlog.isEmpty()) [[unlikely]] {
      core.publishBacklog();
    }
  }
  if (hold != Hold::None) [[likely]] {
    core.dispatcherLock.leave(hold);
  }
  return task;
}

FairTask* FairWorker::takeNext() {
  if (!due_.empty()) [[unlikely]] {
    if (FairTask* task = takeDue()) {
      return task;
    }
  }
  if (!ready_.empty()) {
    if (FairTask* task = popReady()) {
      return task;
    }
  }
  if (hasWork()) {
    if (const auto hold = core.dispatcherLock.tryTake(); hold != Hold::None) {
      FairTask* task = dispatch();
      core.dispatcherLock.leave(hold);
      return task;
    }
  }
  dueInARow_ = 0;  // it was the turn of the ready queue, which has nothing
  return nullptr;
}

// Returns: null also while it is the turn of the other tasks.
FairTask* FairWorker::takeDue() {
  FairTask* task = nullptr;
  if (dueInARow_ >= kDueInARow || !due_.pop(task)) {
    return nullptr;  // even if pop() has seen a task that another thread took
  }
  ++dueInARow_;
  return task;
}

FairTask* FairWorker::popReady() {
  FairTask* task = nullptr;
  if (!ready_.pop(task)) {
    return nullptr;
  }
  dueInARow_ = 0;
  return task;
}

// With the dispatcher lock.
// Returns: null also if it is the turn of the backlog.
FairTask* FairWorker::popQueued() {
  FairTask* task = takeDue();
  task = task == nullptr ? popReady() : task;
  if (task != nullptr) {
    return task;
  }
  dueInARow_ = 0;
  return core.backlog.isEmpty() ? takeDue() : nullptr;
}

// Called now and then, however much there is to run. Takes in what was posted, so that its deadlines are
// watched, and queues the tasks whose deadlines have come.
void FairWorker::look() {
  assertReturnsInParent("a step of a fair::Task");
  const TimePoint now = TimePoint::clock::now();
  isRetired_ = pacer_.noteLook(now, numSteps.get(), isAlone());
  const bool isTurn = pacer_.isIntakesTurn(now, core.hasTimedOnItsWay());
  if (core.isDue(now) || (isTurn && !core.front.empty())) {
    if (const auto hold = core.dispatcherLock.tryTake(); hold != Hold::None) {
      ++numDispatches;
      core.intake();
      core.dispatcherLock.leave(hold);
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
  const bool isUnarmed =
      core.earliest.load(std::memory_order_relaxed) < core.armed.load(std::memory_order_relaxed);
  if (hasQueued() || isUnarmed) {
    core.appointPoller();
  } else if (!core.front.isParked()) {
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
  if (numThreads == 1 && worker != nullptr && &worker->core == this && &newest == &oldest && front.empty()) {
    // An only thread always has the dispatcher lock, and nobody needs to be woken.
    accept(newest);
    publishBacklog();
    return;
  }
  // The scheduler may be gone after the push.
  if (const uintptr_t mark = front.pushChain(&newest, &oldest)) {
    wakeMarked(mark);
  }
}

// Takes over what was posted. Deadlines go into the heap now, so that they are kept however long the backlog
// is.
void FairCore::intake() {
  if (front.empty() && heap.empty()) {
    return;
  }
  // relaxed: a hint of how much room to make.
  heap.reserve(wantedRoom.load(std::memory_order_relaxed));
  FairBacklog::Reversed taken(backlog);
  TimePoint now = TimePoint::min();  // read at the first use
  for (FairTask* task = front.popAllNewestFirst(); task != nullptr;) {
    FairTask* older = front.older(*task);
    prefetchBefore(older, *task);
    if (task->deadline == FairTask::kNoDeadline || isReady(*task, now)) [[likely]] {
      taken.prepend(task);
    }
    task = older;
  }
  taken.append();
  publishBacklog();
  expire();
}

// Hands tasks from the backlog to the other threads.
void FairCore::refillReady() {
  FairTask* batch[kRefill];
  uint32_t count = 0;
  while (count < kRefill && !backlog.isEmpty()) {
    batch[count++] = backlog.pop();
  }
  ready.pushBatch(batch, count);
}

// Called after each change of the backlog.
void FairCore::publishBacklog() {
  // relaxed: a hint; the dispatcher lock guards the backlog. Written only if it changes, since other threads
  // read it.
  if (hasBacklog.load(std::memory_order_relaxed) == backlog.isEmpty()) {
    hasBacklog.store(!backlog.isEmpty(), std::memory_order_relaxed);
  }
}

void FairCore::acceptDeadline(FairTask& task) {
  TimePoint now = TimePoint::min();
  if (isReady(task, now)) {
    backlog.append(&task);
  }
  expire();
}

// `task` has a deadline, and has been posted, or pushed by a waker. `now`: TimePoint::min() until it is read.
// Returns: true if the task goes into the backlog. False if it is in the heap now, from which expire() takes
// it even if its deadline has come already, or if it is in the due queue.
bool FairCore::isReady(FairTask& task, TimePoint& now) {
  forgetWait(task);
  if (task.state.tryWait()) {
    heap.add(&task);
    return false;
  }
  // The task was woken. If its deadline has come too, the wake must not make it run later.
  if (task.deadline == kNever) {
    return true;
  }
  now = now == TimePoint::min() ? TimePoint::clock::now() : now;
  if (now < task.deadline) {
    return true;
  }
  due.push(&task);
  return false;
}

void FairCore::forgetWait(FairTask& task) {
  if (task.timerIndex == kAwaited) {
    task.timerIndex = kNotInHeap;
    --numAwaited;
  } else if (task.timerIndex != kNotInHeap) {
    heap.remove(&task);
  } else if (task.hasTime()) {
    numTimed.fetch_sub(kOnItsWay, std::memory_order_relaxed);  // relaxed: as in countTimed()
  }
}

// Counts a task that was taken out of the heap, but which a waker has claimed and is about to push.
void FairCore::await(FairTask& task) {
  task.timerIndex = kAwaited;
  ++numAwaited;
}

// Queues the tasks whose deadlines have come, and publishes the next deadline.
void FairCore::expire() {
  if (!heap.empty() && heap.earliest()->deadline != kNever) {
    const TimePoint now = TimePoint::clock::now();
    while (FairTask* task = heap.popExpired(now)) {
      if (task->state.expire()) {
        due.push(task);
      } else {
        await(*task);
      }
    }
  }
  publishEarliest();
}

void FairCore::publishEarliest() {
  const int64_t at = heap.empty() ? kNoEarliest : heap.earliest()->deadline.time_since_epoch().count();
  // relaxed, all: hints about when to look. Written only if it changes, since other threads read it.
  if (earliest.load(std::memory_order_relaxed) != at) {
    earliest.store(at, std::memory_order_relaxed);
  }
  const bool wasInHeap = (numTimed.load(std::memory_order_relaxed) & kInHeap) != 0;
  if (wasInHeap != (at != kNoEarliest)) {
    numTimed.fetch_xor(kInHeap, std::memory_order_relaxed);
  }
}

bool FairWorker::hasQueued() {
  return !core.backlogIsEmpty() || !core.front.empty() || !ready_.empty() || !due_.empty();
}

bool FairWorker::hasWork() { return hasQueued() || core.hasDue(); }

bool FairCore::hasQueued() { return !backlogIsEmpty() || !front.empty() || !ready.empty() || !due.empty(); }

bool FairCore::hasDue() const {
  // relaxed: a hint about when to look.
  return earliest.load(std::memory_order_relaxed) != kNoEarliest && isDue(TimePoint::clock::now());
}

bool FairCore::isDue(TimePoint now) const {
  // relaxed: a hint about when to look.
  return earliest.load(std::memory_order_relaxed) <= now.time_since_epoch().count();
}

uint64_t FairCore::numStepsOfAll() const {
  uint64_t sum = 0;
  for (const auto& worker : workers) {
    sum += worker->numSteps.get();
  }
  return sum;
}

}  // namespace weft::inline v0_1::detail
