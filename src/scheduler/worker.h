// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "os/own_counter.h"
#include "scheduler/due_time.h"
#include "scheduler/fiber_control_block.h"
#include "scheduler/fiber_factory.h"
#include "scheduler/in_place.h"
#include "scheduler/report.h"
#include "scheduler/task_ring.h"
#include "weft/detail/fork/fork.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/park/parker.h"
#include "weft/detail/park/quiescence.h"
#include "weft/detail/queue/inbox.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/detail/queue/steal_gate.h"
#include "weft/detail/queue/stealing_deque.h"
#include "weft/detail/queue/timer_heap.h"
#include "weft/scheduler.h"

namespace weft::detail {

// One thread's share of a scheduler. A multi-threaded worker owns a thread, and shares its tasks with the
// others of its kind; a single-threaded one belongs to a bound thread, and runs tasks only while that thread
// waits or unbinds.
//
// Everything is for the worker's own thread, but wake() from any thread, deque().steal() by other workers,
// and what only reads. docs/scheduler.md explains the routines.
class Worker {
 public:
  enum class Mode { SingleThreaded, MultiThreaded };

  Worker(SchedulerCore& core, Mode mode, int id);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Returns: the worker of the calling thread, or null.
  static Worker* current() noexcept {
    return currentFiber != nullptr ? static_cast<FiberControlBlock*>(currentFiber)->worker : nullptr;
  }

  // Makes the calling thread's native stack the main fiber.
  void enterThread();
  void leaveThread();

  // The initializer counts as a task that is scheduled before any thread starts, lest the scheduler be seen
  // at rest while it waits for something, or before its thread has begun. For the starting thread: before it
  // starts this worker's, and after that has failed.
  void expectInitializer() { lane_.counters.countScheduled(); }
  void cancelInitializer() { lane_.counters.countEnded(); }

  // Multi-threaded: calls the initializer, then runs until shutdown. On the main fiber.
  void runThread();
  // Single-threaded: runs this thread's tasks and fibers to their end. On the main fiber.
  void finish();

  // Queues a task that was scheduled on this worker's thread.
  void enqueue(TaskNode* node);

  // Takes `node`, if it is the newest task of this worker, and little of the current stack is in use, to be
  // run on top of the task that waits for it. Returns: whether it did.
  bool takeToRunInPlace(TaskNode* node);
  // For ForkLane::mayRunInPlace(), which counts.
  bool mayRunInPlaceNow();
  // Runs it, on the current fiber. Requires: it lets no exception escape.
  void runInPlace(TaskNode* node);
  uint64_t newTaskNumber() { return ++taskNumber_; }
  InPlaceFibers& inPlaceFibers() { return inPlaceFibers_; }
  // This thread's side of its deque, which a single-threaded worker gets by this. Never null.
  ForkLane* openLane();
  // Queues a forked task that the deque has no room for.
  void exposeElsewhere(TaskNode* node);

  // Suspends the current fiber: returns once somebody has made it ready and this worker has chosen it.
  void suspend();
  // The same for one that is ready already.
  void switchToNext();
  void block(FiberControlBlock& self, const char* what, const void* object);
  bool blockUntil(FiberControlBlock& self, TimePoint deadline, const char* what, const void* object);
  // The same for one who only looks again at that time.
  bool blockForLock(FiberControlBlock& self, TimePoint deadline, const char* what, const void* object);
  void yield(FiberControlBlock& self);

  // Makes `fiber`, of this worker, ready. Any thread.
  void wake(FiberControlBlock& fiber) noexcept;

  StealingDeque<TaskNode>& deque() { return *deque_; }
  Parker<>& parker() { return *parker_; }
  const TaskCounters<>& counters() const { return lane_.counters; }
  FiberControlBlock& mainFiber() { return main_; }
  FiberControlBlock* currentControlBlock() { return current_.get(); }
  Mode mode() const { return mode_; }
  SchedulerCore& core() { return core_; }
  bool isRunningTask() const { return current_.get()->task.get() != nullptr; }
  Scheduler::WorkerStats stats() const;

