// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fibers/block_of.h"
#include "scheduler/trace/wishes.h"
#include "scheduler/worker/worker.h"

// How a worker follows the wishes of the process, and calls the hooks.
//
// A worker that has hooks runs tasks and switches by functions of its own, which call the hooks around the
// ones that it would take without. Where its thread goes idle on the stack of a fiber whose task waits,
// recordIdle() ends that task's run. The worker keeps the run that it has told of. So `left` follows each
// `entered` once, also if the hooks change meanwhile, or if a destructor of a FiberLocal waits after its
// task.
namespace weft::inline v0_1::detail {

void Worker::followAnew() {
  // (1) acquire: who sees the new word sees its hooks, or newer ones; pairs with the addition in
  // setFiberHooks().
  const uint32_t word = wishes.word.load(std::memory_order_acquire);
  // (2) acquire: sees what they point to, also of newer hooks than the word tells of; pairs with the exchange
  // in setFiberHooks().
  follow(word, wishes.hooks.load(std::memory_order_acquire));
}

void Worker::follow(uint32_t word, const FiberHooks* hooks) {
  const bool isWanted = (word & Wishes::kRecorded) != 0;
  if (isWanted != isRecorded()) {
    setRecorded(isWanted);
  }
  // Without memory for its events, the worker asks again at its next poll.
  followed_ = isWanted == isRecorded() ? word : word ^ Wishes::kRecorded;
  if (hooks != hooks_) {
    endRun(false);
    hooks_ = hooks;
  }
  runTask_ = hooks_ != nullptr ? &Worker::runTaskHooked : unhookedRunTask();
  fibers_.setSwitch(hooks_ != nullptr ? &Worker::switchHooked : unhookedSwitch());
}

void Worker::beginRun(FiberControlBlock& fiber, bool isFirst) {
  endRun(false);
  if (fiber.task != nullptr && hooks_ != nullptr) {
    run_ = {.code = fiber.task,
            .task = fiber.scope()->number,
            .fiber = fiber.id,
            .worker = mode_ == Mode::MultiThreaded ? id_ : -1,
            .isFirst = isFirst,
            .isLast = false};
    isInRun_ = true;
    if (hooks_->entered != nullptr) {
      hooks_->entered(run_);
    }
  }
}

void Worker::endRun(bool isLast) {
  if (std::exchange(isInRun_, false)) {
    run_.isLast = isLast;
    if (hooks_->left != nullptr) {
      hooks_->left(run_);
    }
  }
}

void Worker::runTaskHooked(TaskNode* node) {
  Worker& self = *current();
  self.beginRun(self.fibers_.current(), true);
  self.unhookedRunTask()(node);
  self.endRun(true);
}

void Worker::switchHooked(OSFiber& from, OSFiber& to, void** globals) {
  FiberControlBlock& next = blockOf(to);
  Worker& self = *next.worker;
  // A hook that asks for a name goes to another stack, from the one that the thread is still on.
  currentFiber = &blockOf(from);
  self.endRun(false);
  self.beginRun(next, false);
  currentFiber = &next;
  self.unhookedSwitch()(from, to, globals);
}

}  // namespace weft::inline v0_1::detail
