// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/turns.h"

#include "scheduler/scheduler_core.h"
#include "scheduler/worker.h"

// What a worker does at a poll.
namespace weft::detail {

namespace {

uint32_t reactorInterval(const Reactor& reactor) {
  return reactor.use() == Reactor::Use::Asio ? Turns::kInterval : Turns::kReactorInterval;
}

}  // namespace

// Returns: whether fibers are ready whose I/O can go on.
bool Worker::pollReactorInTurn() {
  return idler_.isReactorAwaited() && turns_.isReactorsTurn(reactorInterval(*idler_.reactor())) &&
         idler_.reactor()->poll();
}

// Returns: the task whose turn it is, or null.
TaskNode* Worker::takeTurn() {
  pollReactorInTurn();
  TaskNode* task = turns_.beginPoll(expireIfDue()) ? giveTurn() : nullptr;
  turns_.endPoll(timers_.areSetOrDue(), idler_.isReactorAwaited());
  return task;
}

TaskNode* Worker::giveTurn() {
  lookAround();
  const Turns::Whose whose = turns_.next();
  TaskNode* task = nullptr;
  if (whose == Turns::Whose::OldestOfBoundThread && mode_ == Mode::MultiThreaded) {
    task = stealer_.stealFromBoundThread();
  }
  if (task == nullptr && whose != Turns::Whose::FromOutside) {
    task = tasks_.oldestInTurn();
  }
  return task != nullptr ? task : tasks_.oldestFromOutside();
}

void Worker::lookAround() {
  report_.printIfAsked();
  drainInbox();
  (void)timers_.date();
  expireTimers();
}

// A task that schedules others and waits for them might never come to the run loop. So others get their turn
// after as many tasks in place as dequeues lie between two turns, if there are any others. Then the task that
// waits suspends, and the run loop polls next.
bool Worker::mayRunInPlaceNow() {
  bool areOthersNext = pollReactorInTurn();
  expireIfDue();
  areOthersNext = areOthersNext || timers_.areDue();
  if (turns_.isTurn()) {
    lookAround();
    areOthersNext = turns_.isOldestNext() || !ready_.isEmpty() || tasks_.hasFromOutside();
    if (areOthersNext) {
      turns_.putOff();
    } else {
      turns_.pass();
    }
  }
  turns_.endPoll(timers_.areSetOrDue(), idler_.isReactorAwaited());
  return !areOthersNext;
}

}  // namespace weft::detail
