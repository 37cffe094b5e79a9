// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>

#include "os/single_writer_counter.h"
#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// Holds a worker back from starting tasks while very many of its fibers wait, each for the one before.
//
// The problem: each of a million tasks waits for the one before. Then all workers but one only open fibers
// for tasks whose turn has not come. That takes gigabytes of stacks, and a wake across threads for each task.
//
// A worker is held back if its scheduler has several workers, its own tasks block at once, and a thousand of
// its fibers are blocked. It then waits for one of these fibers to end, for a millisecond. After that:
//
// - Some have ended, but as many others have come to wait: the worker starts a few more tasks.
// - None has ended: waiting longer frees nobody. If all other workers wait too, the worker starts as many
//   again. Otherwise it starts 128 more, which is half as fast as fibers can be made.
//
// So tasks that all wait for each other, or for one that takes long elsewhere, all start without much delay.
// A row opens at most 128 fibers for each millisecond in which the system does not run the thread whose turn
// it is. A fiber that a timer or a foreign thread wakes waited for no task here, and lets more start.
//
// What happens without each rule. The figures are medians on two processors that were busy otherwise, so that
// only ratios count. A row has 60,000 to 300,000 tasks; a meeting is 50,000 tasks that wait for each other.
//
// - No hold at all: a row takes two to five times the memory.
// - Holds of 250 us instead of a millisecond: a row on 4 workers takes a third more memory.
// - 128 tasks, rather than four, after fibers have ended: a row on 4 workers takes twice the memory.
// - A fiber that is ready does not count as one that has ended: a row takes 1.3 to 6 times the memory.
// - Four tasks, not 128, after a hold in vain: a meeting beside one long task takes over 6 s, not under 1.
// - Not as many again where all wait: a meeting takes 0.39 s instead of 0.25.
// - No tasks for foreign wakes: 300,000 tasks that sleep for 0 to 100 ms take 1.2 s instead of 0.6.
// - Tasks that have scheduled others are held back too: beside one long task, a chain of 50,000 tasks that
//   each schedule the next and wait for it takes 0.86 s instead of 0.55.
// - The limit never falls: a row after a burst of 30,000 blocked fibers takes up to five times the memory.
//
// Rejected: as many again in all cases. A turn that comes some milliseconds late then costs gigabytes.
// Rejected: a fixed number of tasks after each hold. With 128 a row takes 1.3 to 2.2 times the memory, and a
// meeting a third more time; with 32 a meeting takes twice the time; with 4 it does not end within 6 s.
class Throttle {
 public:
  // What the other workers of the scheduler do: whether all of them wait too.
  enum class Others { Run, AllWait };

  explicit Throttle(bool hasThieves) : hasThieves_(hasThieves) {}

  // noteBlockedAtOnce(): a task has blocked that has scheduled nothing. noteEnded(): a task has ended.
  void noteBlockedAtOnce() { hasBlockedAtOnce_ = true; }
  void noteEnded() { hasBlockedAtOnce_ = false; }
  // Fibers were woken by a timer or from outside of the workers.
  void noteForeignWakes(uint64_t count) { limit_ += count * kStartsPerForeignWake; }

  // A fiber begins, and ends, a wait for I/O: for something other than tasks, so that it holds nobody back.
  void beginIo() { ++numInIo_; }
  void endIo() {
    --numInIo_;
    noteForeignWakes(1);
  }
  // Any thread.
  uint64_t numInIo() const { return numInIo_.get(); }

  // Returns: whether to call beginHold() before a worker with `numBlocked` blocked fibers starts a task.
  bool mayHold(uint64_t numBlocked) const {
    return hasThieves_ && hasBlockedAtOnce_ && numBlocked - numInIo() > kBlockedFreely;
  }

  // Holds the worker back until a fiber of it is ready, or until end(). `numEnded`: tasks ended on it so far.
  // Returns: false if the worker may start a task.
  bool beginHold(uint64_t numBlocked, uint64_t numEnded);
  TimePoint end() const { return heldUntil_; }
  // Called once end() has come: the worker may start some tasks. `hasReady`: a fiber is ready.
  void endHold(uint64_t numBlocked, uint64_t numEnded, bool hasReady, Others others);

 private:
  static constexpr uint64_t kBlockedFreely = 1024;  // fibers
  static constexpr uint64_t kStartsPerHold = 4;
  static constexpr uint64_t kStartsPerVainHold = 128;
  static constexpr uint64_t kStartsPerForeignWake = 8;
  static constexpr auto kHoldBack = std::chrono::milliseconds(1);

  const bool hasThieves_;
  bool hasBlockedAtOnce_ = false;    // since a task ended last
  SingleWriterCounter numInIo_;      // of the blocked fibers
  uint64_t limit_ = kBlockedFreely;  // other blocked fibers up to which tasks are started
  uint64_t heldAt_ = 0;              // other blocked fibers when the hold began, or 0
  uint64_t endedBefore_ = 0;         // tasks that had ended when the hold began
  TimePoint heldUntil_{};
};

}  // namespace weft::inline v0_1::detail
