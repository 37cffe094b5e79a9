// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/trace.h>

#include "in_task.h"
#include "io/io_pairs.h"
#include "surroundings.h"
#include "temporary_folder.h"
#include "waiting.h"
#include "with_scheduler.h"

// Connections.
namespace weft {
namespace {

using tests::awaitThat;
using tests::bytesOf;

TEST(EndpointTest, AddressesAreReadAndWritten) {
  EXPECT_EQ(io::Endpoint::parse("127.0.0.1", 80).toString(), "127.0.0.1:80");
  EXPECT_EQ(io::Endpoint::parse("::1", 8080).toString(), "[::1]:8080");
  EXPECT_EQ(io::Endpoint::parse("::1", 8080).port(), 8080);
  EXPECT_EQ(io::Endpoint::local("/tmp/a").toString(), "/tmp/a");
  EXPECT_EQ(io::Endpoint::local("/tmp/a").family(), AF_UNIX);
  EXPECT_EQ(io::Endpoint().toString(), "");
  EXPECT_EQ(io::Endpoint().port(), 0);
}

TEST(EndpointTest, WhatIsNoAddressIsAnError) {
  std::error_code error;
  for (const char* const wrong : {"", "localhost", "1.2.3", "1.2.3.4.5", "::1::"}) {
    EXPECT_EQ(io::Endpoint::parse(wrong, 1, error).family(), AF_UNSPEC);
    EXPECT_EQ(error, std::errc::invalid_argument) << wrong;
  }
  EXPECT_THROW(io::Endpoint::parse("localhost", 1), std::system_error);
  io::Endpoint::parse(std::string(1000, '1'), 1, error);
  EXPECT_EQ(error, std::errc::invalid_argument);
  io::Endpoint::local(std::string(108, 'x'), error);
  EXPECT_EQ(error, std::errc::filename_too_long);
  EXPECT_EQ(io::Endpoint::local(std::string(107, 'x'), error).toString(), std::string(107, 'x'));
  EXPECT_FALSE(error);
  EXPECT_THROW(io::Endpoint::local(""), std::system_error);
  io::Endpoint::parse(std::string_view("127.0.0.1\0.org", 14), 1, error);
  EXPECT_EQ(error, std::errc::invalid_argument) << "not all of it is an address";
  io::Endpoint::local(std::string_view("/tmp/a\0b", 8), error);
  EXPECT_EQ(error, std::errc::invalid_argument);
}

class SocketTest : public tests::WithScheduler {
 protected:
  static io::Listener listenSomewhere() { return io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0)); }

  // Sends back what comes, until the end of the stream.
  static void echo(io::Socket socket) {
    std::byte buffer[1024];
    std::error_code error;
    for (size_t count = 0; (count = socket.recv(buffer, error)) > 0;) {
      socket.send(std::span(buffer).first(count), error);
    }
  }
};

TEST_P(SocketTest, AClientAndAServerTalk) {
  io::Listener listener = listenSomewhere();
  WaitGroup done(1);
  schedule([&, done] {
    io::Endpoint peer;
    io::Socket socket = listener.accept(&peer);
    EXPECT_EQ(peer.toString().substr(0, 10), "127.0.0.1:");
    std::error_code error;
    EXPECT_EQ(peer.toString(), io::Endpoint::ofPeer(socket.fd(), error).toString());
    echo(std::move(socket));
    done.done();
  });
  io::Socket client = io::Socket::connect(listener.endpoint());
  client.setNoDelay();
  client.send(bytesOf("hello"));
  std::error_code error;
  client.shutdownSend(error);
  EXPECT_FALSE(error);
  std::byte buffer[100];
  const size_t count = client.recvAll(buffer);
  EXPECT_EQ(tests::textOf(std::span(buffer).first(count)), "hello") << "the other half stays open";
  done.wait();
}

