// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fair/backlog.h"
#include "os/own_counter.h"
#include "scheduler/checked_allocator.h"
#include "scheduler/process_fork.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/fair/dispatcher_lock.h"
#include "weft/detail/fair/task.h"
#include "weft/detail/park/parker.h"
#include "weft/detail/queue/inbox.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/detail/queue/timer_heap.h"
#include "weft/detail/wait/waiter.h"
#include "weft/fair/task_scheduler.h"
#include "weft/mutex.h"
#include "weft/thread.h"

namespace weft::detail {

struct FairCore;

using FairQueue = SegmentedQueue<FairTask*, StdSync, 0, Producers::InTurn>;

// One thread of a fair::TaskScheduler. Everything is for the thread itself unless it says otherwise.
class FairWorker {
 public:
  explicit FairWorker(FairCore& fairCore);
  FairWorker(const FairWorker&) = delete;
  FairWorker& operator=(const FairWorker&) = delete;
  ~FairWorker() { releaseParker(parker); }

  void run();

  // Keeps the task whose step runs, posted by that very step to `to`, until the step ends.
  void repost(FairTask& task, FairCore& to);
  // Whether it keeps one for `to`.
  bool keepsOneFor(const FairCore& to) const;

  FairCore& core;
  Parker<>* const parker = acquireParker();
  FairTask* current = nullptr;  // whose step runs
  NativeThread thread;
  OwnCounter numSteps, numDispatches, numParks;

  // Guarded by the core's lock.
  FairWorker* below = nullptr;      // in the stack of idle ones
  std::chrono::nanoseconds tick{};  // while it watches

 private:
  // Hints, from this thread's places in the queues.
  bool hasQueued();
  bool hasWork();  // queued, or due

  FairTask* next();
  FairTask* requeue(FairTask& task);
  FairTask* takeNext();
  [[gnu::noinline]] FairTask* takeDue();
  [[gnu::noinline]] FairTask* popReady();
  [[gnu::noinline]] FairTask* popQueued();
  bool isAlone() const;
  bool isNext(const FairTask& task);
  [[gnu::always_inline]] FairTask* dispatch();
  void runStep(FairTask& task);
  bool wasLong();
  void look();
  bool shouldRetire(uint64_t nsPerStep);
  void seeToTheIdle();

  void waitForWork(bool isRetiring);
  bool spin();
  bool beginIdle(bool isRetiring, TimePoint& until);
  bool staysIdle(TimePoint& until);
  void watchOn(TimePoint now, bool isQueued, TimePoint& until);

  FairQueue::Consumer due_, ready_;
  FairTask* reposted_ = nullptr;
  uint32_t dueInARow_ = 0;
  uint32_t untilLook_ = 1;
  uint32_t lookEvery_ = 1;
  uint32_t fineLooks_ = 0;
  bool isRetired_ = false;
  bool owesMark_ = false;  // has replaced an idle thread's mark without waking it
  uint64_t ticks_ = 0;     // at wasLong()
  TimePoint lookedAt_{};
  uint64_t stepsAtLook_ = 0;
  TimePoint intakeAt_{};
  std::chrono::nanoseconds spinBudget_{20'000};
};

// What the threads of a fair::TaskScheduler share. docs/fair.md explains it.
struct FairCore {
  FairCore(fair::TaskScheduler& scheduler, const std::string& called, int count,
           const fair::TaskScheduler::Config& config);
  ~FairCore();

  void start();
  void stop();
  // Takes what is queued, and what waits, out of all queues. Requires: no thread runs.
  std::vector<FairTask*> takeAll();
  void takeFront(std::vector<FairTask*>& taken);

  // Any thread, in a step or not: queues tasks that have been claimed for this scheduler.
  void enqueue(FairTask& newest, FairTask& oldest);
  // A step of another scheduler has posted its own task, which enqueueKept() brings when it has ended. Until
  // then this scheduler is not empty, and does not end.
  void expectKept();
  void enqueueKept(FairTask& task);
  void awaitKept();
  void assertKeepsNone(const char* what) const;
  // Before a push: takes the task over. Of posts that come together, one finds null.
  void claim(FairTask& task) {
    // relaxed: the task is the caller's, and the push publishes it.
    if (task.postedTo.exchange(this, std::memory_order_relaxed) != nullptr) [[unlikely]] {
      reportPostedTwice();
    }
    countTimed(task);
  }
  // The same by the step of the task, which pays for no read-modify-write, 6 of its 25 ns: whoever else posts
  // the task is caught, unless that happens between the load and the store.
  void claimInItsStep(FairTask& task) {
    // relaxed, both: as in claim().
    if (task.postedTo.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
      reportPostedTwice();
    }
    task.postedTo.store(this, std::memory_order_relaxed);
  }
  // Gives back a task that has been claimed and not pushed.
  void unclaim(FairTask& task) {
    if (task.hasTime()) {
      numTimed.fetch_sub(kOnItsWay, std::memory_order_relaxed);  // relaxed: as in countTimed()
    }
    // relaxed: it is the caller's again.
    task.postedTo.store(nullptr, std::memory_order_relaxed);
  }
  // Before the push of a task that has just been posted.
  void countTimed(const FairTask& task) {
    if (task.hasTime()) [[unlikely]] {
      numTimed.fetch_add(kOnItsWay, std::memory_order_relaxed);  // relaxed: a hint of how often to look
    }
  }
  [[noreturn, gnu::cold]] void reportPostedTwice() const;

