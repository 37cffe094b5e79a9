// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "fair/backlog.h"
#include "fair/chain.h"
#include "os/single_writer_counter.h"
#include "weft/detail/fair/dispatcher_lock.h"
#include "weft/detail/fair/task.h"
#include "weft/detail/queue/inbox.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/detail/queue/timer_heap.h"

namespace weft::inline v0_1::detail {

// What a thread without the dispatcher lock knows of the dispatcher. The holder of the lock publishes, unless
// a comment says otherwise; any thread reads.
//
// relaxed, throughout: the values are hints about when to look. The dispatcher lock guards what they
// describe. A value is stored only if it changes, since other threads read its cache line.
class DispatchHints {
 public:
  static constexpr int64_t kNoEarliest = std::numeric_limits<int64_t>::max();

  bool hasBacklog() const { return hasBacklog_.load(std::memory_order_relaxed); }
  // The earliest deadline of the heap, in the clock's ticks.
  int64_t earliest() const { return earliest_.load(std::memory_order_relaxed); }
  bool isDue(TimePoint now) const { return earliest() <= now.time_since_epoch().count(); }
  bool hasDue() const { return earliest() != kNoEarliest && isDue(TimePoint::clock::now()); }
  // Whether there are deadlines. If so, a thread looks at them after each long step.
  bool hasTimed() const { return numTimed_.load(std::memory_order_relaxed) != 0; }
  // Whether tasks with deadlines are posted and not taken over yet.
  bool hasTimedOnItsWay() const { return numTimed_.load(std::memory_order_relaxed) >= kOnItsWay; }
  uint32_t wantedRoom() const { return wantedRoom_.load(std::memory_order_relaxed); }

  // Any thread, before the push of a task that has just been posted.
  void addOnItsWay(const FairTask& task) {
    if (task.hasTime()) [[unlikely]] {
      numTimed_.fetch_add(kOnItsWay, std::memory_order_relaxed);
    }
  }
  // The holder of the lock, which takes the task over; or any thread that does not push it after all.
  void takeOffItsWay(const FairTask& task) {
    if (task.hasTime()) {
      numTimed_.fetch_sub(kOnItsWay, std::memory_order_relaxed);
    }
  }
  // Any thread: asks for room for this many tasks in the heap.
  void wantRoom(uint32_t numTasks) { wantedRoom_.store(numTasks, std::memory_order_relaxed); }

  void publishBacklog(bool isThere) {
    if (hasBacklog() != isThere) {
      hasBacklog_.store(isThere, std::memory_order_relaxed);
    }
  }
  void publishEarliest(int64_t at) {
    if (earliest() != at) {
      earliest_.store(at, std::memory_order_relaxed);
    }
    const bool wasInHeap = (numTimed_.load(std::memory_order_relaxed) & kInHeap) != 0;
    if (wasInHeap != (at != kNoEarliest)) {
      numTimed_.fetch_xor(kInHeap, std::memory_order_relaxed);
    }
  }

 private:
  // numTimed_ is a multiple of kOnItsWay, plus kInHeap or 0.
  static constexpr uint32_t kOnItsWay = 2, kInHeap = 1;

  std::atomic<int64_t> earliest_{kNoEarliest};
  std::atomic<bool> hasBacklog_{false};
  // Tasks with a deadline: kOnItsWay for each that is posted and not taken over yet, and kInHeap if the heap
  // has a deadline.
  std::atomic<uint32_t> numTimed_{0};
  std::atomic<uint32_t> wantedRoom_{0};
};

// Sorts the tasks of a fair::TaskScheduler: out of the front queue into the backlog if they are ready, and
// otherwise into the heap of deadlines; from the heap into the due queue; from the backlog into the ready
// queue.
//
// Only the holder of `lock` uses members other than `front` and `hints`, unless a comment says otherwise.
// The only thread of a scheduler counts as the holder.
class Dispatcher {
 public:
  Dispatcher(Allocator* allocator, uint32_t blockSize);

  // Takes over what was posted. Deadlines go into the heap now, so that they are kept however long the
  // backlog is. Queues what is due.
  [[gnu::noinline]] void intake();
  // Takes over one task that was posted just now, as intake() does. publishBacklog() must follow.
  void accept(FairTask& task) {
    const bool hasDeadline = task.deadline != FairTask::kNoDeadline;
    TimePoint now = TimePoint::min();
    if (!hasDeadline || isReady(task, now)) [[likely]] {
      backlog_.append(&task);
    }
    if (hasDeadline) [[unlikely]] {
      expire();
    }
  }
  void publishBacklog() { hints.publishBacklog(!backlog_.isEmpty()); }

