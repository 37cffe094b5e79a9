// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "fair/core.h"

#include <mutex>

#include "weft/debug.h"

namespace weft::inline v0_1::detail {
namespace {

void runThread(void* worker) { static_cast<FairWorker*>(worker)->run(); }

void assertNotInOwnStep(const FairCore& core, const char* what) {
  WEFT_ASSERT(currentFairWorker == nullptr || &currentFairWorker->core != &core,
              "fair::TaskScheduler::%s was called in a step of the same scheduler, "
              "and would wait for that step. Call it from another thread.",
              what);
}

}  // namespace

FairCore::FairCore(fair::TaskScheduler& scheduler, const std::string& called, int count,
                   const CheckedAllocator& checked, uint32_t blockSize)
    : facade(scheduler),
      name(called),
      numThreads(count),
      allocator(checked),
      dispatcher(&allocator, blockSize) {
  FairWorker::watchForksOfSteps();
  for (int i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<FairWorker>(*this));
  }
}

FairCore::~FairCore() {
  stop();
  awaitKept();
  // Destroying a task may post another one: a continuation of the future whose promise it breaks.
  for (FairChain taken = dispatcher.takeAll(); !taken.isEmpty(); taken = dispatcher.takeAll()) {
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
    dispatcher.lock.beginAll(numRunning);
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
