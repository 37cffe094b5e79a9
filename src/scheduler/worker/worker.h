// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "os/clock_reading.h"
#include "os/single_writer_counter.h"
#include "os/watched_call.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/fibers/fiber_pool.h"
#include "scheduler/fibers/fiber_switch.h"
#include "scheduler/fibers/in_place.h"
#include "scheduler/fibers/ready_fibers.h"
#include "scheduler/fibers/timers.h"
#include "scheduler/fibers/work.h"
#include "scheduler/policy/fairness_interval.h"
#include "scheduler/policy/throttle.h"
#include "scheduler/queues/mailbox.h"
#include "scheduler/queues/task_queues.h"
#include "scheduler/trace/late_watch.h"
#include "scheduler/trace/recorder.h"
#include "scheduler/trace/wishes.h"
#include "scheduler/worker/idler.h"
#include "scheduler/worker/stealer.h"
#include "scheduler/worker/worker_hooks.h"
#include "scheduler/worker/worker_measures.h"
#include "weft/detail/base/ticks.h"
#include "weft/detail/forkjoin/fork_join.h"
#include "weft/detail/park/parker.h"
#include "weft/detail/park/quiescence.h"
#include "weft/detail/queue/inbox.h"
#include "weft/detail/queue/stealing_deque.h"
#include "weft/scheduler.h"

namespace weft::inline v0_1::detail {

class WorkerGroup;

// One thread's share of a scheduler. A multi-threaded worker owns a thread and shares its tasks. A
// single-threaded one belongs to a bound thread, and runs tasks only while that thread waits, yields or
// unbinds. Its parts decide, each in a file of its own; this class joins them.
// All is for the worker's own thread, except wake() and deliver(), for any thread;
// deque().steal(), for other workers; what the starting thread calls; and what only reads
// (docs/scheduler.md).
class Worker {
 public:
  enum class Mode { SingleThreaded, MultiThreaded };

  Worker(WorkerGroup& group, Mode mode, int id);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  static Worker* current() noexcept {
    return currentFiber != nullptr ? static_cast<FiberControlBlock*>(currentFiber)->worker : nullptr;
  }

  int numPolled = 0;  // requests of poll sources that fibers of the worker wait for

  // Makes the calling thread's native stack the main fiber.
  void enterThread();
  void leaveThread();

  // The initializer counts as a task that is scheduled before any thread starts: otherwise the scheduler
  // could seem to be at rest before it ends. The starting thread calls expectInitializer() before it starts
  // this worker's thread, and cancelInitializer() if that fails.
  void expectInitializer() { localDeque().counters.countScheduled(); }
  void cancelInitializer() { localDeque().counters.countEnded(); }

  // For the starting thread, before it starts any worker's.
  void setVictims(VictimOrder&& order) { stealer_.setVictims(std::move(order)); }

  // Multi-threaded: calls the initializer, then runs until shutdown. On the main fiber.
  void runThread();
  // Single-threaded: runs this thread's tasks and fibers to their end. On the main fiber.
  void finish();

  // Queue one or several tasks, in order, that were scheduled on this worker's thread.
  void enqueue(TaskNode* node);
  void enqueueBatch(TaskNode* const* nodes, uint32_t count);
  // Queues a task of this worker that is placed on this worker. A task of another worker uses deliver().
  void enqueuePlaced(TaskNode* node);
  // Counts a task that was scheduled on this worker's thread, and is to be delivered to another worker.
  void countPlaced();
  // Any thread: queues a task that is placed on this worker, and was counted.
  void deliver(Mailbox::Letter* letter) noexcept;
  // Queues a forked task for which the deque has no room.
  void pushElsewhere(TaskNode* node);
  // This thread's side of its deque. Gives a single-threaded worker its deque. Never null.
  LocalDeque* openLocalDeque();
  LocalDeque& localDeque() { return tasks_.stealable.local; }

