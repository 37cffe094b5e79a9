// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/fair/task_scheduler.h"

#include <mutex>
#include <utility>
#include <vector>

#include "fair/core.h"
#include "weft/debug.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr const char* kOwner = "fair::TaskScheduler";  // the allocator's owner, in messages

constexpr int kMaxThreads = 4096;
constexpr uint32_t kMaxBlockSize = 1u << 20;
// Used-up blocks that a ready queue keeps.
constexpr uint32_t kSpareBlocks = 16;

void runThread(void* worker) { static_cast<FairWorker*>(worker)->run(); }

void assertNotInOwnStep(const FairCore& core, const char* what) {
  WEFT_ASSERT(currentFairWorker == nullptr || &currentFairWorker->core != &core,
              "fair::TaskScheduler::%s was called in a step of the same scheduler, "
              "and would wait for that step. Call it from another thread.",
              what);
}

}  // namespace

FairCore::FairCore(fair::TaskScheduler& scheduler, const std::string& called, int count,
                   const fair::TaskScheduler::Config& config)
    : facade(scheduler),
      name(called),
      numThreads(count),
      allocator(config.allocator, kOwner),
      backlog(&allocator),
      heap(&allocator),
      due(&allocator, kSpareBlocks, config.blockSize),
      ready(&allocator, kSpareBlocks, config.blockSize) {
  FairWorker::watchForksOfSteps();
  for (int i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<FairWorker>(*this));
  }
}

FairCore::~FairCore() {
  stop();
  awaitKept();
  // Destroying a task may post another one: a continuation of the future whose promise it breaks.
  for (FairChain taken = takeAll(); !taken.isEmpty(); taken = takeAll()) {
    // It may also destroy tasks that have just become the user's: the coroutine of fair::async() that owns
    // them, for example. So these are let go of first.
    FairChain own;
    while (FairTask* const task = taken.pop()) {
      if (task->ops->isOneShot) {
        own.append(*task);
      }
    }
    while (FairTask* const task = own.pop()) {
      task->ops->destroy(*task);
    }
  }
  WEFT_ASSERT(
      emptyWaiters.isEmpty(),
      "a fair::TaskScheduler was destroyed while somebody waits in waitEmpty(). Let it return first.");
}

void FairCore::start() {
  assertNotForked("fair::TaskScheduler::start()");
  std::scoped_lock guard(lifecycle);
  lock.lock();
  const bool isRunning = numRunning != 0;
  if (!isRunning) {
    numRunning = static_cast<uint32_t>(numThreads);
    dispatcherLock.beginAll(numRunning);
    // relaxed: the threads are started afterwards.
    isStopping.store(false, std::memory_order_relaxed);
  }
  lock.unlock();
  if (isRunning) {
    return;
  }
  NativeThread::Options options;
  options.name = name.c_str();
  for (const auto& worker : workers) {
    const int error = worker->thread.start(&runThread, worker.get(), options);
    WEFT_ASSERT(error == 0,
                "fair::TaskScheduler \"%s\": the system refuses a thread (error %d). "
                "Ask for fewer than %d, or raise the limit.",
                name.c_str(), error, numThreads);
  }
}

void FairCore::stop() {
  assertNotInOwnStep(*this, "stop()");
  std::scoped_lock guard(lifecycle);
  Waiter& self = currentWaiter();
  lock.lock();
  if (numRunning == 0) {
    lock.unlock();
    return;
  }
  // relaxed: sleeping threads are woken afterwards, the others see it in time.
  isStopping.store(true, std::memory_order_relaxed);
  for (FairWorker* worker = idle; worker != nullptr; worker = worker->below) {
    worker->parker->unpark();
  }
  stopWaiters.pushBack(self);
  lock.unlock();
  block(self, "the threads of a fair::TaskScheduler", this);
  for (const auto& worker : workers) {
    worker->thread.join();
  }
}

void FairCore::expectKept() {
  lock.lock();
  ++numKept;
  lock.unlock();
}

void FairCore::enqueueKept(FairTask& task) {
  enqueue(task, task);
  WaitList woken;
  lock.lock();
  --numKept;
  // The task may have run meanwhile, or a thread in awaitKept() may take it back.
  wakeIfEmpty(woken);
  if (numKept == 0) {
    woken.claimAll(keptWaiters);
  }
  lock.unlock();
  wakeAll(woken);
}

