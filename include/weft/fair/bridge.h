// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <mutex>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/future/state.h"
#include "weft/fair/coro.h"
#include "weft/fair/task.h"
#include "weft/fair/task_scheduler.h"
#include "weft/future.h"

// Connects fair tasks with the rest of weft. A fair::TaskScheduler is an Executor, as for weft::async().

namespace weft::inline v0_1::detail {

// Signals a task on behalf of signalAfter(). References: a PendingSignal, and a future's listener or a fiber.
struct FairNotifier : LeavingListener, ReferenceCount {
  FairNotifier(fair::TaskScheduler& tellBy, fair::Task* told)
      : LeavingListener(&tell), ReferenceCount(2), scheduler(&tellBy), task(told) {}

  static void tell(TaskNode* node, TaskOp) {
    auto& self = static_cast<FairNotifier&>(*node);
    self.notify();
    self.release();
  }

  // Signals the task under the lock, so that withdraw() waits for a signal on its way.
  void notify() {
    const std::lock_guard<StdSync::Lock> guard(lock);
    if (scheduler != nullptr) {
      std::exchange(scheduler, nullptr)->signal(task);
    }
  }
  // Afterwards the task and the scheduler are not touched.
  void withdraw() {
    if (future != nullptr && future->forget(*this)) {
      release();  // for the listener
      return;
    }
    {
      const std::lock_guard<StdSync::Lock> guard(lock);
      scheduler = nullptr;
    }
    stop.request_stop();
  }
  void release() noexcept {
    if (releaseReference(false)) {
      NodeMemory<FairNotifier>::destroy(*this);
    }
  }

  StdSync::Lock lock;
  fair::TaskScheduler* scheduler;  // null once there is nothing more to tell; guarded by the lock
  fair::Task* const task;
  FutureCore* future = nullptr;             // that is listened to; the PendingSignal holds a reference
  std::stop_source stop{std::nostopstate};  // of the fiber's wait
};

// The reference of the waiting fiber.
class FairNotifierOfFiber {
 public:
  explicit FairNotifierOfFiber(FairNotifier* notifier) : notifier_(notifier) {}
  FairNotifierOfFiber(FairNotifierOfFiber&& other) noexcept
      : notifier_(std::exchange(other.notifier_, nullptr)) {}
  FairNotifierOfFiber& operator=(FairNotifierOfFiber&&) = delete;
  ~FairNotifierOfFiber() {
    if (notifier_ != nullptr) {
      notifier_->release();
    }
  }

  template <class Source>
  void notifyAfter(Source& source) {
    if constexpr (kMayStop<Source>) {
      (void)source.wait(notifier_->stop.get_token());
    } else {
      source.wait();
    }
    notifier_->notify();
  }

  // Whether a wait for it can be stopped.
  template <class Source>
  static constexpr bool kMayStop =
      requires(Source& source, const std::stop_token& token) { source.wait(token); };
  // Whether it can be waited for.
  template <class Source>
  static constexpr bool kWaits = kMayStop<Source> || requires(Source& source) { source.wait(); };

 private:
  FairNotifier* notifier_;
};

// Awaits `body`, whose exception it does not throw. Gives the promise of `body`.
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
    // set_value() moves it, so that an exception of the move becomes the future's.
    promise.set_value(static_cast<T&&>(*end.value));
  }
}

}  // namespace weft::inline v0_1::detail

namespace weft::inline v0_1::fair {

// The signal of a signalAfter(). Destroying it withdraws the signal: keep it as long as the task waits, for
// example in the frame of a coroutine, or beside the task. Not for several threads at the same time.
class [[nodiscard]] PendingSignal {
 public:
  // Has nothing to withdraw.
  PendingSignal() = default;
  // For weft's own use, by signalAfter(). Takes over a reference.
  explicit PendingSignal(weft::detail::FairNotifier& notifier) noexcept : notifier_(&notifier) {}
  PendingSignal(PendingSignal&& other) noexcept : notifier_(std::exchange(other.notifier_, nullptr)) {}
  PendingSignal& operator=(PendingSignal&& other) noexcept {
    if (this != &other) {
      withdraw();
      notifier_ = std::exchange(other.notifier_, nullptr);
    }
    return *this;
  }
  ~PendingSignal() { withdraw(); }

  // Withdraws the signal, unless it has come. Afterwards the task and the scheduler are not touched. Any
  // thread, also a step of the task. Neither suspends nor blocks, but for the moment of a send.
  void withdraw() noexcept {
    if (weft::detail::FairNotifier* notifier = std::exchange(notifier_, nullptr)) {
      weft::detail::FutureCore* const future = notifier->future;
      notifier->withdraw();
      notifier->release();
      if (future != nullptr) {
        future->release();
      }
    }
  }

