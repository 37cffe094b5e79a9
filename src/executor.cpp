// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor.h"

#include <pthread.h>

#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "detached_thread.h"
#include "forked.h"
#include "overflow.h"
#include "weft/debug.h"
#include "weft/detail/task_state.h"
#include "weft/detail/tiny_lock.h"

namespace weft {

const char* TaskNotExecuted::what() const noexcept {
  return "weft::TaskNotExecuted: the executor of this task dropped it without having run it";
}

namespace detail {
namespace {

void* runTaskThread(void* task) {
  pthread_setname_np(pthread_self(), "weft:task");
  AlternateStack signalStack;
  TaskHandle::fromVoidPointer(task).run();
  return nullptr;
}

// What setDefaultExecutor() has set.
struct DefaultExecutor {
  TinyLock lock;
  std::optional<ExecutorReference> chosen;  // guarded by lock
};
constinit DefaultExecutor defaultOne;

ExecutorReference sharedPool() {
  // Never destroyed: its tasks may still run while static objects are.
  static PoolExecutor* const pool =
      new PoolExecutor(static_cast<size_t>(Scheduler::Config::allCores().workerThread.count));
  return *pool;
}

}  // namespace

void setNotExecuted(EscapedException& error) {
  error.set(TaskNotExecuted());
}

void reportNoTask(const char* function) {
  WEFT_FATAL(
      "TaskHandle::%s() was called on a handle without a task: one that was run already, or moved from. A "
      "task runs once; "
      "test the handle with `if (task)`.",
      function);
}

ExecutorReference sharedDefaultExecutor() {
  {
    std::scoped_lock guard(defaultOne.lock);
    if (defaultOne.chosen) {
      return *defaultOne.chosen;
    }
  }
  return sharedPool();
}

}  // namespace detail

std::optional<ExecutorReference> setDefaultExecutor(std::optional<ExecutorReference> executor) {
  std::scoped_lock guard(detail::defaultOne.lock);
  return std::exchange(detail::defaultOne.chosen, executor);
}

void TaskHandle::runWithWaitHandler(WaitHandler handler) {
  if (node_ == nullptr) {
    detail::reportNoTask("runWithWaitHandler");
  }
  if (detail::currentFiber != nullptr) {
    // A fiber calls no handler; and others of its thread would find this one.
    run();
    return;
  }
  struct Restore {
    WaitHandler before;
    ~Restore() { setThreadWaitHandler(std::move(before)); }
  } restore{setThreadWaitHandler(std::move(handler))};
  run();
}

void ThreadExecutor::schedule(TaskHandle task) const {
  detail::assertNotForked("ThreadExecutor::schedule()");
  if (!task) {
    return;
  }
  void* pointer = task.toVoidPointer();
  if (const int error = detail::startDetachedThread(&detail::runTaskThread, pointer); error != 0) {
    task = TaskHandle::fromVoidPointer(pointer);
    constexpr const char* kMessage =
        "weft::threadExecutor(): the system granted no further thread. Run fewer tasks at one time, or raise "
        "the limit on "
        "threads (ulimit -u, the cgroup's pids.max)";
#if defined(__cpp_exceptions)
    throw std::system_error(error, std::generic_category(), kMessage);
#else
    WEFT_FATAL("%s: %s", kMessage, std::strerror(error));
#endif
  }
}

namespace {

Scheduler::Config poolConfig(size_t numWorkers, std::function<void()> prerun, std::function<void()> postrun) {
  WEFT_ASSERT(numWorkers > 0 && numWorkers <= size_t{Scheduler::kMaxWorkerThreads},
              "PoolExecutor(%td): from 1 to %d worker threads make sense.",
              static_cast<ptrdiff_t>(numWorkers),  // as whoever gave a negative number wrote it
              Scheduler::kMaxWorkerThreads);
  Scheduler::Config config;
  config.setWorkerThreadCount(static_cast<int>(numWorkers));
  if (prerun != nullptr) {
    config.setWorkerThreadInitializer([call = std::move(prerun)](int) { call(); });
  }
  if (postrun != nullptr) {
    config.setWorkerThreadFinalizer([call = std::move(postrun)](int) { call(); });
  }
  return config;
}

}  // namespace

PoolExecutor::PoolExecutor(size_t numWorkers, std::function<void()> prerun, std::function<void()> postrun)
    : scheduler_(poolConfig(numWorkers, std::move(prerun), std::move(postrun))) {}

MainLoopExecutor::~MainLoopExecutor() {
  detail::TaskNode* node = nullptr;
  while (pop(node)) {
    TaskHandle dropped = detail::TaskHandleAccess::make(node);
  }
}

void MainLoopExecutor::schedule(TaskHandle task) {
  if (task) {
    tasks_.push(static_cast<detail::TaskNode*>(task.toVoidPointer()));
  }
}

bool MainLoopExecutor::pop(detail::TaskNode*& node) {
  const std::scoped_lock guard(lock_);
  return consumer_.pop(node);
}

bool MainLoopExecutor::tryRunOne() {
  detail::TaskNode* node = nullptr;
  const bool isFound = pop(node);
  if (isFound) {
    detail::TaskHandleAccess::make(node).run();
  }
  return isFound;
}

size_t MainLoopExecutor::runAll() {
  size_t count = 0;
  while (tryRunOne()) {
    ++count;
  }
  return count;
}

}  // namespace weft
