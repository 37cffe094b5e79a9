// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "async/task_thread.h"
#include "scheduler/core/scheduler_core.h"
#include "scheduler/worker/process_fork.h"
#include "scheduler/worker/worker.h"
#include "weft/cancellation.h"
#include "weft/conditionvariable.h"
#include "weft/debug.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/future/task_state.h"
#include "weft/detail/queue/segmented_queue.h"

namespace weft::inline v0_1 {

const char* TaskNotExecuted::what() const noexcept {
  return "weft::TaskNotExecuted: the executor of this task dropped it without having run it";
}

namespace detail {
namespace {

struct DefaultExecutor {
  SpinLock lock;
  std::optional<ExecutorReference> chosen;  // guarded by lock
};
constinit DefaultExecutor defaultOne;

ExecutorReference sharedPool() {
  // Never destroyed: its tasks may still run while static objects are destroyed.
  static PoolExecutor* const pool =
      new PoolExecutor(static_cast<size_t>(Scheduler::Config::allCores().workerThread.count));
  return *pool;
}

}  // namespace

void setCanceled(EscapedException& error) { error.set(std::make_exception_ptr(TaskCanceled())); }

void setNotExecuted(EscapedException& error) { error.set(std::make_exception_ptr(TaskNotExecuted())); }

void reportNoTask(const char* function) {
  WEFT_FATAL(
      "TaskHandle::%s() was called on a handle without a task: its task was run already, "
      "or it was moved from. A task runs once. Test the handle with `if (task)`.",
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
    // A fiber calls no handler, and other fibers of its thread would find this handler.
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
  if (const int error = detail::startTaskThread(pointer); error != 0) {
    task = TaskHandle::fromVoidPointer(pointer);
    constexpr const char* kMessage =
        "weft::threadExecutor(): the system granted no further thread. "
        "Run fewer tasks at one time, "
        "or raise the limit on threads (ulimit -u, the cgroup's pids.max)";
    throw std::system_error(error, std::generic_category(), kMessage);
  }
}

namespace {

Scheduler::Config poolConfig(size_t numWorkers, std::function<void()> prerun, std::function<void()> postrun) {
  WEFT_ASSERT(numWorkers > 0 && numWorkers <= size_t{Scheduler::kMaxWorkerThreads},
              "PoolExecutor(%td): from 1 to %d worker threads make sense.",
              static_cast<ptrdiff_t>(numWorkers),  // a negative number is shown as it was written
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

namespace detail {

// Threads that have entered push tasks.
//
// What must not happen: runUntil() sleeps beside a task, or though its future is ready.
//     schedule()                        runUntil()
//     pushes the task
//     reads numAwaiting: 0
//                                       increments numAwaiting
//                                       finds no task, and sleeps
// It cannot, by the two fences between the lines: schedule() reads the increment, or pop() sees the task. In
// the first case, and when the future is ready, wake() takes the lock once. A runUntil() that had it before
// is queued in `changed`, and is notified. One that takes it afterwards sees the task, or the ready future.
struct MainLoop final : ExecutorLink {
  void schedule(TaskHandle task) override {
    if (task && rundown.enter()) {
      tasks.push(static_cast<TaskNode*>(task.toVoidPointer()));
      StdSync::lightFence();
      // relaxed: the fences order it.
      if (numAwaiting.load(std::memory_order_relaxed) != 0) {
        wake();
      }
      rundown.leave();
    }
  }
  void free() noexcept override { delete this; }

  // flatten: a tenth fewer instructions for each task.
  [[gnu::flatten]] TaskHandle pop() {
    TaskNode* node = nullptr;
    const std::scoped_lock guard(lock);
    return consumer.pop(node) ? TaskHandleAccess::make(node) : TaskHandle();
  }

  // Called between beginAwait() and endAwait(). Returns: a task, or none once `future` is ready.
  TaskHandle await(const FutureCore& future) {
    TaskNode* node = nullptr;
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return future.isReady() || consumer.pop(node); });
    return node != nullptr ? TaskHandleAccess::make(node) : TaskHandle();
  }
  void beginAwait() {
    numAwaiting.fetch_add(1, std::memory_order_relaxed);  // relaxed: the fences order it
    StdSync::heavyFence();
  }
  // relaxed: a thread that reads the count from before takes the lock for nothing.
  void endAwait() { numAwaiting.fetch_sub(1, std::memory_order_relaxed); }

  void wake() {
    lock.lock();
    lock.unlock();
    changed.notify_all();
  }

  void end() {
    rundown.close();
    rundown.awaitAllLeft();
    while (pop()) {
    }
  }

  using Tasks = SegmentedQueue<TaskNode*>;
  Tasks tasks;
  SpinLock lock;
  Tasks::Consumer consumer{tasks};  // guarded by lock
  ConditionVariable changed;        // there is a task, or a future of runUntil() is ready
  // The calls of runUntil() that have not returned. They increment and decrement, schedule() loads.
  std::atomic<uint32_t> numAwaiting{0};
};

namespace {

// Wakes the loop when a future is ready. It may be told after runUntil() has returned: it keeps the loop.
struct WakesLoop : WakingListener {
  explicit WakesLoop(MainLoop& toWake) : WakingListener(&invokeThis), loop(&toWake) { loop->retain(); }
  ~WakesLoop() { loop->release(); }

  static void invokeThis(TaskNode* node, TaskOp) {
    auto& self = *static_cast<WakesLoop*>(node);
    self.loop->wake();
    NodeMemory<WakesLoop>::destroy(self);
  }

  MainLoop* const loop;
};

}  // namespace

void KeptExecutor::schedule(TaskHandle task) const { link_->schedule(std::move(task)); }

KeptExecutor ExecutorAccess::keep(Scheduler& executor) { return KeptExecutor(executor.core_->outside()); }
KeptExecutor ExecutorAccess::keep(PoolExecutor& executor) { return keep(executor.scheduler_); }
KeptExecutor ExecutorAccess::keep(MainLoopExecutor& executor) { return KeptExecutor(*executor.loop_); }

}  // namespace detail

PoolExecutor::PoolExecutor(size_t numWorkers, std::function<void()> prerun, std::function<void()> postrun)
    : scheduler_(poolConfig(numWorkers, std::move(prerun), std::move(postrun))) {}

PoolExecutor::~PoolExecutor() { detail::assertMayEnd(scheduler_, "~PoolExecutor", "the pool"); }

MainLoopExecutor::MainLoopExecutor() : loop_(new detail::MainLoop) {}

MainLoopExecutor::~MainLoopExecutor() {
  loop_->end();
  loop_->release();
}

void MainLoopExecutor::schedule(TaskHandle task) { loop_->schedule(std::move(task)); }

bool MainLoopExecutor::tryRunOne() {
  TaskHandle task = loop_->pop();
  const bool isFound = static_cast<bool>(task);
  if (isFound) {
    task.run();
  }
  return isFound;
}

// A task may destroy the executor.
size_t MainLoopExecutor::run(bool (*mayGoOn)(const void*), const void* context) {
  detail::MainLoop& loop = *loop_;
  const detail::KeptExecutor kept(loop);
  size_t count = 0;
  do {
    TaskHandle task = loop.pop();
    if (!task) {
      break;
    }
    task.run();
    ++count;
  } while (mayGoOn(context));
  return count;
}

// A task may destroy the executor, and use up the future.
size_t MainLoopExecutor::runUntilReady(const detail::FutureHandle& future) {
  detail::FutureCore& core = detail::FutureAccess::checkedCore(future, "MainLoopExecutor::runUntil");
  if (core.isReady()) {
    return 0;
  }
  detail::MainLoop& loop = *loop_;
  core.tellWhenReady(*detail::NodeMemory<detail::WakesLoop>::make(loop));
  core.retain();
  const detail::Shared<detail::FutureCore> keptCore = detail::Shared<detail::FutureCore>::adopt(&core);
  const detail::KeptExecutor keptLoop(loop);
  size_t count = 0;
  loop.beginAwait();
  while (!core.isReady()) {
    detail::FutureCore::freePutOff();  // at once: the future may depend on it, and tasks may come without end
    if (TaskHandle task = loop.await(core)) {
      task.run();
      ++count;
      if (detail::Worker::current() != nullptr) {
        yield();  // what makes the future ready may be a fiber or a task of this thread
      }
    }
  }
  loop.endAwait();
  return count;
}

}  // namespace weft::inline v0_1