  // Prints what the fibers of this worker wait for.
  void reportBlockedFibers() const;
  // Has the worker do so when it next looks around or wakes. Any thread, with SchedulerCore::boundMutex.
  void askForReport(TimePoint now);
  // Any thread: whether it has been asked, and has not looked since.
  bool hasNotAnswered() const;
  // What a worker does that has not answered. Any thread, with SchedulerCore::boundMutex.
  SilentWorker describeSilence(TimePoint now);
  // Answers, if it was asked.
  void reportIfAsked();

  // Return: whether the TaskScope at `scope`, which need not exist any more, is that of a fiber of this
  // worker, or of a task that is run in place on one. If so, they set `place` to it. Any thread.
  bool findFiberOf(const void* scope, TaskPlace& place) const;
  bool findStackOf(const void* scope, TaskPlace& place) const;

  // The host of waitForSharedWork.
  bool findOwnWork();
  bool findSharedWork(bool isPatient = false);
  bool seesSharedWork();
  bool spinForWork();
  bool spinOnInbox();
  bool tryParkInbox() { return inbox_.tryPark(); }
  void cancelParkInbox() { inbox_.cancelPark(); }
  void tidyUp();
  void park();

 private:
  friend struct WorkerTestAccess;

  static void fiberMain(void* worker);
  [[noreturn]] void run();
  void runOnOtherFibers();
  void runUntilShutdown();
  void runUntilIdle();
  void runTask(TaskNode* node);
  bool takeIfNewest(TaskNode* node);
  bool hasStackForTask() const;
  void waitForWork();
  bool spin(bool forSharedWork);
  bool mayThrottle() const;
  void throttle();
  void awaitReady(TimePoint until);
  void parkUntil(TimePoint deadline);
  // Any thread; a hint.
  bool isWaiting() const { return isParked_.load(std::memory_order_relaxed) && inbox_.empty(); }
  void sleepForOwnWork();
  bool shouldEnd();

  void switchTo(FiberControlBlock& to);
  void beginBlock(FiberControlBlock& self, const char* what, const void* object);
  FiberControlBlock& awaitNext();
  FiberControlBlock& idleOrNewFiber();
  void makeReady(FiberControlBlock& fiber);
  FiberControlBlock* popReady();
  void drainInbox();
  bool expireTimers();

  void enqueueElsewhere(TaskNode* node);
  TaskNode* takeTask();
  TaskNode* takeOldestInTurn();
  TaskNode* takeOldestOfDeque();
  TaskNode* takeNewestOfDeque();
  TaskNode* takeOverflowed();
  uint32_t numLeftOfBatch() const;
  TaskNode* liftBatch(uint32_t count);
  void noteForks(FiberControlBlock& fiber);
  void giveForksAway();
  bool moveToInjector(uint32_t wanted);
  bool stealFromExternal();
  void poll();
  void giveTurns();
  void setNextPoll(uint32_t untilTurns);
  bool expireIfDue();
  void watchTimers();
  void takeOldestFromOutside();
  bool takeFromInjector();
  bool steal(bool isPatient);
  bool mayTakeItBack(Worker& victim);
  bool stealFrom(StealingDeque<TaskNode>& deque);
  void pushShared(TaskNode* node);
  void moveOverflow(TaskNode* node);
  TimePoint trimIdleFibers(TimePoint now);
  TaskPlace placeOf(const FiberControlBlock& fiber) const;
  TaskPlace currentPlace() const;
  int reportedId() const { return mode_ == Mode::MultiThreaded ? id_ : kBoundThread; }
  void reportDeadlockIfCertain();

  // Constant.
  SchedulerCore& core_;
  const Mode mode_;
  const int id_;
  const bool hasThieves_;
  Parker<>* const parker_;

