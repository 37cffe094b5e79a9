// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include <weft/blockingcall.h>
#include <weft/finally.h>

#include "in_task.h"
#include "io/closer.h"
#include "io/io_pairs.h"
#include "io/operations.h"
#include "waiting.h"
#include "with_scheduler.h"

// The operations over a system whose calls fail as it is told.
namespace weft::detail {
namespace {

using tests::awaitThat;
using tests::bytesOf;
using tests::Ends;
using tests::makeEnds;

// What the next calls of a kind do instead of what they would do.
struct Faults {
  std::vector<int> errors;        // the first calls fail with these, in this order
  size_t mostBytes = ~size_t{0};  // transfers are this short
  int numCalls = 0;
  std::function<void()> before{};  // called before a call that fails

  // Returns: whether the call fails.
  bool fails() {
    const auto number = static_cast<size_t>(numCalls++);
    if (number < errors.size() && errors[number] != 0) {
      if (before) {
        before();
      }
      errno = errors[number];
      return true;
    }
    return false;
  }
};

thread_local Faults transfers, messages, flagChanges, accepts, connects;
thread_local Faults waits, controls, bells, epolls, polls;

struct FaultySystem : IoSystem {
  static ssize_t receive(int fd, void* data, size_t size, int flags) {
    return transfers.fails() ? -1 : IoSystem::receive(fd, data, std::min(size, transfers.mostBytes), flags);
  }
  static ssize_t send(int fd, const void* data, size_t size, int flags) {
    return transfers.fails() ? -1 : IoSystem::send(fd, data, std::min(size, transfers.mostBytes), flags);
  }
  static ssize_t sendMessage(int fd, const msghdr* message, int flags) {
    return messages.fails() ? -1 : IoSystem::sendMessage(fd, message, flags);
  }
  static int setFlags(int fd, int flags) { return flagChanges.fails() ? -1 : IoSystem::setFlags(fd, flags); }
  static ssize_t readNow(int fd, const iovec* parts, int count, int64_t offset) {
    const iovec part{parts->iov_base, std::min(parts->iov_len, transfers.mostBytes)};
    return transfers.fails() ? -1 : IoSystem::readNow(fd, &part, count, offset);
  }
  static ssize_t writeNow(int fd, const iovec* parts, int count, int64_t offset) {
    const iovec part{parts->iov_base, std::min(parts->iov_len, transfers.mostBytes)};
    return transfers.fails() ? -1 : IoSystem::writeNow(fd, &part, count, offset);
  }
  static int accept(int fd, sockaddr* address, socklen_t* size) {
    return accepts.fails() ? -1 : IoSystem::accept(fd, address, size);
  }
  static int connect(int fd, const sockaddr* address, socklen_t size) {
    return connects.fails() ? -1 : IoSystem::connect(fd, address, size);
  }
  static int makeBell() { return bells.fails() ? -1 : IoSystem::makeBell(); }
  static int makeEpoll() { return epolls.fails() ? -1 : IoSystem::makeEpoll(); }
  static int control(int epoll, int operation, int fd, epoll_event* event) {
    return controls.fails() ? -1 : IoSystem::control(epoll, operation, fd, event);
  }
  static int wait(int epoll, epoll_event* events, int most, TimePoint deadline) {
    return waits.fails() ? -1 : IoSystem::wait(epoll, events, most, deadline);
  }
  static int poll(pollfd* descriptors, nfds_t count, TimePoint deadline) {
    return polls.fails() ? -1 : IoSystem::poll(descriptors, count, deadline);
  }
};

using Faulty = IoOperations<FaultySystem>;

// One thread, so that it has all the faults; in a task, and without a scheduler.
class IoFaultsTest : public ::testing::TestWithParam<bool> {
 protected:
  void TearDown() override {
    transfers = messages = flagChanges = accepts = connects = Faults();
    waits = controls = bells = epolls = polls = Faults();
  }

  template <class F>
  void run(F f) {
    if (!GetParam()) {
      f();
      return;
    }
    Scheduler scheduler(tests::smallConfig(0));
    scheduler.bind();
    tests::inTask(f);
    Scheduler::unbind();
  }

  // Reads once from `fd`.
  static IoResult read(int fd, const io::Wait& wait = {}) {
    const iovec part{buffer, sizeof buffer};
    return Faulty::readParts(fd, {&part, 1}, -1, wait, "io::read");
  }

