// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fair/task_scheduler.h"

#include <mutex>
#include <utility>
#include <vector>

#include "fair/core.h"
#include "weft/debug.h"

namespace weft::inline v0_1::fair {

using detail::FairCore;
using detail::FairTask;
using detail::FairWorker;

namespace {

constexpr int kMaxThreads = 4096;
constexpr uint32_t kMaxBlockSize = 1u << 20;

// Whether the caller is the step of the task.
bool isInItsStep(const FairTask& task) {
  return detail::currentFairWorker != nullptr && detail::currentFairWorker->current == &task;
}

[[noreturn, gnu::cold]] void reportPostedTwice(const FairCore& core) {
  WEFT_FATAL(
      "a fair::Task was posted to \"%s\" while a scheduler has it. "
      "Post it again in its step or later, or wake it up.",
      core.name.c_str());
}

// Called before a push: takes the task over. Of several posts at the same time, one finds null.
void claim(FairTask& task, FairCore& core) {
  // relaxed: the task is the caller's, and the push publishes it.
  if (task.postedTo.exchange(&core, std::memory_order_relaxed) != nullptr) [[unlikely]] {
    reportPostedTwice(core);
  }
  core.dispatcher.hints.addOnItsWay(task);
}

// claim() for the step of the task. It saves the read-modify-write, 6 of a step's 25 ns. Another post of the
// task is found, unless that happens between the load and the store.
void claimInItsStep(FairTask& task, FairCore& core) {
  // relaxed, both: as in claim().
  if (task.postedTo.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    reportPostedTwice(core);
  }
  task.postedTo.store(&core, std::memory_order_relaxed);
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
    : core_(nullptr, [](FairCore* core) { detail::CheckedAllocator(core->allocator).destroy(core); }) {
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
  core_.reset(allocator.create<FairCore>(*this, name, numThreads, allocator, config.blockSize));
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
    claimInItsStep(*task, *core_);
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
  claim(task, *core_);
  core_->enqueue(task, task);
}

void TaskScheduler::Row::add(FairTask& task) {
  if (isInItsStep(task)) {
    claimInItsStep(task, *scheduler_.core_);
    own_ = &task;
    return;
  }
  claim(task, *scheduler_.core_);
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
    FairTask& task = *std::exchange(newest_, newest_->inboxNext.get());
    scheduler_.core_->dispatcher.hints.takeOffItsWay(task);
    // relaxed: the task is the caller's again.
    task.postedTo.store(nullptr, std::memory_order_relaxed);
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

bool TaskScheduler::isEmpty() const { return core_->quiescence.isEmpty(); }

bool TaskScheduler::waitEmptyUntil(detail::TimePoint deadline) {
  detail::assertNotForked("fair::TaskScheduler::waitEmpty()");
  FairWorker::assertNotInStepOf(*core_, "waitEmpty()");
  FairWorker::assertKeepsNoneFor(*core_, "waitEmpty()");
  return core_->quiescence.waitEmptyUntil(deadline);
}

void TaskScheduler::stop() { core_->stop(); }

void TaskScheduler::start() { core_->start(); }

std::vector<Task*> TaskScheduler::takeBack() {
  std::vector<Task*> tasks;
  FairWorker::assertKeepsNoneFor(*core_, "takeBack() or its destructor");
  core_->quiescence.awaitKept();
  std::scoped_lock guard(core_->lifecycle);
  WEFT_ASSERT(core_->quiescence.isStopped(),
              "fair::TaskScheduler::takeBack() on \"%s\", whose threads run. Call stop() first.",
              core_->name.c_str());
  core_->quiescence.hold();  // it is not empty while its tasks are in the hands of this thread
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
        core_->quiescence.letGo();
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
  const FairWorker* worker = detail::currentFairWorker;
  return worker != nullptr ? &worker->core.facade : nullptr;
}

const std::string& TaskScheduler::name() const noexcept { return core_->name; }

int TaskScheduler::numThreads() const noexcept { return static_cast<int>(core_->workers.size()); }

}  // namespace weft::inline v0_1::fair