  // Takes `node`, to run it on top of the task that waits for it, if it is the newest task of this worker and
  // enough of the current stack is left: see kStackInPlace. Returns: whether it took it.
  bool takeToRunInPlace(TaskNode* node);
  // The slow path of LocalDeque::mayRunInPlace() and letOthersRunInTurn(), which count. `next`: what goes on.
  // Returns: false if others have their turn.
  bool mayGoOn(OldestWatch::Next next);
  // Runs `node`, which lets no exception escape, on the current fiber.
  void runInPlace(TaskNode* node);
  uint64_t newTaskNumber() { return ++taskNumber_; }
  InPlaceFibers& inPlaceFibers() { return inPlaceFibers_; }

  // Suspends the current fiber, `self`, until it is woken or `deadline` comes. Returns: whether it was woken.
  void block(FiberControlBlock& self, const char* what, const void* object);
  bool blockUntil(FiberControlBlock& self, TimePoint deadline, const char* what, const void* object);
  // Like blockUntil(), for a wait that only tries again at `deadline`.
  bool blockForLock(FiberControlBlock& self, TimePoint deadline, const char* what, const void* object);
  bool blockPatiently(FiberControlBlock& self, const char* what, const void* object);
  void yield(FiberControlBlock& self);
  void giveWay(FiberControlBlock& self);

  // Begin and end a wait of the current fiber for I/O: see IoWait.
  bool beginIo(bool usesReactor);
  void endIo(bool hadScheduled);
  Idler& idler() { return idler_; }

  // For the Idler. Returns: what to do next, or nothing.
  Work findWork(SearchScope scope);
  // Whether nothing is left to do, and the worker should end.
  bool shouldEnd();
  // A look at what this worker may run and others have.
  bool seesSharedWork() { return tasks_.stealable.seesBatch() || stealer_.seesTasks(); }
  // Readies fibers that other threads have woken, or whose time has come. Returns: whether any is ready.
  bool gatherReady();
  // Whether something is queued that only this worker knows.
  bool hasOwnWork() const { return !ready_.isEmpty() || !tasks_.isEmpty(); }
  void endSleep() { fairness_.restart(timeOfTurns(noteTime())); }
  // Its thread has nothing to run, or has again. `next`: the fiber that goes on, if that is known. At both it
  // follows the wishes.
  void noteIdleBegan();
  void noteIdleEnded(FiberControlBlock* next);
  // Counts a task in place that begins on the calling thread.
  static void countInPlace() { current()->measures_.countInPlace(); }

  // Makes `fiber`, of this worker, ready. Any thread.
  void wake(FiberControlBlock& fiber) noexcept;

  // Begins or ends to observe this worker, if what is wished has changed: see worker_observed.cpp.
  void followWishes() {
    if (const uint64_t word = wishes.current(); word != followed_) [[unlikely]] {
      followNow(word);
    }
  }

  Mode mode() const { return mode_; }
  int id() const { return id_; }  // of a worker with a thread: which it is
  WorkerGroup& group() const { return group_; }
  StealingDeque<TaskNode>& deque() { return *localDeque().deque; }
  Parker<>& parker() { return idler_.parker(); }
  const TaskCounters<>& counters() const { return tasks_.stealable.local.counters; }
  FiberSwitch& fibers() { return fibers_; }
  bool isRunningTask() const { return fibers_.current().task != nullptr; }
  // Any thread: the ticks() of this worker's last poll.
  uint64_t lastPoll() const { return stealer_.lastPoll(); }
  // Any thread; a hint.
  bool isWaiting() const { return idler_.isParked() && inbox_.empty(); }
  Scheduler::WorkerStats stats() const;

 private:
  friend struct LayoutAccess;
  friend struct WorkerTestAccess;

  using Nanoseconds = std::chrono::nanoseconds;
  // Of a fiber that goes on.
  struct WakeTaken {
    TimePoint now{};          // read if the wake is known, or if this worker is measured
    Nanoseconds sinceWake{};  // 0: not known
  };

  static void fiberMain(void* worker);
  [[noreturn]] void run();
  void runOnOtherFibers();
  void runUntilShutdown();
  void runUntilIdle(Work work);
  void runTask(TaskNode* node);