void FairCore::assertKeepsNone(const char* what) const {
  WEFT_ASSERT(currentFairWorker == nullptr || !currentFairWorker->keepsOneFor(*this),
              "fair::TaskScheduler::%s was called in a step that has posted its own task to \"%s\", "
              "and would wait for that step: the task is queued only when its step returns. "
              "Call it before the post, or from another thread.",
              what, name.c_str());
}

// Called before the tasks are taken back. Waits for the tasks that were posted by their own steps in other
// schedulers: these are queued here when their steps have ended.
void FairCore::awaitKept() {
  assertKeepsNone("takeBack() or its destructor");
  (void)blockUnless([this] { return numKept == 0; }, lock, keptWaiters, kNever,
                    "steps that have posted their tasks to a fair::TaskScheduler", this);
}

void FairCore::takeFront(FairChain& taken) {
  for (FairTask* task = front.popAll(); task != nullptr;) {
    FairTask* const next = task->inboxNext.get();
    forgetWait(*task);
    taken.append(*task);
    task = next;
  }
}

FairChain FairCore::takeAll() {
  FairChain queued;
  FairTask* task = nullptr;
  for (FairQueue* queue : {&due, &ready}) {
    for (FairQueue::Consumer consumer(*queue); consumer.pop(task);) {
      queued.append(*task);
    }
  }
  while (!backlog.isEmpty()) {
    queued.append(*backlog.pop());
  }
  publishBacklog();
  takeFront(queued);
  while ((task = heap.popExpired(kNever)) != nullptr) {
    if (task->state.cancelWait()) {
      queued.append(*task);
    } else {
      await(*task);
    }
  }
  for (uint32_t round = 0; numAwaited != 0;) {
    relax(round);
    takeFront(queued);
  }
  expire();
  FairChain taken;
  while ((task = queued.pop()) != nullptr) {
    taken.append(*task);
    task->state.forgetDeadline();
    if (!task->ops->keepsDeadline) {
      task->deadline = FairTask::kNoDeadline;
    }
    // relaxed: the caller owns them from now on.
    task->postedTo.store(nullptr, std::memory_order_relaxed);
  }
  return taken;
}

void FairCore::reportPostedTwice() const {
  WEFT_FATAL(
      "a fair::Task was posted to \"%s\" while a scheduler has it. "
      "Post it again in its step or later, or wake it up.",
      name.c_str());
}

bool FairCore::isEmpty() {
  lock.lock();
  const bool result = isEmptyLocked();
  lock.unlock();
  return result;
}

bool FairCore::waitEmptyUntil(TimePoint deadline) {
  assertNotForked("fair::TaskScheduler::waitEmpty()");
  assertNotInOwnStep(*this, "waitEmpty()");
  assertKeepsNone("waitEmpty()");
  return blockUnless([this] { return isEmptyLocked(); }, lock, emptyWaiters, deadline,
                     "a fair::TaskScheduler to be empty", this);
}

}  // namespace weft::inline v0_1::detail

namespace weft::inline v0_1::fair {

using detail::FairTask;

namespace {

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
  WEFT_ASSERT(numThreads >= 1 && numThreads <= detail::kMaxThreads,
              "fair::TaskScheduler \"%s\" with %d threads: ask for 1 to %d.", name.c_str(), numThreads,
              detail::kMaxThreads);
  WEFT_ASSERT(config.blockSize >= 1 && config.blockSize <= detail::kMaxBlockSize,
              "fair::TaskScheduler \"%s\" with a block size of %u: ask for 1 to %u.", name.c_str(),
              config.blockSize, detail::kMaxBlockSize);
  WEFT_ASSERT(config.allocator != nullptr,
              "fair::TaskScheduler \"%s\": Config::allocator is null. Leave it at Allocator::Default.",
              name.c_str());
  detail::CheckedAllocator allocator(config.allocator, detail::kOwner);
  core_.reset(allocator.create<detail::FairCore>(*this, name, numThreads, config));
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
  // relaxed: the next intake() makes the room first.
  core_->wantedRoom.store(static_cast<uint32_t>(numDeadlines), std::memory_order_relaxed);
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
    core_->dispatcherLock.begin();
  }
  core_->lock.unlock();
  WEFT_ASSERT(isStopped, "fair::TaskScheduler::takeBack() on \"%s\", whose threads run. Call stop() first.",
              core_->name.c_str());
  detail::FairChain all = core_->takeAll();
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
        core_->dispatcherLock.end();
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
