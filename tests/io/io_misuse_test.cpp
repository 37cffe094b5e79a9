// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "count_mallocs.h"
#include "in_task.h"
#include "io/io_pairs.h"
#include "surroundings.h"
#include "waiting.h"
#include "with_scheduler.h"

// Descriptors and buffers that an operation is not for: each gets its error, and none hangs.
namespace weft::io_misuse_test {
namespace {

using tests::bytesOf;
using tests::Ends;
using tests::makeEnds;

std::byte room[64];

// A call of the API that may wait.
struct Operation {
  const char* name;
  void (*call)(int fd, std::error_code& error);
};

const Operation kOperations[] = {
    {"read", [](int fd, auto& error) { io::read(fd, room, error); }},
    {"write", [](int fd, auto& error) { io::write(fd, bytesOf("x"), error); }},
    {"readAt", [](int fd, auto& error) { io::readAt(fd, room, 0, error); }},
    {"writeAt", [](int fd, auto& error) { io::writeAt(fd, bytesOf("x"), 0, error); }},
    {"readv",
     [](int fd, auto& error) {
       const iovec part{room, sizeof room};
       io::readv(fd, {&part, 1}, error);
     }},
    {"writev",
     [](int fd, auto& error) {
       const iovec part{room, 1};
       io::writev(fd, {&part, 1}, error);
     }},
    {"recv", [](int fd, auto& error) { io::recv(fd, room, 0, error); }},
    {"send", [](int fd, auto& error) { io::send(fd, bytesOf("x"), 0, error); }},
    {"recvmsg",
     [](int fd, auto& error) {
       iovec part{room, sizeof room};
       msghdr message{};
       message.msg_iov = &part;
       message.msg_iovlen = 1;
       io::recvmsg(fd, message, 0, error);
     }},
    {"sendmsg",
     [](int fd, auto& error) {
       iovec part{room, 1};
       msghdr message{};
       message.msg_iov = &part;
       message.msg_iovlen = 1;
       io::sendmsg(fd, message, 0, error);
     }},
    {"readAll", [](int fd, auto& error) { io::readAll(fd, room, error); }},
    {"writeAll", [](int fd, auto& error) { io::writeAll(fd, bytesOf("x"), error); }},
    {"sendAll", [](int fd, auto& error) { io::sendAll(fd, bytesOf("x"), error); }},
    {"accept", [](int fd, auto& error) { io::accept(fd, nullptr, error); }},
    {"connect", [](int fd, auto& error) { io::connect(fd, io::Endpoint::parse("127.0.0.1", 9), error); }},
    {"fsync", [](int fd, auto& error) { io::fsync(fd, error); }},
    {"waitFor", [](int fd, auto& error) { io::waitFor(fd, POLLIN, error); }},
};

std::error_code errorOf(std::string_view name, int fd) {
  std::error_code error;
  for (const Operation& operation : kOperations) {
    if (operation.name == name) {
      operation.call(fd, error);
      return error;
    }
  }
  ADD_FAILURE() << "no operation " << name;
  return error;
}

// One kind of code after the other, so that nobody else opens what has a number that was closed.
class IoMisuseTest : public tests::WithScheduler {
 protected:
  template <class F>
  void everywhere(F f) {
    for (const auto kind : tests::kKinds) {
      tests::Crew crew(scheduler());
      crew.start(kind, f);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, IoMisuseTest, ::testing::Values(0, 2));

TEST_P(IoMisuseTest, AClosedDescriptorIsABadOne) {
  if (!tests::mayHaveDescriptors(600)) {
    GTEST_SKIP() << "the process may not have 600 descriptors";
  }
  everywhere([] {
    const Ends ends = makeEnds();
    const int number = ::fcntl(ends.reader.get(), F_DUPFD_CLOEXEC, 500);
    ASSERT_GE(number, 500);
    // It was in use.
    std::error_code error;
    tests::readText(number, error, {.deadline = io::TimePoint::min()});
    ASSERT_EQ(error, std::errc::timed_out);
    for (const bool isClosedByWeft : {true, false}) {
      isClosedByWeft ? io::close(io::UniqueFd(number)) : static_cast<void>(::close(number));
      for (const Operation& operation : kOperations) {
        EXPECT_EQ(errorOf(operation.name, number), std::errc::bad_file_descriptor) << operation.name;
      }
      io::Listener listener{io::UniqueFd(number)};
      if (Scheduler::get() != nullptr) {
        EXPECT_EQ(io::serve(listener, [](io::Socket) {}), std::errc::bad_file_descriptor);
      }
      ASSERT_EQ(::dup2(ends.reader.get(), number), number);  // to be closed again
      listener.close();
      ASSERT_EQ(::dup2(ends.reader.get(), number), number);
    }
    ::close(number);
  });
}

TEST_P(IoMisuseTest, WhatADescriptorIsNotForIsAnError) {
  everywhere([] {
    const io::UniqueFd file = io::open("/proc/self/exe", O_RDONLY);
    for (const char* const name : {"recv", "send", "recvmsg", "sendmsg", "sendAll", "accept", "connect"}) {
      EXPECT_EQ(errorOf(name, file.get()), std::errc::not_a_socket) << name;
    }
    for (const char* const name : {"write", "writev", "writeAll", "writeAt"}) {
      EXPECT_EQ(errorOf(name, file.get()), std::errc::bad_file_descriptor)
          << name << " of what may be read only";
    }
    const io::UniqueFd folder = io::open("/", O_RDONLY);
    for (const char* const name : {"read", "readv", "readAll", "readAt"}) {
      EXPECT_EQ(errorOf(name, folder.get()), std::errc::is_a_directory) << name;
    }
    const Ends pipe = makeEnds(tests::PairKind::Pipe);
    EXPECT_EQ(errorOf("read", pipe.writer.get()), std::errc::bad_file_descriptor);
    EXPECT_EQ(errorOf("write", pipe.reader.get()), std::errc::bad_file_descriptor);
    EXPECT_EQ(errorOf("readAt", pipe.reader.get()), std::errc::invalid_seek);
    EXPECT_EQ(errorOf("writeAt", pipe.writer.get()), std::errc::invalid_seek);
    EXPECT_EQ(errorOf("fsync", pipe.writer.get()), std::errc::invalid_argument);
    const io::UniqueFd unconnected(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(errorOf("recv", unconnected.get()), std::errc::not_connected);
    EXPECT_EQ(errorOf("accept", unconnected.get()), std::errc::invalid_argument) << "it does not listen";
    const io::UniqueFd datagrams(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(errorOf("accept", datagrams.get()), std::errc::operation_not_supported);
    const io::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
    EXPECT_EQ(errorOf("read", epoll.get()), std::errc::invalid_argument);
    // What never makes anybody wait is ready.
    EXPECT_EQ(io::waitFor(file.get(), POLLIN), POLLIN);
    EXPECT_EQ(io::waitFor(file.get(), POLLPRI | POLLOUT), POLLOUT);
  });
}

// The wait could never end: these have no deadline.
TEST_P(IoMisuseTest, AWaitForWhatAFileNeverTellsIsAnError) {
  everywhere([] {
    for (const char* const path : {"/proc/self/exe", "/dev/null"}) {
      const io::UniqueFd file = io::open(path, O_RDONLY);
      for (const short events : {POLLPRI, POLLRDHUP, 0}) {
        std::error_code error;
        EXPECT_EQ(io::waitFor(file.get(), events, error), 0);
        EXPECT_EQ(error, std::errc::operation_not_permitted) << path << ", events " << events;
      }
    }
  });
}

TEST_P(IoMisuseTest, BuffersThatAreNoneAreErrors) {
  everywhere([] {
    // An address that is none.
    const std::span<std::byte> nowhere(reinterpret_cast<std::byte*>(8), 16);
    std::error_code error;
    for (const tests::PairKind kind : tests::kPairKinds) {
      const Ends ends = makeEnds(kind);
      io::write(ends.writer.get(), bytesOf("hello"));
      io::read(ends.reader.get(), nowhere, error);
      EXPECT_EQ(error, std::errc::bad_address);
      io::write(ends.writer.get(), nowhere, error);
      EXPECT_EQ(error, std::errc::bad_address);
      EXPECT_EQ(io::readv(ends.reader.get(), {}, error), 0u);
      EXPECT_EQ(error, std::errc::invalid_argument);
      io::readAll(ends.reader.get(), {}, error);
      EXPECT_FALSE(error) << "there is nothing to be done";
      io::writeAll(ends.writer.get(), {}, error);
      EXPECT_FALSE(error);
      EXPECT_EQ(tests::readText(ends.reader.get(), error), "hello") << "nothing is lost";
    }
    const io::UniqueFd file = io::open("/proc/self/exe", O_RDONLY);
    io::readAt(file.get(), nowhere, 0, error);
    EXPECT_EQ(error, std::errc::bad_address);
    EXPECT_FALSE(io::open(nullptr, O_RDONLY, 0, error));
    EXPECT_EQ(error, std::errc::bad_address);
    EXPECT_THROW(io::open(nullptr, O_RDONLY), std::system_error);
    EXPECT_TRUE(io::resolve("", "", error).empty());
    EXPECT_TRUE(error);
  });
}

// Otherwise anybody could have all of the memory for slots asked for.
TEST_P(IoMisuseTest, ANumberThatIsMadeUpTakesNoMemory) {
  if (!tests::kCountsMallocs) {
    GTEST_SKIP() << "a sanitizer has the allocator";
  }
  tests::inTask([] {
    std::error_code error;
    io::read(-1, room, error);  // what is made once
    const uint64_t before = tests::numMallocs();
    for (int number = 2'000'000; number < 3'000'000; number += 1'000) {
      io::read(number, room, error);
    }
    EXPECT_EQ(tests::numMallocs(), before);
    EXPECT_EQ(error, std::errc::bad_file_descriptor);
  });
}

using IoMisuseDeathTest = tests::DeathTest;

// As of each function that is given to weft: empty_function_test.
TEST_F(IoMisuseDeathTest, AnEmptyHandlerEndsTheProgramBeforeAConnectionComes) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        const Scheduler::Binding bound(scheduler);
        io::Listener listener = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0));
        io::serve(listener, nullptr, {.deadline = io::TimePoint::min()});
      },
      "weft: fatal: io::serve\\(\\) was given an empty function");
}

}  // namespace
}  // namespace weft::io_misuse_test