  // Whether somebody wants to know of this worker's work. Who that is calls what follows: see
  // worker_observed.cpp.
  bool isObserved() const { return unobserved_ == nullptr; }
  void followNow(uint64_t word);
  void follow(uint64_t word, bool isMeasured, const FiberHooks* hooks);
  static void runTaskObserved(TaskNode* node);
  void noteTaskEnded();
  static void switchObserved(OSFiber& from, OSFiber& to, void** globals);
  void goOnWith(FiberControlBlock* next);
  void noteWake(FiberControlBlock& fiber) const noexcept;
  void noteTimer(FiberControlBlock& fiber) const;
  void noteLeft(FiberControlBlock& fiber) const;
  WakeTaken takeWake(FiberControlBlock& fiber) const;
  void setWakesTimed(bool isWanted);

  // When a fiber was woken, in the units of TimePoint; 0: not known. For Scheduler::measure() and for
  // trace::Config::longestWake, while either asks: areWakesTimed_.
  //
  //   W  noteWake, noteTimer   the waker, any thread   the time       before it makes the fiber ready
  //   L  noteLeft              the fiber's thread      0              leaves a fiber that is not ready
  //   T  takeWake              the fiber's thread      reads it; 0    goes on with a fiber
  //   B  setWakesTimed         the fiber's thread      0 for all      before the first T
  //
  // A fiber goes on without T if its thread was about to leave it, found no other work, and found that it is
  // ready. Then its value is stale. Before the next T the next L removes it; or the fiber was woken anew, and
  // W has replaced it. What is noted while no T reads it is stale too, until B.
  //
  // W alone may be another thread, and meet L, T or B of its fiber: the fiber's time comes just then, or it
  // is only about to wait. Then the time is lost, and the wake does not count; or it stays until the fiber
  // has waited for that wake, and is right. T makes 1 ns of a time that is later than its own.
  // relaxed, all: nothing else depends on the time.
  static std::atomic<TimePoint::rep>& wokenAt(FiberControlBlock& fiber) {
    return fiber.id != 0 ? FiberFactory::wokenAt(fiber) : fiber.worker->mainWokenAt_;
  }
  static void setWokenAt(FiberControlBlock& fiber, TimePoint time) {
    wokenAt(fiber).store(time.time_since_epoch().count(), std::memory_order_relaxed);
  }
  // Any thread. relaxed: one that sees it too late notes a wake that is not taken, or does not note one.
  bool areWakesTimed() const { return areWakesTimed_.load(std::memory_order_relaxed); }

  // The flight recorder, while isRecorded_: see worker_recording.cpp.
  void setRecorded(bool isWanted);
  bool isOnlyRecorded() const { return runTask_ == &Worker::runTaskRecorded; }
  static void runTaskRecorded(TaskNode* node);
  [[gnu::noinline]] void noteRecordedEnded();
  [[gnu::noinline]] static uint64_t recordTaskBegan(const TaskNode& node);
  static void switchRecorded(OSFiber& from, OSFiber& to, void** globals);
  void recordSwitch(const FiberControlBlock& from, const FiberControlBlock& to, Nanoseconds sinceWake);
  void recordIdleBegan(const FiberControlBlock& fiber);
  [[gnu::noinline]] void recordResumed(const FiberControlBlock& fiber, Nanoseconds sinceWake);
  [[gnu::always_inline]] void addResumed(const FiberControlBlock& fiber, Nanoseconds sinceWake,
                                         TraceEvents& events);
  void recordRunEnded(const void* task, TraceEvents& events);
  [[gnu::noinline]] void lookAtDelay(const FiberControlBlock& fiber, Nanoseconds sinceWake,
                                     TraceEvents& events);
  int publicId() const { return mode_ == Mode::MultiThreaded ? id_ : -1; }
  void recordWake(const FiberControlBlock& fiber) const noexcept;
  static void recordTimer(const FiberControlBlock& fiber);