 private:
  weft::detail::FairNotifier* notifier_ = nullptr;
};

// Signals `task` once source.wait() returns. `source` is an Event, a WaitGroup, a Latch, or anything else
// with wait() or wait(std::stop_token). A fiber waits meanwhile, on the bound scheduler or defaultExecutor().
//
//   const auto signal = weft::fair::signalAfter(loaded, scheduler, &task);
//   scheduler.postDelay(&task, std::chrono::seconds(1));
//   scheduler.waitEmpty();
// The other direction needs no help: a step may signal an Event or count a WaitGroup down.
// Returns: what withdraws the signal when it is destroyed, and stops the fiber's wait if that can be stopped.
// Memory ordering: the step that receives the signal sees what is seen after source.wait().
// Lifetime: `source` is copied or moved. If it can be neither, it must be a variable that exists until its
// wait() has returned. `scheduler` and `task` must exist until the signal, or until it is withdrawn.
template <class Source>
  requires(!weft::detail::kIsFuture<Source>)
PendingSignal signalAfter(Source&& source, TaskScheduler& scheduler, Task* task) {
  using Kept = std::decay_t<Source>;
  using Notifier = weft::detail::FairNotifierOfFiber;
  constexpr bool kIsKept = std::constructible_from<Kept, Source>;
  using Waited = std::conditional_t<kIsKept, Kept, std::remove_reference_t<Source>>;
  constexpr bool kWaits = Notifier::kWaits<Waited>;
  constexpr bool kLives = kIsKept || std::is_lvalue_reference_v<Source>;
  static_assert(kWaits,
                "fair::signalAfter(source, scheduler, &task): the source has no wait(). Give it an Event, a "
                "WaitGroup, a Latch, a Future, or anything else that has one.");
  static_assert(
      kLives || !kWaits,
      "fair::signalAfter(source, scheduler, &task): a source that can be neither copied nor moved is "
      "referred to, and this one is a temporary. Give it a variable that lives until its wait() has "
      "returned.");
  if constexpr (kWaits && kLives) {
    auto& shared = *weft::detail::NodeMemory<weft::detail::FairNotifier>::make(scheduler, task);
    PendingSignal pending(shared);
    Notifier notifier(&shared);
    if constexpr (Notifier::kMayStop<Waited>) {
      shared.stop = std::stop_source();
    }
    if constexpr (kIsKept) {
      (void)weft::async([taken = Kept(std::forward<Source>(source)), own = std::move(notifier)]() mutable {
        own.notifyAfter(taken);
      });
    } else {
      (void)weft::async([&source, own = std::move(notifier)]() mutable { own.notifyAfter(source); });
    }
    return pending;
  } else {
    return PendingSignal();
  }
}

// Signals `task` once a Future or a SharedFuture is ready. It stays valid: the step that receives the signal
// may call get(). No fiber waits: the thread that makes the future ready signals the task.
// Requires: future.valid().
template <class Future>
  requires weft::detail::kIsFuture<Future>
PendingSignal signalAfter(const Future& future, TaskScheduler& scheduler, Task* task) {
  weft::detail::FutureCore& state = weft::detail::FutureAccess::checkedCore(future, "fair::signalAfter");
  auto& notifier = *weft::detail::NodeMemory<weft::detail::FairNotifier>::make(scheduler, task);
  state.retain();
  notifier.future = &state;
  state.tellWhenReady(notifier);
  return PendingSignal(notifier);
}

template <class Source, class Scheduler, class Pointer>
  requires(!std::convertible_to<Scheduler, TaskScheduler&> || !std::convertible_to<Pointer, Task*>)
PendingSignal signalAfter(Source&&, Scheduler&&, Pointer&&) {
  static_assert(weft::detail::kAlwaysFalse<Source>,
                "fair::signalAfter(source, scheduler, &task): the scheduler is a variable of the type "
                "fair::TaskScheduler, and the last argument is the address of a fair::Task.");
  return PendingSignal();
}

// Runs a coroutine as the body of a task that `scheduler` owns. Neither suspends nor blocks.
//
//   weft::Future<int> quotient = weft::fair::async(scheduler, half(84));
//   int result = quotient.get();  // suspends a fiber, blocks a thread
// Returns: the future of what the body returns or throws. It throws BrokenPromise if the scheduler is
// destroyed before the body has ended.
// Memory ordering: the body sees what came before.
// Lifetime: the coroutine, with its arguments, may be destroyed a moment after the future is ready.
template <class T>
Future<T> async(TaskScheduler& scheduler, Coro<T> body) {
  Promise<T> promise;
  Future<T> future = promise.get_future();
  CoroTask::postOwned(scheduler, weft::detail::fulfil<T>(std::move(body), std::move(promise)));
  return future;
}

}  // namespace weft::inline v0_1::fair

#include "weft/detail/base/macros_end.h"
