// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <utility>

#include "weft/detail/base/sync.h"

// How many tasks of a group have not ended, where most are scheduled and called by one thread.
//
// numOwn_    tasks that the owner has scheduled, less those that it has taken back and called itself;
//            kInPlace while it does that. The owner's alone, or that of whoever waits in its stead, who is
//            ordered after it by other means
// others_    kNobodyWaits, plus the tasks that others have scheduled, less all that have ended elsewhere. So
//            the group is over when the sum of both is kNobodyWaits. Who waits takes kNobodyWaits away and
//            adds numOwn_, in one step: what is left are the tasks that it waits for, and whoever ends the
//            last of them wakes it.
//
// Tasks that the owner schedules and takes back thus cost no atomic operation, and others one each.
//
// What must not happen: the last task ends between the owner's look and its sleep, and nobody wakes it. Both
// change the same word with one read-modify-write: either the owner's finds nothing left, or the task's finds
// that somebody waits. The end of a task is its last access, but for the waiter, who cannot go on before it
// is woken.
namespace weft::detail {

template <class Waiter, class Sync = StdSync>
class GroupCount {
 public:
  // The owner schedules a task.
  void addOwn() { ++numOwn_; }

  // The owner, or whoever waits in its stead, goes to take tasks back and call them. Returns: how many own
  // tasks there are. Until endInPlace(), which gets how many are left, the group is not over, and somebody
  // waits for it: so a task of the group that waits for it finds that out.
  bool hasOwn() const { return numOwn_ > 0; }
  int64_t beginInPlace() { return std::exchange(numOwn_, kInPlace); }
  void endInPlace(int64_t left) { numOwn_ = left; }

  // Anybody else schedules a task. Requires: a task of the group has not ended, or nobody waits for the group
  // before this has returned.
  // relaxed: its end comes later, and counts.
  void addOther() { others_.fetch_add(1, std::memory_order_relaxed); }

  // A task has ended that was not taken back. Returns: whom to wake, or null. The group may be gone where it
  // is null.
  Waiter* endOfOther() {
    // (1) acq_rel: releases what the task has done to the one that waits; acquires its waiter; pairs with (1,
    // 2, 3).
    return others_.fetch_sub(1, std::memory_order_acq_rel) == 1 ? waiter_.get() : nullptr;
  }

  // The owner, or whoever waits in its stead.
  // (2) acquire: sees what the tasks have done; pairs with (1).
  bool isOver() const { return numOwn_ + others_.load(std::memory_order_acquire) == kNobodyWaits; }

  // Whether somebody waits. For a report of bad use.
  // relaxed: that is a matter of order between threads anyway.
  bool isWaitedFor() const {
    return numOwn_ == kInPlace || others_.load(std::memory_order_relaxed) < kNobodyWaits / 2;
  }

  // The one that waits. Returns: whether the group is over; if not, a wake of `self` will come.
  bool isOverOrWakes(Waiter& self) {
    waiter_.set(&self);
    const int64_t given = kNobodyWaits - std::exchange(numOwn_, 0);
    // (3) acq_rel: releases the waiter to whoever ends the last task, and acquires what was done by those
    // that have ended; pairs with (1).
    return others_.fetch_sub(given, std::memory_order_acq_rel) == given;
  }

  // Once it is over.
  // relaxed: no task is left.
  void endWait() { others_.store(kNobodyWaits, std::memory_order_relaxed); }

 private:
  static constexpr int64_t kNobodyWaits = int64_t{1} << 62;
  static constexpr int64_t kInPlace = -(int64_t{1} << 30);

  int64_t numOwn_ = 0;
  typename Sync::template Var<Waiter*> waiter_;
  typename Sync::template Atomic<int64_t> others_{kNobodyWaits};
};

}  // namespace weft::detail
