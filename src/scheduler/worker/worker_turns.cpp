// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/turns.h"

#include <limits>
#include <utility>

#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker.h"
#include "weft/debug.h"

// What a worker does at a poll.
namespace weft::inline v0_1::detail {

namespace {

using Next = OldestWatch::Next;

// Dequeues after which the oldest tasks are looked at again.
constexpr uint64_t kFarDequeues = 4 * Turns::kInterval;

uint32_t reactorInterval(const Reactor& reactor) {
  return reactor.use() == Reactor::Use::Asio ? Turns::kInterval : Turns::kReactorInterval;
}

}  // namespace

// Returns: whether fibers are ready whose I/O can go on.
bool Worker::pollReactorInTurn() {
  return idler_.isReactorAwaited() && turns_.isReactorsTurn(reactorInterval(*idler_.reactor())) &&
         idler_.reactor()->poll();
}

// At a poll, first.
inline void Worker::beginPoll() {
  if (currentFiber == nullptr) [[unlikely]] {
    assertNotForked("What runs after a task that returns or lets others run");
  }
  turns_.notePoll(timeOfTurns());
  stealer_.publishPoll(turns_.now());
}

// `next`: what goes on where it is nobody's turn.
inline void Worker::lookAround(OldestWatch::Next next) {
  report_.printIfAsked();
  lookIntoInbox();
  if (!timers_.isEmpty()) {
    (void)timers_.date();
    expireTimers();  // by the clock: the counter of ticks may be late after a suspension
  }
  // Where turns follow one another closely, few of them are enough.
  const bool isFar =
      turns_.numDequeues() - watchedAt_ >= kFarDequeues || watchWindow_.hasPassed(turns_.now());
  if (isFar || tasks_.doesOldestStarve()) {
    watchOldest(next);
  }
  // Halves of loops go on for long, beside each other: where there are many, one more need not hurry.
  if (mode_ == Mode::MultiThreaded && strandedWindow_.hasPassed(turns_.now(), 1 + lane().numHalves)) {
    stealer_.lookForStranded(turns_.now());
    strandedMark_ = std::numeric_limits<int64_t>::max();
  }
}

void Worker::watchOldest(OldestWatch::Next next) {
  watchedAt_ = turns_.numDequeues();
  const bool endsWindow = oldestWindow_.hasPassed(areTurnsTimed_ ? turns_.now() : watchedAt_);
  tasks_.watchOldest(endsWindow, {watchedAt_, numBlocked_.get(), next});
}

// Returns: the task whose turn it is, or null.
TaskNode* Worker::takeTurn() {
  beginPoll();
  pollReactorInTurn();
  TaskNode* task = nullptr;
  if (turns_.beginTurn(expireIfDue())) {
    const Next gaveWay = std::exchange(gaveWay_, Next::Newest);
    lookAround(gaveWay != Next::Newest || ready_.isEmpty() ? gaveWay : Next::Other);
    task = giveTurn();
  }
  turns_.endPoll(timers_.areSetOrDue(), idler_.isReactorAwaited());
  return task;
}

inline bool Worker::mayOthersWait() {
  return tasks_.hasFromOutside() || tasks_.doesOldestStarve() || mayTakeStranded();
}

// Returns: the task of whoever has the turn and wants it, or null.
TaskNode* Worker::giveTurn() {
  if (!mayOthersWait()) {
    turns_.passOver();
    return nullptr;
  }
  const bool isExtra = !ready_.isEmpty() || !tasks_.isOutsideNext();
  TaskNode* task = nullptr;
  if (!tasks_.doesOldestStarve() && !mayTakeStranded()) {
    task = tasks_.oldestFromOutside();  // which is so most often
  } else {
    for (int i = 0; i < Turns::kNumWhose && task == nullptr; ++i) {
      task = takeFor(turns_.next());
    }
  }
  if (task != nullptr) {
    turns_.endTurn(isExtra);
  } else {
    turns_.passOver();
  }
  return task;
}

TaskNode* Worker::takeFor(Turns::Whose whose) {
  switch (whose) {
    case Turns::Whose::FromOutside:
      return tasks_.oldestFromOutside();
    case Turns::Whose::Oldest:
      return tasks_.oldestInTurn();
    case Turns::Whose::Stranded:
      return takeStranded();
  }
  WEFT_UNREACHABLE();
}

// Returns: whether there may be stranded tasks, and this worker may take one. It takes the next one once the
// last one and what that has scheduled are done, or some milliseconds later. Otherwise a recursion whose
// other worker is off its processor would open a subtree at each turn.
bool Worker::mayTakeStranded() { return stealer_.hasStranded() && deque().endIndex() <= strandedMark_; }

TaskNode* Worker::takeStranded() {
  if (!mayTakeStranded()) {
    return nullptr;
  }
  strandedMark_ = deque().endIndex();
  return stealer_.stealStranded();
}

// A task that schedules others and waits for them might never come to the run loop. So others get their turn
// after as many tasks in place as dequeues lie between two turns, if there are any others. Then the task that
// waits suspends, or lets others run, and the run loop polls next.
bool Worker::mayGoOn(OldestWatch::Next next) {
  beginPoll();
  bool areOthersNext = pollReactorInTurn();
  expireIfDue();
  areOthersNext = areOthersNext || timers_.areDue();
  gaveWay_ = Next::Newest;
  if (turns_.isTurn()) {
    lookAround(next);
    areOthersNext = !ready_.isEmpty() || mayOthersWait();
    if (areOthersNext) {
      turns_.putOff();
      gaveWay_ = next != Next::Other ? next : Next::Newest;
    } else {
      turns_.passOver();
    }
  }
  turns_.endPoll(timers_.areSetOrDue(), idler_.isReactorAwaited());
  return !areOthersNext;
}

}  // namespace weft::inline v0_1::detail