  Work waitForWork();
  FiberControlBlock* takeReady();
  TaskNode* takeTurn();
  // Returns: ticks(), of which it makes a note for reports.
  uint64_t noteTime() {
    const uint64_t now = ticks();
    lookedAt_ = coarseTime(now);
    return now;
  }
  // No ticks pass without worker threads, so that the order is the same each time.
  uint64_t timeOfTurns(uint64_t now) const { return areTurnsTimed_ ? now : 0; }
  void beginPoll();
  TaskNode* giveTurn();
  TaskNode* takeFor(FairnessInterval::Whose whose);
  bool mayOthersWait();
  bool mayTakeStranded();
  TaskNode* takeStranded();
  void lookAround(OldestWatch::Next next);
  void watchOldest(OldestWatch::Next next);
  void wakeHere(FiberControlBlock& fiber) noexcept;
  [[gnu::noinline]] void wakeFromElsewhere(FiberControlBlock& fiber) noexcept;
  void sendToInbox(FiberControlBlock& fiber) noexcept;
  void lookIntoInbox() {
    if (!inbox_.empty()) {
      drainInbox();
    }
  }
  void drainInbox();
  void takeMail();
  bool expireTimers();
  bool expireIfDue() { return timers_.mayHaveExpired() && expireTimers(); }
  void holdBack();
  bool pollOutsideInTurn();

  void suspend();
  FiberControlBlock& awaitNext();
  FiberControlBlock& fiberFor(Work work) { return work.fiber != nullptr ? *work.fiber : handOver(work.task); }
  FiberControlBlock& handOver(TaskNode* task);
  void beginBlock(FiberControlBlock& self, const char* what, const void* object);
  bool awaitWakeUntil(FiberControlBlock& self, TimePoint deadline);
  bool awaitWakeOrTime(FiberControlBlock& self);
  bool blockUntilNow(FiberControlBlock& self, const char* what, const void* object);
  void noteForks(FiberControlBlock& fiber);
  void endForks(FiberControlBlock& fiber);
  void enqueueElsewhere(TaskNode* node);
  bool hasStackForTask() const;
  // Lets tasks of groups run in place on the thread's own stack.
  void findRoomInThreadStack();
  void runInPlaceNow(TaskNode* node);
  void runInPlaceAside(TaskNode* node);

  WorkerGroup& group_;
  const Mode mode_;
  const int id_;
  const bool areTurnsTimed_;      // see timeOfTurns()
  std::atomic<int> threadId_{0};  // the system's number of its thread, stored by that

  // In the order of use.
  ReadyFibers ready_;
  TaskQueues tasks_;
  const Worker* unobserved_ = this;  // null while this worker is observed
  void (*runTask_)(TaskNode*) = &weft_run_task;
  TaskNode* handed_ = nullptr;      // for the fiber that is taken from the pool
  uint64_t taskNumber_;             // of the task that began last
  CoarseTime lookedAt_ = 0;         // the time of the last poll, or of the end of a sleep
  SingleWriterCounter numBlocked_;  // fibers inside suspend()
  Throttle throttle_;
  FiberSwitch fibers_;
  FairnessInterval fairness_;
  Window oldestWindow_;                    // see OldestWatch
  Window strandedWindow_{ticksIn(3'000)};  // see Stealer::lookForStranded()
  Window watchWindow_{ticksIn(500)};
  uint64_t watchedAt_ = 0;  // the dequeue at which the oldest tasks were looked at
  // What a fiber that gives way goes on with: Piece or InPlace; else Newest.
  OldestWatch::Next gaveWay_ = OldestWatch::Next::Newest;
  uint64_t followed_ = 0;     // the word of the wishes that it has followed
  int64_t strandedMark_ = 0;  // see mayTakeStranded()
  Timers timers_;
  TimePoint gaveWayAt_{};
  FiberPool pool_;
  InPlaceFibers inPlaceFibers_;
  Stealer stealer_;
  Idler idler_;
  bool isEnding_ = false;  // single-threaded: unbind() was called
  bool isRecorded_ = false;
  std::atomic<uint32_t> traceThread_{0};        // the number of its TraceThread while its events are recorded
  std::atomic<bool> areWakesTimed_{false};      // see wokenAt()
  std::atomic<TimePoint::rep> mainWokenAt_{0};  // the main fiber's wokenAt()
  RunWatch runs_;                               // while recorded with limits
  WorkerMeasures measures_;
  WorkerHooks hooks_{publicId()};

  alignas(64) Inbox<FiberControlBlock> inbox_;  // written by other threads
  Mailbox mailbox_;                             // written by other threads
};

}  // namespace weft::inline v0_1::detail
