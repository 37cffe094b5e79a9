// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/asio.h>

#if WEFT_ASIO_BOOST
#include <boost/asio.hpp>
#else
#include <asio.hpp>
#endif

#include <thread>
#include <tuple>
#include <utility>
#include <vector>

// What the tests of weft/asio.h share. They are compiled with the standalone Asio and with Boost's.
namespace weft::tests {

using ErrorCode = UseFiber::ErrorCode;
using SystemError = detail::AsioSystemError;

inline ErrorCode aborted() { return asio::error::operation_aborted; }

// An io_context with threads that run it.
class Running {
 public:
  explicit Running(int numThreads = 1) : work_(context.get_executor()) {
    for (int i = 0; i < numThreads; ++i) {
      threads_.emplace_back([this] { context.run(); });
    }
  }
  ~Running() {
    work_.reset();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  asio::io_context context;

 private:
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
};

// An asynchronous operation: gives its handler, which is called with Args, to begin().
template <class... Args, class Begin, class Token>
auto operation(Begin begin, Token token) {
  return asio::async_initiate<Token, void(Args...)>([](auto handler, auto with) { with(std::move(handler)); },
                                                    token, std::move(begin));
}

// When an operation calls its handler, and where.
enum class When { AtOnce, ElsewhereAtOnce, Elsewhere };
inline constexpr When kWhens[] = {When::AtOnce, When::ElsewhereAtOnce, When::Elsewhere};

// An operation that calls its handler with `args`.
template <class... Args, class Token>
auto operationThatGives(When when, std::tuple<Args...> args, Token token) {
  std::thread thread;
  struct Join {
    ~Join() {
      if (thread.joinable()) {
        thread.join();
      }
    }
    std::thread& thread;
  } const join{thread};
  return operation<Args...>(
      [&](auto handler) {
        auto call = [handler = std::move(handler), args = std::move(args)]() mutable {
          std::apply(std::move(handler), std::move(args));
        };
        if (when == When::AtOnce) {
          call();
          return;
        }
        thread = std::thread(std::move(call));
        if (when == When::ElsewhereAtOnce) {
          thread.join();
        }
      },
      token);
}

}  // namespace weft::tests
