// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// The executor of weft/asio.h.

#include <type_traits>
#include <utility>

#include "weft/asio.h"
#include "weft/detail/asio/config.h"
#include "weft/task.h"

namespace weft::inline v0_1 {

// The executor of an AsioContext. asio::dispatch() calls a function at once if the scheduler is bound to the
// calling thread; asio::post() and asio::defer() make a task.
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
    detail::assertCallable(function, "AsioExecutor::execute()");
    if (options_.mayRunHere && context_->mayCallHere()) {
      std::decay_t<F> call(std::forward<F>(function));
      std::move(call)();
      return;
    }
    context_->run(Task([work = require(asio::execution::outstanding_work.tracked),
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
  friend detail::AsioHandlerExecutor;

  struct Options {
    bool mayRunHere = true;
    bool isContinuation = false;  // a task that a task schedules is one anyway
    bool isTracking = false;
    bool operator==(const Options&) const noexcept = default;
  };

  AsioExecutor() noexcept : context_(nullptr) {}
  bool hasContext() const noexcept { return context_ != nullptr; }
  bool isRunHere() const noexcept { return context_->isRunHere(); }

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

}  // namespace weft::inline v0_1

#include "weft/detail/asio/handler_executor_inl.h"
