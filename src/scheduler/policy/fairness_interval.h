// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "weft/detail/base/ticks.h"

namespace weft::inline v0_1::detail {

// A span of ticks() that comes again and again.
class Window {
 public:
  explicit Window(uint64_t length) : length_(length) {}

  // Returns: whether the window is over, or `times` windows. Then another one begins.
  bool hasPassed(uint64_t now, uint64_t times = 1) {
    const bool isOver = now - begin_ >= times * length_;
    begin_ = isOver ? now : begin_;
    return isOver;
  }

 private:
  const uint64_t length_;
  uint64_t begin_ = 0;
};

// Prevents starvation: decides when others have their turn on a thread, and who has it.
//
// Others have a turn after 61 dequeues. If dequeues take longer than 2 us, others also have a turn some 100
// us after their last one, unless they have had an eighth of the time. Further turns follow at once, until
// they have had that eighth, or 61 turns in a row.
//
// A poll looks whether a turn has come. The thread polls after as many dequeues as lately took 100 us, at
// most 61. The number is halved, or more, when they take longer, and doubled when they take less. While a
// timer is set, a poll comes after each dequeue, since only a poll finds the timer due.
//
// While fibers wait for I/O, a poll comes after 16 dequeues or some 100 us, for the reactor. A look into the
// reactor is a system call. A look into an AsioContext is two, and comes after 61 dequeues: with 16, the
// benchmark echo was 3 % slower.
class FairnessInterval {
 public:
  // Oldest: the worker's own oldest task, if it starves. Stranded: a task in the deque of another thread.
  enum class Whose { FromOutside, Oldest, Stranded };
  static constexpr int kNumWhose = 3;

  using Ticks = uint64_t;  // of ticks()

  static constexpr uint32_t kInterval = 61;         // dequeues between the turns of others, at most
  static constexpr uint64_t kSlice = 100;           // microseconds
  static constexpr Ticks kShare = 7;                // others have one tick, all else has so many
  static constexpr uint32_t kReactorInterval = 16;  // dequeues between two looks into the reactor

  // `untilPoll` counts the dequeues down, in inline code: see LocalDeque. There is a poll when it reaches 0.
  FairnessInterval(uint32_t& untilPoll, Ticks now)
      : untilPoll_(untilPoll), now_(now), turnAt_(now), reactorAt_(now) {
    untilPoll_ = kInterval;
    pollWithin(1);
  }

  // While a timer is set, or due.
  void pollAtEachDequeue() { pollWithin(1); }
  // There is a poll within `most` dequeues, for example when a fiber begins to wait for I/O.
  void pollWithin(uint32_t most) {
    if (untilPoll_ > most) {
      untilTurn_ += untilPoll_ - most;
      round_ -= untilPoll_ - most;
      untilPoll_ = most;
    }
  }
  // The thread has slept. Its dequeues may take longer now.
  void restart(Ticks now) {
    now_ = turnAt_ = now;
    areOthersRunning_ = false;
    numInSlice_ = 1;
    pollWithin(1);
  }

  // The first step of a poll.
  void notePoll(Ticks now) {
    const Ticks elapsed = std::min(now - std::exchange(now_, now), mostCredit_);
    numDequeues_ += round_;
    hadTurn_ = std::exchange(areOthersRunning_, false);
    if (hadTurn_) {
      credit_ =
          std::max(credit_ - static_cast<int64_t>(elapsed * kShare), -static_cast<int64_t>(mostCredit_));
      return;
    }
    credit_ = std::min(credit_ + static_cast<int64_t>(elapsed), static_cast<int64_t>(mostCredit_));
    if (elapsed > slice_ || numInSlice_ != kInterval) {
      adapt(elapsed);
    }
  }
  uint64_t numDequeues() const { return numDequeues_; }  // up to the last poll
  Ticks now() const { return now_; }                     // at the last poll
  // Dequeues that lately took some 100 us, kInterval at most. A sleep does not change it.
  uint32_t numInSlice() const { return numMeasured_; }

