// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// The executor of the handlers of weft::useFiber.

#include <type_traits>
#include <typeinfo>
#include <utility>

#include "weft/asio.h"
#include "weft/detail/asio/config.h"
#include "weft/detail/asio/executor_inl.h"
#include "weft/detail/asio/operation.h"

namespace weft::inline v0_1::detail {

// Returns: what `executor` holds, or null if that is of another type, or without run-time type information.
template <class Executor>
const Executor* asioTarget(const asio::any_io_executor& executor) noexcept {
#if defined(ASIO_NO_TYPEID) || defined(BOOST_ASIO_NO_TYPEID)
  (void)executor;
  return nullptr;
#else
  return executor.target_type() == typeid(Executor) ? executor.target<Executor>() : nullptr;
#endif
}

// The associated executor of the handler of an operation, over the operation's own one, `under`. The handler
// only wakes a fiber, so a thread that runs the handlers of that AsioContext or io_context calls it at once.
// On other threads `under` decides. Composed operations use it too.
class AsioHandlerExecutor {
 public:
  // No constructors: to copy this type, the compiler would look whether it converts to any_io_executor.
  static AsioHandlerExecutor over(const AsioExecutor& under) noexcept { return {under, {}}; }
  static AsioHandlerExecutor over(const asio::any_io_executor& under) noexcept {
    const auto* ofContext = detail::asioTarget<AsioExecutor>(under);
    return ofContext != nullptr ? over(*ofContext) : AsioHandlerExecutor({}, under);
  }

  bool operator==(const AsioHandlerExecutor& other) const noexcept {
    return ofContext_ == other.ofContext_ && other_ == other.other_;
  }

  template <class F>
  void execute(F&& function) const {
    if (isRunHere()) {
      std::decay_t<F> call(std::forward<F>(function));
      std::move(call)();
    } else if (ofContext_.hasContext()) {
      ofContext_.require(asio::execution::blocking.possibly).execute(std::forward<F>(function));
    } else {
      asio::prefer(other_, asio::execution::blocking.possibly).execute(std::forward<F>(function));
    }
  }

  // Properties: those that any_io_executor needs, and those of outstanding work.
  asio::any_io_executor require(asio::execution::blocking_t::never_t property) const {
    return asio::require(under(), property);
  }
  AsioHandlerExecutor require(asio::execution::outstanding_work_t::tracked_t property) const {
    return with(property);
  }
  AsioHandlerExecutor require(asio::execution::outstanding_work_t::untracked_t property) const {
    return with(property);
  }
  asio::execution_context& query(asio::execution::context_t) const {
    return asio::query(under(), asio::execution::context_as<asio::execution_context&>);
  }

 private:
  AsioHandlerExecutor(const AsioExecutor& ofContext, const asio::any_io_executor& other) noexcept
      : ofContext_(ofContext), other_(other) {}

  bool isRunHere() const noexcept {
    if (ofContext_.hasContext()) {
      return ofContext_.isRunHere();
    }
    const auto* ofIoContext = detail::asioTarget<asio::io_context::executor_type>(other_);
    return ofIoContext != nullptr && ofIoContext->running_in_this_thread();
  }

  asio::any_io_executor under() const {
    return ofContext_.hasContext() ? asio::any_io_executor(ofContext_) : other_;
  }

  template <class Property>
  AsioHandlerExecutor with(Property property) const {
    return ofContext_.hasContext() ? over(ofContext_.require(property))
                                   : AsioHandlerExecutor({}, asio::prefer(other_, property));
  }

  // What was given is one of the two; the other is empty.
  AsioExecutor ofContext_;
  asio::any_io_executor other_;
};

}  // namespace weft::inline v0_1::detail

namespace WEFT_ASIO_NAMESPACE {

template <class... Args>
struct associated_executor<weft::detail::AsioHandler<Args...>, any_io_executor> {
  using type = weft::detail::AsioHandlerExecutor;

  static type get(const weft::detail::AsioHandler<Args...>&,
                  const any_io_executor& executor = any_io_executor()) noexcept {
    return type::over(executor);
  }
};
template <class... Args>
struct associated_executor<weft::detail::AsioHandler<Args...>, weft::AsioExecutor> {
  using type = weft::detail::AsioHandlerExecutor;

  static type get(const weft::detail::AsioHandler<Args...>&, const weft::AsioExecutor& executor) noexcept {
    return type::over(executor);
  }
};

}  // namespace WEFT_ASIO_NAMESPACE
