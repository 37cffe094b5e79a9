// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// io_socket_st by coroutines of Asio: a server and a client, each an io_context with one thread.

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "problem.h"

namespace {

using asio::ip::tcp;

constexpr std::string_view kRequest = "HEAD / HTTP/1.1\r\nHost: host:port\r\nConnection: close\r\n\r\n";
constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\nContent-Length: 12\nContent-Type: text/plain; charset=utf-8\n\nHello World!";

// Receives as many bytes as `expected` has. Returns: whether they are these.
asio::awaitable<bool> receives(tcp::socket& socket, std::string_view expected) {
  char buffer[4096];
  size_t size = 0;
  while (size < expected.size()) {
    asio::error_code error;
    size += co_await socket.async_read_some(asio::buffer(buffer + size, sizeof buffer - size),
                                            asio::redirect_error(asio::use_awaitable, error));
    if (error) {
      co_return false;
    }
  }
  co_return std::string_view(buffer, size) == expected;
}

// The loop has no co_await in its condition, which gcc 12 compiles wrongly.
asio::awaitable<void> handle(tcp::socket socket, size_t& answered) {
  for (;;) {
    const bool isThere = co_await receives(socket, kRequest);
    if (!isThere) {
      co_return;
    }
    co_await asio::async_write(socket, asio::buffer(kResponse), asio::use_awaitable);
    answered++;
  }
}

asio::awaitable<void> serve(tcp::acceptor& acceptor, size_t connections, size_t& answered) {
  for (size_t i = 0; i < connections; i++) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    asio::co_spawn(acceptor.get_executor(), handle(std::move(socket), answered), asio::detached);
  }
}

asio::awaitable<void> ask(asio::io_context& context, tcp::endpoint server, size_t requests,
                          size_t& answered) {
  tcp::socket socket(context);
  co_await socket.async_connect(server, asio::use_awaitable);
  for (size_t i = 0; i < requests; i++) {
    co_await asio::async_write(socket, asio::buffer(kRequest), asio::use_awaitable);
    const bool isThere = co_await receives(socket, kResponse);
    bench::check(isThere, "the response");
    answered++;
  }
}

void run(bench::Run& r) {
  const auto connections = r.size<size_t>(20, 4);
  const auto requests = r.size<size_t>(100000, 400);
  asio::io_context server(1), client(1);
  tcp::acceptor acceptor(server, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  size_t served = 0, answered = 0;
  asio::co_spawn(server, serve(acceptor, connections, served), asio::detached);
  const double ns = r.onceNs([&] {
    std::thread serverThread([&] { server.run(); });
    for (size_t i = 0; i < connections; i++) {
      const size_t share = requests * (i + 1) / connections - requests * i / connections;
      asio::co_spawn(client, ask(client, acceptor.local_endpoint(), share, answered), asio::detached);
    }
    client.run();
    serverThread.join();
  });
  bench::check(answered == requests && served == requests, "sockets");
  r.metric("ms", ns / 1e6);
  r.metric("rss_mib", static_cast<double>(bench::peakResidentKib()) / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "ranking", "asio", {{"sockets", {2}, run}});
}
