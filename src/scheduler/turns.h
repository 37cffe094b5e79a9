// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace weft::detail {

// Prevents starvation: decides when others have their turn on a thread, and who has it, so that work that
// goes on forever does not keep all other work from running.
//
// A poll comes after 61 dequeues. While a timer is set, a poll comes after each dequeue, since only then may
// a timer be due. While fibers wait for I/O, a poll comes after 16, for the reactor: what has come waits for
// that many tasks at most, and a look into the reactor is a system call. A look into an AsioContext is two,
// and each of its operations has a task more: after 16 dequeues it would find one or two, and the benchmark
// echo would be 3 percent slower than with a look after 61. Others have their turn at one of 61 dequeues in
// each case.
class Turns {
 public:
  enum class Whose { FromOutside, OldestOwn, OldestOfBoundThread };

  static constexpr uint32_t kInterval = 61;        // dequeues between the turns of others
  static constexpr uint32_t kTurnsPerOldest = 17;  // every 1,037 dequeues
  // Workers take tasks from the deque of a bound thread that does not wait in two cases: when they run dry,
  // and at every fourth turn of the oldest.
  static constexpr uint32_t kOldestPerBoundThread = 4;

  static constexpr uint32_t kReactorInterval = 16;  // dequeues between two looks into the reactor

  // `untilPoll` counts the dequeues down, in inline code: see ForkLane. There is a poll when it reaches 0.
  explicit Turns(uint32_t& untilPoll) : untilPoll_(untilPoll) { untilPoll_ = kInterval; }

  // A timer has been set, or is due.
  void pollAtEachDequeue() {
    untilTurn_ += untilPoll_ - 1;
    untilPoll_ = 1;
  }

  // A fiber begins to wait for I/O: there is a poll within `most` dequeues.
  void pollWithin(uint32_t most) {
    if (untilPoll_ > most) {
      untilTurn_ += untilPoll_ - most;
      untilPoll_ = most;
    }
  }

  // At a poll, while fibers wait for I/O. `interval`: dequeues until the next one.
  // Returns: whether it is the reactor's turn. Where polls come sooner, because of timers, it is not at each.
  bool isReactorsTurn(uint32_t interval = kReactorInterval) {
    untilReactor_ -= std::min(untilReactor_, round_);
    if (untilReactor_ != 0) {
      return false;
    }
    untilReactor_ = interval;
    return true;
  }

  // At a poll.
  // Returns: whether it is also the turn of others, so that the poll is not for a timer only.
  bool isTurn() const { return untilTurn_ == 0; }

  // At a poll. `hasExpired`: a timer was found due. Others whose turn has come wait for one more dequeue, so
  // that a timer that is due does not wait for a second task.
  // Returns: whether others have their turn now.
  bool beginPoll(bool hasExpired) {
    if (!isTurn()) {
      return false;
    }
    hasWaited_ = hasExpired && !hasWaited_;
    untilTurn_ = hasWaited_ ? 1 : kInterval;
    return !hasWaited_;
  }

  // Returns: who has the turn that has come.
  Whose next() {
    if (--untilOldest_ != 0) {
      return Whose::FromOutside;
    }
    untilOldest_ = kTurnsPerOldest;
    return ++numOldest_ % kOldestPerBoundThread == 0 ? Whose::OldestOfBoundThread : Whose::OldestOwn;
  }

  // At a poll before a task in place, where no turn can be given.
  // Returns: whether the oldest has the next turn.
  bool isOldestNext() const { return untilOldest_ == 1; }
  // Then the turn is passed over, if nobody wants it, or is put off to the next dequeue.
  void pass() {
    --untilOldest_;
    untilTurn_ = kInterval;
  }
  void putOff() { untilTurn_ = 1; }

  // Ends a poll. `isAtEachDequeue`: a timer is set, or due. `isReactorAwaited`: fibers wait for I/O.
  void endPoll(bool isAtEachDequeue, bool isReactorAwaited) {
    untilPoll_ = std::exchange(untilTurn_, 0);
    if (isAtEachDequeue) {
      pollAtEachDequeue();
    } else if (isReactorAwaited) {
      pollWithin(untilReactor_);
    }
    round_ = untilPoll_;
  }

 private:
  // Their sum is the number of dequeues until others have their turn. untilPoll_ is 1 while a timer
  // is set or due.
  uint32_t& untilPoll_;
  uint32_t untilTurn_ = 0;
  bool hasWaited_ = false;  // the turn has waited for a timer that was due
  uint32_t untilOldest_ = kTurnsPerOldest;
  uint32_t numOldest_ = 0;
  uint32_t untilReactor_ = kReactorInterval;  // never 0
  uint32_t round_ = kInterval;                // dequeues up to the next poll, at most
};

}  // namespace weft::detail