  // At a poll, while fibers wait for I/O. `interval`: dequeues until the next look.
  // Returns: whether it is the reactor's turn. Because of timers there may be more polls than such turns.
  bool isReactorsTurn(uint32_t interval) {
    untilReactor_ -= std::min(untilReactor_, round_);
    if (untilReactor_ != 0 && now_ - reactorAt_ < slice_) {
      return false;
    }
    untilReactor_ = interval;
    reactorAt_ = now_;
    return true;
  }

  // At a poll. Returns: whether others have their turn, so that the poll is not for a timer only.
  bool isTurn() const {
    return untilTurn_ == 0 || (credit_ > 0 && (hadTurn_ ? numInRow_ < kInterval : now_ - turnAt_ >= slice_));
  }

  // At a poll. `hasExpired`: a timer was due. Then others wait one more dequeue: its fiber comes first.
  // Returns: whether others have their turn now. Then endTurn() or passOver() follows.
  bool beginTurn(bool hasExpired) {
    if (!isTurn()) {
      return false;
    }
    hasWaited_ = hasExpired && !hasWaited_;
    if (hasWaited_) {
      putOff();
      return false;
    }
    turnAt_ = now_;
    untilTurn_ = kInterval;
    numInRow_ = hadTurn_ ? numInRow_ + 1 : 1;
    return true;
  }
  // Others had their turn. `isExtra`: without it, something else would run now, so its time counts as theirs.
  void endTurn(bool isExtra) { areOthersRunning_ = isExtra; }
  // Nobody wants the turn. What others have saved up is lost: it would be a burst later.
  void passOver() {
    credit_ = std::min<int64_t>(credit_, 0);
    turnAt_ = now_;
    untilTurn_ = kInterval;
  }
  // The turn comes at the next dequeue.
  void putOff() { untilTurn_ = 1; }

  // Returns: who has the turn; called again, who has it if the one before does not want it.
  Whose next() { return whose_ = static_cast<Whose>((static_cast<int>(whose_) + 1) % kNumWhose); }

  // Ends a poll. `isAtEachDequeue`: a timer is set, or due. `isReactorAwaited`: fibers wait for I/O.
  void endPoll(bool isAtEachDequeue, bool isReactorAwaited) {
    const bool isNextDequeue = isAtEachDequeue || areOthersRunning_;
    const uint32_t most = isReactorAwaited ? std::min(untilReactor_, numInSlice_) : numInSlice_;
    untilPoll_ = round_ = std::min(untilTurn_, isNextDequeue ? 1 : most);
    untilTurn_ -= round_;
  }

 private:
  static constexpr uint64_t kMostCredit = 70'000;  // microseconds

  void adapt(Ticks elapsed) {
    if (elapsed > slice_) {
      // At most half as many. One dequeue may take hours.
      const auto fewer = static_cast<uint32_t>(slice_ * round_ / elapsed);
      numMeasured_ = numInSlice_ = std::max<uint32_t>(1, std::min(fewer, numInSlice_ / 2));
    } else if (elapsed * numInSlice_ <= slice_ / 2 * round_) {
      numInSlice_ = std::min(2 * numInSlice_, kInterval);
      numMeasured_ = std::max(numMeasured_, numInSlice_);
    }
  }

  const Ticks slice_ = ticksIn(kSlice);
  const Ticks mostCredit_ = ticksIn(kMostCredit);
  // Their sum is the number of dequeues until others have their turn.
  uint32_t& untilPoll_;
  uint32_t untilTurn_ = 0;
  uint32_t round_ = kInterval;                // dequeues up to this poll
  uint32_t numInSlice_ = 1;                   // up to the next poll
  uint32_t numMeasured_ = kInterval;          // see numInSlice()
  uint32_t untilReactor_ = kReactorInterval;  // never 0
  bool hasWaited_ = false;                    // the turn has waited for a timer that was due
  bool areOthersRunning_ = false;             // since the last poll
  bool hadTurn_ = false;                      // others were running before it
  uint64_t numDequeues_ = 0;
  uint32_t numInRow_ = 0;
  Whose whose_ = Whose::FromOutside;
  Ticks now_;
  Ticks turnAt_;
  Ticks reactorAt_;
  int64_t credit_ = 0;  // ticks that others may still have, times kShare; below zero: have had too much
};

}  // namespace weft::inline v0_1::detail
