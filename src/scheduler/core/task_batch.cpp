// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/base/task_batch.h"

#include <algorithm>
#include <utility>

#include "scheduler/core/scheduler_core.h"
#include "scheduler/worker/worker_inl.h"
#include "weft/detail/base/ticks.h"

// How the tasks of a batch are queued.
namespace weft::inline v0_1 {
namespace detail {
namespace {

uint32_t flagsOfAll(TaskNode* const* nodes, uint32_t count) {
  uint32_t flags = 0;
  for (uint32_t i = 0; i < count; ++i) {
    flags |= nodes[i]->flags;
  }
  return flags;
}

}  // namespace

void TaskBatch::queue() noexcept {
  scheduler_.enqueueNodes(nodes_, std::exchange(count_, 0));
  const uint64_t now = ticks();
  const bool isFast = now - std::exchange(queuedAt_, now) < ticksIn(kMostMicroseconds);
  wanted_ = isFast ? std::min(wanted_ * 2, most_) : 1;
}

void Worker::enqueueBatch(TaskNode* const* nodes, uint32_t count) {
  const bool isAnyPinned = (flagsOfAll(nodes, count) & static_cast<uint32_t>(Task::Flags::SameThread)) != 0;
  if (isAnyPinned || core_.numWorkers == 0) {
    std::for_each_n(nodes, count, [this](TaskNode* node) { enqueue(node); });
    return;
  }
  lane().counters.countScheduled(count);
  fibers_.current().hasScheduled = true;
  tasks_.preferNewest();
  if (mode_ == Mode::MultiThreaded) {
    tasks_.pushBatch(nodes, count);
    core_.idle.onPublish();
  } else {
    core_.injector.pushBatch(nodes, count);
    core_.idle.onPublishFromOutside();
  }
}

void SchedulerCore::enqueueFromOutside(TaskNode* const* nodes, uint32_t count) {
  assertRunnable("Scheduler::enqueueMany()", flagsOfAll(nodes, count));
  injector.pushBatch(nodes, count);
  idle.onPublishFromOutside();
}

}  // namespace detail

void Scheduler::enqueueNodes(detail::TaskNode* const* nodes, uint32_t count) {
  detail::Worker* worker = detail::Worker::current();
  if (worker != nullptr && &worker->core() == core_.get()) {
    worker->enqueueBatch(nodes, count);
    return;
  }
  detail::assertLetIn(core_->outside.entrance.enter(count), "Scheduler::enqueueMany()");
  core_->enqueueFromOutside(nodes, count);
  core_->outside.entrance.leave(count);
}

}  // namespace weft::inline v0_1
