// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A coroutine for each connection, and an io_context that is told how many threads to expect.

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <thread>
#include <utility>
#include <vector>

#include "problem.h"

namespace {

using asio::ip::tcp;

asio::awaitable<void> sendBack(tcp::socket socket) {
  char buffer[4096];
  asio::error_code error;
  const auto token = [&error] { return asio::redirect_error(asio::use_awaitable, error); };
  socket.set_option(tcp::no_delay(true), error);
  for (;;) {
    const size_t size = co_await socket.async_read_some(asio::buffer(buffer), token());
    if (error) {
      co_return;
    }
    if (echo::asksToStall(buffer)) {
      echo::stall();
    }
    co_await asio::async_write(socket, asio::buffer(buffer, size), token());
  }
}

asio::awaitable<void> acceptAll(asio::io_context& context, tcp::acceptor& acceptor) {
  for (;;) {
    asio::error_code error;
    tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (!error) {
      asio::co_spawn(context, sendBack(std::move(socket)), asio::detached);
    }
  }
}

void run(bench::Run& r) {
  if (!echo::allowConnections(echo::connectionsOf(r))) {
    return r.skip("may not open that many files");
  }
  asio::io_context context(r.workers());
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  asio::co_spawn(context, acceptAll(context, acceptor), asio::detached);
  std::vector<std::thread> threads;
  for (int i = 0; i < r.workers(); i++) {
    threads.emplace_back([&] { context.run(); });
  }
  echo::measure(r, acceptor.local_endpoint().port());
  context.stop();
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "echo", "asio", echo::workloadsAndStalls(run));
}
