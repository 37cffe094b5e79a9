// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "fair/dispatcher.h"

#include "weft/detail/base/spin_lock.h"

namespace weft::inline v0_1::detail {
namespace {

// Used-up blocks that a queue keeps.
constexpr uint32_t kSpareBlocks = 16;

// Tasks that the dispatcher hands to the ready queue at once.
constexpr uint32_t kRefill = 64;

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

Dispatcher::Dispatcher(Allocator* allocator, uint32_t blockSize)
    : backlog_(allocator),
      heap_(allocator),
      due_(allocator, kSpareBlocks, blockSize),
      ready_(allocator, kSpareBlocks, blockSize) {}

void Dispatcher::intake() {
  if (front.empty() && heap_.empty()) {
    return;
  }
  heap_.reserve(hints.wantedRoom());
  FairBacklog::Reversed taken(backlog_);
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
void Dispatcher::refillReady() {
  FairTask* batch[kRefill];
  uint32_t count = 0;
  while (count < kRefill && !backlog_.isEmpty()) {
    batch[count++] = backlog_.pop();
  }
  ready_.pushBatch(batch, count);
}

// `task` has a deadline, and has been posted, or pushed by a waker. `now`: TimePoint::min() until it is read.
// Returns: true if the caller is to append the task to the backlog; false if the task is now in the due queue
// or in the heap. From the heap expire() takes it, even if its deadline has come already.
bool Dispatcher::isReady(FairTask& task, TimePoint& now) {
  forgetWait(task);
  if (task.state.tryWait()) {
    heap_.add(&task);
    return false;
  }
  // The task was woken. If its deadline has come too, it is due: the wake must not make it run later.
  if (task.deadline == kNever) {
    return true;
  }
  now = now == TimePoint::min() ? TimePoint::clock::now() : now;
  if (now < task.deadline) {
    return true;
  }
  due_.push(&task);
  return false;
}

void Dispatcher::forgetWait(FairTask& task) {
  if (task.timerIndex == kAwaited) {
    task.timerIndex = kNotInHeap;
    --numAwaited_;
  } else if (task.timerIndex != kNotInHeap) {
    heap_.remove(&task);
  } else {
    hints.takeOffItsWay(task);
  }
}

// Counts a task that was taken out of the heap, and that a waker has claimed and is about to push.
void Dispatcher::await(FairTask& task) {
  task.timerIndex = kAwaited;
  ++numAwaited_;
}

// Queues the tasks whose deadlines have come, and publishes the next deadline.
void Dispatcher::expire() {
  if (!heap_.empty() && heap_.earliest()->deadline != kNever) {
    const TimePoint now = TimePoint::clock::now();
    while (FairTask* task = heap_.popExpired(now)) {
      if (task->state.expire()) {
        due_.push(task);
      } else {
        await(*task);
      }
    }
  }
  hints.publishEarliest(heap_.empty() ? DispatchHints::kNoEarliest
                                      : heap_.earliest()->deadline.time_since_epoch().count());
}

void Dispatcher::takeFront(FairChain& taken) {
  for (FairTask* task = front.popAll(); task != nullptr;) {
    FairTask* const next = task->inboxNext.get();
    forgetWait(*task);
    taken.append(*task);
    task = next;
  }
}

FairChain Dispatcher::takeAll() {
  FairChain queued;
  FairTask* task = nullptr;
  for (Queue* queue : {&due_, &ready_}) {
    for (Queue::Consumer consumer(*queue); consumer.pop(task);) {
      queued.append(*task);
    }
  }
  while (!backlog_.isEmpty()) {
    queued.append(*backlog_.pop());
  }
  publishBacklog();
  takeFront(queued);
  while ((task = heap_.popExpired(kNever)) != nullptr) {
    if (task->state.cancelWait()) {
      queued.append(*task);
    } else {
      await(*task);
    }
  }
  for (uint32_t round = 0; numAwaited_ != 0;) {
    relax(round);
    takeFront(queued);
  }
  expire();
  FairChain taken;
  while ((task = queued.pop()) != nullptr) {
    taken.append(*task);
    task->state.forgetDeadline();
    if (!task->ops->keepsDeadline) {
      task->deadline = FairTask::kNoDeadline;
    }
    // relaxed: the caller owns them from now on.
    task->postedTo.store(nullptr, std::memory_order_relaxed);
  }
  return taken;
}

}  // namespace weft::inline v0_1::detail