  static inline std::byte buffer[64];
  const io::Wait never_{};
};

TEST_P(IoFaultsTest, AnInterruptedCallIsMadeAgain) {
  run([&] {
    Ends ends = makeEnds();
    io::write(ends.writer.get(), bytesOf("hello"));
    transfers.errors = {EINTR, EINTR};
    EXPECT_EQ(read(ends.reader.get()).value, 5);
    transfers = {.errors = {EINTR, EINTR}};
    EXPECT_EQ(Faulty::send(ends.writer.get(), bytesOf("x"), 0, never_).value, 1);
    transfers = {.errors = {EINTR, EINTR}};
    EXPECT_EQ(Faulty::receive(ends.reader.get(), buffer, 0, never_).value, 1);
    EXPECT_EQ(transfers.numCalls, 3);
  });
}

TEST_P(IoFaultsTest, AnInterruptedSleepGoesOn) {
  run([&] {
    Ends ends = makeEnds();
    waits.errors = polls.errors = std::vector<int>(20, EINTR);
    std::thread writer([&] { io::write(ends.writer.get(), bytesOf("hello")); });
    EXPECT_EQ(read(ends.reader.get()).value, 5);
    writer.join();
  });
}

// Something else may have taken what there was.
TEST_P(IoFaultsTest, AWakeInVainIsFollowedByAnotherWait) {
  run([&] {
    Ends ends = makeEnds();
    io::write(ends.writer.get(), bytesOf("hello"));
    transfers.errors = {EAGAIN, EAGAIN, EAGAIN};
    EXPECT_EQ(read(ends.reader.get()).value, 5);
    EXPECT_EQ(transfers.numCalls, 4);
  });
}

TEST_P(IoFaultsTest, ShortTransfersLoseNothing) {
  run([&] {
    Ends ends = makeEnds();
    transfers.mostBytes = 3;
    const auto data = bytesOf("a message that takes several calls");
    for (size_t sent = 0; sent < data.size();) {
      const IoResult result = Faulty::send(ends.writer.get(), data.subspan(sent), 0, never_);
      ASSERT_EQ(result.value, std::min<ssize_t>(3, static_cast<ssize_t>(data.size() - sent)));
      sent += static_cast<size_t>(result.value);
    }
    std::string got;
    while (got.size() < data.size()) {
      const IoResult result = read(ends.reader.get());
      ASSERT_GT(result.value, 0);
      got += tests::textOf(std::span(buffer).first(static_cast<size_t>(result.value)));
    }
    EXPECT_EQ(got, tests::textOf(data));
  });
}

TEST_P(IoFaultsTest, ErrorsAreTold) {
  run([&] {
    Ends ends = makeEnds();
    transfers.errors = {ENOBUFS, ECONNRESET};
    EXPECT_EQ(Faulty::send(ends.writer.get(), bytesOf("x"), 0, never_).error, ENOBUFS);
    EXPECT_EQ(Faulty::receive(ends.reader.get(), buffer, 0, never_).error, ECONNRESET);
  });
}

// As for a terminal, or with an old kernel: poll(2) tells whether a call would wait.
TEST_P(IoFaultsTest, WithoutCallsThatDoNotWaitReadinessIsAskedFor) {
  run([&] {
    for (const int error : {EOPNOTSUPP, ENOSYS}) {
      Ends ends = makeEnds(tests::PairKind::BlockingPipe);
      transfers = {.errors = std::vector<int>(100, error)};
      EXPECT_EQ(
          read(ends.reader.get(), {.deadline = TimePoint::clock::now() + std::chrono::milliseconds(2)}).error,
          ETIMEDOUT);
      std::thread writer([&] { io::write(ends.writer.get(), bytesOf("hello")); });
      EXPECT_EQ(read(ends.reader.get()).value, 5);
      writer.join();
      const iovec part{buffer, 4};
      EXPECT_EQ(Faulty::writeParts(ends.writer.get(), {&part, 1}, never_, "io::write").value, 4);
    }
  });
}

// It has written something, so that there is no error that would tell of the signal.
TEST_P(IoFaultsTest, AWriteThatBlocksUntilNobodyReadsAnyMoreRaisesNoSignal) {
  run([&] {
    Ends ends = makeEnds(tests::PairKind::BlockingPipe);
    transfers.errors = {ENOSYS};
    std::thread reader([&] {
      std::vector<std::byte> some(100'000);
      EXPECT_EQ(io::readAll(ends.reader.get(), some), some.size());
      ends.reader.reset();
    });
    std::vector<std::byte> data(1'000'000);
    const iovec part{data.data(), data.size()};
    const IoResult written = Faulty::writeParts(ends.writer.get(), {&part, 1}, never_, "io::write");
    EXPECT_EQ(written.error, 0);
    EXPECT_GE(written.value, 100'000);
    reader.join();
  });
}

// Of a local receiver without room poll(2) says that there is room.
TEST_P(IoFaultsTest, AMessageToALocalReceiverWithoutRoomIsTriedAgainAfterAPause) {
  run([&] {
    const io::UniqueFd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const io::Endpoint receiver = io::Endpoint::local("/tmp/weft_io_nobody");
    msghdr message{};
    message.msg_name = const_cast<sockaddr*>(receiver.data());
    message.msg_namelen = receiver.size();
    messages.errors = std::vector<int>(1'000, EAGAIN);
    const io::Wait limit{.deadline = TimePoint::clock::now() + std::chrono::milliseconds(20)};
    EXPECT_EQ(Faulty::sendMessage(sender.get(), message, 0, limit).error, ETIMEDOUT);
    EXPECT_LE(messages.numCalls, 21);
    messages = {.errors = {EAGAIN, EAGAIN, ENOBUFS}};
    EXPECT_EQ(Faulty::sendMessage(sender.get(), message, 0, never_).error, ENOBUFS);
  });
}

// Which makes the descriptor ready for whatever is waited for.
TEST_P(IoFaultsTest, WhereAnErrorQueueIsNotReadAReceiveIsTriedAgainAfterAPause) {
  run([&] {
    const io::UniqueFd receiver(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const io::Endpoint nobody = io::Endpoint::parse("127.0.0.1", 9);
    const int on = 1;
    ASSERT_EQ(::setsockopt(receiver.get(), IPPROTO_IP, IP_RECVERR, &on, sizeof on), 0);
    ASSERT_EQ(::sendto(receiver.get(), "x", 1, 0, nobody.data(), nobody.size()), 1);
    ASSERT_EQ(io::waitFor(receiver.get(), POLLIN), POLLERR) << "nobody has the port 9";
    EXPECT_EQ(Faulty::receive(receiver.get(), buffer, 0, never_).error, ECONNREFUSED);
    transfers = Faults();
    const io::Wait limit{.deadline = TimePoint::clock::now() + std::chrono::milliseconds(20)};
    EXPECT_EQ(Faulty::receive(receiver.get(), buffer, 0, limit).error, ETIMEDOUT);
    EXPECT_GE(transfers.numCalls, 2);
    EXPECT_LE(transfers.numCalls, 22);
    std::byte queued[64];
    EXPECT_EQ(io::recv(receiver.get(), queued, MSG_ERRQUEUE), 1u);
    EXPECT_EQ(Faulty::receive(receiver.get(), buffer, 0, {.deadline = TimePoint::min()}).error, ETIMEDOUT);
  });
}

TEST_P(IoFaultsTest, AcceptGoesOnWhereThePeerHasGoneAndTellsWhereNoDescriptorIsLeft) {
  run([&] {
    io::Listener listener = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0));
    const io::Socket client = io::Socket::connect(listener.endpoint());
    accepts.errors = {EINTR, ECONNABORTED, EPROTO, EMFILE};
    EXPECT_EQ(Faulty::accept(listener.fd(), nullptr, nullptr, never_).error, EMFILE);
    const IoResult accepted = Faulty::accept(listener.fd(), nullptr, nullptr, never_);
    EXPECT_GE(accepted.value, 0) << "the connection has waited";
    io::UniqueFd(static_cast<int>(accepted.value)).reset();
  });
}

TEST_P(IoFaultsTest, AConnectWithoutRoomAtTheListenerIsTriedAgain) {
  run([&] {
    io::Listener listener = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0));
    const io::Endpoint where = listener.endpoint();
    io::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    connects.errors = {EAGAIN, EAGAIN};
    EXPECT_EQ(Faulty::connect(socket.get(), where.data(), where.size(), never_).error, 0);
    EXPECT_EQ(connects.numCalls, 3);
    EXPECT_EQ(::fcntl(socket.get(), F_GETFL) & O_NONBLOCK, 0) << "it is blocking again";
    connects = {.errors = std::vector<int>(1000, EAGAIN)};
    const io::Wait limit{.deadline = TimePoint::clock::now() + std::chrono::milliseconds(5)};
    EXPECT_EQ(Faulty::connect(socket.get(), where.data(), where.size(), limit).error, ETIMEDOUT);
  });
}

// A call with RWF_NOWAIT would wait for the disk there.
TEST_P(IoFaultsTest, AFiberThatReadsADirectFileHoldsUpNobody) {
  char path[] = "/tmp/weft_io_direct_XXXXXX";
  ::close(::mkstemp(path));
  const io::UniqueFd file(::open(path, O_RDWR | O_CLOEXEC | O_DIRECT));
  ::unlink(path);
  if (!file) {
    GTEST_SKIP() << "the file system has no direct files";
  }
  alignas(4096) static std::byte page[4096];
  run([&] {
    transfers.errors = {EIO, EIO};
    const int expected = GetParam() ? 0 : EIO;
    EXPECT_EQ(Faulty::writeAt(file.get(), page, 0, never_).error, expected);
    EXPECT_EQ(Faulty::readAt(file.get(), page, 0, never_).error, expected);
  });
}

INSTANTIATE_TEST_SUITE_P(Where, IoFaultsTest, ::testing::Bool(),
                         [](const auto& where) { return where.param ? "InATask" : "OnAThread"; });

bool isUring() { return io::backend() == std::string_view("uring"); }

class IoReactorFaultsTest : public IoFaultsTest {};

// What is of epoll alone.
class IoEpollFaultsTest : public IoFaultsTest {
  void SetUp() override {
    if (isUring()) {
      GTEST_SKIP() << "with io_uring there is no such call";
    }
  }
};

TEST_P(IoEpollFaultsTest, WithoutADescriptorForTheReactorTheWaitFailsAndTheNextOneTriesAgain) {
  run([&] {
    Ends ends = makeEnds();
    bells.errors = epolls.errors = controls.errors = {EMFILE};
    EXPECT_EQ(read(ends.reader.get()).error, EMFILE);
    // The bell of a parker stays, so that there may be one already.
    while (bells.numCalls + epolls.numCalls + controls.numCalls < 3) {
      const io::Wait past{.deadline = TimePoint::min()};
      const int error = read(ends.reader.get(), past).error;
      EXPECT_TRUE(error == EMFILE || error == ETIMEDOUT);
      if (error == ETIMEDOUT) {
        break;
      }
    }
    std::thread writer([&] { io::write(ends.writer.get(), bytesOf("hello")); });
    EXPECT_EQ(read(ends.reader.get()).value, 5);
    writer.join();
  });
}

TEST_P(IoEpollFaultsTest, AWaitThatCannotBeArmedFailsAndLeavesNothingBehind) {
  run([&] {
    Ends ends = makeEnds();
    const io::Wait past{.deadline = TimePoint::min()};
    EXPECT_EQ(read(ends.reader.get(), past).error, ETIMEDOUT);  // makes the reactor
    controls = {.errors = {ENOMEM}};
    EXPECT_EQ(read(ends.reader.get()).error, ENOMEM);
    std::thread writer([&] { io::write(ends.writer.get(), bytesOf("hello")); });
    EXPECT_EQ(read(ends.reader.get()).value, 5);
    writer.join();
  });
}

// As where another worker has waited for it meanwhile.
TEST_P(IoEpollFaultsTest, ARegistrationThatIsThereAgainstExpectationIsUsed) {
  run([&] {
    Ends ends = makeEnds();
    const io::Wait past{.deadline = TimePoint::min()};
    read(ends.reader.get(), past);  // registers it
    controls.numCalls = 0;
    controls.errors = {EEXIST};
    controls.before = [&] { EXPECT_EQ(::write(ends.writer.get(), "hello", 5), 5); };
    EXPECT_EQ(read(ends.reader.get()).value, 5);
    EXPECT_EQ(controls.numCalls, 2);
  });
}

// The number means something else by the time at which the read would wait.
TEST_P(IoReactorFaultsTest, AnOperationThatACloseOvertakesIsCanceled) {
  run([&] {
    Ends ends = makeEnds();
    // Makes the reactor, which would take the number else.
    EXPECT_EQ(read(ends.reader.get(), {.deadline = TimePoint::min()}).error, ETIMEDOUT);
    std::optional<tests::Closer> closer;
    transfers = {.errors = {EAGAIN}};
    transfers.before = [&] {
      closer.emplace(ends.reader);
      closer->expectThatItWaits();
    };
    EXPECT_EQ(read(ends.reader.get()).error, ECANCELED);
  });
}

// It would change the flags of what has the number next.
TEST_P(IoReactorFaultsTest, AcceptAndConnectChangeTheFlagsOfWhatTheyWereCalledFor) {
  run([&] {
    const io::Endpoint nobody = io::Endpoint::local("/tmp/weft_io_nobody");
    for (const bool doesAccept : {true, false}) {
      Ends ends = makeEnds(tests::PairKind::BlockingSockets);
      const int number = ends.reader.get();
      std::optional<tests::Closer> closer;
      flagChanges = {.errors = {EINTR}};
      flagChanges.before = [&] {
        closer.emplace(ends.reader);
        closer->expectThatItWaits();
      };
      const IoResult result = doesAccept ? Faulty::accept(number, nullptr, nullptr, never_)
                                         : Faulty::connect(number, nobody.data(), nobody.size(), never_);
      EXPECT_EQ(result.error, ECANCELED);
      EXPECT_EQ(flagChanges.numCalls, 2);
    }
  });
}

// As to a terminal, or to a pipe with an old kernel.
TEST_P(IoReactorFaultsTest, AWriteOfMoreThanThereIsRoomForHoldsUpNobody) {
  run([&] {
    Ends ends = makeEnds(tests::PairKind::BlockingPipe);
    std::vector<std::byte> data(1'000'000, std::byte{7}), got(data.size());
    WaitGroup done(1);
    schedule(Task(
        [&, done] {
          EXPECT_EQ(io::readAll(ends.reader.get(), got), got.size());
          done.done();
        },
        Task::Flags::SameThread));
    transfers.errors = {EOPNOTSUPP};
    const iovec part{data.data(), data.size()};
    const IoResult written = Faulty::writeParts(ends.writer.get(), {&part, 1}, never_, "io::write");
    EXPECT_EQ(written.value, static_cast<ssize_t>(data.size()));
    done.wait();
    EXPECT_EQ(got, data);
  });
}

TEST_P(IoReactorFaultsTest, ACallThatWaitsForAThreadIsNotMadeAfterAStop) {
  run([&] {
    BlockingThreads::setMaxCount(1);
    WEFT_DEFER(BlockingThreads::setMaxCount(~0U));
    while (BlockingThreads::count() > 1) {
      blocking_call([] {});  // ends one of them
    }
    std::atomic<bool> isTaken{false}, mayEnd{false};
    WaitGroup done(2);
    schedule(Task(
        [&, done] {
          blocking_call([&] {
            isTaken = true;
            awaitThat([&] { return mayEnd.load(); });
          });
          done.done();
        },
        Task::Flags::SameThread));
    awaitThat([&] { return isTaken.load(); });
    std::stop_source stop;
    schedule(Task(
        [&, done] {
          stop.request_stop();
          mayEnd = true;
          done.done();
        },
        Task::Flags::SameThread));
    const io::Wait limit{.stop = stop.get_token()};
    bool isMade = false;
    const auto call = [&]() -> ssize_t {
      isMade = true;
      return 0;
    };
    EXPECT_EQ(Faulty::Op(-1, limit, "io::open").runBlocking(call).error, ECANCELED);
    EXPECT_FALSE(isMade);
    done.wait();
  });
}

TEST_P(IoReactorFaultsTest, ACloseWaitsForACallThatBlocks) {
  run([&] {
    Ends ends = makeEnds();
    const int number = ends.reader.get();
    std::optional<tests::Closer> closer;
    const auto call = [&]() -> ssize_t {
      closer.emplace(ends.reader);
      closer->expectThatItWaits();
      return 7;
    };
    Faulty::Op operation(number, never_, "io::fsync");
    EXPECT_EQ(operation.runBlocking(call).value, 7);
    EXPECT_EQ(operation.runBlocking(call).error, ECANCELED);
  });
}

TEST_P(IoReactorFaultsTest, AnOperationThatBeginsDuringACloseWaitsForItsEnd) {
  run([&] {
    Ends ends = makeEnds();
    const int number = ends.reader.get();
    io::write(ends.writer.get(), bytesOf("of before"));
    std::optional<tests::Closer> closer;
    std::atomic<bool> isClosing{false}, hasBegun{false};
    WaitGroup done(2);
    schedule(Task(
        [&, done] {
          awaitThat([&] { return isClosing.load(); });
          hasBegun = true;
          EXPECT_EQ(read(number).error, EBADF);
          done.done();
        },
        Task::Flags::SameThread));
    std::atomic<bool> mayEnd{false};
    schedule(Task(
        [&, done] {
          awaitThat([&] { return hasBegun.load(); });
          mayEnd = true;
          done.done();
        },
        Task::Flags::SameThread));
    Faulty::Op(number, never_, "io::fsync").runBlocking([&]() -> ssize_t {
      closer.emplace(ends.reader, tests::Closer::Next::Nothing);
      isClosing = true;
      awaitThat([&] { return mayEnd.load(); });
      return 0;
    });
    done.wait();
  });
}

class IoDryStreamTest : public IoFaultsTest {
 protected:
  static IoResult receive(int fd, const io::Wait& wait = {}) {
    return Faulty::receiveFromStream(fd, buffer, wait);
  }
  // Leaves the stream dry.
  static void makeDry(const Ends& ends) {
    io::write(ends.writer.get(), bytesOf("hello"));
    EXPECT_EQ(receive(ends.reader.get()).value, 5);
    transfers.numCalls = 0;
  }
  static inline const io::Wait past{.deadline = TimePoint::min()};
};

TEST_P(IoDryStreamTest, AfterAShortReceiveTheNextOneWaitsBeforeItTries) {
  run([&] {
    Ends ends = makeEnds();
    makeDry(ends);
    std::thread writer([&] { io::write(ends.writer.get(), bytesOf("again")); });
    EXPECT_EQ(receive(ends.reader.get()).value, 5);
    EXPECT_EQ(transfers.numCalls, 1);
    writer.join();
  });
}

// Bytes that have come since are received, whatever would end a wait.
TEST_P(IoDryStreamTest, AStreamThatIsNotDryAnyMoreNeedsNoWait) {
  run([&] {
    Ends ends = makeEnds();
    makeDry(ends);
    io::write(ends.writer.get(), bytesOf("x"));
    EXPECT_EQ(receive(ends.reader.get(), past).value, 1);
    std::stop_source stopped;
    stopped.request_stop();
    io::write(ends.writer.get(), bytesOf("y"));
    EXPECT_EQ(receive(ends.reader.get(), {.stop = stopped.get_token()}).value, 1);
    controls = {.errors = {ENOMEM}};
    io::write(ends.writer.get(), bytesOf("z"));
    EXPECT_EQ(receive(ends.reader.get()).value, 1);
    EXPECT_EQ(receive(ends.reader.get(), past).error, ETIMEDOUT);
    io::cancelAll(*Scheduler::get());
    io::write(ends.writer.get(), bytesOf("z"));
    EXPECT_EQ(receive(ends.reader.get()).value, 1);
    ends.writer.reset();
    EXPECT_EQ(receive(ends.reader.get()).value, 0) << "so is the end";
  });
}

TEST_P(IoDryStreamTest, WhatIsKnownOfANumberMisleadsNobodyWhoUsesItAgain) {
  run([&] {
    Ends ends = makeEnds();
    makeDry(ends);
    const int number = ends.reader.get();
    for (const bool isClosedByWeft : {true, false}) {
      Ends others = makeEnds();
      io::write(others.writer.get(), bytesOf("others"));
      isClosedByWeft ? ends.reader.reset() : static_cast<void>(::close(ends.reader.release()));
      EXPECT_EQ(::dup(others.reader.get()), number) << "the system takes the lowest number";
      EXPECT_EQ(receive(number, past).value, 6);
      ends.reader.reset(number);  // dry
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Where, IoDryStreamTest, ::testing::Values(true),
                         [](const auto&) { return "InATask"; });
INSTANTIATE_TEST_SUITE_P(Where, IoEpollFaultsTest, ::testing::Values(true),
                         [](const auto&) { return "InATask"; });
INSTANTIATE_TEST_SUITE_P(Where, IoReactorFaultsTest, ::testing::Values(true),
                         [](const auto&) { return "InATask"; });

}  // namespace
}  // namespace weft::detail
