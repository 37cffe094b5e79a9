// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "in_task.h"
#include "io/io_pairs.h"
#include "next_function.h"
#include "waiting.h"
#include "with_scheduler.h"

// Peers that say less, or other things, than they should; and a system that grants no port or no connection.
namespace weft::io_peers_test {
namespace {

constinit thread_local int errorOfAccept = 0;  // with which this thread's calls fail; 0: as the system says

}  // namespace
}  // namespace weft::io_peers_test

// Instead of the C library's.
extern "C" int accept4(int listener, sockaddr* address, socklen_t* size, int flags) {
  static const auto real = weft::tests::nextFunction<decltype(accept4)>("accept4");
  errno = weft::io_peers_test::errorOfAccept;
  return errno == 0 ? real(listener, address, size, flags) : -1;
}

namespace weft::io_peers_test {
namespace {

using std::chrono::milliseconds;
using tests::awaitThat;
using tests::bytesOf;
using tests::Ends;

io::Wait soon() { return {.deadline = io::TimePoint::clock::now() + milliseconds(2)}; }

io::Listener listenSomewhere(int backlog = 1024) {
  return io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0), backlog);
}

// Two ends of a connection by TCP.
struct Connected {
  io::Socket client, server;

  Connected() {
    io::Listener listener = listenSomewhere();
    client = io::Socket::connect(listener.endpoint());
    server = listener.accept();
  }
};

// Ends the connection as the loss of the peer's network would: this side hears nothing.
bool vanish(io::Socket& peer) {
  const int on = 1;
  if (::setsockopt(peer.fd(), IPPROTO_TCP, TCP_REPAIR, &on, sizeof on) != 0) {
    return false;
  }
  peer.close();
  return true;
}

void resetByPeer(io::Socket& peer) {
  const linger atOnce{1, 0};
  ::setsockopt(peer.fd(), SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
  peer.close();
}

class IoPeersTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, IoPeersTest, ::testing::Values(0, 1, 4));

TEST_P(IoPeersTest, APeerThatHasVanishedIsNoticedByADeadlineAndWhenItIsSentSomething) {
  {
    Connected pair;
    if (!vanish(pair.client)) {
      GTEST_SKIP() << "only the administrator may close a connection without a word";
    }
  }
  tests::everywhere(scheduler(), [] {
    Connected pair;
    vanish(pair.client);
    std::byte byte[1];
    std::error_code error;
    pair.server.recv(byte, error, soon());
    EXPECT_EQ(error, std::errc::timed_out);
    pair.server.send(bytesOf("still there?"), error);
    EXPECT_FALSE(error);
    pair.server.recv(byte, error);
    EXPECT_EQ(error, std::errc::connection_reset);
    pair.server.send(bytesOf("x"), error);
    EXPECT_EQ(error, std::errc::broken_pipe);
  });
}

// Each side ends its half when it likes.
TEST_P(IoPeersTest, AHalfOpenConnectionGoesOnTheOtherWay) {
  tests::everywhere(scheduler(), [] {
    Connected pair;
    std::error_code error;
    std::byte bytes[8];
    pair.client.shutdownSend(error);
    EXPECT_EQ(pair.server.recv(bytes, error), 0u);
    EXPECT_FALSE(error);
    for (int i = 0; i < 3; ++i) {
      pair.server.send(bytesOf("hello"));
      EXPECT_EQ(pair.client.recv(bytes, error), 5u);
      EXPECT_EQ(pair.server.recv(bytes, error), 0u) << "the end is the end each time";
    }
    pair.client.send(bytesOf("x"), error);
    EXPECT_EQ(error, std::errc::broken_pipe);
    pair.server.close();
    EXPECT_EQ(pair.client.recv(bytes, error), 0u);
    EXPECT_FALSE(error);
  });
}

