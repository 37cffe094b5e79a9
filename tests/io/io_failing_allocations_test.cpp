// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <new>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <weft/executor.h>
#include <weft/sleep.h>

#include "failing_allocations.h"
#include "io/io_pairs.h"
#include "io/refusal.h"
#include "temporary_folder.h"

// operator new fails in weft::io. What throws nothing has the error not_enough_memory then.
namespace weft::io_failing_allocations_test {
namespace {

using tests::AllocatingOperation;
using tests::Attempt;
using tests::bytesOf;
using tests::Ends;
using tests::FailingAllocations;
using tests::makeEnds;
using tests::smallConfig;
using tests::TemporaryFolder;

// Calls use() on a worker that has waited for nothing yet, so that it has to make what it sleeps in.
void onNewWorker(const std::function<void()>& use) {
  Scheduler scheduler(smallConfig(1));
  const WaitGroup done(1);
  scheduler.enqueueOn(0, Task([&use, done] {
                        use();
                        done.done();
                      }));
  done.wait();
}

// Calls call(error), which sets no other error. Repeats it if it fails.
template <class Call>
void tryTwice(Attempt& attempt, const Call& call) {
  const auto callOnce = [&] {
    std::error_code error;
    call(error);
    if (error == std::errc::not_enough_memory) {
      throw std::bad_alloc();
    }
    EXPECT_FALSE(error) << error.message();
  };
  if (!attempt(callOnce)) {
    callOnce();
  }
}

// A byte goes from one end to the other. `call` is the call of a fiber that has to wait for it.
using Receive = void (*)(int fd, std::span<std::byte> byte, std::error_code& error);
std::function<void(Attempt&)> receiving(Receive call) {
  return [call](Attempt& attempt) {
    onNewWorker([&] {
      const Ends ends = makeEnds();
      const WaitGroup sent(1);
      schedule([&, sent] {
        EXPECT_EQ(::write(ends.writer.get(), "x", 1), 1);
        sent.done();
      });
      std::byte byte[1] = {};
      const std::span<std::byte> room(byte);
      tryTwice(attempt, [&](auto& error) { call(ends.reader.get(), room, error); });
      sent.wait();
      EXPECT_EQ(byte[0], std::byte{'x'});
    });
  };
}

const AllocatingOperation kReceives[] = {
    {"read", receiving([](int fd, auto byte, auto& error) { io::read(fd, byte, error); })},
    {"readAll", receiving([](int fd, auto byte, auto& error) { io::readAll(fd, byte, error); })},
    {"readv", receiving([](int fd, auto byte, auto& error) {
       const iovec part{byte.data(), byte.size()};
       io::readv(fd, {&part, 1}, error);
     })},
    {"recv", receiving([](int fd, auto byte, auto& error) { io::recv(fd, byte, 0, error); })},
    {"recvmsg", receiving([](int fd, auto byte, auto& error) {
       iovec part{byte.data(), byte.size()};
       msghdr message{};
       message.msg_iov = &part;
       message.msg_iovlen = 1;
       io::recvmsg(fd, message, 0, error);
     })},
    {"waitFor", receiving([](int fd, auto byte, auto& error) {
       if (io::waitFor(fd, POLLIN, error) == POLLIN) {
         EXPECT_EQ(::read(fd, byte.data(), byte.size()), 1);
       }
     })},
    {"socketRecv", receiving([](int fd, auto byte, auto& error) {
       io::Socket socket{io::UniqueFd(fd)};
       socket.recv(byte, error);
       socket.release().release();
     })},
    {"socketRecvAll", receiving([](int fd, auto byte, auto& error) {
       io::Socket socket{io::UniqueFd(fd)};
       socket.recvAll(byte, error);
       socket.release().release();
     })},
};

// Takes all that there is.
void drain(int fd) {
  std::byte room[4096];
  while (::recv(fd, room, sizeof room, MSG_DONTWAIT) > 0) {
  }
}

// Sends where the fiber has to wait for room.
using Send = void (*)(int fd, std::span<const std::byte> byte, std::error_code& error);
std::function<void(Attempt&)> sending(Send call) {
  return [call](Attempt& attempt) {
    onNewWorker([&] {
      const Ends ends = makeEnds();
      while (::write(ends.writer.get(), "full", 4) > 0) {
      }
      const WaitGroup drained(1);
      schedule([&, drained] {
        drain(ends.reader.get());
        drained.done();
      });
      tryTwice(attempt, [&](auto& error) { call(ends.writer.get(), bytesOf("x"), error); });
      drained.wait();
      char byte = 0;
      EXPECT_EQ(::read(ends.reader.get(), &byte, 1), 1);
      EXPECT_EQ(byte, 'x');
    });
  };
}

const AllocatingOperation kSends[] = {
    {"write", sending([](int fd, auto byte, auto& error) { io::write(fd, byte, error); })},
    {"writeAll", sending([](int fd, auto byte, auto& error) { io::writeAll(fd, byte, error); })},
    {"writev", sending([](int fd, auto byte, auto& error) {
       const iovec part{const_cast<std::byte*>(byte.data()), byte.size()};
       io::writev(fd, {&part, 1}, error);
     })},
    {"send", sending([](int fd, auto byte, auto& error) { io::send(fd, byte, 0, error); })},
    {"sendAll", sending([](int fd, auto byte, auto& error) { io::sendAll(fd, byte, error); })},
    {"sendmsg", sending([](int fd, auto byte, auto& error) {
       iovec part{const_cast<std::byte*>(byte.data()), byte.size()};
       msghdr message{};
       message.msg_iov = &part;
       message.msg_iovlen = 1;
       io::sendmsg(fd, message, 0, error);
     })},
    {"socketSend", sending([](int fd, auto byte, auto& error) {
       io::Socket socket{io::UniqueFd(fd)};
       socket.send(byte, error);
       socket.release().release();
     })},
};

io::Listener listenHere() { return io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0)); }

