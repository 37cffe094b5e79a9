// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A fiber of weft for each connection, by Asio's operations.

#pragma once

#include <weft/asio.h>

#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>

#include <stop_token>

#include "../common/weft_harness.h"
#include "problem.h"

namespace echo {

using asio::ip::tcp;

inline void sendBack(tcp::socket socket) {
  char buffer[4096];
  asio::error_code error;
  socket.set_option(tcp::no_delay(true), error);
  for (;;) {
    const size_t size = socket.async_read_some(asio::buffer(buffer), weft::useFiber[error]);
    if (error) {
      return;
    }
    asio::async_write(socket, asio::buffer(buffer, size), weft::useFiber[error]);
  }
}

inline void acceptUntilStopped(weft::AsioContext& context, tcp::acceptor& acceptor,
                               const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    asio::error_code error;
    tcp::socket socket(context);
    acceptor.async_accept(socket, weft::useFiber(stop)[error]);
    if (!error) {
      asio::post(context, [socket = std::move(socket)]() mutable { sendBack(std::move(socket)); });
    }
  }
}

// `context` is an AsioContext of the scheduler.
inline void serve(bench::Run& r, weft::AsioContext& context) {
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  std::stop_source stop;
  weft::WaitGroup accepted(1);
  asio::post(context, [&, accepted] {
    acceptUntilStopped(context, acceptor, stop.get_token());
    accepted.done();
  });
  measure(r, acceptor.local_endpoint().port());
  stop.request_stop();
  accepted.wait();
}

}  // namespace echo