  bool isBacklogEmpty() const { return backlog_.isEmpty(); }
  // pop() and popAndShare() require that the backlog is not empty.
  FairTask* pop() {
    FairTask* const task = backlog_.pop();
    if (backlog_.isEmpty()) [[unlikely]] {
      publishBacklog();
    }
    return task;
  }
  // If other threads are active, tasks behind the one returned are queued for them.
  FairTask* popAndShare() {
    FairTask* const task = backlog_.pop();
    if (lock.numActive() != 1 && !backlog_.isEmpty()) {
      refillReady();
    }
    publishBacklog();
    return task;
  }

  // Takes all tasks, queued or waiting, out of the queues and the heap. Requires: no thread runs.
  FairChain takeAll();
  // Whether no thread is active, and no task is queued or waits.
  // Requires: no thread becomes active meanwhile.
  bool isEmpty() {
    // With no thread active, nobody has the lock.
    return lock.numActive() == 0 && !hasQueued() && heap_.empty() && numAwaited_ == 0;
  }
  // Any thread. A hint.
  bool hasQueued() { return hints.hasBacklog() || !front.empty() || !ready_.empty() || !due_.empty(); }

  alignas(kCacheLine) Inbox<FairTask> front;  // what was posted and not taken over yet; any thread pushes
  DispatcherLock<> lock;

 private:
  friend class FairConsumer;
  using Queue = SegmentedQueue<FairTask*, StdSync, 0, Producers::InTurn>;

  // The `timerIndex` of a task that counts in numAwaited_.
  static constexpr uint32_t kAwaited = kNotInHeap - 1;

  bool isReady(FairTask& task, TimePoint& now);
  void forgetWait(FairTask& task);
  void await(FairTask& task);
  void expire();
  [[gnu::noinline]] void refillReady();
  void takeFront(FairChain& taken);

  FairBacklog backlog_;  // ready tasks that are not in the ready queue yet
  TimerHeap<FairTask> heap_;
  uint32_t numAwaited_ = 0;  // tasks out of the heap that a waker has claimed and not pushed yet

 public:
  alignas(kCacheLine) DispatchHints hints;

 private:
  // Any thread pops.
  Queue due_;    // tasks whose deadline has come
  Queue ready_;  // all other ready tasks
};

// How one thread takes from a Dispatcher's queues: what is due first, with turns for the other tasks.
class FairConsumer {
 public:
  // `numSteps`: that the thread has run. Outlives the consumer.
  FairConsumer(Dispatcher& dispatcher, const SingleWriterCounter& numSteps)
      : numSteps_(numSteps), due_(dispatcher.due_), ready_(dispatcher.ready_) {}

  // A hint.
  bool isEmpty() { return due_.empty() && ready_.empty(); }

  // Returns: a task, or null: also if only due tasks are queued, and it is the turn of the others.
  FairTask* pop() {
    if (!due_.empty()) [[unlikely]] {
      if (FairTask* const task = popDue()) {
        return task;
      }
    }
    return ready_.empty() ? nullptr : popReady();
  }
  // pop() for the holder of the dispatcher lock. Returns: null if nothing is queued, or if the backlog, which
  // is not empty where `hasBacklog`, has its turn.
  [[gnu::noinline]] FairTask* popQueued(bool hasBacklog) {
    FairTask* task = popDue();
    task = task == nullptr ? popReady() : task;
    if (task == nullptr) {
      endTurn();
      task = hasBacklog ? nullptr : popDue();
    }
    return task;
  }
  // Ends the turn of the other tasks, of which none was there.
  void endTurn() { dueInARow_ = 0; }

 private:
  // Due tasks that run in a row before one from the ready queue.
  static constexpr uint32_t kDueInARow = 16;

  [[gnu::noinline]] FairTask* popDue() {
    // A step between ends the row, also that of a task which was in neither queue.
    if (numSteps_.get() != stepsAtDue_ + 1) {
      endTurn();
    }
    FairTask* task = nullptr;
    if (dueInARow_ >= kDueInARow || !due_.pop(task)) {
      return nullptr;  // not `task`: a pop() that fails may have stored one that another thread took
    }
    stepsAtDue_ = numSteps_.get();
    ++dueInARow_;
    return task;
  }
  [[gnu::noinline]] FairTask* popReady() {
    FairTask* task = nullptr;
    return ready_.pop(task) ? task : nullptr;
  }

  const SingleWriterCounter& numSteps_;
  Dispatcher::Queue::Consumer due_, ready_;
  uint64_t stepsAtDue_ = 0;  // when a due task was taken last
  uint32_t dueInARow_ = 0;
};

}  // namespace weft::inline v0_1::detail