TEST_P(IoPeersTest, AWriterThatWaitsForRoomSeesTheReset) {
  tests::everywhere(scheduler(), [] {
    Connected pair;
    std::thread peer([&] {
      std::byte some[1];
      pair.client.recv(some);
      resetByPeer(pair.client);
    });
    const std::string data(20'000'000, 'x');  // more than the system keeps for a connection
    std::error_code error;
    EXPECT_LT(io::sendAll(pair.server.fd(), bytesOf(data), error), data.size());
    EXPECT_TRUE(error == std::errc::connection_reset || error == std::errc::broken_pipe) << error.message();
    peer.join();
  });
}

// A connection that has ended before it is accepted is accepted, or passed over. The listener goes on.
TEST_P(IoPeersTest, PeersThatGoBeforeTheyAreAcceptedDoNoHarm) {
  io::Listener listener = listenSomewhere();
  tests::everywhere(scheduler(), [&] {
    std::vector<io::Socket> early(5);
    for (io::Socket& socket : early) {
      socket = io::Socket::connect(listener.endpoint());
      resetByPeer(socket);
    }
  });
  io::Socket last = io::Socket::connect(listener.endpoint());
  last.send(bytesOf("I am here"));
  tests::inTask([&] {
    std::byte bytes[16];
    std::error_code error;
    size_t count = 0;
    while (count == 0) {
      count = listener.accept().recv(bytes, error);
      EXPECT_TRUE(!error || error == std::errc::connection_reset) << error.message();
    }
    EXPECT_EQ(tests::textOf(std::span(bytes).first(count)), "I am here");
  });
}

// The system says EAGAIN. Waiting would not help: there is nothing to wait for.
TEST_P(IoPeersTest, WithoutAPortThatIsFreeAConnectFails) {
#ifndef IP_LOCAL_PORT_RANGE
  constexpr int IP_LOCAL_PORT_RANGE = 51;
#endif
  tests::everywhere(scheduler(), [] {
    const io::UniqueFd taken(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const io::Endpoint any = io::Endpoint::parse("0.0.0.0", 0);
    ASSERT_EQ(::bind(taken.get(), any.data(), any.size()), 0);
    std::error_code error;
    const uint32_t port = io::Endpoint::ofSocket(taken.get(), error).port();
    const uint32_t range = port << 16 | port;
    const io::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (::setsockopt(socket.get(), IPPROTO_IP, IP_LOCAL_PORT_RANGE, &range, sizeof range) != 0) {
      GTEST_SKIP() << "the system has no range of ports for a socket (Linux 6.3)";
    }
    io::connect(socket.get(), io::Endpoint::parse("127.0.0.1", 9), error);
    EXPECT_EQ(error, std::errc::resource_unavailable_try_again);
  });
}

template <class F>
void whereAcceptFails(int error, F f) {
  Scheduler scheduler(tests::smallConfig(0));
  const Scheduler::Binding bound(scheduler);
  errorOfAccept = error;
  f();
  errorOfAccept = 0;
}

TEST(ServeErrorsTest, WantOfRoomPassesAndWhatIsForGoodEndsIt) {
  io::Listener listener = listenSomewhere();
  const io::Socket client = io::Socket::connect(listener.endpoint());
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) {
    whereAcceptFails(error, [&] {
      EXPECT_EQ(io::serve(listener, [](io::Socket) {}, soon()), std::errc::timed_out);
      std::stop_source stop;
      std::thread stopper([&] { stop.request_stop(); });
      EXPECT_EQ(io::serve(listener, [](io::Socket) {}, {.stop = stop.get_token()}),
                std::errc::operation_canceled);
      stopper.join();
      io::cancelAll(*Scheduler::get());
      EXPECT_EQ(io::serve(listener, [](io::Socket) {}), std::errc::operation_canceled);
    });
  }
  // As by a filter for system calls, or a security module: no connection is ever accepted.
  for (const int error : {EPERM, EACCES, ENOSYS}) {
    whereAcceptFails(error, [&] {
      EXPECT_EQ(io::serve(listener, [](io::Socket) {}), std::error_code(error, std::generic_category()));
    });
  }
}

}  // namespace
}  // namespace weft::io_peers_test
