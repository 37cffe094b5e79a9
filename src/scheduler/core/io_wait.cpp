// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/wait/reactor.h"

#include <utility>

#include "scheduler/core/scheduler_core.h"
#include "scheduler/worker/worker_inl.h"

// How a worker takes part in the I/O of its fibers. When it looks into its reactor is decided in turns.cpp
// and idler.cpp.
namespace weft::inline v0_1::detail {

Reactor::~Reactor() = default;

Reactor* currentReactor() noexcept { return Worker::current()->idler().reactor(); }

void setCurrentReactor(std::unique_ptr<Reactor> reactor) noexcept {
  Worker::current()->idler().setReactor(std::move(reactor));
}

Parker<>& currentParker() noexcept { return Worker::current()->parker(); }

IoDomain* currentIoDomain() noexcept {
  Worker* const worker = Worker::current();
  return worker != nullptr ? &worker->core().ioDomain : nullptr;
}

IoDomain& ioDomain(const Scheduler& scheduler) noexcept { return scheduler.core_->ioDomain; }

void countIo() {
  if (Worker* const worker = Worker::current()) {
    worker->countIo();
  }
}

WithoutFibers::WithoutFibers() noexcept
    : fiber_(std::exchange(currentFiber, nullptr)),
      task_(std::exchange(currentTask, nullptr)),
      lane_(std::exchange(currentLane, nullptr)) {}

WithoutFibers::~WithoutFibers() {
  currentFiber = fiber_;
  currentTask = task_;
  currentLane = lane_;
}

IoWait::IoWait(Reactor* reactor) noexcept : reactor_(reactor) {
  if (reactor != nullptr) {
    ++reactor->numWaiting_;
  }
  hadScheduled_ = Worker::current()->beginIo(reactor != nullptr);
}

IoWait::~IoWait() {
  Worker::current()->endIo(hadScheduled_);
  if (reactor_ != nullptr) {
    --reactor_->numWaiting_;
  }
}

void Worker::countIo() { lane().letOthersRunInTurn(); }

// A task that has scheduled something takes no part in the inference of beginBlock(), so this lets it seem to
// have done so, which costs other waits nothing.
// Returns: whether it has.
bool Worker::beginIo(bool usesReactor) {
  FiberControlBlock& self = fibers_.current();
  noteForks(self);
  const bool hadScheduled = self.hasScheduled;
  self.hasScheduled = true;
  throttle_.beginIo();
  if (usesReactor) {
    turns_.pollWithin(Turns::kReactorInterval);
  }
  return hadScheduled;
}

void Worker::endIo(bool hadScheduled) {
  fibers_.current().hasScheduled = hadScheduled;
  throttle_.endIo();
}

}  // namespace weft::inline v0_1::detail