  // The owner's, in the order of use.
  OwnPointer<FiberControlBlock> current_;
  uint64_t taskNumber_;  // of the task that began last
  FiberList ready_;
  TaskNode* next_ = nullptr;  // taken for the fiber that runs the loop next
  // The sum of this and lane_.untilPoll: dequeues until giveTurns(). The latter is 1 while a timer is set,
  // and 61 or less otherwise.
  uint32_t untilTurns_ = 0;
  bool haveTurnsWaited_ = false;  // for a timer that was due
  uint32_t untilOldest_ = kPollsPerOldest;
  bool oldestFirst_ = false;               // tasks are taken from the oldest end
  bool hasBlockedAtOnce_ = false;          // a task that has scheduled nothing, since one ended last
  bool isInnersTurn_ = false;              // see takeOldestInTurn()
  int64_t batchBegin_ = 0, batchEnd_ = 0;  // see numLeftOfBatch()
  uint32_t numTurns_ = 0;
  uint32_t numQuickSteals_ = 0;  // in a row
  uint32_t numHesitations_ = 0;  // these three: see mayTakeItBack()
  uint64_t hesitatedAt_ = 0;
  bool hasHesitated_ = false;
  uint64_t overflowEnd_ = 0;                // see takeOverflowed()
  uint64_t blockedLimit_ = kBlockedFreely;  // these four: see throttle()
  uint64_t heldAt_ = 0;
  uint64_t endedBefore_ = 0;
  TimePoint heldUntil_{};
  bool isEnding_ = false;  // single-threaded: unbind() was called
  void** cxaGlobals_ = nullptr;
  StealingDeque<TaskNode>* deque_ = nullptr;  // a single-threaded worker has none before its first fork
  ForkLane lane_;                             // to deque_
  TaskRing pinnedLifo_;                       // scheduled by tasks, for this thread only: the newest first
  TaskRing pinnedFifo_;  // scheduled outside of tasks, for this thread only: the oldest first
  TimerHeap<FiberControlBlock> timers_;
  DueTime due_;                   // of the earliest timer
  uint32_t numLookingAgain_ = 0;  // of those in timers_: see blockForLock()
  FiberList idle_;
  FiberFactory fibers_;
  InPlaceFibers inPlaceFibers_;
  FiberControlBlock main_;
  std::atomic<bool> isParked_{false};
  OwnCounter numReady_, numBlocked_, numIdle_, numFibers_, numSteals_, numParks_;

  // Searching and sleeping.
  IdleSet<>::Sleeper sleeper_;
  uint64_t random_;
  SegmentedQueue<TaskNode*>::Consumer injected_;
  TimePoint lastSteal_{};
  std::chrono::nanoseconds searchBudget_;  // how long the next search may take
  uint64_t fewestIdle_ = 0;                // at any time since the period began that ends at trimAt_
  TimePoint trimAt_{};
  TimePoint tidyAt_{};  // when tidyUp() wants to be called again

  // Written by other threads.
  alignas(64) Inbox<FiberControlBlock> inbox_;
  std::atomic<bool> isReportWanted_{false};  // false -> true by any thread, true -> false by the owner
  // Guarded by SchedulerCore::boundMutex: what this worker was seen at since it was asked, and when first.
  TaskPlace seenAt_;
  uint64_t seenEnded_ = 0;
  TimePoint seenSince_{};

  // About as long as waking a sleeping worker would cost others.
  static constexpr std::chrono::nanoseconds kLongestSearch = std::chrono::microseconds(40);
  static constexpr std::chrono::nanoseconds kShortestSearch = std::chrono::microseconds(4);
  static constexpr uint64_t kBlockedFreely = 1024;  // fibers; see throttle()
  static constexpr uint32_t kPollInterval = 61;     // dequeues between looks at inbox and injector
  static constexpr uint32_t kPollsPerOldest =
      17;  // polls between turns of the oldest own task: every 1,037 dequeues
};

}  // namespace weft::detail
