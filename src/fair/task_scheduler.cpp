// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fair/task_scheduler.h"

#include <mutex>
#include <utility>
#include <vector>

#include "fair/core.h"
#include "weft/debug.h"

namespace weft::inline v0_1::fair {

using detail::FairTask;

namespace {

constexpr int kMaxThreads = 4096;
constexpr uint32_t kMaxBlockSize = 1u << 20;

// Whether the caller is the step of the task.
bool isInItsStep(const FairTask& task) {
  return detail::currentFairWorker != nullptr && detail::currentFairWorker->current == &task;
}

// Called by the thread that has claimed a waiting task.
void enqueueClaimed(FairTask& task) {
  // relaxed: the claimer sees the task as it was posted.
  task.postedTo.load(std::memory_order_relaxed)->enqueue(task, task);
}

}  // namespace

TaskScheduler::Config& TaskScheduler::Config::setAllocator(Allocator* value) {
  allocator = value;
  return *this;
}

TaskScheduler::Config& TaskScheduler::Config::setBlockSize(uint32_t slots) {
  blockSize = slots;
  return *this;
}

TaskScheduler::TaskScheduler(const std::string& name, int numThreads)
    : TaskScheduler(name, numThreads, Config()) {}

TaskScheduler::TaskScheduler(const std::string& name, int numThreads, const Config& config)
    : core_(nullptr,
            [](detail::FairCore* core) { detail::CheckedAllocator(core->allocator).destroy(core); }) {
  WEFT_ASSERT(numThreads >= 1 && numThreads <= kMaxThreads,
              "fair::TaskScheduler \"%s\" with %d threads: ask for 1 to %d.", name.c_str(), numThreads,
              kMaxThreads);
  WEFT_ASSERT(config.blockSize >= 1 && config.blockSize <= kMaxBlockSize,
              "fair::TaskScheduler \"%s\" with a block size of %u: ask for 1 to %u.", name.c_str(),
              config.blockSize, kMaxBlockSize);
  WEFT_ASSERT(config.allocator != nullptr,
              "fair::TaskScheduler \"%s\": Config::allocator is null. Leave it at Allocator::Default.",
              name.c_str());
  detail::CheckedAllocator allocator(config.allocator, "fair::TaskScheduler");
  core_.reset(allocator.create<detail::FairCore>(*this, name, numThreads, allocator, config.blockSize));
  core_->start();
}

// The core's tasks use the scheduler while they are destroyed. (A std::unique_ptr of libc++ is null by then.)
TaskScheduler::~TaskScheduler() {
  core_.get_deleter()(core_.get());
  (void)core_.release();
}

void TaskScheduler::post(Task* task) {
  assertTask(task, "post()");
  if (isInItsStep(*task)) {
    core_->claimInItsStep(*task);
    detail::currentFairWorker->repost(*task, *core_);
  } else {
    postNode(*task);
  }
}

void TaskScheduler::wakeup(Task* task) {
  assertTask(task, "wakeup()");
  if (task->state.wakeup()) {
    enqueueClaimed(*task);
  }
}

void TaskScheduler::signal(Task* task) {
  assertTask(task, "signal()");
  if (task->state.signal()) {
    enqueueClaimed(*task);
  }
}

void TaskScheduler::postNode(FairTask& task) {
  core_->claim(task);
  core_->enqueue(task, task);
}

void TaskScheduler::Row::add(FairTask& task) {
  if (isInItsStep(task)) {
    scheduler_.core_->claimInItsStep(task);
    own_ = &task;
    return;
  }
  scheduler_.core_->claim(task);
  task.inboxNext.set(newest_);
  newest_ = &task;
  oldest_ = oldest_ == nullptr ? &task : oldest_;
}

void TaskScheduler::Row::post() {
  if (newest_ != nullptr) {
    scheduler_.core_->enqueue(*std::exchange(newest_, nullptr), *oldest_);
  }
  if (own_ != nullptr) {
    detail::currentFairWorker->repost(*std::exchange(own_, nullptr), *scheduler_.core_);
  }
}

TaskScheduler::Row::~Row() {
  while (newest_ != nullptr) {
    scheduler_.core_->unclaim(*std::exchange(newest_, newest_->inboxNext.get()));
  }
  if (own_ != nullptr) {
    // relaxed: the task is the step's again.
    own_->postedTo.store(nullptr, std::memory_order_relaxed);
  }
}

void TaskScheduler::reserve(size_t numDeadlines) {
  constexpr size_t kMost = detail::TimerHeap<detail::FairTask>::kMostItems;
  WEFT_ASSERT(numDeadlines <= kMost,
              "fair::TaskScheduler::reserve(%zu) on \"%s\": at most %zu tasks can wait at the same time. "
              "Reserve room for those that do.",
              numDeadlines, core_->name.c_str(), kMost);
  core_->dispatcher.hints.wantRoom(static_cast<uint32_t>(numDeadlines));  // the next intake() makes it
}

bool TaskScheduler::isEmpty() const { return core_->isEmpty(); }

bool TaskScheduler::waitEmptyUntil(detail::TimePoint deadline) { return core_->waitEmptyUntil(deadline); }

void TaskScheduler::stop() { core_->stop(); }

void TaskScheduler::start() { core_->start(); }

std::vector<Task*> TaskScheduler::takeBack() {
  std::vector<Task*> tasks;
  core_->awaitKept();
  std::scoped_lock guard(core_->lifecycle);
  core_->lock.lock();
  const bool isStopped = core_->numRunning == 0;
  if (isStopped) {
    // The scheduler is not empty while its tasks are in the hands of this thread.
    core_->dispatcher.lock.begin();
  }
  core_->lock.unlock();
  WEFT_ASSERT(isStopped, "fair::TaskScheduler::takeBack() on \"%s\", whose threads run. Call stop() first.",
              core_->name.c_str());
  detail::FairChain all = core_->dispatcher.takeAll();
  detail::FairChain kept;  // by the scheduler
  detail::callAndEnd(
      [&] {
        tasks.reserve(all.size());
        while (FairTask* const task = all.pop()) {
          if (task->ops->isOneShot) {
            kept.append(*task);
          } else {
            tasks.push_back(static_cast<Task*>(task));
          }
        }
      },
      [&] {
        Row row(*this);
        for (detail::FairChain* chain : {&all, &kept}) {  // `all` is empty, unless there was no memory
          while (FairTask* const task = chain->pop()) {
            row.add(*task);
          }
        }
        row.post();
        detail::WaitList woken;
        core_->lock.lock();
        core_->dispatcher.lock.end();
        core_->wakeIfEmpty(woken);
        core_->lock.unlock();
        detail::wakeAll(woken);
      });
  return tasks;
}

std::vector<TaskScheduler::ThreadStats> TaskScheduler::stats() const {
  std::vector<ThreadStats> result;
  for (const auto& worker : core_->workers) {
    result.push_back({worker->numSteps.get(), worker->numDispatches.get(), worker->numParks.get()});
  }
  return result;
}

TaskScheduler* TaskScheduler::current() noexcept {
  const detail::FairWorker* worker = detail::currentFairWorker;
  return worker != nullptr ? &worker->core.facade : nullptr;
}

const std::string& TaskScheduler::name() const noexcept { return core_->name; }

int TaskScheduler::numThreads() const noexcept { return core_->numThreads; }

}  // namespace weft::inline v0_1::fair
