// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/report/worker_report.h"

#include "os/aside.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr uint64_t kMostReported = 100;  // fibers of a worker, since very many would fill the terminal

}  // namespace

// Names and messages need some kilobytes, and the fiber may have less left.
void WorkerReport::print() const {
  callAside(
      &running_.current().os,
      [](void* report) { static_cast<const WorkerReport*>(report)->printOnThisStack(); },
      const_cast<WorkerReport*>(this));
}

void WorkerReport::printOnThisStack() const {
  uint64_t numBlocked = 0;
  const auto report = [&](const FiberControlBlock& fiber) {
    if (fiber.blockedOn != nullptr && ++numBlocked <= kMostReported) {
      reportBlockedFiber(fiber, workerId_, tasks_);
    }
  };
  report(running_.main());
  pool_.fibers().forEach(report);
  reportNumBlocked(workerId_, numBlocked);
}

void WorkerReport::ask(TimePoint now) {
  // relaxed: the unpark publishes it to a worker that sleeps; any other worker sees it in time.
  if (!isWanted_.exchange(true, std::memory_order_relaxed)) {
    seenSince_ = now;
    seenAt_ = currentPlace();
    seenEnded_ = counters_.ended();
  }
}

SilentWorker WorkerReport::describeSilence(TimePoint now) {
  const TaskPlace place = currentPlace();
  const uint64_t ended = counters_.ended();
  if (place != seenAt_ || ended != seenEnded_) {
    seenAt_ = place;
    seenEnded_ = ended;
    seenSince_ = now;
  }
  return {place, now - seenSince_, throttle_.numInIo()};
}

TaskPlace WorkerReport::placeOf(const FiberControlBlock& fiber) const {
  return {workerId_, fiber.id, &fiber == &running_.main(), fiber.task.look()};
}

// For any thread. The fiber is looked up, since its address alone does not publish it.
TaskPlace WorkerReport::currentPlace() const {
  const FiberControlBlock* const fiber = running_.look();
  if (fiber == &running_.main()) {
    return placeOf(*fiber);
  }
  TaskPlace place{workerId_};
  findFiberOf(fiber->scope(), place);
  return place;
}

bool WorkerReport::findFiberOf(const void* scope, TaskPlace& place) const {
  const bool isOfMain = scope == running_.lookAtMainScope();
  const FiberControlBlock* fiber = isOfMain ? &running_.main() : pool_.fibers().findByScope(scope);
  if (fiber != nullptr) {
    place = placeOf(*fiber);
  }
  return fiber != nullptr;
}

bool WorkerReport::findStackOf(const void* scope, TaskPlace& place) const {
  const FiberControlBlock* fiber = pool_.fibers().findByStack(scope);
  if (fiber != nullptr) {
    place = placeOf(*fiber);
  }
  return fiber != nullptr;
}

}  // namespace weft::inline v0_1::detail