  // With the role.
  [[gnu::noinline]] void intake();
  // Takes over one task, posted just now, as intake() does; publishBacklog() is to follow.
  void accept(FairTask& task) {
    if (task.deadline == FairTask::kNoDeadline) [[likely]] {
      backlog.append(&task);
    } else {
      acceptDeadline(task);
    }
  }
  void acceptDeadline(FairTask& task);
  void publishBacklog();
  [[gnu::noinline]] void refillReady();
  bool isReady(FairTask& task, TimePoint& now);
  void forgetWait(FairTask& task);
  void await(FairTask& task);
  void expire();
  void publishEarliest();

  // Any thread.
  // relaxed: a hint; the role guards the backlog.
  bool backlogIsEmpty() const { return !hasBacklog.load(std::memory_order_relaxed); }
  bool hasQueued();  // a thread's own places in the queues are the quicker way
  bool hasDue() const;
  bool isDue(TimePoint now) const;
  // Whether there are deadlines, so that each long step is followed by a look at them.
  bool hasTimed() const { return numTimed.load(std::memory_order_relaxed) != 0; }  // relaxed: a hint
  uint64_t numStepsOfAll() const;
  static uintptr_t markOf(const FairWorker& worker) { return reinterpret_cast<uintptr_t>(worker.parker) | 1; }
  static void wakeMarked(uintptr_t mark) { reinterpret_cast<Parker<>*>(mark & ~uintptr_t{1})->unpark(); }

  // With the lock.
  bool isEmptyLocked();
  void enterIdle(FairWorker& worker);
  void leaveIdle(FairWorker& worker);
  bool leaveMark(FairWorker& worker);
  bool takeMark(FairWorker& worker);
  void beginWatch(FairWorker& worker, TimePoint now);
  bool areStepsFine(TimePoint now);
  TimePoint sleepUntil(TimePoint until);
  void publishIdle();

  bool isEmpty();
  bool waitEmptyUntil(TimePoint deadline);
  void appointPoller();
  void exitThread();
  void wakeIfEmpty(WaitList& woken);

  // The `timerIndex` of a task that counts in numAwaited.
  static constexpr uint32_t kAwaited = kNotInHeap - 1;
  // What numTimed consists of: how often the first, and whether the second.
  static constexpr uint32_t kOnItsWay = 2, kInHeap = 1;
  static constexpr int64_t kNoEarliest = std::numeric_limits<int64_t>::max();
  // Threads that share shorter steps than this lose more by getting in each other's way than they gain.
  static constexpr uint64_t kFineStepNs = 150;

  fair::TaskScheduler& facade;
  const std::string name;
  const int numThreads;
  CheckedAllocator allocator;
  SchedulerExists exists;
  mutex lifecycle;  // one start() or stop() at a time

  alignas(kCacheLine) Inbox<FairTask> front;

  DispatcherLock<> dispatcherLock;  // guards the next four; an only thread has it always
  FairBacklog backlog;              // ready, still to go into the ready queue
  TimerHeap<FairTask> heap;
  uint32_t numAwaited = 0;  // that were in the heap, until a waker claimed them whose push has yet to come

  // Written by the role, read by everybody.
  alignas(kCacheLine) std::atomic<int64_t> earliest{kNoEarliest};  // of the heap, in the clock's ticks
  std::atomic<bool> hasBacklog{false};
  // Of the tasks with a time: those that are posted and on their way to the role, which anybody adds and the
  // role takes off, and whether the heap has one, which the role says.
  std::atomic<uint32_t> numTimed{0};

  std::atomic<uint32_t> wantedRoom{0};  // in the heap; written by reserve()

  // Filled by the role.
  FairQueue due;    // whose deadline has come
  FairQueue ready;  // all others

  std::vector<std::unique_ptr<FairWorker>> workers;

  // Written with the lock, read by everybody.
  alignas(kCacheLine) std::atomic<bool> hasNoPoller{
      false};                               // some are idle, and none of them looks now and then
  std::atomic<int64_t> armed{kNoEarliest};  // until when the idle ones sleep at most
  std::atomic<bool> isStopping{false};
  std::atomic<bool> isSpinning{false};  // one thread looks for work busily

  SpinLock lock;
  FairWorker* idle = nullptr;  // guarded by lock: a stack
  FairWorker* poller =
      nullptr;  // guarded by lock: the idle one that looks now and then while others are active
  FairWorker* marked = nullptr;  // guarded by lock: whose mark was left in the front queue last
  uint64_t watchedSteps = 0;     // guarded by lock: numStepsOfAll() when the poller looked last
  TimePoint watchedAt{};         // guarded by lock
  uint32_t numRunning = 0;       // guarded by lock: threads
  WaitList emptyWaiters;         // guarded by lock
  WaitList stopWaiters;          // guarded by lock
  uint32_t numKept = 0;          // guarded by lock: tasks that expectKept() has told of
  WaitList keptWaiters;          // guarded by lock
};

inline void FairWorker::repost(FairTask& task, FairCore& to) {
  reposted_ = &task;
  if (&to != &core) [[unlikely]] {
    to.expectKept();
  }
}

inline bool FairWorker::keepsOneFor(const FairCore& to) const {
  // relaxed: written by the step.
  return reposted_ != nullptr && reposted_->postedTo.load(std::memory_order_relaxed) == &to;
}

// The worker whose thread calls, or null.
extern constinit thread_local FairWorker* currentFairWorker;

}  // namespace weft::detail
