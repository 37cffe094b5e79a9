// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>

#include "weft/detail/base/sync.h"

// How many tasks of a group have not ended, where most are scheduled and called by one thread.
//
//   numOwn_   The tasks that the owner has scheduled, less those that it has taken back and called itself;
//             kInPlace while it does that. Used by the owner alone, or by the thread that waits in its stead,
//             which is ordered after the owner by other means.
//   others_   The tasks that others have scheduled, less all that have ended elsewhere; plus kWaitedFor while
//             somebody waits.
//
//
// The group is over when the sum is zero. The waiter adds kWaitedFor and numOwn_ to others_, in one step:
// what is above kWaitedFor are the tasks that it waits for, and the end of the last wakes it. So a task that
// the owner schedules and takes back costs no atomic operation, and any other task one.
//
// What must not happen: the last task ends between the owner's look and its sleep, and nobody wakes the
// owner. Both change one word by a read-modify-write: either the owner finds nothing left, or the task finds
// that somebody waits. A task's end is its last access, except to the waiter, which it wakes.
namespace weft::inline v0_1::detail {

template <class Waiter, class Sync = StdSync>
class GroupCount {
 public:
  // The owner schedules a task.
  void addOwn() { ++numOwn_; }

  // The owner, or the thread that waits in its stead, takes tasks back and calls them. Until endInPlace(),
  // which gets how many own tasks are left, the group is not over, and is waited for: so its own task's wait
  // for it is reported.
  // Returns: whether there are own tasks; beginInPlace(): how many.
  bool hasOwn() const { return numOwn_ > 0; }
  int64_t beginInPlace() { return std::exchange(numOwn_, kInPlace); }
  void endInPlace(int64_t left) { numOwn_ = left; }

  // Any other thread schedules a task. relaxed: the task's end comes later, and counts.
  // Requires: a task of the group has not ended, or nobody waits for the group before this has returned.
  void addOther() { others_.fetch_add(1, std::memory_order_relaxed); }

  // A task that was not taken back has ended.
  // Returns: the waiter to wake, or null; then the group may be gone.
  Waiter* endOfOther() {
    // (1) acq_rel: releases what the task has done to the waiter; acquires its waiter; pairs with (1, 2, 3).
    return others_.fetch_sub(1, std::memory_order_acq_rel) == kWaitedFor + 1 ? waiter_.get() : nullptr;
  }

  // For the owner, or the thread that waits in its stead. Returns: zero if the group is over.
  // (2) acquire: sees what the tasks have done; pairs with (1).
  int64_t numLeft() const { return numOwn_ + others_.load(std::memory_order_acquire); }
  bool isOver() const { return numLeft() == 0; }

  // Whether somebody waits, for a report of misuse. relaxed: threads would have to be ordered anyway.
  bool isWaitedFor() const {
    return numOwn_ == kInPlace || others_.load(std::memory_order_relaxed) < kWaitedFor / 2;
  }

  // For the waiter. Returns: whether the group is over; if not, a wake of `self` will come.
  bool isOverOrWakes(Waiter& self) {
    waiter_.set(&self);
    const int64_t own = std::exchange(numOwn_, 0);
    // (3) acq_rel: releases the waiter to the last task, and acquires what the tasks did; pairs with (1).
    return others_.fetch_add(kWaitedFor + own, std::memory_order_acq_rel) + own == 0;
  }

  // Once it is over. relaxed: no task is left.
  void endWait() { others_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr int64_t kWaitedFor = -(int64_t{1} << 62);
  static constexpr int64_t kInPlace = -(int64_t{1} << 30);

  int64_t numOwn_ = 0;
  typename Sync::template Var<Waiter*> waiter_;
  typename Sync::template Atomic<int64_t> others_{0};
};

}  // namespace weft::inline v0_1::detail
