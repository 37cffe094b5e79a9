// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

// Lets functions of Asio suspend a fiber: docs/asio.md. weft/weft.h leaves this header out, since it needs
// Asio. WEFT_ASIO_BOOST, alike in the whole program, chooses: 1 is Boost's, 0 is the standalone one. If it is
// not defined, the standalone one is used where it is there. weft::asio is the namespace of the chosen one.
// WEFT_ASIO_CAN_CANCEL tells whether it can cancel a single operation (from 1.19 on).
#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/asio/config.h"
#include "weft/detail/asio/operation.h"
#include "weft/detail/asio/reactor.h"
#include "weft/detail/base/outcome.h"
#include "weft/scheduler.h"
#include "weft/task.h"
#include "weft/waitgroup.h"

namespace weft::inline v0_1 {

namespace detail {
struct AsioInitiation;
class AsioHandlerExecutor;
}  // namespace detail
#if WEFT_ASIO_CAN_CANCEL
class StoppableUseFiber;
#endif

// The completion token by which a function of Asio suspends the fiber, or blocks the thread, until its end.
//
//   asio::steady_timer timer(context, std::chrono::seconds(1));
//   timer.async_wait(weft::useFiber);
//   size_t size = socket.async_read_some(asio::buffer(bytes), weft::useFiber);  // or throws
//   size = socket.async_read_some(asio::buffer(bytes), weft::useFiber[error]);
//   size = socket.async_read_some(asio::buffer(bytes), weft::useFiber(stopToken)[error]);
// The function returns what the operation's handler gets behind an error_code or exception_ptr: nothing, a
// value, or a std::tuple of several. An error_code is thrown as a system_error, or assigned to `error`; an
// exception_ptr is thrown. An operation that destroys its handler without calling it has the error
// operation_aborted, which is thrown even with `error` given if the value has no default constructor.
// Requires: other threads run the handlers of the operation's executor. A handler on the only thread of an
// io_context must not wait for an operation of that context. Fibers may run on different threads: what Asio
// says of one object in several threads holds for one object in several fibers.
// Memory ordering: the caller sees what came before the call of the handler.
// Lifetime: what the operation uses may be destroyed as soon as the function has returned.
class UseFiber {
 public:
  // asio::error_code, or boost::system::error_code.
  using ErrorCode = detail::AsioErrorCode;

  constexpr UseFiber() noexcept = default;

  // Returns: the token that assigns the error, or no error, to `error`.
  constexpr UseFiber operator[](ErrorCode& error) const noexcept { return UseFiber(&error); }

#if WEFT_ASIO_CAN_CANCEL
  // Returns: the token by which a stop of `token` cancels the operation, with asio::cancellation_type::all.
  // The error is then operation_aborted, unless the operation had ended or cannot be cancelled. All handlers
  // of the operation run in a strand over their executor, so several threads may run its context.
  StoppableUseFiber operator()(std::stop_token token) const noexcept;
#else
  template <class Token>
  UseFiber operator()(const Token&) const noexcept {
    static_assert(!std::is_same_v<Token, std::stop_token>,
                  "weft::useFiber(token): this Asio cannot cancel single operations; 1.19 (Boost 1.77) can");
    return *this;
  }
#endif

 private:
  friend detail::AsioInitiation;
  constexpr explicit UseFiber(ErrorCode* error) noexcept : error_(error) {}

  ErrorCode* error_ = nullptr;
};
// The token itself: pass it where Asio takes a handler.
inline constexpr UseFiber useFiber;

#if WEFT_ASIO_CAN_CANCEL
// What useFiber(stopToken) is: a completion token as UseFiber, whose operation a stop cancels.
class StoppableUseFiber {
 public:
  // Returns: the token that also assigns the error, or no error, to `error`.
  StoppableUseFiber operator[](UseFiber::ErrorCode& error) const noexcept { return {&error, token_}; }

 private:
  friend UseFiber;
  friend detail::AsioInitiation;
  StoppableUseFiber(UseFiber::ErrorCode* error, std::stop_token token) noexcept
      : error_(error), token_(std::move(token)) {}

