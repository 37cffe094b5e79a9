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

// Accepts a connection; `peer`, if not null, becomes its address. Both become non-blocking, the result
// close-on-exec.
// Errors: those of the system. After too_many_files_open the connection still waits.
WEFT_EXPORT UniqueFd accept(int fd, Endpoint* peer, const Wait& wait = {});
WEFT_EXPORT UniqueFd accept(int fd, Endpoint* peer, std::error_code& error, const Wait& wait = {}) noexcept;

// Connects a socket. After an error or a deadline, close it.
WEFT_EXPORT void connect(int fd, const Endpoint& peer, const Wait& wait = {});
WEFT_EXPORT void connect(int fd, const Endpoint& peer, std::error_code& error,
                         const Wait& wait = {}) noexcept;

// A connected stream. Several fibers may use it at the same time.
//
//   weft::io::Socket socket = weft::io::Socket::connect(endpoint);
//   socket.send(std::as_bytes(std::span("hello")));
class Socket {
 public:
  Socket() = default;
  WEFT_EXPORT explicit Socket(UniqueFd fd) noexcept;

  WEFT_EXPORT static Socket connect(const Endpoint& peer, const Wait& wait = {});
  WEFT_EXPORT static Socket connect(const Endpoint& peer, std::error_code& error,
                                    const Wait& wait = {}) noexcept;

  // See weft::io::recv() and so on. A waiting receive takes fewer system calls than recv() does, since the
  // worker's epoll keeps the socket. So nobody else may close it, or reuse its number by dup2(2), while the
  // Socket owns it. Receive urgent data (MSG_OOB) by weft::io::recv(fd(), ...). Set up TLS in the system
  // (TCP_ULP) before the Socket is made, or make another one of release() afterwards.
  WEFT_EXPORT size_t recv(std::span<std::byte> buffer, const Wait& wait = {});
  WEFT_EXPORT size_t recv(std::span<std::byte> buffer, std::error_code& error,
                          const Wait& wait = {}) noexcept;
  // Until the buffer is full or the end comes.
  WEFT_EXPORT size_t recvAll(std::span<std::byte> buffer, const Wait& wait = {});
  WEFT_EXPORT size_t recvAll(std::span<std::byte> buffer, std::error_code& error,
                             const Wait& wait = {}) noexcept;
  // All of `data`. See weft::io::sendAll().
  WEFT_EXPORT size_t send(std::span<const std::byte> data, const Wait& wait = {});
  WEFT_EXPORT size_t send(std::span<const std::byte> data, std::error_code& error,
                          const Wait& wait = {}) noexcept;

  // Says that nothing more will be sent: the other end sees the end of the stream, and may go on sending.
  WEFT_EXPORT void shutdownSend(std::error_code& error) noexcept;
  // Sends small messages at once. Does nothing to a local socket.
  WEFT_EXPORT void setNoDelay() noexcept;

  int fd() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  UniqueFd release() noexcept { return std::move(fd_); }
  // See weft::io::close(). Any thread, also while fibers send and receive: their operations end with
  // operation_canceled. Later ones give bad_file_descriptor.
  void close() noexcept { fd_.reset(); }

 private:
  UniqueFd fd_;
};

// A socket that accepts connections.
class Listener {
 public:
  Listener() = default;
  explicit Listener(UniqueFd fd) noexcept : fd_(std::move(fd)) {}

  // Port 0 lets the system choose: see endpoint(). An internet address may be used again at once after a
  // program has ended (SO_REUSEADDR). `backlog`: how many connections wait to be accepted.
  WEFT_EXPORT static Listener listen(const Endpoint& at, int backlog = 1024);
  WEFT_EXPORT static Listener listen(const Endpoint& at, int backlog, std::error_code& error) noexcept;

  // See weft::io::accept().
  WEFT_EXPORT Socket accept(Endpoint* peer = nullptr, const Wait& wait = {});
  WEFT_EXPORT Socket accept(Endpoint* peer, std::error_code& error, const Wait& wait = {}) noexcept;

  // Where it listens; no address after an error.
  WEFT_EXPORT Endpoint endpoint() const noexcept;
  int fd() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  // See Socket::close().
  void close() noexcept { fd_.reset(); }

 private:
  UniqueFd fd_;
};

// Accepts connections and calls handler(socket) for each, in a task on the worker that has the fewest
// connections of this serve(); it stays there. So long computations should be tasks that others may take. Out
// of descriptors, it waits a little.
//
// Suspends the fiber until the deadline or the stop of `wait`, or until cancelAll(). Then it accepts nothing
// more, also if connections wait, and waits until all handlers have returned.
// Requires: the caller is a fiber, or a bound thread. Nobody closes the listener. The handler does not throw.
// Returns: what has ended it: timed_out, operation_canceled, or an error of the listener.
WEFT_EXPORT std::error_code serve(Listener& listener, const std::function<void(Socket)>& handler,
                                  const Wait& wait = {});

}  // namespace weft::inline v0_1::io

#include "weft/detail/base/macros_end.h"
