// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <utility>

#include "scheduler/scheduler_core.h"
#include "scheduler/worker.h"
#include "scheduler/worker_inl.h"

// Which task comes next, and where a scheduled one goes.
namespace weft::detail {
namespace {

constexpr uint32_t kInjectorBatch = 64;
constexpr uint32_t kOverflowBatch = 64;

// Between two thefts of a worker: some three times what entering the thieves costs.
constexpr auto kQuick = std::chrono::microseconds(50);
constexpr uint32_t kManyQuickSteals = 8;

// Lest several victims, each with a new task whenever a thief looks, keep it off for ever.
constexpr uint32_t kMostHesitations = 16;

// Tasks in the deque of a bound thread that does not wait are for workers that run dry, and for every fourth
// turn of the oldest.
constexpr uint32_t kTurnsPerExternal = 4;

// A task may be run on top of another that waits for it while no more than this part of the stack is in use,
// so that it finds about as much as on a stack of its own.
constexpr uint32_t kShareOfStackInUse = 8;

}  // namespace

void Worker::enqueueElsewhere(TaskNode* node) {
  const bool isPinned = (node->flags & static_cast<uint32_t>(Task::Flags::SameThread)) != 0;
  if (isPinned || core_.numWorkers == 0) {
    (isRunningTask() ? pinnedLifo_ : pinnedFifo_).pushNewest(node);
  } else {
    core_.injector.push(node);
    core_.idle.onPublishFromOutside();
  }
}

void Worker::moveOverflow(TaskNode* node) {
  moveToInjector(StealingDeque<TaskNode>::kCapacity / 2);
  deque_->push(node);
}

// Moves at least `wanted` of the deque's oldest tasks to the injector, or all. Returns: whether there were
// any.
bool Worker::moveToInjector(uint32_t wanted) {
  TaskNode* batch[kOverflowBatch];
  uint32_t moved = 0;
  while (moved < wanted) {
    const uint32_t count = deque_->takeOldestBatch(batch, kOverflowBatch);
    if (count == 0) {
      break;
    }
    core_.injector.pushBatch(batch, count);
    moved += count;
  }
  if (moved != 0) {
    overflowEnd_ = core_.injector.numPushed();
  }
  return moved != 0;
}

// Unbinding: what the workers may run is theirs.
void Worker::giveForksAway() {
  if (deque_ != nullptr && core_.numWorkers > 0 && moveToInjector(StealingDeque<TaskNode>::kCapacity)) {
    // This thread may be no external thread of the idle set any more by the time a worker goes to sleep.
    core_.idle.onPublishFromOutside();
  }
}

void Worker::exposeElsewhere(TaskNode* node) {
  if (core_.numWorkers > 0) {
    moveOverflow(node);
  } else {
    pinnedLifo_.pushNewest(node);
  }
}

// At each dequeue while a timer is set, since only then may one be due, and else when others have their turn.
void Worker::poll() {
  const bool isDue = expireIfDue();
  if (untilTurns_ == 0) {
    // The turns wait for one more dequeue, so that a timer that is due waits for no second task.
    haveTurnsWaited_ = isDue && !haveTurnsWaited_;
    if (haveTurnsWaited_) {
      untilTurns_ = 1;
    } else {
      untilTurns_ = kPollInterval;
      giveTurns();
    }
  }
  setNextPoll(untilTurns_);
}

// Has giveTurns() called after so many dequeues, and poll() at each of them while a timer is set.
void Worker::setNextPoll(uint32_t untilTurns) {
  lane_.untilPoll = untilTurns;
  untilTurns_ = 0;
  if (!timers_.empty()) {
    watchTimers();
  }
}

// A timer has been set: has poll() called at each dequeue.
void Worker::watchTimers() {
  untilTurns_ += lane_.untilPoll - 1;
  lane_.untilPoll = 1;
}

// Against starvation: what goes on for ever keeps nothing else from running.
void Worker::giveTurns() {
  reportIfAsked();
  drainInbox();
  expireTimers();
  if (next_ != nullptr) {
    return;
  }
  if (--untilOldest_ == 0) {
    untilOldest_ = kPollsPerOldest;
    if (++numTurns_ % kTurnsPerExternal != 0 || mode_ != Mode::MultiThreaded || !stealFromExternal()) {
      next_ = takeOldestInTurn();
    }
  }
  if (next_ == nullptr) {
    next_ = pinnedFifo_.takeOldest();
  }
  if (next_ == nullptr && mode_ == Mode::MultiThreaded) {
    takeOldestFromOutside();
  }
}

// A batch in the deque is older than what is left in the injector.
void Worker::takeOldestFromOutside() {
  if (numLeftOfBatch() != 0) {
    next_ = takeOldestOfDeque();
  } else {
    injected_.pop(next_);
  }
}

// The oldest of this thread's own tasks and the oldest of those that thieves may take, by turns.
TaskNode* Worker::takeOldestInTurn() {
  isInnersTurn_ = !isInnersTurn_;
  TaskNode* node = isInnersTurn_ ? pinnedLifo_.takeOldest() : nullptr;
  if (node == nullptr && deque_ != nullptr) {
    node = takeOldestOfDeque();
  }
  return node != nullptr ? node : pinnedLifo_.takeOldest();
}

// A batch is older than the rest of the deque, which was empty when it came; its first task is at the newer
// end.
TaskNode* Worker::takeOldestOfDeque() {
  const uint32_t left = numLeftOfBatch();
  if (left != 0 && batchEnd_ == deque_->endIndex()) {
    return takeNewestOfDeque();
  }
  if (left != 0 && batchBegin_ <= deque_->beginIndex()) {
    return liftBatch(left);
  }
  return deque_->takeOldest();
}

// Returns: how many tasks of the last batch from the injector are in the deque, at most. They have the
// indices from batchBegin_ to batchEnd_, reversed.
uint32_t Worker::numLeftOfBatch() const {
  const int64_t left = batchEnd_ - std::max(batchBegin_, deque_->beginIndex());
  return left > 0 ? static_cast<uint32_t>(left) : 0;
}

// From the oldest end of the deque over all that lies above. Returns: the first of the batch.
TaskNode* Worker::liftBatch(uint32_t count) {
  TaskNode* batch[kInjectorBatch];
  count = deque_->takeOldestBatch(batch, count);
  if (count == 0) {
    return nullptr;
  }
  TaskNode* first = batch[--count];
  batchBegin_ = deque_->endIndex();
  for (uint32_t i = 0; i < count; ++i) {
    pushShared(batch[i]);
  }
  batchEnd_ = deque_->endIndex();
  // A searcher may have looked while they were in nobody's queue.
  core_.idle.onPublish();
  return first;
}

TaskNode* Worker::takeTask() {
  if (!pinnedLifo_.isEmpty()) {
    return oldestFirst_ ? pinnedLifo_.takeOldest() : pinnedLifo_.takeNewest();
  }
  if (!pinnedFifo_.isEmpty()) {
    return pinnedFifo_.takeOldest();
  }
  if (deque_ == nullptr || deque_->empty()) {
    return nullptr;
  }
  if (!oldestFirst_) {
    return takeNewestOfDeque();
  }
  TaskNode* node = overflowEnd_ != 0 && numLeftOfBatch() == 0 ? takeOverflowed() : nullptr;
  return node != nullptr ? node : takeOldestOfDeque();
}

// What this worker has itself moved to the injector is older than what is left in the deque. So is what lies
// before it there; what came later is not, and waits.
TaskNode* Worker::takeOverflowed() {
  TaskNode* node = nullptr;
  if (mode_ != Mode::MultiThreaded || injected_.numTaken() >= overflowEnd_ || !injected_.pop(node)) {
    overflowEnd_ = 0;
  }
  return node;
}

bool Worker::takeIfNewest(TaskNode* node) {
  if (!pinnedLifo_.isEmpty()) {
    return pinnedLifo_.newest() == node && pinnedLifo_.takeNewest() != nullptr;
  }
  return deque_ != nullptr && deque_->newest() == node && takeNewestOfDeque() != nullptr;
}

bool Worker::takeToRunInPlace(TaskNode* node) {
  return hasStackForTask() && lane_.mayRunInPlace() && takeIfNewest(node);
}

// A task that schedules others and waits for them might never come to the run loop. So after as many tasks in
// place as dequeues lie between two polls, others get their turn, if there are any: the one that waits
// suspends, and the run loop polls next.
bool Worker::mayRunInPlaceNow() {
  const bool isDue = expireIfDue();
  if (untilTurns_ != 0) {
    setNextPoll(untilTurns_);
    return !isDue;
  }
  reportIfAsked();
  drainInbox();
  expireTimers();
  const bool isOldestsTurn = --untilOldest_ == 0;
  const bool isOthersTurn = isOldestsTurn || !ready_.isEmpty() || !pinnedFifo_.isEmpty() ||
                            (mode_ == Mode::MultiThreaded && !injected_.empty());
  untilOldest_ += isOthersTurn ? 1 : 0;  // giveTurns() counts
  setNextPoll(isOthersTurn ? 1 : kPollInterval);
  return !isOthersTurn;
}

void Worker::runInPlace(TaskNode* node) {
  FiberControlBlock& fiber = *current_.get();
  const void* outer = fiber.task.get();
  fiber.task.set(reinterpret_cast<const void*>(node->invoke));
  {
    InPlaceScope scope;
    node->invoke(node, TaskOp::Run);
    scope.endTask();
  }
  fiber.task.set(outer);
  lane_.counters.countEnded();
}

bool Worker::hasStackForTask() const {
  const FiberControlBlock& fiber = *current_.get();
  const Stack& stack = fiber.stack;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return fiber.task.get() != nullptr && stack.top() - here < stack.size / kShareOfStackInUse;
}

bool Worker::takeFromInjector() {
  const size_t queued = injected_.size();
  if (queued == 0) {
    return false;
  }
  // A fair share, in one batch. It enters the deque reversed, so that the newest end yields the oldest task.
  const size_t share = queued / static_cast<size_t>(core_.numWorkers) + 1;
  const auto wanted = static_cast<uint32_t>(std::min<size_t>(share, kInjectorBatch));
  TaskNode* batch[kInjectorBatch];
  uint32_t count = injected_.popBatch(batch, wanted);
  if (count == 0) {
    return false;
  }
  // They were written elsewhere, or long ago.
  for (uint32_t i = 0; i < count; ++i) {
    __builtin_prefetch(batch[i]);
  }
  next_ = batch[0];
  batchBegin_ = deque_->endIndex();
  while (count > 1) {
    pushShared(batch[--count]);
  }
  batchEnd_ = deque_->endIndex();
  core_.idle.onPublish();
  return true;
}

bool Worker::steal(bool isPatient) {
  const auto numWorkers = static_cast<uint64_t>(core_.numWorkers);
  // xorshift64 (Marsaglia 2003).
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const uint64_t start = random_ % numWorkers;
  for (uint64_t i = 0; i < numWorkers; ++i) {
    Worker& victim = *core_.workers[(start + i) % numWorkers];
    const uint32_t queued = &victim == this ? 0 : victim.deque().size();
    if (queued != 0 && !(isPatient && queued == 1 && mayTakeItBack(victim)) && stealFrom(victim.deque())) {
      return true;
    }
  }
  return stealFromExternal();
}

// Of a victim with one task: whether it has scheduled it since this worker looked last. Whoever schedules a
// task and waits for it soon takes it back for next to nothing, unless it is stolen, which costs a suspension
// and two switches.
bool Worker::mayTakeItBack(Worker& victim) {
  const uint64_t scheduled = victim.counters().scheduled();
  if (hesitatedAt_ == scheduled || ++numHesitations_ % kMostHesitations == 0) {
    return false;
  }
  hesitatedAt_ = scheduled;
  hasHesitated_ = true;
  return true;
}

bool Worker::stealFromExternal() {
  bool any = false;
  core_.forEachExternal([&](StealingDeque<TaskNode>& deque) { any = any || stealFrom(deque); });
  return any;
}

bool Worker::stealFrom(StealingDeque<TaskNode>& deque) {
  if (deque.empty()) {
    return false;
  }
  lane_.thief.enter();
  StealingDeque<TaskNode>::Stolen stolen;
  do {
    stolen = deque.steal();
  } while (stolen.lostRace);
  if (stolen.item == nullptr) {
    return false;
  }
  ++numSteals_;
  next_ = stolen.item;
  // What is stolen may take long, and the owners of deques pay meanwhile for a thief that is none: stay only
  // where many thefts have followed one another closely.
  const TimePoint now = TimePoint::clock::now();
  numQuickSteals_ = now - std::exchange(lastSteal_, now) < kQuick ? numQuickSteals_ + 1 : 0;
  if (numQuickSteals_ < kManyQuickSteals) {
    lane_.thief.leave();
  }
  return true;
}

bool Worker::seesSharedWork() {
  if (!injected_.empty()) {
    return true;
  }
  bool any = false;
  core_.forEachWorker([&](Worker& worker) { any = any || !worker.deque().empty(); });
  core_.forEachExternal([&](StealingDeque<TaskNode>& deque) { any = any || !deque.empty(); });
  return any;
}

}  // namespace weft::detail