// Returns: a socket that is connected, which no listener need have accepted.
io::UniqueFd connectTo(const io::Endpoint& peer) {
  io::UniqueFd fd(::socket(peer.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(fd.get(), peer.data(), peer.size()), 0);
  return fd;
}

void accepted(Attempt& attempt) {
  onNewWorker([&] {
    io::Listener listener = listenHere();
    io::UniqueFd client;
    schedule([&] { client = connectTo(listener.endpoint()); });
    io::Socket connection;
    tryTwice(attempt, [&](auto& error) { connection = listener.accept(nullptr, error); });
    EXPECT_EQ(::write(client.get(), "x", 1), 1);
    char byte = 0;
    EXPECT_EQ(::recv(connection.fd(), &byte, 1, 0), 1);
  });
}
void connected(Attempt& attempt) {
  onNewWorker([&] {
    const io::Listener listener = listenHere();
    const auto connect = [&](std::error_code& error) {
      EXPECT_NE(listener.endpoint().toString() + tests::longText(), "");
      const bool isConnected = static_cast<bool>(io::Socket::connect(listener.endpoint(), error));
      EXPECT_NE(isConnected, static_cast<bool>(error));
    };
    tryTwice(attempt, connect);
  });
}

// Each connection is served, whatever fails between.
void served(Attempt& attempt) {
  onNewWorker([&] {
    constexpr int kNumClients = 3;
    io::Listener listener = listenHere();
    std::stop_source stop;
    int numServed = 0;
    std::vector<io::UniqueFd> clients;
    clients.reserve(kNumClients);
    schedule([&] {
      for (int i = 0; i < kNumClients; ++i) {
        clients.push_back(connectTo(listener.endpoint()));
      }
    });
    const std::function<void(io::Socket)> handler = [&, text = tests::longText()](const io::Socket& socket) {
      EXPECT_EQ(::send(socket.fd(), text.data(), 1, 0), 1);
      if (++numServed == kNumClients) {
        stop.request_stop();
      }
    };
    const auto serve = [&] {
      const std::error_code ended = io::serve(listener, handler, {.stop = stop.get_token()});
      EXPECT_EQ(ended, std::errc::operation_canceled);
    };
    if (!attempt(serve)) {
      serve();
    }
    EXPECT_EQ(numServed, kNumClients);
    for (const io::UniqueFd& client : clients) {
      char byte = 0;
      EXPECT_EQ(::read(client.get(), &byte, 1), 1) << "a connection was lost";
    }
  });
}

void filesUsed(Attempt& attempt) {
  const TemporaryFolder folder;
  onNewWorker([&] {
    const auto use = [&](std::error_code& error) {
      const std::string path = folder.path() + "/a file with a name that needs memory";
      io::File file = io::File::open(path.c_str(), O_RDWR | O_CREAT, 0600, error);
      if (!error) {
        EXPECT_EQ(file.writeAt(bytesOf("x"), 5, error), error ? 0u : 1u);
      }
      if (!error) {
        file.sync(error);
      }
      std::byte byte[1] = {};
      if (!error && file.readAt(byte, 5, error) == 1) {
        EXPECT_EQ(byte[0], std::byte{'x'});
      }
    };
    tryTwice(attempt, use);
  });
}

// Opens the FIFO after a while, unless it is destroyed before: so waits that ought to have ended do end.
class Rescue {
 public:
  explicit Rescue(const std::string& path)
      : thread_([&path](const std::stop_token& stop) {
          std::mutex guard;
          std::unique_lock<std::mutex> held(guard);
          std::condition_variable_any never;
          never.wait_for(held, stop, std::chrono::seconds(10), [] { return false; });
          if (!stop.stop_requested()) {
            ADD_FAILURE() << "an open of a FIFO goes on after its stop";
            io::UniqueFd(::open(path.c_str(), O_WRONLY | O_NONBLOCK));
          }
        }) {}

 private:
  std::jthread thread_;
};

// A stop ends all requests that the system has, whatever memory there is. Threads that block in open(2) it
// could not end.
void openStopped(Attempt& attempt) {
  if (std::string_view(io::backend()) != "uring") {
    attempt([] {});
    return;
  }
  constexpr int kMany = 20;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  onNewWorker([&] {
    const Rescue rescue(path);
    std::stop_source stop;
    const WaitGroup opened(kMany);
    for (int i = 0; i < kMany; ++i) {
      schedule([&, opened] {
        std::error_code error;
        (void)io::open(path.c_str(), O_RDONLY, 0, error, {.stop = stop.get_token()});
        EXPECT_EQ(error, std::errc::operation_canceled);
        opened.done();
      });
      sleep_for(std::chrono::milliseconds(1));  // the system has it
    }
    EXPECT_TRUE(attempt([&] {
      stop.request_stop();
      opened.wait();
    }));
  });
}

void resolved(Attempt& attempt) {
  const auto resolve = [](std::error_code& error) {
    const size_t count = io::resolve("127.0.0.1", "80", error).size();
    EXPECT_EQ(count, error ? 0u : 1u);
  };
  tryTwice(attempt, resolve);
}

template <class Call>
void expectError(const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const std::system_error&) {
  }
}