TEST_P(SocketTest, AnyThreadClosesASocketAndAListenerThatOthersUse) {
  const auto isEnd = [](const std::error_code& error) {
    return error == std::errc::operation_canceled || error == std::errc::bad_file_descriptor;
  };
  for (int round = 0; round < 20; ++round) {
    tests::Ends ends = tests::makeEnds(tests::PairKind::Sockets);
    io::Socket socket(std::move(ends.reader));
    io::Listener listener = listenSomewhere();
    WaitGroup done(3);
    schedule([&, done] {
      std::byte buffer[16];
      std::error_code error;
      while (!error) {
        socket.recv(buffer, error);
      }
      EXPECT_TRUE(isEnd(error)) << error.message();
      done.done();
    });
    schedule([&, done] {
      std::error_code error;
      while (!error) {
        socket.send(bytesOf("some"), error);
      }
      EXPECT_TRUE(isEnd(error)) << error.message();
      done.done();
    });
    schedule([&, done] {
      std::error_code error;
      EXPECT_FALSE(listener.accept(nullptr, error));
      EXPECT_TRUE(isEnd(error)) << error.message();
      done.done();
    });
    std::thread closer([&] {
      socket.close();
      listener.close();
    });
    // What is opened now may have their numbers.
    const tests::Ends others = tests::makeEnds(tests::PairKind::Sockets);
    io::write(others.writer.get(), bytesOf("others"));
    closer.join();
    done.wait();
    EXPECT_FALSE(socket);
    EXPECT_FALSE(listener);
    std::error_code error;
    EXPECT_EQ(tests::readText(others.reader.get(), error), "others");
  }
}

// The system does not tell when there is.
TEST_P(SocketTest, AConnectWaitsForRoomAtALocalListener) {
  const tests::TemporaryFolder folder;
  const io::Endpoint where = io::Endpoint::local(folder.path() + "/socket");
  io::Listener listener = io::Listener::listen(where, 0);
  const auto makeSocket = [] { return io::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); };
  const io::Socket first = io::Socket::connect(where);
  io::UniqueFd closed = makeSocket();
  const io::UniqueFd second = makeSocket(), stopped = makeSocket(), canceled = makeSocket();
  std::stop_source stop;
  const auto connect = [&](int fd, std::error_code& error, std::stop_token token, const WaitGroup& done) {
    schedule([&, fd, token = std::move(token), done] {
      io::connect(fd, where, error, {.stop = token});
      done.done();
    });
  };
  const auto awaitWaiting = [&](uint64_t count) {
    awaitThat([&] {
      uint64_t waiting = 0;
      for (const auto& worker : scheduler().stats().workers) {
        waiting += worker.numBlockedFibers;
      }
      return waiting >= count;
    });
  };
  std::error_code ofClosed, ofStopped, ofSecond, ofCanceled;
  WaitGroup ended(2), connected(1), last(1);
  connect(closed.get(), ofClosed, {}, ended);
  connect(stopped.get(), ofStopped, stop.get_token(), ended);
  awaitWaiting(2);
  closed.reset();
  stop.request_stop();
  ended.wait();
  EXPECT_EQ(ofClosed, std::errc::operation_canceled);
  EXPECT_EQ(ofStopped, std::errc::operation_canceled);
  connect(second.get(), ofSecond, {}, connected);
  awaitWaiting(1);
  const io::Socket accepted = listener.accept();
  connected.wait();
  EXPECT_FALSE(ofSecond) << ofSecond.message();
  connect(canceled.get(), ofCanceled, {}, last);
  awaitWaiting(1);
  io::cancelAll(scheduler());
  last.wait();
  EXPECT_EQ(ofCanceled, std::errc::operation_canceled);
}

TEST_P(SocketTest, LocalSocketsTalkToo) {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/socket";
  io::Listener listener = io::Listener::listen(io::Endpoint::local(path));
  EXPECT_EQ(listener.endpoint().toString(), path);
  WaitGroup done(1);
  schedule([&, done] {
    echo(listener.accept());
    done.done();
  });
  io::Socket client = io::Socket::connect(io::Endpoint::local(path));
  client.send(bytesOf("hello"));
  std::byte buffer[5];
  EXPECT_EQ(client.recvAll(buffer), 5u);
  client.close();
  done.wait();
}

