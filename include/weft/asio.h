// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

// weft with Asio: see docs/asio.md. weft/weft.h leaves this header out; whoever includes it needs Asio, the
// standalone one or Boost's. WEFT_ASIO_BOOST, defined as 0 or 1 in all of a program alike, chooses; without
// it the standalone one is taken if it is there. weft::asio is the namespace of the Asio that was chosen.
// WEFT_ASIO_CAN_CANCEL tells whether that one can cancel a single operation, which came with Asio 1.19.
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "weft/detail/asio/config.h"
#include "weft/detail/asio/operation.h"
#include "weft/scheduler.h"
#include "weft/task.h"
#include "weft/waitgroup.h"

namespace weft {

namespace detail {
struct AsioInitiation;
}
#if WEFT_ASIO_CAN_CANCEL
class StoppableUseFiber;
#endif

// The completion token by which a function of Asio suspends the fiber, or blocks the thread, until its
// operation has ended.
//
//   asio::steady_timer timer(context, std::chrono::seconds(1));
//   timer.async_wait(weft::useFiber);
//   size_t size = socket.async_read_some(asio::buffer(bytes), weft::useFiber);  // or throws
//   size = socket.async_read_some(asio::buffer(bytes), weft::useFiber[error]);
//   size = socket.async_read_some(asio::buffer(bytes), weft::useFiber(stopToken)[error]);
//
// The function returns what the operation's handler gets behind an error_code or exception_ptr: nothing, a
// value, or a std::tuple of several. An error_code is thrown as a system_error, or assigned to `error`, and
// an exception_ptr is thrown. An operation that destroys its handler without calling it has the error
// asio::error::operation_aborted. That is thrown even if `error` is given where the function would have to
// make a value without default constructor.
//
// Requires: others run the handlers of the operation's executor. So the only thread of an io_context must
// not wait, in a handler, for an operation of that context.
// Memory ordering: the caller sees what came before the call of the handler.
// Lifetime: what the operation uses may be destroyed as soon as the function has returned.
class UseFiber {
 public:
  using ErrorCode = detail::AsioErrorCode;

  constexpr UseFiber() noexcept = default;

  // Returns: the token by which the error is assigned to `error`, or no error.
  constexpr UseFiber operator[](ErrorCode& error) const noexcept { return UseFiber(&error); }

#if WEFT_ASIO_CAN_CANCEL
  // Returns: the token by which a stop that is requested by `token` cancels the operation, once it has begun,
  // with asio::cancellation_type::all. The error is then operation_aborted, unless the operation had ended or
  // cannot be cancelled. All handlers of the operation run in a strand over the executor that they would have
  // otherwise, so that its context may be run by several threads.
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
inline constexpr UseFiber useFiber;

#if WEFT_ASIO_CAN_CANCEL
// What useFiber(token) is: see UseFiber.
class StoppableUseFiber {
 public:
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
// task on a fiber, so it may wait, also by useFiber. It must let no exception escape.
//
//   weft::AsioContext context(scheduler);
//   asio::post(context, [&] {
//     asio::ip::tcp::socket socket(context);
//     socket.async_connect(endpoint, weft::useFiber);
//   });
//
// Sockets and timers are made with it as with an io_context. One thread, which it starts, waits for all of
// them, and makes a task of each handler.
// Requires: the scheduler outlives it. If the scheduler has no worker threads, only threads that are bound to
// it post, and no operations of Asio are begun.
// Errors: the constructor throws std::system_error if the system grants no thread.
class AsioContext {
 public:
  using executor_type = AsioExecutor;

  explicit AsioContext(Scheduler& scheduler)
      : scheduler_(scheduler), guard_(context_.get_executor()), thread_([this] { context_.run(); }) {}
  AsioContext(const AsioContext&) = delete;
  AsioContext& operator=(const AsioContext&) = delete;

  // Waits until all that was posted has ended, all operations of its sockets and timers too, and until no
  // executor tracks outstanding work any more. So stop or cancel what would go on. Suspends the fiber, or
  // blocks the thread.
  ~AsioContext() {
    work_.wait();
    guard_.reset();
    thread_.join();
  }