// The forms that throw take memory for their messages.
void refused(Attempt& attempt) {
  const auto use = [] {
    std::byte byte[1];
    expectError([&] { (void)io::read(-1, byte); });
    expectError([] { (void)io::open("/no such folder/and no such file", O_RDONLY); });
    expectError([] { (void)io::resolve(std::string(1, '\0'), "80"); });
    expectError([] { (void)io::Endpoint::parse("nowhere", 80); });
    expectError([] { (void)io::Endpoint::local(""); });
    expectError([] { (void)io::Listener::listen(io::Endpoint()); });
    expectError([] { (void)io::Socket::connect(io::Endpoint()); });
  };
  attempt(use);
  use();
}

// In a thread with a wait handler, and in one without.
void onThreads(Attempt& attempt) {
  std::thread thread([&] {
    const Ends ends = makeEnds();
    std::stop_source stop;
    int numWaits = 0;
    const auto use = [&] {
      (void)setThreadWaitHandler([&, text = tests::longText()](const WaitHandle& wait) {
        ++numWaits;
        EXPECT_EQ(::write(ends.writer.get(), "x", 1), 1);
        while (!wait.ready()) {
          std::this_thread::yield();
        }
      });
      std::byte byte[1];
      EXPECT_EQ(io::read(ends.reader.get(), byte, {.stop = stop.get_token()}), 1u);
    };
    attempt(use);
    numWaits = 0;
    use();
    EXPECT_EQ(numWaits, 1);
  });
  thread.join();
}

