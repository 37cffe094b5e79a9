// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// The state of a fair::Task, in one word that any thread may change at any time.
//
//   Pending    0          with its owner, queued for the dispatcher, or running
//   Waiting    kWaiting   in the heap of deadlines, or just taken out of it by the dispatcher
//   Ready      kWoken     woken by a wakeup; it runs next, or is queued for the dispatcher
//   Due        kDue       ready because its deadline has come
//   Signaled   kSignaled  has a signal that no step has received; it is ready as well
// The dispatcher is the thread that has the dispatcher lock. kWoken and kSignaled may be set beside any other
// state. What an event does, by the state that it finds:
//
//                         Pending    Waiting            Ready           Due            Signaled
//   wakeup                Ready      Ready, *claims*    Ready           Due            Signaled, Ready
//   signal                Signaled   Signaled, *claims* Ready, Signaled Due, Signaled  Signaled
//   dispatcher: tryWait   Waiting    -                  must run        -              must run
//   dispatcher: expire    -          Due, must run      was claimed     -              was claimed
//   start                 Pending    Pending            Pending         Pending        Signaled
//   receiveSignal         no         -                  no              -              Pending, yes
// A waker that finds plain kWaiting and adds kWoken or kSignaled *claims* the task: it owes the scheduler one
// push of the task into the front queue, its last access to the task. The dispatcher leaves a claimed task
// alone until the push arrives. So, of a deadline and several wakers, exactly one makes the task run. And no
// waker touches a running task: without a claim, its read-modify-write was its last access.
//
// What must not happen:
//     waker                      dispatcher                 step
//     sets its flag
//                                deadline: runs the task    sees the flag, deletes the task
//     wakes the task: gone
// It cannot: the flag and the wake are one read-modify-write. After it only a claimer touches the task, and a
// claimed task does not run before the claimer's push.
//
// A start that finds Pending changes nothing. A wakeup that comes after its load counts for the next
// dispatch, like one that comes while the task runs. So plain tasks cost no read-modify-write.
//
// Rejected: one value per state instead of bits. Each event would be a loop. A wakeup of a ready task would
// still have to write, so that the step sees what came before the wakeup.
// Rejected: a mark "ready" that the dispatcher sets on tasks without deadlines. It would cost a write.
template <class Sync = StdSync>
class FairState {
 public:
  // Any thread. Returns: whether the caller has claimed the task, and must push it.
  // Memory ordering: the next start() sees what came before.
  bool wakeup() {
    // (1) acq_rel: publishes to the step; a claimer sees the task as it was posted; pairs with (3, 4, 5).
    return word_.fetch_or(kWoken, std::memory_order_acq_rel) == kWaiting;
  }

  // As wakeup(), and sets the signal in the same atomic step.
  bool signal() {
    // (2) acq_rel: publishes to the step; a claimer sees the task as posted; pairs with (3, 4, 5, 6, 7).
    return word_.fetch_or(kSignaled, std::memory_order_acq_rel) == kWaiting;
  }

  // The dispatcher begins to wait for a deadline.
  // Returns: false if the task was woken or signalled before, and must run.
  bool tryWait() {
    // relaxed: saves a compare-exchange that would fail; the word stays as it is until the task has run.
    if (word_.load(std::memory_order_relaxed) != kPending) {
      return false;
    }
    uint32_t expected = kPending;
    // (3) release: a claimer sees the poster's writes, which the dispatcher has seen; pairs with (1, 2).
    return word_.compare_exchange_strong(expected, kWaiting, std::memory_order_release,
                                         std::memory_order_relaxed);
  }

  // The dispatcher: the deadline of a task in the heap has come.
  // Returns: whether the task must run. If not, a claimer's push will come.
  bool expire() {
    uint32_t expected = kWaiting;
    // relaxed: publishes nothing, and the queue to the step orders the rest.
    return word_.compare_exchange_strong(expected, kDue, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }

  // The thread that runs the task, before its step. Returns: whether its deadline, and no waker, made it run.
  bool start() {
    // (4) acquire: the step sees what came before each wakeup and signal so far; pairs with (1, 2).
    if ((word_.load(std::memory_order_acquire) & ~kSignaled) == 0) [[likely]] {
      return false;
    }
    // (5) acquire: the step sees what came before later wakeups and signals; pairs with (1, 2).
    return (word_.fetch_and(kSignaled, std::memory_order_acquire) & kDue) != 0;
  }

  // The step takes the signal. Returns: whether there was one.
  bool receiveSignal() {
    if (!isSignaled()) {
      return false;
    }
    // (6) acquire: sees what came before the signals that it takes; pairs with (2).
    word_.fetch_and(~kSignaled, std::memory_order_acquire);
    return true;
  }

  // Any thread. Returns: whether there is a signal that no step has received.
  bool isSignaled() const {
    // (7) acquire: sees what came before the signal; pairs with (2).
    return (word_.load(std::memory_order_acquire) & kSignaled) != 0;
  }

  // Requires: no thread of the scheduler runs, and the task is in no queue. relaxed: as in expire().
  void forgetDeadline() { word_.fetch_and(~kDue, std::memory_order_relaxed); }

  // Requires: no thread of the scheduler runs. Takes the task out of its wait.
  // Returns: false if a claimer's push will come.
  bool cancelWait() {
    uint32_t expected = kWaiting;
    // relaxed: as in expire().
    return word_.compare_exchange_strong(expected, kPending, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kPending = 0, kWaiting = 1, kWoken = 2, kDue = 4, kSignaled = 8;

  // fetch_or by any thread; compare-exchanges by the dispatcher; fetch_and by the thread that runs the task.
  typename Sync::template Atomic<uint32_t> word_{kPending};
};

}  // namespace weft::inline v0_1::detail
