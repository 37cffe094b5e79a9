// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/fairness_interval.h"

#include <limits>
#include <utility>

#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_group.h"
#include "weft/debug.h"

// What a worker does at a poll.
namespace weft::inline v0_1::detail {

namespace {

using Next = OldestWatch::Next;

// Dequeues after which the oldest tasks are looked at again.
constexpr uint64_t kFarDequeues = 4 * FairnessInterval::kInterval;

uint32_t reactorInterval(const Reactor* reactor) {
  return reactor != nullptr && reactor->use() == Reactor::Use::Asio ? FairnessInterval::kInterval
                                                                    : FairnessInterval::kReactorInterval;
}

}  // namespace

// Called at each poll while something outside is awaited.
// Returns: whether fibers are ready whose I/O can go on, or requests were done.
bool Worker::pollOutsideInTurn() {
  return fairness_.isReactorsTurn(reactorInterval(idler_.reactor())) && idler_.pollOutside();
}

// The first step of a poll.
inline void Worker::beginPoll() {
  if (currentFiber == nullptr) [[unlikely]] {
    assertNotForked("What runs after a task that returns or lets others run");
  }
  followWishes();
  fairness_.notePoll(timeOfTurns(noteTime()));
  stealer_.publishPoll(fairness_.now());
}

// `next`: what the worker goes on with if nobody has the turn.
inline void Worker::lookAround(OldestWatch::Next next) {
  lookIntoInbox();
  if (!timers_.isEmpty()) {
    (void)timers_.date();
    expireTimers();  // by the clock: the counter of ticks may be late once the machine was suspended
  }
  // Turns may follow one another closely: not each looks at the oldest tasks.
  const bool isFar =
      fairness_.numDequeues() - watchedAt_ >= kFarDequeues || watchWindow_.hasPassed(fairness_.now());
  if (isFar || tasks_.doesOldestStarve()) {
    watchOldest(next);
  }
  // Halves of loops run for long. A thread that has many of them need not hurry to find one more.
  if (mode_ == Mode::MultiThreaded &&
      strandedWindow_.hasPassed(fairness_.now(), 1 + localDeque().numHalves)) {
    stealer_.lookForStranded(fairness_.now());
    strandedMark_ = std::numeric_limits<int64_t>::max();
  }
}

void Worker::watchOldest(OldestWatch::Next next) {
  watchedAt_ = fairness_.numDequeues();
  const bool endsWindow = oldestWindow_.hasPassed(areTurnsTimed_ ? fairness_.now() : watchedAt_);
  tasks_.watchOldest(endsWindow, {watchedAt_, numBlocked_.get(), next});
}

TaskNode* Worker::takeTurn() {
  beginPoll();
  const bool isOutsideAwaited = idler_.isOutsideAwaited();
  if (isOutsideAwaited) [[unlikely]] {
    pollOutsideInTurn();
  }
  TaskNode* task = nullptr;
  if (fairness_.beginTurn(expireIfDue())) {
    const Next gaveWay = std::exchange(gaveWay_, Next::Newest);
    lookAround(gaveWay != Next::Newest || ready_.isEmpty() ? gaveWay : Next::Other);
    task = giveTurn();
  }
  fairness_.endPoll(timers_.areSetOrDue(), isOutsideAwaited);
  return task;
}

inline bool Worker::mayOthersWait() {
  return tasks_.hasFromOutside() || tasks_.doesOldestStarve() || mayTakeStranded();
}

// Returns: the task of whoever has the turn and wants it, or null.
TaskNode* Worker::giveTurn() {
  if (!mayOthersWait()) {
    fairness_.passOver();
    return nullptr;
  }
  const bool isExtra = !ready_.isEmpty() || !tasks_.isOutsideNext();
  TaskNode* task = nullptr;
  if (!tasks_.doesOldestStarve() && !mayTakeStranded()) {
    task = tasks_.oldestFromOutside();  // the most frequent case
  } else {
    for (int i = 0; i < FairnessInterval::kNumWhose && task == nullptr; ++i) {
      task = takeFor(fairness_.next());
    }
  }
  if (task != nullptr) {
    fairness_.endTurn(isExtra);
  } else {
    fairness_.passOver();
  }
  return task;
}

TaskNode* Worker::takeFor(FairnessInterval::Whose whose) {
  switch (whose) {
    case FairnessInterval::Whose::FromOutside:
      return tasks_.oldestFromOutside();
    case FairnessInterval::Whose::Oldest:
      return tasks_.oldestInTurn();
    case FairnessInterval::Whose::Stranded:
      return takeStranded();
  }
  WEFT_UNREACHABLE();
}

// Returns: whether this worker may take a stranded task. It may take the next one some milliseconds after the
// last one, or once that and what it scheduled are done. Otherwise a recursion whose other worker is off its
// processor would open a subtree at each turn.
bool Worker::mayTakeStranded() { return stealer_.hasStranded() && deque().endIndex() <= strandedMark_; }

TaskNode* Worker::takeStranded() {
  if (!mayTakeStranded()) {
    return nullptr;
  }
  strandedMark_ = deque().endIndex();
  return stealer_.stealStranded();
}

// A task that runs its children, or the pieces of a loop, in place might never come back to the run loop. So
// each of these counts as a dequeue, and the task gives way if others have their turn.
bool Worker::mayGoOn(OldestWatch::Next next) {
  beginPoll();
  const bool isOutsideAwaited = idler_.isOutsideAwaited();
  bool areOthersNext = isOutsideAwaited && pollOutsideInTurn();
  expireIfDue();
  areOthersNext = areOthersNext || timers_.areDue();
  gaveWay_ = Next::Newest;
  if (fairness_.isTurn()) {
    lookAround(next);
    areOthersNext = !ready_.isEmpty() || mayOthersWait();
    if (areOthersNext) {
      fairness_.putOff();
      gaveWay_ = next != Next::Other ? next : Next::Newest;
    } else {
      fairness_.passOver();
    }
  }
  fairness_.endPoll(timers_.areSetOrDue(), isOutsideAwaited);
  return !areOthersNext;
}

}  // namespace weft::inline v0_1::detail