  AsioExecutor get_executor() noexcept;
  operator asio::execution_context&() noexcept { return context_; }  // NOLINT(google-explicit-constructor)

 private:
  friend AsioExecutor;

  Scheduler& scheduler_;
  WaitGroup work_;  // tasks, and executors that track work; Asio has one in each operation
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  std::thread thread_;
};

// The executor of an AsioContext. As Asio's own ones it calls a function at once where asio::dispatch() asks
// for that and the scheduler is bound to the calling thread; asio::post() and asio::defer() make a task.
class AsioExecutor {
 public:
  AsioExecutor(const AsioExecutor& other) noexcept : AsioExecutor(other.context_, other.options_) {}
  // Takes the work over: Asio's work guard never destroys the executor that it has moved from.
  AsioExecutor(AsioExecutor&& other) noexcept : context_(other.context_), options_(other.options_) {
    other.options_.isTracking = false;
  }
  AsioExecutor& operator=(AsioExecutor other) noexcept {
    std::swap(context_, other.context_);
    std::swap(options_, other.options_);
    return *this;
  }
  ~AsioExecutor() {
    if (options_.isTracking) {
      context_->work_.done();
    }
  }

  bool operator==(const AsioExecutor& other) const noexcept = default;

  template <class F>
  void execute(F&& function) const {
    if (options_.mayRunHere && Scheduler::get() == &context_->scheduler_) {
      std::decay_t<F> call(std::forward<F>(function));
      std::move(call)();
      return;
    }
    context_->scheduler_.enqueue(
        Task([work = require(asio::execution::outstanding_work.tracked),
              call = std::decay_t<F>(std::forward<F>(function))]() mutable { std::move(call)(); }));
  }

  // Properties, for asio::require(), asio::prefer() and asio::query().
  AsioExecutor require(asio::execution::blocking_t::possibly_t) const noexcept {
    return with(&Options::mayRunHere, true);
  }
  AsioExecutor require(asio::execution::blocking_t::never_t) const noexcept {
    return with(&Options::mayRunHere, false);
  }
  AsioExecutor require(asio::execution::relationship_t::continuation_t) const noexcept {
    return with(&Options::isContinuation, true);
  }
  AsioExecutor require(asio::execution::relationship_t::fork_t) const noexcept {
    return with(&Options::isContinuation, false);
  }
  AsioExecutor require(asio::execution::outstanding_work_t::tracked_t) const noexcept {
    return with(&Options::isTracking, true);
  }
  AsioExecutor require(asio::execution::outstanding_work_t::untracked_t) const noexcept {
    return with(&Options::isTracking, false);
  }
  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
  asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept {
    using Blocking = asio::execution::blocking_t;
    return options_.mayRunHere ? Blocking(Blocking::possibly_t()) : Blocking(Blocking::never_t());
  }
  asio::execution::relationship_t query(asio::execution::relationship_t) const noexcept {
    using Relationship = asio::execution::relationship_t;
    return options_.isContinuation ? Relationship(Relationship::continuation_t())
                                   : Relationship(Relationship::fork_t());
  }
  asio::execution::outstanding_work_t query(asio::execution::outstanding_work_t) const noexcept {
    using Work = asio::execution::outstanding_work_t;
    return options_.isTracking ? Work(Work::tracked_t()) : Work(Work::untracked_t());
  }

 private:
  friend AsioContext;

  struct Options {
    bool mayRunHere = true;
    bool isContinuation = false;  // a task that a task schedules is one anyway
    bool isTracking = false;
    bool operator==(const Options&) const noexcept = default;
  };

  AsioExecutor(AsioContext* context, Options options) noexcept : context_(context), options_(options) {
    if (options_.isTracking) {
      context_->work_.add();
    }
  }

  AsioExecutor with(bool Options::* option, bool value) const noexcept {
    Options options = options_;
    options.*option = value;
    return {context_, options};
  }

  AsioContext* context_;
  Options options_;
};

inline AsioExecutor AsioContext::get_executor() noexcept { return {this, {}}; }

}  // namespace weft

#include "weft/detail/asio/use_fiber_inl.h"
