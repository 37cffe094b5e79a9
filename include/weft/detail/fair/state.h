// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::detail {

// The state of a fair::Task, in one word that any thread may change at any time.
//
//   Pending    0          with its owner, queued to be looked at, or running
//   Waiting    kWaiting   in the heap of deadlines, or taken out of it by the role that has yet to decide
//   Ready      kWoken     woken by a wakeup; it runs next, or has yet to be looked at
//   Due        kDue       ready because its deadline has come
//   Signaled   kSignaled  has a signal that no step has received; it is ready as well
//
// kWoken and kSignaled go together with all others. What an event does, by the state that it finds:
//
//                   Pending    Waiting            Ready           Due            Signaled
//   wakeup          Ready      Ready, *claims*    Ready           Due            Signaled, Ready
//   signal          Signaled   Signaled, *claims* Ready, Signaled Due, Signaled  Signaled
//   role: tryWait   Waiting    -                  must run        -              must run
//   role: expire    -          Due, must run      was claimed     -              was claimed
//   start           Pending    Pending            Pending         Pending        Signaled
//   receiveSignal   no         -                  no              -              Pending, yes
//
// Whoever finds plain kWaiting and adds kWoken or kSignaled *claims* the task: it owes the scheduler one push
// of the task into the front queue, which is its last access to the task. The role (whoever dispatches)
// leaves a claimed task alone until that push arrives. So, of a deadline and several wakers, exactly one
// makes the task run, and a task that runs is not touched by any waker any more: one that did not claim
// touched it last by its read-modify-write.
//
// What must not happen:
//     waker                      role                       step
//     sets its flag
//                                deadline: runs the task    sees the flag, deletes the task
//     wakes the task: gone
// It cannot: flag and wake are one read-modify-write, and after it only a claimer touches the task, which
// does not run before the claimer's push.
//
// A start that finds Pending changes nothing: a wakeup that comes after its load counts for the next
// dispatch, as does one that comes while the task runs. So tasks without deadlines that nobody wakes pay no
// read-modify-write for their state.
//
// Rejected: one value per state instead of bits (each event would be a loop, and a wakeup that finds the task
// ready would have to write it all the same, so that the woken step sees what came before it); a mark "ready"
// that the role sets on tasks without deadlines (one more read-modify-write for each of them, to tell nobody
// anything).
template <class Sync = StdSync>
class FairState {
 public:
  // Any thread. Returns: whether the caller has claimed the task, and must push it.
  // Memory ordering: what came before is seen by the next start().
  bool wakeup() {
    // (1) acq_rel: publishes to the step; a claimer sees the task as it was posted; pairs with (3, 4, 5).
    return word_.fetch_or(kWoken, std::memory_order_acq_rel) == kWaiting;
  }

  // As wakeup(), and sets the signal in the same step.
  bool signal() {
    // (2) acq_rel: publishes to the step; a claimer sees the task as posted; pairs with (3, 4, 5, 6, 7).
    return word_.fetch_or(kSignaled, std::memory_order_acq_rel) == kWaiting;
  }

  // The role: begins to wait for a deadline. Returns: false if the task was woken or signalled before, and
  // must run.
  bool tryWait() {
    // relaxed: spares a compare-exchange that would fail; it remains so until the task has run.
    if (word_.load(std::memory_order_relaxed) != kPending) {
      return false;
    }
    uint32_t expected = kPending;
    // (3) release: the poster's writes, which the role has seen, are seen by who claims; pairs with (1, 2).
    return word_.compare_exchange_strong(expected, kWaiting, std::memory_order_release,
                                         std::memory_order_relaxed);
  }

  // The role: the deadline of a task in the heap has come. Returns: whether it must run; else a claimer's
  // push will come.
  bool expire() {
    uint32_t expected = kWaiting;
    // relaxed: publishes nothing, and the queue to the step orders the rest.
    return word_.compare_exchange_strong(expected, kDue, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }

  // Whoever runs the task, before its step. Returns: whether its deadline, and nobody else, made it run.
  bool start() {
    // (4) acquire: the step sees what came before each wakeup and signal so far; pairs with (1, 2).
    if ((word_.load(std::memory_order_acquire) & ~kSignaled) == 0) [[likely]] {
      return false;
    }
    // (5) acquire: the same for those that came since; pairs with (1, 2).
    return (word_.fetch_and(kSignaled, std::memory_order_acquire) & kDue) != 0;
  }

  // The step: takes the signal. Returns: whether there was one.
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

  // While no role is there: the task, which is in no queue any more, will not run for its deadline.
  // relaxed: as in expire().
  void forgetDeadline() { word_.fetch_and(~kDue, std::memory_order_relaxed); }

  // While no role is there: takes the task out of its wait. Returns: false if a claimer's push will come.
  bool cancelWait() {
    uint32_t expected = kWaiting;
    // relaxed: as in expire().
    return word_.compare_exchange_strong(expected, kPending, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kPending = 0, kWaiting = 1, kWoken = 2, kDue = 4, kSignaled = 8;

  // fetch_or by any thread; the compare-exchanges by the role; fetch_and by whoever runs the task.
  typename Sync::template Atomic<uint32_t> word_{kPending};
};

}  // namespace weft::detail
