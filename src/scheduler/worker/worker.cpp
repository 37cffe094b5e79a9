// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/worker/worker.h"

#include <unistd.h>

#include <atomic>
#include <utility>

#include "scheduler/report/run_or_die.h"
#include "scheduler/report/stack_report.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/debug.h"
#include "weft/fiberlocal.h"

namespace weft::inline v0_1::detail {
namespace {

// Each worker numbers the tasks that begin on it from a value of its own.
uint64_t firstTaskNumber() {
  static std::atomic<uint64_t> numWorkers{0};
  // relaxed: it need only be unique.
  return numWorkers.fetch_add(1, std::memory_order_relaxed) << 40;
}

constexpr uint64_t kDequeuesInWindow = 16 * OldestWatch::kDequeues;

}  // namespace

Worker::Worker(WorkerGroup& group, Mode mode, int id)
    : group_(group),
      mode_(mode),
      id_(id),
      areTurnsTimed_(group.numWorkers > 0),
      tasks_({group.injector, group.overflow, group.idle, group.stealGate, group.numWorkers},
             mode == Mode::MultiThreaded, group.allocator),
      taskNumber_(firstTaskNumber()),
      throttle_(mode == Mode::MultiThreaded && group.numWorkers > 1),
      fibers_(*this),
      fairness_(localDeque().untilPoll, timeOfTurns(noteTime())),
      oldestWindow_(areTurnsTimed_ ? ticksIn(8'000) : kDequeuesInWindow),
      timers_(group.allocator),
      pool_(group.allocator, group.config.fiberStackSize),
      inPlaceFibers_(group.allocator),
      stealer_(group, *this, id, localDeque().stealer),
      idler_(*this, {inbox_, timers_, pool_}),
      mailbox_(*this) {
  if (mode == Mode::MultiThreaded) {
    localDeque().deque = group.allocator->create<StealingDeque<TaskNode>>();
    localDeque().setNumOthers(static_cast<uint32_t>(group.numWorkers) - 1);
  }
}

Worker::~Worker() {
  if (mode_ == Mode::MultiThreaded) {
    group_.allocator->destroy(localDeque().deque);
  }
}

void Worker::enterThread() {
  threadId_.store(gettid(), std::memory_order_relaxed);  // relaxed: for reports
  fibers_.enterThread(++taskNumber_);
  localDeque().exceptions = fibers_.exceptions();
  currentLocalDeque = localDeque().deque != nullptr ? &localDeque() : nullptr;
  followWishes();
}

void Worker::leaveThread() {
  if (followed_ != 0) {
    follow(0, false, nullptr);
  }
  idler_.setReactor(nullptr);
  pool_.destroyAll();
  fibers_.leaveThread();
  currentLocalDeque = nullptr;
  if (mode_ == Mode::SingleThreaded && localDeque().deque != nullptr) {
    group_.externals.remove(*localDeque().deque);
    group_.idle.removeExternal();
  }
}

LocalDeque* Worker::openLocalDeque() {
  if (localDeque().deque == nullptr) {
    group_.idle.addExternal();
    group_.externals.add(localDeque().deque);
    localDeque().setNumOthers(static_cast<uint32_t>(group_.numWorkers));
    currentLocalDeque = &localDeque();
    findRoomInThreadStack();
  }
  return &localDeque();
}

void Worker::runThread() {
  if (const auto& initializer = group_.config.workerThread.initializer) {
    findRoomInThreadStack();
    runOrDie(initializer, "initializer", id_);
    localDeque().counters.countEnded();
  }
  runOnOtherFibers();
}

void Worker::finish() {
  isEnding_ = true;
  runOnOtherFibers();
}

// The run loop begins tasks only on pooled fibers, whose stacks have the configured size and a watched guard.
void Worker::runOnOtherFibers() {
  while (!shouldEnd()) {
    if (const Work work = waitForWork()) {
      fibers_.switchTo(fiberFor(work));
    }
  }
}

void Worker::fiberMain(void* worker) { static_cast<Worker*>(worker)->run(); }

// Each fiber except the main one begins here, taken from the pool when there is a task for it.
void Worker::run() {
  currentTask = fibers_.current().scope();
  runUntilShutdown();
  fibers_.switchTo(fibers_.main());
  WEFT_UNREACHABLE();
}

void Worker::runUntilShutdown() {
  Work work = handed_;
  do {
    runUntilIdle(work);
    work = waitForWork();
  } while (work);
}

inline void Worker::runUntilIdle(Work work) {
  for (; work; work = findWork(SearchScope::Own)) {
    if (work.fiber != nullptr) {
      pool_.putBack(fibers_.current());
      fibers_.switchTo(*work.fiber);
      work = handed_;
    }
    runTask(work.task);
  }
}

void Worker::runTask(TaskNode* node) {
  FiberControlBlock& fiber = fibers_.current();
  fiber.task = reinterpret_cast<const void*>(node->invoke);
  fiber.permit.reset();
  fiber.scope()->number = ++taskNumber_;
  noteForks(fiber);
  fiber.hasScheduled = false;
  [[maybe_unused]] const StackMeter<kReportsStacks> meter(fiber);
  runTask_(node);  // lets no exception escape
  if (fiber.locals != nullptr) [[unlikely]] {
    destroyFiberLocals(fiber.locals);
  }
  fiber.task = nullptr;
  throttle_.noteEnded();
  localDeque().counters.countEnded();
}

void Worker::endForks(FiberControlBlock& fiber) {
  localDeque().hasForked = false;
  fiber.hasScheduled = true;
  tasks_.preferNewest();
  if (localDeque().newestKept != nullptr) {
    localDeque().pushKept();
  }
}

bool Worker::shouldEnd() {
  if (mode_ == Mode::MultiThreaded) {
    // (1) acquire: sees what the destroying thread did before; pairs with the store in stopWorkers().
    return group_.isStopping.load(std::memory_order_acquire) && group_.isFinished();
  }
  // After the unbinding, the workers get the tasks that they may run. This needs the full fence: by the time
  // a worker goes to sleep, this thread may no longer be an external thread of the idle set.
  if (isEnding_ && group_.numWorkers > 0 && tasks_.stealable.giveAway()) {
    group_.idle.onPublishFromOutside();
  }
  return isEnding_ && ready_.isEmpty() && tasks_.isEmpty() && numBlocked_.get() == 0;
}

Work Worker::waitForWork() {
  if (throttle_.mayHold(numBlocked_.get())) [[unlikely]] {
    holdBack();
    const Work work = idler_.waitForWork();
    goOnWith(work.fiber);
    return work;
  }
  return idler_.waitForWork();
}

// Waits a little for a wake before the next task is started.
void Worker::holdBack() {
  if (!throttle_.beginHold(numBlocked_.get(), counters().ended())) {
    return;
  }
  idler_.awaitReady(throttle_.end());
  if (TimePoint::clock::now() >= throttle_.end()) {
    bool doAllWait = true;
    group_.forEachWorker(
        [&](Worker& worker) { doAllWait = doAllWait && (&worker == this || worker.isWaiting()); });
    throttle_.endHold(numBlocked_.get(), counters().ended(), !ready_.isEmpty(),
                      doAllWait ? Throttle::Others::AllWait : Throttle::Others::Run);
  }
}

// wake() by another thread; by this worker's own if it is observed.
void Worker::wakeFromElsewhere(FiberControlBlock& fiber) noexcept {
  const Worker* const waker = current();
  if (wishes.areWakesNoted()) [[unlikely]] {
    noteWake(fiber);
  }
  if (waker == this) {
    wakeHere(fiber);
    return;
  }
  fiber.isWokenFromOutside =
      waker == nullptr || waker->mode_ != Mode::MultiThreaded || &waker->group_ != &group_;
  sendToInbox(fiber);
}

void Worker::drainInbox() {
  for (FiberControlBlock* fiber = inbox_.popAll(); fiber != nullptr;) {
    FiberControlBlock* next = fiber->inboxNext.get();
    if (mailbox_.isNotice(*fiber)) {
      takeMail();
    } else {
      fiber->isWoken = true;
      throttle_.noteForeignWakes(fiber->isWokenFromOutside ? 1 : 0);
      ready_.push(*fiber);
    }
    fiber = next;
  }
}

bool Worker::gatherReady() {
  drainInbox();
  expireTimers();
  return !ready_.isEmpty();
}

void Worker::takeMail() {
  if (FiberControlBlock* notice =
          mailbox_.takeAll([this](TaskNode* node) { tasks_.pushPinned(node, false); })) {
    inbox_.push(notice);
  }
}

bool Worker::expireTimers() {
  return timers_.expire([this](FiberControlBlock& fiber) {
    fiber.isTimedOut = true;
    noteTimer(fiber);
    timers_.beginDue();
    throttle_.noteForeignWakes(1);
    ready_.push(fiber);
  });
}

bool Worker::blockUntil(FiberControlBlock& self, TimePoint deadline, const char* what, const void* object) {
  if (deadline == kNever) {
    block(self, what, object);
    return true;
  }
  if (deadline <= timers_.now()) {
    return blockUntilNow(self, what, object);
  }
  beginBlock(self, what, object);
  return awaitWakeUntil(self, deadline);
}

// Requires: the deadline is after timers_.now(), which was called just before.
bool Worker::awaitWakeUntil(FiberControlBlock& self, TimePoint deadline) {
  self.deadline = deadline;
  timers_.add(self);
  fairness_.pollAtEachDequeue();
  return awaitWakeOrTime(self);
}

// Suspends the fiber, which is in timers_. Returns: whether it was woken.
bool Worker::awaitWakeOrTime(FiberControlBlock& self) {
  while ((!self.isWoken && !self.isTimedOut) || self.isQueued) {
    suspend();
  }
  timers_.remove(self);
  self.blockedOn = nullptr;
  if (self.isTimedOut) {
    self.isTimedOut = false;
    timers_.endDue();
  }
  return std::exchange(self.isWoken, false);
}

// For a past deadline. Counts as a dequeue, so that a loop around such waits lets others run. The fiber is
// not marked due, unlike those whose timer fired: a polling fiber would keep tasks from being run in place.
bool Worker::blockUntilNow(FiberControlBlock& self, const char* what, const void* object) {
  if (self.isWoken) {
    block(self, what, object);
    return true;
  }
  if (localDeque().mayRunInPlace()) {
    return false;
  }
  yield(self);
  return std::exchange(self.isWoken, false);
}

bool Worker::blockForLock(FiberControlBlock& self, TimePoint deadline, const char* what, const void* object) {
  if (deadline == kNever) {
    block(self, what, object);
    return true;
  }
  if (deadline <= timers_.now()) {
    // The thread's other fibers run before this one tries again: one may have been woken for the lock.
    yield(self);
    return false;
  }
  const Timers::LookingAgain looking(timers_);
  const CoarseTime since = self.waiter.since;
  beginBlock(self, what, object);
  if (since != kNotYet) {
    self.waiter.since = since;  // the wait for the lock goes on
  }
  return awaitWakeUntil(self, deadline);
}

bool Worker::blockPatiently(FiberControlBlock& self, const char* what, const void* object) {
  beginBlock(self, what, object);
  timers_.addUndated(self);
  const Timers::LookingAgain looking(timers_);
  return awaitWakeOrTime(self);
}

// Runs a ready fiber first. If none is ready, begins a task, since a loop around yield() may wait for it.
void Worker::yield(FiberControlBlock& self) {
  noteForks(self);
  if (const Work work = findWork(SearchScope::Own)) {
    FiberControlBlock& to = fiberFor(work);
    if (&to != &self) {
      ready_.push(self);
      fibers_.switchTo(to);
    }
  }
}

void Worker::giveWay(FiberControlBlock& self) {
  const TimePoint now = timers_.now();
  if (now - gaveWayAt_ >= kPatience) {
    gaveWayAt_ = now;
    yield(self);
  }
}

FiberControlBlock& Worker::awaitNext() {
  const Work work = waitForWork();
  WEFT_ASSERT(work,
              "a fiber waits after its scheduler has ended all tasks: nothing will ever run there again. "
              "Wait inside a task, or before ~Scheduler.");
  return fiberFor(work);
}

// Returns: a fiber that runs `task` next.
FiberControlBlock& Worker::handOver(TaskNode* task) {
  handed_ = task;
  FiberControlBlock* fiber = pool_.take(*this, &Worker::fiberMain);
  if (fiber == nullptr) {
    idler_.dumpVisibly();  // takes little memory, where a stack takes much
    WEFT_FATAL(
        "no memory for another fiber: this worker has %llu, of which %llu are blocked, "
        "with stacks of %zu bytes. The dump above, or `weft ps` of a core file, tells what they wait for. "
        "Bound the number of tasks that wait at the same time, or lower Config::setFiberStackSize().",
        static_cast<unsigned long long>(pool_.num()), static_cast<unsigned long long>(numBlocked_.get()),
        group_.config.fiberStackSize);
  }
  return *fiber;
}

// beginBlock() concludes nothing from a wait of a task that has scheduled something. So this marks the task
// as one that has, which costs other waits nothing. Returns: whether it was marked before.
bool Worker::beginIo(bool usesReactor) {
  FiberControlBlock& self = fibers_.current();
  noteForks(self);
  const bool hadScheduled = self.hasScheduled;
  self.hasScheduled = true;
  throttle_.beginIo();
  if (usesReactor) {
    fairness_.pollWithin(FairnessInterval::kReactorInterval);
  }
  return hadScheduled;
}

void Worker::endIo(bool hadScheduled) {
  fibers_.current().hasScheduled = hadScheduled;
  throttle_.endIo();
}

Scheduler::WorkerStats Worker::stats() const {
  const uint64_t numReady = ready_.size();
  const uint64_t numTasks = tasks_.stealable.size();
  const uint64_t numPinned = tasks_.numPinned();
  return {.workerId = publicId(),
          .threadId = threadId_.load(std::memory_order_relaxed),  // relaxed: a statistic
          .num = numReady + numTasks + numPinned,
          .numReadyFibers = numReady,
          .numTasks = numTasks,
          .numPinnedTasks = numPinned,
          .numTimers = timers_.size(),
          .numBlockedFibers = numBlocked_.get(),
          .numIdleFibers = pool_.numIdle(),
          .numFibers = pool_.num(),
          .numTasksRun = counters().ended(),
          .numSteals = stealer_.numSteals(),
          .numSearches = idler_.numSearches(),
          .numParks = idler_.numParks(),
          .numTasksInPlace = measures_.numInPlace(),
          .runTimes = measures_.runTimes(),
          .wakeDelays = measures_.wakeDelays()};
}

}  // namespace weft::inline v0_1::detail