// Each message is received on whatever worker takes the task, while others wait for other sockets.
TEST_P(SocketTest, ASocketThatGoesFromWorkerToWorkerLosesNothing) {
  io::Listener listener = listenSomewhere();
  constexpr size_t kSockets = 4;
  std::vector<io::Socket> clients, sockets;
  for (size_t i = 0; i < kSockets; ++i) {
    clients.push_back(io::Socket::connect(listener.endpoint()));
    sockets.push_back(listener.accept());
  }
  for (int round = 0; round < 30; ++round) {
    WaitGroup done(kSockets);
    for (io::Socket& socket : sockets) {
      schedule([&, done] {
        std::byte buffer[100];
        std::error_code error;
        const size_t count = socket.recv(buffer, error);
        EXPECT_EQ(tests::textOf(std::span(buffer).first(count)), "hello");
        done.done();
      });
    }
    for (io::Socket& client : clients) {
      client.send(bytesOf("hello"));
    }
    done.wait();
  }
}

TEST_P(SocketTest, ARefusedConnectionIsAnError) {
  io::Listener listener = listenSomewhere();
  const io::Endpoint nobody = listener.endpoint();
  listener.close();
  tests::inTask([&] {
    std::error_code error;
    EXPECT_FALSE(io::Socket::connect(nobody, error));
    EXPECT_EQ(error, std::errc::connection_refused);
    EXPECT_THROW(io::Socket::connect(nobody), std::system_error);
    EXPECT_FALSE(io::Socket::connect(io::Endpoint(), error));
    EXPECT_TRUE(error);
  });
}

TEST_P(SocketTest, APeerThatResetsEndsTheWait) {
  io::Listener listener = listenSomewhere();
  WaitGroup done(1);
  schedule([&, done] {
    io::Socket socket = listener.accept();
    std::byte buffer[1];
    std::error_code error;
    EXPECT_EQ(socket.recv(buffer, error), 0u);
    EXPECT_EQ(error, std::errc::connection_reset);
    done.done();
  });
  {
    const io::Socket client = io::Socket::connect(listener.endpoint());
    const linger atOnce{1, 0};
    ::setsockopt(client.fd(), SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
  }
  done.wait();
}

TEST_P(SocketTest, ADeadlineAndAStopEndAcceptAndConnectionsWaitOn) {
  io::Listener listener = listenSomewhere();
  tests::inTask([&] {
    std::error_code error;
    listener.accept(nullptr, error, {.deadline = io::TimePoint::clock::now() + std::chrono::milliseconds(2)});
    EXPECT_EQ(error, std::errc::timed_out);
    std::stop_source source;
    std::thread stopper([&] { source.request_stop(); });
    listener.accept(nullptr, error, {.stop = source.get_token()});
    EXPECT_EQ(error, std::errc::operation_canceled);
    stopper.join();
    const io::Socket client = io::Socket::connect(listener.endpoint());
    EXPECT_TRUE(listener.accept());
  });
}

TEST_P(SocketTest, ServeHandsEachConnectionToATask) {
  io::Listener listener = listenSomewhere();
  std::stop_source stop;
  std::error_code ended;
  WaitGroup done(1);
  schedule([&, done] {
    ended =
        io::serve(listener, [](io::Socket socket) { echo(std::move(socket)); }, {.stop = stop.get_token()});
    done.done();
  });
  WaitGroup clients(20);
  for (int i = 0; i < 20; ++i) {
    schedule([&, i, clients] {
      io::Socket client = io::Socket::connect(listener.endpoint());
      const std::string text = "hello from " + std::to_string(i);
      for (int round = 0; round < 10; ++round) {
        client.send(bytesOf(text));
        std::vector<std::byte> buffer(text.size());
        EXPECT_EQ(client.recvAll(buffer), text.size());
        EXPECT_EQ(tests::textOf(buffer), text);
      }
      clients.done();
    });
  }
  clients.wait();
  stop.request_stop();
  done.wait();
  EXPECT_EQ(ended, std::errc::operation_canceled);
}

TEST_P(SocketTest, ServeWaitsForItsHandlers) {
  io::Listener listener = listenSomewhere();
  std::stop_source stop;
  std::atomic<bool> hasBegun{false}, hasEnded{false};
  WaitGroup done(1);
  schedule([&, done] {
    io::serve(listener,
              [&](io::Socket socket) {
                hasBegun = true;
                echo(std::move(socket));
                hasEnded = true;
              },
              {.stop = stop.get_token()});
    EXPECT_TRUE(hasEnded);
    done.done();
  });
  {
    io::Socket client = io::Socket::connect(listener.endpoint());
    awaitThat([&] { return hasBegun.load(); });
    stop.request_stop();
  }
  done.wait();
}

// They need no wait, so that no wait would be ended.
TEST_P(SocketTest, ServeEndsThoughConnectionsWait) {
  io::Listener listener = listenSomewhere();
  std::vector<io::Socket> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(io::Socket::connect(listener.endpoint()));
  }
  std::stop_source stopped;
  stopped.request_stop();
  int numServed = 0;
  const auto serve = [&](const io::Wait& wait) {
    return io::serve(listener, [&](io::Socket) { ++numServed; }, wait);
  };
  tests::inTask([&] {
    EXPECT_EQ(serve({.stop = stopped.get_token()}), std::errc::operation_canceled);
    EXPECT_EQ(serve({.deadline = io::TimePoint::min()}), std::errc::timed_out);
    io::cancelAll(scheduler());
    EXPECT_EQ(serve({}), std::errc::operation_canceled);
  });
  EXPECT_EQ(numServed, 0);
}

