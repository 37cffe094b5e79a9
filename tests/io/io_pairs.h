// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <weft/io.h>

// Two ends of something, for tests of weft::io.
namespace weft::tests {

// Skips the program where the loopback device is down, as in a network namespace that is new: most tests
// connect to their own process.
class NeedsLoopback : public ::testing::Environment {
 public:
  void SetUp() override {
    sockaddr_in discard{};
    discard.sin_family = AF_INET;
    discard.sin_port = htons(9);
    discard.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const io::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    // Sends nothing.
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&discard), sizeof discard) != 0) {
      GTEST_SKIP() << "the loopback device is down: " << std::generic_category().message(errno);
    }
  }
};
inline ::testing::Environment* const kNeedsLoopback =
    ::testing::AddGlobalTestEnvironment(std::make_unique<NeedsLoopback>().release());

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
