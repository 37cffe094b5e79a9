// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// The second half of weft/asio.h: what Asio looks up for weft::useFiber.

#include <memory>
#include <stop_token>
#include <utility>

#include "weft/asio.h"
#include "weft/detail/asio/config.h"
#include "weft/detail/asio/operation.h"
#include "weft/detail/asio/stop.h"

namespace weft::inline v0_1::detail {

struct AsioInitiation {
  template <class... Args, class Initiation, class... InitArgs>
  static AsioResult<Args...> run(const UseFiber& token, Initiation&& initiation, InitArgs&&... args) {
    AsioOperation<Args...> operation;
    operation.start([&] {
      std::forward<Initiation>(initiation)(AsioHandler<Args...>(operation), std::forward<InitArgs>(args)...);
    });
    operation.wait();
    return operation.take(token.error_);
  }

#if WEFT_ASIO_CAN_CANCEL
  // `executor`: what the program binds to the token, or none.
  template <class... Args, class Initiation, class... InitArgs>
  static AsioResult<Args...> runStoppable(const StoppableUseFiber& token,
                                          const asio::any_io_executor& executor, Initiation&& initiation,
                                          InitArgs&&... args) {
    AsioOperation<Args...> operation;
    std::shared_ptr<AsioStop> stop;
    if (token.token_.stop_possible()) {
      stop = std::make_shared<AsioStop>();
    }
    operation.start([&] {
      std::forward<Initiation>(initiation)(AsioStoppableHandler<Args...>(operation, stop, executor),
                                           std::forward<InitArgs>(args)...);
    });
    {
      const std::stop_callback callback(token.token_, [&]() noexcept { AsioStop::request(stop); });
      operation.wait();
    }
    return operation.take(token.error_);
  }
#endif
};

}  // namespace weft::inline v0_1::detail

namespace WEFT_ASIO_NAMESPACE {

template <class R, class... Args>
class async_result<weft::UseFiber, R(Args...)> {
 public:
  template <class Initiation, class... InitArgs>
  static weft::detail::AsioResult<Args...> initiate(Initiation&& initiation, const weft::UseFiber& token,
                                                    InitArgs&&... args) {
    return weft::detail::AsioInitiation::run<Args...>(token, std::forward<Initiation>(initiation),
                                                      std::forward<InitArgs>(args)...);
  }
};

#if WEFT_ASIO_CAN_CANCEL

template <class R, class... Args>
class async_result<weft::StoppableUseFiber, R(Args...)> {
 public:
  template <class Initiation, class... InitArgs>
  static weft::detail::AsioResult<Args...> initiate(Initiation&& initiation,
                                                    const weft::StoppableUseFiber& token,
                                                    InitArgs&&... args) {
    return weft::detail::AsioInitiation::runStoppable<Args...>(
        token, any_io_executor(), std::forward<Initiation>(initiation), std::forward<InitArgs>(args)...);
  }
};

// With an executor: Asio's own would hide it from the handler.
template <class Executor, class R, class... Args>
class async_result<executor_binder<weft::StoppableUseFiber, Executor>, R(Args...)> {
 public:
  template <class Initiation, class Token, class... InitArgs>
  static weft::detail::AsioResult<Args...> initiate(Initiation&& initiation, Token&& token,
                                                    InitArgs&&... args) {
    return weft::detail::AsioInitiation::runStoppable<Args...>(token.get(), token.get_executor(),
                                                               std::forward<Initiation>(initiation),
                                                               std::forward<InitArgs>(args)...);
  }
};

template <class Executor, class... Args>
struct associated_executor<weft::detail::AsioStoppableHandler<Args...>, Executor> {
  using type = any_io_executor;

  static type get(const weft::detail::AsioStoppableHandler<Args...>& handler,
                  const Executor& executor = Executor()) noexcept {
    return handler.executorOver(executor);
  }
};

#endif

}  // namespace WEFT_ASIO_NAMESPACE