// A server whose handlers tell their worker, and wait until their client has gone.
class ServingWorkersTest : public SocketTest {
 protected:
  void SetUp() override {
    SocketTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    const int numDescriptors = 16 * numWorkers();
    if (!tests::mayHaveDescriptors(static_cast<rlim_t>(numDescriptors))) {
      GTEST_SKIP() << "the process may not have " << numDescriptors << " descriptors";
    }
    listener_ = listenSomewhere();
  }

  void begin() {
    schedule([this] {
      io::serve(listener_, [this](io::Socket socket) { handle(std::move(socket)); },
                {.stop = stop_.get_token()});
      done_.done();
    });
  }
  void end() {
    stop_.request_stop();
    done_.wait();
  }

  struct Client {
    io::Socket socket;
    int worker = -1;
  };
  void connect() { clients_.push_back({io::Socket::connect(listener_.endpoint())}); }
  void hear(Client& client) {
    std::byte worker{};
    EXPECT_EQ(client.socket.recv(std::span(&worker, 1)), 1u);
    client.worker = static_cast<int>(worker);
  }
  // The connections of each worker that are open.
  std::vector<int> counts() const {
    std::vector<int> counts(static_cast<size_t>(numWorkers()));
    for (const Client& client : clients_) {
      ++counts[static_cast<size_t>(client.worker)];
    }
    return counts;
  }

  std::vector<Client> clients_;
  std::atomic<int> numOpen_{0};

 private:
  void handle(io::Socket socket) {
    ++numOpen_;
    const auto worker = static_cast<std::byte>(Scheduler::workerId());
    socket.send(std::span(&worker, 1));
    std::byte byte[1];
    socket.recv(byte);
    EXPECT_EQ(Scheduler::workerId(), static_cast<int>(worker));
    --numOpen_;
  }

