// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/worker.h"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "scheduler/report.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/worker_inl.h"
#include "weft/debug.h"
#include "weft/fiberlocal.h"

namespace weft::detail {
namespace {

// Each worker numbers the tasks that begin on it from a value of its own.
uint64_t firstTaskNumber() {
  static std::atomic<uint64_t> numWorkers{0};
  // relaxed: it need only be unique.
  return numWorkers.fetch_add(1, std::memory_order_relaxed) << 40;
}

}  // namespace

Worker::Worker(SchedulerCore& core, Mode mode, int id)
    : core_(core),
      mode_(mode),
      id_(id),
      hasThieves_(mode == Mode::MultiThreaded && core.numWorkers > 1),
      parker_(acquireParker()),
      current_(&main_),
      taskNumber_(firstTaskNumber()),
      lane_{nullptr, core.idle, StealGate<>::Member(core.stealGate), 0, kPollInterval},
      pinnedLifo_(core.allocator),
      pinnedFifo_(core.allocator),
      timers_(core.allocator),
      fibers_(core.allocator, core.config.fiberStackSize),
      inPlaceFibers_(core.allocator),
      main_(*this, 0),
      random_(0x9e3779b97f4a7c15u * (static_cast<uint64_t>(id) + 2)),
      injected_(core.injector),
      searchBudget_(kLongestSearch / 2) {
  if (mode == Mode::MultiThreaded) {
    deque_ = core.allocator->create<StealingDeque<TaskNode>>();
    lane_.deque = deque_;
    lane_.numOthers = static_cast<uint32_t>(core.numWorkers) - 1;
  }
  sleeper_.parker = parker_;
}

Worker::~Worker() {
  if (mode_ == Mode::MultiThreaded) {
    core_.allocator->destroy(deque_);
  }
  releaseParker(parker_);
}

void Worker::enterThread() {
  cxaGlobals_ = reinterpret_cast<void**>(abi::__cxa_get_globals());
  main_.os.initThread();
  main_.setTaskNumber(++taskNumber_);
  currentFiber = &main_;
  currentTask = main_.scope();
  currentLane = deque_ != nullptr ? &lane_ : nullptr;
}

void Worker::leaveThread() {
  fibers_.forEach([this](FiberControlBlock& fiber) { fibers_.destroy(fiber); });
  main_.os.destroy();
  currentFiber = nullptr;
  currentTask = nullptr;
  currentLane = nullptr;
  if (mode_ == Mode::SingleThreaded && deque_ != nullptr) {
    core_.removeExternal(*deque_);
  }
}

ForkLane* Worker::openLane() {
  if (deque_ == nullptr) {
    core_.addExternal(deque_);
    lane_.deque = deque_;
    lane_.numOthers = static_cast<uint32_t>(core_.numWorkers);
    currentLane = &lane_;
  }
  return &lane_;
}

void Worker::runThread() {
  if (const auto& initializer = core_.config.workerThread.initializer) {
    runOrDie(initializer, "initializer", id_);
    lane_.counters.countEnded();
  }
  runOnOtherFibers();
}

void Worker::finish() {
  isEnding_ = true;
  runOnOtherFibers();
}

// Tasks run on pooled fibers only, whose stacks have the configured size and a guard that is watched.
void Worker::runOnOtherFibers() {
  while (!shouldEnd()) {
    waitForWork();
    if (next_ != nullptr) {
      switchTo(idleOrNewFiber());
    } else if (FiberControlBlock* fiber = popReady()) {
      switchTo(*fiber);
    }
  }
}

void Worker::fiberMain(void* worker) { static_cast<Worker*>(worker)->run(); }

void Worker::run() {
  currentTask = current_.get()->scope();
  runUntilShutdown();
  switchTo(main_);
  WEFT_UNREACHABLE();
}

void Worker::runUntilShutdown() {
  for (;;) {
    runUntilIdle();
    if (shouldEnd()) {
      return;
    }
    waitForWork();
  }
}

bool Worker::shouldEnd() {
  if (mode_ == Mode::MultiThreaded) {
    // (1) acquire: what the thread that destroys the scheduler did before; pairs with the store in
    // shutDown().
    return core_.isStopping.load(std::memory_order_acquire) && core_.isFinished();
  }
  if (isEnding_) {
    giveForksAway();
  }
  return isEnding_ && next_ == nullptr && ready_.isEmpty() && pinnedLifo_.isEmpty() &&
         pinnedFifo_.isEmpty() && (deque_ == nullptr || deque_->empty()) && numBlocked_.get() == 0;
}

void Worker::runUntilIdle() {
  for (;;) {
    if (--lane_.untilPoll == 0) {
      poll();
    }
    TaskNode* task = std::exchange(next_, nullptr);
    if (task == nullptr) {
      if (!inbox_.empty()) {
        drainInbox();
      }
      if (FiberControlBlock* fiber = popReady()) {
        idle_.pushFront(*current_.get());
        ++numIdle_;
        switchTo(*fiber);
        continue;
      }
      task = takeTask();
      if (task == nullptr) {
        return;
      }
    }
    runTask(task);
  }
}

void Worker::runTask(TaskNode* node) {
  FiberControlBlock& fiber = *current_.get();
  fiber.task.set(reinterpret_cast<const void*>(node->invoke));
  fiber.permit.reset();
  fiber.setTaskNumber(++taskNumber_);
  noteForks(fiber);
  fiber.hasScheduled = false;
  runOrDie(node);
  if (fiber.locals != nullptr) [[unlikely]] {
    destroyFiberLocals(fiber.locals);
  }
  fiber.task.set(nullptr);
  hasBlockedAtOnce_ = false;
  lane_.counters.countEnded();
}

bool Worker::blockUntil(FiberControlBlock& self, TimePoint deadline, const char* what, const void* object) {
  if (deadline == kNever) {
    block(self, what, object);
    return true;
  }
  if (!self.isWoken && deadline <= due_.now()) {
    // It counts as a dequeue, so that a loop around such waits lets others run when it is their turn.
    if (lane_.mayRunInPlace()) {
      return false;
    }
    yield(self);
    return std::exchange(self.isWoken, false);
  }
  beginBlock(self, what, object);
  self.deadline = deadline;
  timers_.add(&self);
  if (timers_.earliest() == &self) {
    due_.expect(deadline);
  }
  watchTimers();
  while ((!self.isWoken && !self.isTimedOut) || self.isQueued) {
    suspend();
  }
  timers_.remove(&self);
  self.blockedOn = nullptr;
  self.isTimedOut = false;
  return std::exchange(self.isWoken, false);
}

bool Worker::blockForLock(FiberControlBlock& self, TimePoint deadline, const char* what, const void* object) {
  if (deadline == kNever) {
    block(self, what, object);
    return true;
  }
  if (deadline <= due_.now()) {
    // The others of this thread are to have run before this one looks again: it may be one of them that was
    // woken for the lock.
    yield(self);
    return false;
  }
  ++numLookingAgain_;
  const bool isWoken = blockUntil(self, deadline, what, object);
  --numLookingAgain_;
  return isWoken;
}

void Worker::yield(FiberControlBlock& self) {
  noteForks(self);
  const bool isOthersTurn = lane_.untilPoll == 1 && (untilTurns_ == 0 || expireIfDue());
  if (ready_.isEmpty() && next_ == nullptr && !isOthersTurn) {
    // Nobody else is ready: a new task runs, for which a loop around yield() may wait.
    next_ = takeTask();
  }
  makeReady(self);
  switchToNext();
}

FiberControlBlock& Worker::awaitNext() {
  waitForWork();
  if (next_ != nullptr) {
    return idleOrNewFiber();
  }
  FiberControlBlock* fiber = popReady();
  WEFT_ASSERT(fiber != nullptr,
              "a fiber waits whose scheduler has ended all tasks: nothing will ever run there again. Wait "
              "inside a task, or "
              "before ~Scheduler.");
  return *fiber;
}

FiberControlBlock& Worker::idleOrNewFiber() {
  if (FiberControlBlock* fiber = idle_.popFront()) {
    --numIdle_;
    fewestIdle_ = std::min(fewestIdle_, numIdle_.get());
    return *fiber;
  }
  fewestIdle_ = 0;
  FiberControlBlock* fiber = fibers_.create(*this, &Worker::fiberMain);
  if (fiber == nullptr) {
    WEFT_FATAL(
        "no memory for another fiber: this worker has %llu, of which %llu are blocked, with stacks of %zu "
        "bytes. Bound the "
        "number of tasks that wait at the same time, or lower Config::setFiberStackSize().",
        static_cast<unsigned long long>(numFibers_.get()), static_cast<unsigned long long>(numBlocked_.get()),
        core_.config.fiberStackSize);
  }
  ++numFibers_;
  return *fiber;
}

Scheduler::WorkerStats Worker::stats() const {
  Scheduler::WorkerStats stats;
  stats.workerId = mode_ == Mode::MultiThreaded ? id_ : -1;
  stats.num =
      numReady_.get() + pinnedLifo_.size() + pinnedFifo_.size() + (deque_ != nullptr ? deque_->size() : 0);
  stats.numBlockedFibers = numBlocked_.get();
  stats.numIdleFibers = numIdle_.get();
  stats.numFibers = numFibers_.get();
  stats.numTasksRun = lane_.counters.ended();
  stats.numSteals = numSteals_.get();
  stats.numParks = numParks_.get();
  return stats;
}

}  // namespace weft::detail
