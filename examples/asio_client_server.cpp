// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A server that sends back what it gets, and its clients, with Asio: a fiber for each connection. SIGINT and
// SIGTERM stop the server; the last client sends the latter.

#include <weft/asio.h>
#include <weft/weft.h>

#include <asio/connect.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <stop_token>
#include <string>
#include <utility>

namespace {

using asio::ip::tcp;

// One connection, until the client closes it.
void serve(tcp::socket socket) {
  char bytes[1024];
  asio::error_code error;
  for (;;) {
    const size_t size = socket.async_read_some(asio::buffer(bytes), weft::useFiber[error]);
    if (error) {
      return;
    }
    asio::async_write(socket, asio::buffer(bytes, size), weft::useFiber[error]);
    if (error) {
      return;
    }
  }
}

void acceptUntilStopped(weft::AsioContext& context, tcp::acceptor acceptor, const std::stop_token& stop) {
  for (;;) {
    asio::error_code error;
    tcp::socket socket(context);
    acceptor.async_accept(socket, weft::useFiber(stop)[error]);
    if (stop.stop_requested()) {
      return;
    }
    if (error) {
      // Where no descriptor is left, the next accept would fail at once too.
      asio::steady_timer pause(context, std::chrono::milliseconds(10));
      pause.async_wait(weft::useFiber(stop)[error]);
    } else {
      asio::post(context, [socket = std::move(socket)]() mutable { serve(std::move(socket)); });
    }
  }
}

// Sends a line, and returns the answer.
std::string ask(weft::AsioContext& context, const tcp::endpoint& server, std::string line) {
  tcp::socket socket(context);
  socket.async_connect(server, weft::useFiber);  // throws if nobody answers
  asio::steady_timer timer(context, std::chrono::milliseconds(20));
  timer.async_wait(weft::useFiber);
  asio::async_write(socket, asio::buffer(line += '\n'), weft::useFiber);
  std::string answer;
  asio::async_read_until(socket, asio::dynamic_buffer(answer), '\n', weft::useFiber);
  return answer;
}

}  // namespace

int main() {
  constexpr int kClients = 5;
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::AsioContext context(scheduler);
  asio::signal_set signals(context, SIGINT, SIGTERM);
  std::stop_source stop;

  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  const tcp::endpoint server = acceptor.local_endpoint();
  asio::post(context, [&context, acceptor = std::move(acceptor), token = stop.get_token()]() mutable {
    acceptUntilStopped(context, std::move(acceptor), token);
  });

  std::atomic<int> numAsking{kClients};
  for (int i = 0; i < kClients; i++) {
    asio::post(context, [&, i] {
      std::printf("%s", ask(context, server, "hello from client " + std::to_string(i)).c_str());
      if (--numAsking == 0) {
        std::raise(SIGTERM);
      }
    });
  }

  const int signal = signals.async_wait(weft::useFiber);  // this thread runs no fibers: it blocks
  stop.request_stop();
  std::printf("stopped by %s\n", signal == SIGTERM ? "SIGTERM" : "SIGINT");
}
