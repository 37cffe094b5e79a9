// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/wait/reactor.h"

#include <utility>

#include "scheduler/core/scheduler_core.h"
#include "scheduler/worker/worker_inl.h"

// A worker's part in its fibers' I/O. worker_turns.cpp and idler.cpp decide when it polls its reactor.
namespace weft::inline v0_1::detail {

Reactor::~Reactor() = default;

Reactor* currentReactor() noexcept { return Worker::current()->idler().reactor(); }

void setCurrentReactor(std::unique_ptr<Reactor> reactor) noexcept {
  Worker::current()->idler().setReactor(std::move(reactor));
}

Parker<>& currentParker() noexcept { return Worker::current()->parker(); }

IoDomain* currentIoDomain() noexcept {
  Worker* const worker = Worker::current();
  return worker != nullptr ? &coreOf(*worker).ioDomain : nullptr;
}

IoDomain& ioDomain(const Scheduler& scheduler) noexcept { return scheduler.core_->ioDomain; }

void countIo() {
  if (Worker* const worker = Worker::current()) {
    worker->localDeque().letOthersRunInTurn();
  }
}

WithoutFibers::WithoutFibers() noexcept
    : fiber_(std::exchange(currentFiber, nullptr)),
      task_(std::exchange(currentTask, nullptr)),
      localDeque_(std::exchange(currentLocalDeque, nullptr)) {}

WithoutFibers::~WithoutFibers() {
  currentFiber = fiber_;
  currentTask = task_;
  currentLocalDeque = localDeque_;
}

void beginIoOfSelect(Reactor& reactor) noexcept {
  if (currentFiber == nullptr) {
    return setThreadReactor(&reactor);
  }
  auto& self = *static_cast<FiberControlBlock*>(currentFiber);
  if (!self.isInIoOfSelect) {
    self.isInIoOfSelect = true;
    ++reactor.numWaiting_;
    self.hadScheduledBefore = self.worker->beginIo(true);
  }
}

void endIoOfSelect(Reactor& reactor) noexcept {
  if (currentFiber == nullptr) {
    return setThreadReactor(nullptr);
  }
  auto& self = *static_cast<FiberControlBlock*>(currentFiber);
  if (self.isInIoOfSelect) {
    self.isInIoOfSelect = false;
    self.worker->endIo(self.hadScheduledBefore);
    --reactor.numWaiting_;
  }
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

}  // namespace weft::inline v0_1::detail