  io::Listener listener_;
  std::stop_source stop_;
  WaitGroup done_{1};
};
INSTANTIATE_TEST_SUITE_P(Workers, ServingWorkersTest, ::testing::Values(1, 2, 4, 8, 64),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

// They wait for the listener already, so that one worker finds all of them.
TEST_P(ServingWorkersTest, ConnectionsThatComeAtOnceAreSpreadEvenly) {
  constexpr int kEach = 3;
  for (int i = 0; i < kEach * numWorkers(); ++i) {
    connect();
  }
  begin();
  for (Client& client : clients_) {
    hear(client);
  }
  EXPECT_EQ(counts(), std::vector<int>(static_cast<size_t>(numWorkers()), kEach));
  clients_.clear();
  end();
}

TEST_P(ServingWorkersTest, AHandlerThatEndsMakesRoom) {
  begin();
  for (int i = 0; i < 2 * numWorkers(); ++i) {
    connect();
    hear(clients_.back());
  }
  for (int worker = numWorkers() - 1; worker >= 0; --worker) {
    const auto leaver = std::find_if(clients_.begin(), clients_.end(),
                                     [&](const Client& client) { return client.worker == worker; });
    ASSERT_NE(leaver, clients_.end());
    const int numBefore = numOpen_;
    clients_.erase(leaver);
    awaitThat([&] { return numOpen_ < numBefore; });
    // What that worker does next comes after the end of the handler's task.
    WaitGroup hasEnded(1);
    scheduler().enqueueOn(worker, Task([hasEnded] { hasEnded.done(); }));
    hasEnded.wait();
    connect();
    hear(clients_.back());
    EXPECT_EQ(clients_.back().worker, worker);
  }
  clients_.clear();
  end();
}

WEFT_INSTANTIATE_WITH_SCHEDULER(SocketTest);

TEST(ServeTest, WhereNoDescriptorIsLeftItGoesOnOnceThereIs) {
  Scheduler scheduler(tests::smallConfig(1));
  scheduler.bind();
  io::Listener listener = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0));
  std::stop_source stop;
  std::atomic<int> numServed{0};
  WaitGroup done(1);
  schedule([&, done] {
    io::serve(listener, [&](io::Socket) { ++numServed; }, {.stop = stop.get_token()});
    done.done();
  });
  // The worker has its reactor by then.
  const io::Socket first = io::Socket::connect(listener.endpoint());
  awaitThat([&] { return numServed == 1; });
  io::UniqueFd pending(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{3, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  io::connect(pending.get(), listener.endpoint());
  std::error_code error;
  EXPECT_FALSE(io::Socket::connect(listener.endpoint(), error));
  EXPECT_EQ(error, std::errc::too_many_files_open);
  EXPECT_EQ(numServed, 1);
  ::setrlimit(RLIMIT_NOFILE, &before);
  awaitThat([&] { return numServed == 2; });
  stop.request_stop();
  done.wait();
  Scheduler::unbind();
}

// With a worker it is placed there. Without, it is scheduled on the bound thread.
TEST(ServeTest, TheTaskOfAConnectionIsNamedInTheFlightRecorder) {
  const tests::TemporaryFolder folder;
  for (const int numWorkers : {0, 1}) {
    trace::start();
    {
      Scheduler scheduler(tests::smallConfig(numWorkers));
      Scheduler::Binding bound(scheduler);
      io::Listener listener = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0));
      std::stop_source stop;
      WaitGroup done(1);
      schedule([&, done] {
        io::serve(listener, [](io::Socket socket) { socket.send(bytesOf("a")); }, {.stop = stop.get_token()});
        done.done();
      });
      tests::inTask([&] {
        io::Socket client = io::Socket::connect(listener.endpoint());
        std::byte answer{};
        EXPECT_EQ(client.recv(std::span(&answer, 1)), 1u);
      });
      stop.request_stop();
      done.wait();
    }
    trace::stop();
    const std::string path = folder.path() + "/" + std::to_string(numWorkers) + ".json";
    ASSERT_TRUE(trace::dump(path.c_str()));
    const std::string text = tests::contentsOf(path);
    EXPECT_NE(text.find("\"name\":\"connection of io::serve()\""), std::string::npos) << text;
  }
}

using ServeDeathTest = tests::DeathTest;

TEST_F(ServeDeathTest, WithoutASchedulerItSaysSo) {
  io::Listener listener = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0));
  EXPECT_DEATH(io::serve(listener, [](io::Socket) {}),
               "io::serve.. was called on a thread to which no scheduler");
}

}  // namespace
}  // namespace weft
