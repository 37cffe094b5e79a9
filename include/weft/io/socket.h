// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <functional>
#include <span>
#include <system_error>
#include <utility>

#include "weft/export.h"
#include "weft/io/descriptor.h"
#include "weft/io/endpoint.h"

namespace weft::inline v0_1::io {

// Waits for a connection on a listening socket, and accepts it. `peer`, if not null, becomes the address of
// the other end. Both descriptors become non-blocking, and the new one close-on-exec.
// Returns: the descriptor of the connection.
// Errors: those of the system. After too_many_files_open the connection still waits.
WEFT_EXPORT UniqueFd accept(int fd, Endpoint* peer, const Wait& wait = {});
WEFT_EXPORT UniqueFd accept(int fd, Endpoint* peer, std::error_code& error, const Wait& wait = {}) noexcept;

// Connects the socket `fd` to `peer`. After an error, a deadline or a stop, close it.
WEFT_EXPORT void connect(int fd, const Endpoint& peer, const Wait& wait = {});
WEFT_EXPORT void connect(int fd, const Endpoint& peer, std::error_code& error,
                         const Wait& wait = {}) noexcept;

// A connected stream: TCP or local. Owns its descriptor. Several fibers may use it at the same time.
//
//   weft::io::Socket socket = weft::io::Socket::connect(endpoint);
//   socket.send(std::as_bytes(std::span("hello")));
class Socket {
 public:
  // Has no socket, or owns that of `fd`.
  Socket() = default;
  WEFT_EXPORT explicit Socket(UniqueFd fd) noexcept;

  // Makes a socket and connects it to `peer`. Suspends the fiber, or blocks the thread, meanwhile.
  WEFT_EXPORT static Socket connect(const Endpoint& peer, const Wait& wait = {});
  WEFT_EXPORT static Socket connect(const Endpoint& peer, std::error_code& error,
                                    const Wait& wait = {}) noexcept;

  // Receives what is there, as weft::io::recv() does. Waits take fewer system calls than in that function,
  // since the worker's epoll keeps the socket. So nobody else may close the socket, or reuse its number by
  // dup2(2), while the Socket owns it. Receive urgent data (MSG_OOB) by `weft::io::recv(fd(), ...)`. Set up
  // TLS in the system (TCP_ULP) before the Socket is made. To do so later, release() it, and make another
  // Socket of the descriptor.
  // Returns: the number of bytes; 0 at the end of the stream.
  WEFT_EXPORT size_t recv(std::span<std::byte> buffer, const Wait& wait = {});
  WEFT_EXPORT size_t recv(std::span<std::byte> buffer, std::error_code& error,
                          const Wait& wait = {}) noexcept;
  // Receives until the buffer is full or the stream ends, as weft::io::readAll() does.
  // Returns: the number of bytes.
  WEFT_EXPORT size_t recvAll(std::span<std::byte> buffer, const Wait& wait = {});
  WEFT_EXPORT size_t recvAll(std::span<std::byte> buffer, std::error_code& error,
                             const Wait& wait = {}) noexcept;
  // Sends all of `data`, as weft::io::sendAll() does.
  // Returns: the number of bytes.
  WEFT_EXPORT size_t send(std::span<const std::byte> data, const Wait& wait = {});
  WEFT_EXPORT size_t send(std::span<const std::byte> data, std::error_code& error,
                          const Wait& wait = {}) noexcept;

  // Says that nothing more will be sent: the other end sees the end of the stream, and may go on sending.
  WEFT_EXPORT void shutdownSend(std::error_code& error) noexcept;
  // Sends small messages at once (TCP_NODELAY). Does nothing to a local socket.
  WEFT_EXPORT void setNoDelay() noexcept;

  // As UniqueFd::get(), operator bool and release(), for the socket's descriptor.
  int fd() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  UniqueFd release() noexcept { return std::move(fd_); }
  // Closes the socket, as weft::io::close() does. Any thread, also while fibers send and receive: their
  // operations end with operation_canceled. Later ones give bad_file_descriptor.
  void close() noexcept { fd_.reset(); }

 private:
  UniqueFd fd_;
};

// A socket that accepts connections. Owns its descriptor.
//
//   weft::io::Listener listener = weft::io::Listener::listen(address);
class Listener {
 public:
  // Has no socket, or owns that of `fd`, which listens already.
  Listener() = default;
  explicit Listener(UniqueFd fd) noexcept : fd_(std::move(fd)) {}

  // Makes a socket that listens at `at`. Port 0 lets the system choose a port: see endpoint(). An internet
  // address may be used again as soon as the program that used it has ended (SO_REUSEADDR). `backlog` is how
  // many connections may wait to be accepted.
  WEFT_EXPORT static Listener listen(const Endpoint& at, int backlog = 1024);
  WEFT_EXPORT static Listener listen(const Endpoint& at, int backlog, std::error_code& error) noexcept;

  // Accepts a connection, as weft::io::accept() does.
  WEFT_EXPORT Socket accept(Endpoint* peer = nullptr, const Wait& wait = {});
  WEFT_EXPORT Socket accept(Endpoint* peer, std::error_code& error, const Wait& wait = {}) noexcept;

  // Returns: the address at which it listens; no address after an error.
  WEFT_EXPORT Endpoint endpoint() const noexcept;
  // As UniqueFd::get() and operator bool, for the socket's descriptor.
  int fd() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  // Closes the socket, as Socket::close() does.
  void close() noexcept { fd_.reset(); }

 private:
  UniqueFd fd_;
};

// Runs a server: accepts connections, and calls handler(socket) for each, in a task of its own.
//
//   weft::io::serve(listener, [&](weft::io::Socket socket) {
//     std::byte buffer[4096];
//     std::error_code error;
//     while (size_t count = socket.recv(buffer, error, {.stop = stop.get_token()})) {
//       socket.send(std::span(buffer).first(count), error);
//     }
//   }, {.stop = stop.get_token()});
// Places each connection on the worker that has the fewest connections of this serve(). It stays there, so
// leave long computations to tasks that other workers may take. If there are no more descriptors, waits a
// little and goes on.
//
// Suspends the fiber until the deadline or the stop of `wait`, or until cancelAll(). Then it accepts nothing
// more, even if connections wait, and waits until all handlers have returned.
// Requires: the caller is a fiber, or a bound thread. Nobody closes the listener. The handler does not throw.
// Returns: what has ended it: timed_out, operation_canceled, or an error of the listener.
WEFT_EXPORT std::error_code serve(Listener& listener, const std::function<void(Socket)>& handler,
                                  const Wait& wait = {});

}  // namespace weft::inline v0_1::io

#include "weft/detail/base/macros_end.h"
