// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "fair/backlog.h"
#include "fair/chain.h"
#include "fair/dispatch_hints.h"
#include "weft/detail/fair/dispatcher_lock.h"
#include "weft/detail/fair/task.h"
#include "weft/detail/queue/inbox.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/detail/queue/timer_heap.h"

namespace weft::inline v0_1::detail {

// Sorts the tasks of a fair::TaskScheduler: out of the front queue into the backlog if they are ready, and
// otherwise into the heap of deadlines; from the heap into the due queue; from the backlog into the ready
// queue.
//
// Everything is for the holder of `lock`, but for `front` and `hints`, and where a comment says otherwise. An
// only thread always has the lock.
class Dispatcher {
 public:
  Dispatcher(Allocator* allocator, uint32_t blockSize);

  // Takes over what was posted. Deadlines go into the heap now, so that they are kept however long the
  // backlog is. Queues what is due.
  [[gnu::noinline]] void intake();
  // Takes over one task that was posted just now, as intake() does. publishBacklog() must follow.
  void accept(FairTask& task) {
    if (task.deadline == FairTask::kNoDeadline) [[likely]] {
      backlog_.append(&task);
    } else {
      acceptDeadline(task);
    }
  }
  void publishBacklog() { hints.publishBacklog(!backlog_.isEmpty()); }

  bool isBacklogEmpty() const { return backlog_.isEmpty(); }
  // Requires, both: the backlog is not empty.
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

  // Takes what is queued, and what waits, out of all queues.
  // Requires: no thread runs.
  FairChain takeAll();
  // Whether no thread is active, and no task is queued or waits.
  // Requires: no thread becomes active meanwhile.
  bool isEmpty() {
    // With no thread active, nobody has the lock.
    return lock.numActive() == 0 && !hasQueued() && heap_.empty() && numAwaited_ == 0;
  }
  // Any thread. A hint; FairWorker::hasQueued() is quicker.
  bool hasQueued() { return hints.hasBacklog() || !front.empty() || !ready_.empty() || !due_.empty(); }

  alignas(kCacheLine) Inbox<FairTask> front;  // what was posted and not taken over yet; any thread pushes
  DispatcherLock<> lock;

 private:
  friend class FairConsumer;
  using Queue = SegmentedQueue<FairTask*, StdSync, 0, Producers::InTurn>;

  // The `timerIndex` of a task that counts in numAwaited_.
  static constexpr uint32_t kAwaited = kNotInHeap - 1;

  void acceptDeadline(FairTask& task);
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

}  // namespace weft::inline v0_1::detail