  UseFiber::ErrorCode* error_;
  std::stop_token token_;
};

inline StoppableUseFiber UseFiber::operator()(std::stop_token token) const noexcept {
  return {error_, std::move(token)};
}
#endif

class AsioExecutor;

// A scheduler as an execution context of Asio, as asio::thread_pool is one. What is posted to it runs as a
// task, so it may wait, also by useFiber. It must let no exception escape.
//
//   weft::AsioContext context(scheduler);
//   asio::post(context, [&] {
//     asio::ip::tcp::socket socket(context);
//     socket.async_connect(endpoint, weft::useFiber);
//   });
// Sockets and timers are made with it as with an io_context. It starts one thread, which waits for all of
// them. Their handlers run as tasks. The thread itself calls those of useFiber, which only wake a fiber.
//
// With a worker it starts no thread. That worker polls it, as it polls weft::io, and runs all posts and
// handlers as tasks of its own, but for the handlers of useFiber. So a fiber that is begun by asio::post()
// goes on where its operations end, without a wake across threads. Make one context for each worker.
//
//   weft::AsioContext context(scheduler, 0);
// Requires: the scheduler outlives it. Nobody stops its io_context. What is called in place lets no exception
// escape: a handler of another executor, and a step of a composed operation that is given useFiber. If the
// scheduler has no worker threads, only threads that are bound to it post, and no operations of Asio are
// begun. A given worker exists, polls no other AsioContext, and has no fiber that waits by weft::io.
// Otherwise a message ends the program.
// Errors: the constructor throws std::system_error if the system grants no thread, or no descriptor.
class AsioContext {
 public:
  using executor_type = AsioExecutor;  // what get_executor() returns

  // Runs posts and handlers on any worker of `scheduler`, and waits for operations on a thread of its own.
  explicit AsioContext(Scheduler& scheduler)
      : scheduler_(scheduler), guard_(context_.get_executor()), thread_([this] { runUntilEnd(); }) {}
  // Runs posts and handlers on `worker`, a worker thread numbered from 0, which also waits for operations.
  // Suspends the fiber, or blocks the thread, until the worker has taken it.
  AsioContext(Scheduler& scheduler, int worker)
      : scheduler_(scheduler), worker_(worker), guard_(context_.get_executor()) {
    callOnWorker([this] { beginPolling(); });
  }
  AsioContext(const AsioContext&) = delete;
  AsioContext& operator=(const AsioContext&) = delete;

  // Waits until all posts and all operations of its sockets and timers have ended, and no executor tracks
  // outstanding work. So stop or cancel what would go on. Suspends the fiber, or blocks the thread.
  ~AsioContext() {
    work_.wait();
    if (thread_.joinable()) {
      // relaxed: before the thread is told to end.
      isEnding_.store(true, std::memory_order_relaxed);
      guard_.reset();
      thread_.join();
    } else {
      callOnWorker([] { detail::setCurrentReactor(nullptr); });
    }
  }

  // For Asio, as those of asio::io_context: sockets and timers are made with the context or its executor.
  AsioExecutor get_executor() noexcept;
  operator asio::execution_context&() noexcept { return context_; }  // NOLINT(google-explicit-constructor)

 private:
  friend AsioExecutor;
  friend detail::AsioHandlerExecutor;
  static constexpr int kAnyWorker = -1;

  // Whether dispatch() may call at once.
  bool mayCallHere() const noexcept {
    return Scheduler::get() == &scheduler_ && (worker_ == kAnyWorker || worker_ == Scheduler::workerId());
  }

  // Whether the calling thread is calling handlers of the io_context.
  bool isRunHere() noexcept {
    return reactor_ != nullptr ? reactor_->noteWakeIfRunning()
                               : context_.get_executor().running_in_this_thread();
  }

  void runUntilEnd() {
    detail::runHandlers([this] { context_.run(); });
    detail::assertNotStopped(!isEnding_.load(std::memory_order_relaxed));
  }

  void run(Task&& task) {
    if (worker_ == kAnyWorker) {
      scheduler_.enqueue(std::move(task));
    } else if (!reactor_->takeIfRunning(task)) {
      scheduler_.enqueueOn(worker_, std::move(task));
    }
  }

  template <class F>
  void callOnWorker(const F& function) {
    const WaitGroup done(1);
    detail::EscapedException escaped;
    scheduler_.enqueueOn(worker_, Task([&, done] {
                           escaped.capture(function);
                           done.done();
                         }));
    done.wait();
    escaped.rethrow();
  }

  void beginPolling() {
    WEFT_ASSERT(detail::currentReactor() == nullptr,
                "weft::AsioContext: worker %d sleeps in something else already: fibers of it have waited by "
                "weft::io, or it polls another AsioContext. Take a worker of its own for each.",
                worker_);
    auto reactor = std::make_unique<detail::AsioReactor>(
        context_,
        [](void* self, Task&& task) {
          auto& context = *static_cast<AsioContext*>(self);
          context.scheduler_.enqueueOn(context.worker_, std::move(task));
        },
        this);
    reactor_ = reactor.get();
    detail::setCurrentReactor(std::move(reactor));
  }

  Scheduler& scheduler_;
  const int worker_ = kAnyWorker;           // that polls it
  detail::AsioReactor* reactor_ = nullptr;  // that worker's
  WaitGroup work_;  // tasks, and executors that track work; Asio has one in each operation
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  std::atomic<bool> isEnding_{false};  // false -> true, by the destructor; the thread looks
  std::thread thread_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/asio/executor_inl.h"
#include "weft/detail/asio/use_fiber_inl.h"

#include "weft/detail/base/macros_end.h"
