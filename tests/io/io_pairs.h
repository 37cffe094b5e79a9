// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/io.h>

// Two ends of something, for tests of weft::io.
namespace weft::tests {

struct Ends {
  io::UniqueFd reader, writer;
};

// Of each kind: local sockets and pipes, blocking and not.
enum class PairKind { Sockets, BlockingSockets, Pipe, BlockingPipe };
inline constexpr PairKind kPairKinds[] = {PairKind::Sockets, PairKind::BlockingSockets, PairKind::Pipe,
                                          PairKind::BlockingPipe};

inline Ends makeEnds(PairKind kind = PairKind::Sockets) {
  int ends[2] = {-1, -1};
  const bool isBlocking = kind == PairKind::BlockingSockets || kind == PairKind::BlockingPipe;
  const bool isPipe = kind == PairKind::Pipe || kind == PairKind::BlockingPipe;
  const int result =
      isPipe ? ::pipe2(ends, O_CLOEXEC | (isBlocking ? 0 : O_NONBLOCK))
             : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (isBlocking ? 0 : SOCK_NONBLOCK), 0, ends);
  EXPECT_EQ(result, 0);
  return {io::UniqueFd(ends[0]), io::UniqueFd(ends[1])};
}

inline Ends makeTcpEnds() {
  const auto listener = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0));
  io::Socket writer = io::Socket::connect(listener.endpoint());
  writer.setNoDelay();
  return {io::accept(listener.fd(), nullptr), writer.release()};
}

inline std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

inline std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads once. Returns: what came, or "" at the end and after an error.
inline std::string readText(int fd, std::error_code& error, const io::Wait& wait = {}) {
  std::byte buffer[256];
  return textOf(std::span(buffer).first(io::read(fd, buffer, error, wait)));
}

// Writes until nothing more goes in.
inline void fill(int fd) {
  const std::vector<std::byte> data(4096);
  std::error_code error;
  while (!error) {
    io::write(fd, data, error, {.deadline = io::TimePoint::min()});
  }
  EXPECT_EQ(error, std::errc::timed_out);
}

}  // namespace weft::tests
