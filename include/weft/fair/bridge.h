// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/task_node.h"
#include "weft/fair/coro.h"
#include "weft/fair/task.h"
#include "weft/fair/task_scheduler.h"
#include "weft/future.h"

// Connects fair tasks with the rest of weft. A fair::TaskScheduler is also an Executor:
// weft::async(scheduler, f) and then(scheduler, f) run functions on it.

namespace weft::detail {

// Signals a task, instead of waking a fiber, when a future is ready.
struct FairListener : TaskNode {
  FairListener(fair::TaskScheduler& tellBy, fair::Task* told)
      : TaskNode{&tell, nullptr, 0}, scheduler(tellBy), task(told) {}

  static void tell(TaskNode* node, TaskOp) {
    auto& self = static_cast<FairListener&>(*node);
    fair::TaskScheduler& scheduler = self.scheduler;
    fair::Task* const task = self.task;
    NodeMemory<FairListener>::destroy(self);
    scheduler.signal(task);
  }

  fair::TaskScheduler& scheduler;
  fair::Task* const task;
};

// Awaits `body`, and does not throw its exception.
// Gives: the promise of `body`.
template <class T>
struct CoroEnd : decltype(std::declval<fair::Coro<T>&>().operator co_await()) {
  auto& await_resume() const { return static_cast<typename fair::Coro<T>::promise_type&>(**this->holder); }
};

// The body of async(): sets `promise` to what `body` returns or throws.
template <class T>
fair::Coro<> fulfil(fair::Coro<T> body, Promise<T> promise) {
  auto& end = co_await CoroEnd<T>{body.operator co_await()};
  if (end.error != nullptr) {
    promise.set_exception(end.error);
  } else if constexpr (std::is_void_v<T>) {
    promise.set_value();
  } else {
    // Moved by set_value(), so that an exception of the move becomes that of the future.
    promise.set_value(static_cast<T&&>(*end.value));
  }
}

}  // namespace weft::detail

namespace weft::fair {

// Signals `task` once source.wait() returns. `source` is an Event, a WaitGroup, a Latch, or anything else
// with wait(). A fiber waits meanwhile, on the scheduler that is bound to the calling thread, or else on
// defaultExecutor(). The caller neither suspends nor blocks.
//
//   weft::fair::signalAfter(loaded, scheduler, &task);
//   scheduler.postDelay(&task, std::chrono::seconds(1));
//
// The other direction needs no help: a step may signal an Event, or count a WaitGroup down, for the fibers
// that wait for it.
// Memory ordering: the step that receives the signal sees what is seen after source.wait().
// Lifetime: `source` is copied or moved. A source that can be neither is referred to, and must exist until
// the signal. `scheduler` and `task` must exist until the signal.
template <class Source>
  requires(!weft::detail::kIsFuture<Source>)
void signalAfter(Source&& source, TaskScheduler& scheduler, Task* task) {
  using Kept = std::decay_t<Source>;
  if constexpr (std::constructible_from<Kept, Source>) {
    (void)weft::async([taken = Kept(std::forward<Source>(source)), &scheduler, task]() mutable {
      taken.wait();
      scheduler.signal(task);
    });
  } else {
    (void)weft::async([&source, &scheduler, task] {
      source.wait();
      scheduler.signal(task);
    });
  }
}

// The same for a Future or a SharedFuture. The future is not changed: the step that receives the signal may
// call get(). No fiber waits: the thread that makes the future ready signals the task.
// Requires: future.valid().
template <class Future>
  requires weft::detail::kIsFuture<Future>
void signalAfter(const Future& future, TaskScheduler& scheduler, Task* task) {
  using Listener = weft::detail::FairListener;
  auto& state = weft::detail::FutureAccess::checkedCore(future, "fair::signalAfter");
  state.tellWhenReady(*weft::detail::NodeMemory<Listener>::make(scheduler, task));
}

// Runs a coroutine as the body of a task that `scheduler` owns. Neither suspends nor blocks.
//
//   weft::Future<int> quotient = weft::fair::async(scheduler, half(84));
//   int result = quotient.get();  // suspends a fiber, blocks a thread
//
// Returns: the future of what the body returns or throws. If the body has not ended when the scheduler is
// destroyed, the future throws BrokenPromise.
// Memory ordering: the body sees what came before.
// Lifetime: the coroutine, with its copies of the arguments, may be destroyed a moment after the future is
// ready.
template <class T>
Future<T> async(TaskScheduler& scheduler, Coro<T> body) {
  Promise<T> promise;
  Future<T> future = promise.get_future();
  CoroTask::postOwned(scheduler, weft::detail::fulfil<T>(std::move(body), std::move(promise)));
  return future;
}

}  // namespace weft::fair

#include "weft/detail/base/macros_end.h"
