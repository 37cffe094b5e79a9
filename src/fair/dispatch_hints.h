// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "weft/detail/fair/task.h"

namespace weft::inline v0_1::detail {

// What the dispatcher lets threads know that do not have its lock. The holder of the lock publishes, unless a
// comment says otherwise; any thread reads.
//
// relaxed, throughout: hints about when to look. The dispatcher lock guards what they tell of. They are
// written only if they change, since other threads read them.
class DispatchHints {
 public:
  static constexpr int64_t kNoEarliest = std::numeric_limits<int64_t>::max();

  bool hasBacklog() const { return hasBacklog_.load(std::memory_order_relaxed); }
  // Of the heap, in the clock's ticks.
  int64_t earliest() const { return earliest_.load(std::memory_order_relaxed); }
  bool isDue(TimePoint now) const { return earliest() <= now.time_since_epoch().count(); }
  bool hasDue() const { return earliest() != kNoEarliest && isDue(TimePoint::clock::now()); }
  // Whether there are deadlines. If so, a thread looks at them after each long step.
  bool hasTimed() const { return numTimed_.load(std::memory_order_relaxed) != 0; }
  // Whether some of them are posted and not taken over yet.
  bool hasTimedOnItsWay() const { return numTimed_.load(std::memory_order_relaxed) >= kOnItsWay; }
  uint32_t wantedRoom() const { return wantedRoom_.load(std::memory_order_relaxed); }

  // Any thread, before the push of a task that has just been posted.
  void addOnItsWay(const FairTask& task) {
    if (task.hasTime()) [[unlikely]] {
      numTimed_.fetch_add(kOnItsWay, std::memory_order_relaxed);
    }
  }
  // The task is taken over. Or, by any thread: it is not pushed after all.
  void takeOffItsWay(const FairTask& task) {
    if (task.hasTime()) {
      numTimed_.fetch_sub(kOnItsWay, std::memory_order_relaxed);
    }
  }
  // Any thread: room for so many tasks in the heap.
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

}  // namespace weft::inline v0_1::detail
