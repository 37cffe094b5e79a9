// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "fair/core.h"

#include <mutex>

#include "weft/debug.h"

namespace weft::inline v0_1::detail {
namespace {

void runThread(void* worker) { static_cast<FairWorker*>(worker)->run(); }

}  // namespace

FairCore::FairCore(fair::TaskScheduler& scheduler, const std::string& called, int count,
                   const CheckedAllocator& checked, uint32_t blockSize)
    : facade(scheduler),
      name(called),
      allocator(checked),
      dispatcher(&allocator, blockSize),
      quiescence(dispatcher),
      idle(dispatcher, quiescence, workers) {
  FairWorker::watchForksOfSteps();
  for (int i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<FairWorker>(*this));
  }
}

FairCore::~FairCore() {
  stop();
  FairWorker::assertKeepsNoneFor(*this, "takeBack() or its destructor");
  quiescence.awaitKept();
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
}

void FairCore::start() {
  assertNotForked("fair::TaskScheduler::start()");
  std::scoped_lock guard(lifecycle);
  if (!quiescence.beginThreads(static_cast<uint32_t>(workers.size()))) {
    return;
  }
  idle.start();
  NativeThread::Options options;
  options.name = name.c_str();
  for (const auto& worker : workers) {
    const int error = worker->thread.start(&runThread, worker.get(), options);
    WEFT_ASSERT(error == 0,
                "fair::TaskScheduler \"%s\": the system refuses a thread (error %d). "
                "Ask for fewer than %d, or raise the limit.",
                name.c_str(), error, static_cast<int>(workers.size()));
  }
}

void FairCore::stop() {
  FairWorker::assertNotInStepOf(*this, "stop()");
  std::scoped_lock guard(lifecycle);
  if (quiescence.isStopped()) {
    return;
  }
  idle.stop();
  quiescence.awaitThreads();
  for (const auto& worker : workers) {
    worker->thread.join();
  }
}

void FairCore::enqueue(FairTask& newest, FairTask& oldest) {
  const FairWorker* worker = currentFairWorker;
  if (workers.size() == 1 && worker != nullptr && &worker->core == this && &newest == &oldest &&
      dispatcher.front.empty()) {
    // The only thread counts as the holder of the dispatcher lock, and nobody needs to be woken.
    dispatcher.accept(newest);
    dispatcher.publishBacklog();
    return;
  }
  // The scheduler may be gone after the push.
  if (const uintptr_t mark = dispatcher.front.pushChain(&newest, &oldest)) {
    IdleThreads::wakeMarked(mark);
  }
}

}  // namespace weft::inline v0_1::detail