// Nothing of what ends waits allocates.
void waitsEnded(Attempt& attempt) {
  onNewWorker([&] {
    constexpr size_t kMany = 3;
    size_t numBegun = 0;
    Ends ends[kMany];
    std::stop_source stop;
    const WaitGroup done(kMany);
    for (Ends& each : ends) {
      each = makeEnds();
      schedule([&, done] {
        std::byte byte[1];
        std::error_code error;
        ++numBegun;
        io::read(each.reader.get(), byte, error,
                 {.stop = &each == ends ? stop.get_token() : std::stop_token()});
        EXPECT_EQ(error, std::errc::operation_canceled);
        done.done();
      });
    }
    while (numBegun != kMany) {
      yield();
    }
    EXPECT_TRUE(attempt([&] {
      stop.request_stop();
      io::close(std::move(ends[1].reader));
      io::cancelAll(*Scheduler::get());
      done.wait();
    }));
  });
}

class IoFailingAllocationsTest : public FailingAllocations {};

TEST_P(IoFailingAllocationsTest, OutsideOfTasksLeaveEverythingUsableAndNothingBehind) {
  failOutsideOfTasks();
}

TEST_P(IoFailingAllocationsTest, InATaskLeaveEverythingUsableAndNothingBehind) { failInATask(); }

INSTANTIATE_TEST_SUITE_P(Receives, IoFailingAllocationsTest, ::testing::ValuesIn(kReceives), tests::nameOf);
INSTANTIATE_TEST_SUITE_P(Sends, IoFailingAllocationsTest, ::testing::ValuesIn(kSends), tests::nameOf);
INSTANTIATE_TEST_SUITE_P(Others, IoFailingAllocationsTest,
                         ::testing::Values(WEFT_ALLOCATING(accepted), WEFT_ALLOCATING(connected),
                                           WEFT_ALLOCATING(served), WEFT_ALLOCATING(filesUsed),
                                           AllocatingOperation{"openStopped", &openStopped, true},
                                           WEFT_ALLOCATING(resolved), WEFT_ALLOCATING(refused),
                                           WEFT_ALLOCATING(onThreads),
                                           AllocatingOperation{"waitsEnded", &waitsEnded, true}),
                         tests::nameOf);

using IoFailingAllocationsDeathTest = tests::DeathTest;

// Where the system grants no thread either.
TEST_F(IoFailingAllocationsDeathTest, WithoutAThreadACallThatThrowsNothingNeedsNoMemory) {
  if (WEFT_THREAD_SANITIZER_ENABLED != 0) {
    GTEST_SKIP() << "operator new is ThreadSanitizer's";
  }
  EXPECT_EXIT(
      {
        ::setenv("WEFT_IO", "epoll", 1);
        Scheduler scheduler(smallConfig(0));
        const Scheduler::Binding bound(scheduler);
        tests::refuseThreads();
        std::error_code error;
        Attempt attempt(0);
        attempt([&] { (void)io::open("/dev/null", O_RDONLY, 0, error); });
        std::_Exit(error == std::errc::resource_unavailable_try_again ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft::io_failing_allocations_test
