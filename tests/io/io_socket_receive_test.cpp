// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "io/faulty_system.h"
#include "io/io_pairs.h"
#include "io/posix_operations.h"

// Receives of a Socket, whose registration lasts.
namespace weft::inline v0_1::detail {
namespace {

using tests::bytesOf;
using tests::Ends;
using tests::makeEnds;

class IoSocketReceiveTest : public IoFaultsTest {
 protected:
  static IoResult receive(int fd, const io::Wait& wait = {}, size_t size = sizeof buffer) {
    return Faulty::receiveBySocket(fd, std::span(buffer).first(size), wait);
  }
  // As a Socket that is made of the reader.
  static Ends own(Ends ends) {
    beginSocket(ends.reader.get());
    return ends;
  }
  static Ends makeTcpEnds() { return own(tests::makeTcpEnds()); }
  // Leaves the stream drained, and its reactor armed.
  static void drain(const Ends& ends) {
    std::thread writer([&] { io::write(ends.writer.get(), bytesOf("hello")); });
    EXPECT_EQ(receive(ends.reader.get()).value, 5);
    writer.join();
    EXPECT_EQ(receive(ends.reader.get(), past).error, ETIMEDOUT);
    transfers = controls = Faults();
  }
  // Returns: how often it is tried.
  static int callsOfAReceiveThatWaits(int reader, int writer) {
    transfers = Faults();
    schedule(Task([writer] { EXPECT_EQ(::write(writer, "x", 1), 1); }, Task::Flags::SameThread));
    EXPECT_EQ(receive(reader).value, 1);
    return transfers.numCalls;
  }
  static inline const io::Wait past{.deadline = TimePoint::min()};
  static io::Wait soon() { return {.deadline = TimePoint::clock::now() + std::chrono::milliseconds(20)}; }
};

TEST_P(IoSocketReceiveTest, AWaitTakesNoSystemCall) {
  run([&] {
    for (const bool isTcp : {true, false}) {
      Ends ends = isTcp ? makeTcpEnds() : own(makeEnds());
      drain(ends);
      for (int i = 0; i < 5; ++i) {
        std::thread writer([&] { io::write(ends.writer.get(), bytesOf("again")); });
        EXPECT_EQ(receive(ends.reader.get()).value, 5);
        writer.join();
      }
      EXPECT_EQ(controls.numCalls, 0);
      if (isTcp) {
        EXPECT_EQ(transfers.numCalls, 5) << "a short receive has taken all";
      }
    }
  });
}

// Bytes that have come since are received, whatever would end a wait.
TEST_P(IoSocketReceiveTest, AStreamThatIsNotDrainedAnyMoreNeedsNoWait) {
  run([&] {
    Ends ends = makeTcpEnds();
    drain(ends);
    io::write(ends.writer.get(), bytesOf("x"));
    EXPECT_EQ(receive(ends.reader.get(), past).value, 1);
    std::stop_source stopped;
    stopped.request_stop();
    io::write(ends.writer.get(), bytesOf("y"));
    EXPECT_EQ(receive(ends.reader.get(), {.stop = stopped.get_token()}).value, 1);
    EXPECT_EQ(receive(ends.reader.get(), past).error, ETIMEDOUT);
    io::cancelAll(*Scheduler::get());
    io::write(ends.writer.get(), bytesOf("z"));
    EXPECT_EQ(receive(ends.reader.get()).value, 1);
    ends.writer.reset();
    EXPECT_EQ(receive(ends.reader.get()).value, 0) << "so is the end";
  });
}

// It is told of once, and nobody waits.
TEST_P(IoSocketReceiveTest, WhatComesWhileNobodyWaitsIsReceivedInPieces) {
  run([&] {
    for (const bool isTcp : {true, false}) {
      Ends ends = isTcp ? makeTcpEnds() : own(makeEnds());
      drain(ends);
      io::write(ends.writer.get(), bytesOf("0123456789"));
      Ends others = makeEnds();
      EXPECT_EQ(
          read(others.reader.get(), {.deadline = TimePoint::clock::now() + std::chrono::milliseconds(2)})
              .error,
          ETIMEDOUT);
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(receive(ends.reader.get(), {}, 3).value, i < 3 ? 3 : 1);
      }
      EXPECT_EQ(receive(ends.reader.get(), past).error, ETIMEDOUT);
    }
  });
}

// A receive ends before it, so that it seems to have taken all.
TEST_P(IoSocketReceiveTest, UrgentDataHidesNothingBehindIt) {
  run([&] {
    Ends ends = makeTcpEnds();
    drain(ends);
    io::write(ends.writer.get(), bytesOf("abc"));
    EXPECT_EQ(::send(ends.writer.get(), "x", 1, MSG_OOB), 1);
    io::write(ends.writer.get(), bytesOf("def"));
    EXPECT_EQ(receive(ends.reader.get()).value, 3);
    EXPECT_EQ(receive(ends.reader.get()).value, 3);
  });
}

// Nobody has waited for I/O since they came, so that no reactor has told of them.
TEST_P(IoSocketReceiveTest, UrgentDataThatWereReceivedHideNothingBehindThem) {
  const auto byRecv = [](int fd) { EXPECT_EQ(io::recv(fd, std::span(buffer, 1), MSG_OOB), 1u); };
  const auto byMessage = [](int fd) {
    iovec part{buffer, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    EXPECT_EQ(io::recvmsg(fd, message, MSG_OOB), 1u);
  };
  const auto byThread = [&](int fd) { std::thread([&] { byRecv(fd); }).join(); };
  const auto toSocket = [&](int fd) {
    byRecv(fd);
    beginSocket(fd);
  };
  const auto receiveUrgent = [&](const auto& way) {
    Ends ends = makeTcpEnds();
    drain(ends);
    io::write(ends.writer.get(), bytesOf("abc"));
    EXPECT_EQ(::send(ends.writer.get(), "x", 1, MSG_OOB), 1);
    io::write(ends.writer.get(), bytesOf("def"));
    way(ends.reader.get());
    EXPECT_EQ(receive(ends.reader.get()).value, 3);
    EXPECT_EQ(receive(ends.reader.get()).value, 3);
  };
  run([&] {
    receiveUrgent(byRecv);
    receiveUrgent(byMessage);
    receiveUrgent(byThread);
    receiveUrgent(toSocket);
  });
}

TEST_P(IoSocketReceiveTest, UrgentDataOfASocketThatWasClosedSlowNoOther) {
  run([&] {
    Ends ends = makeTcpEnds(), others = makeTcpEnds();
    const int number = ends.reader.get();
    std::error_code error;
    EXPECT_EQ(io::recv(number, std::span(buffer, 1), MSG_OOB, error), 0u);
    EXPECT_EQ(error, std::errc::invalid_argument) << "there are none";
    ends.reader.reset();
    ends.reader.reset(::fcntl(others.reader.get(), F_DUPFD_CLOEXEC, number));
    ASSERT_EQ(ends.reader.get(), number);
    beginSocket(number);
    EXPECT_EQ(callsOfAReceiveThatWaits(number, others.writer.get()), 2) << "it is new";
    EXPECT_EQ(callsOfAReceiveThatWaits(number, others.writer.get()), 1);
  });
}

// They stay until somebody reads them, and would be told of again and again.
TEST_P(IoSocketReceiveTest, UrgentDataAloneIsToldOfOnce) {
  run([&] {
    Ends ends = makeTcpEnds();
    drain(ends);
    EXPECT_EQ(::send(ends.writer.get(), "x", 1, MSG_OOB), 1);
    EXPECT_EQ(receive(ends.reader.get(), soon()).error, ETIMEDOUT);
    EXPECT_EQ(controls.numCalls, 0);
  });
}

TEST_P(IoSocketReceiveTest, WhereAReceiveOfALocalSocketEndsThereMayBeMore) {
  run([&] {
    Ends ends = own(makeEnds());
    drain(ends);
    iovec part{const_cast<char*>("ab"), 2};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int passed = ends.writer.get();
    std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
    EXPECT_EQ(io::sendmsg(ends.writer.get(), message, 0), 2u);
    io::write(ends.writer.get(), bytesOf("cd"));
    EXPECT_EQ(receive(ends.reader.get()).value, 2);
    EXPECT_EQ(receive(ends.reader.get()).value, 2);
  });
}

// Of TLS in the system each receive takes one record.
TEST_P(IoSocketReceiveTest, WhereThereIsALayerAboveTcpAShortReceiveMayLeaveMore) {
  run([&] {
    for (const bool isPutThereLater : {true, false}) {
      hasLayer = !isPutThereLater;
      transfers = Faults();
      Ends ends = makeTcpEnds();
      drain(ends);
      if (isPutThereLater) {
        hasLayer = true;
        beginSocket(ends.reader.get());
      }
      transfers.mostBytes = 3;
      io::write(ends.writer.get(), bytesOf("abcdef"));
      EXPECT_EQ(receive(ends.reader.get()).value, 3);
      EXPECT_EQ(receive(ends.reader.get()).value, 3);
    }
  });
}

TEST_P(IoSocketReceiveTest, SeveralReadersShareWhatComesAtOnce) {
  run([&] {
    Ends ends = makeTcpEnds();
    drain(ends);
    WaitGroup done(3);
    for (int i = 0; i < 3; ++i) {
      schedule(Task(
          [&, done] {
            EXPECT_EQ(receive(ends.reader.get(), {}, 1).value, 1);
            done.done();
          },
          Task::Flags::SameThread));
      yield();
    }
    io::write(ends.writer.get(), bytesOf("abc"));
    done.wait();
  });
}

TEST_P(IoSocketReceiveTest, OtherWaitsForTheSocketComeInBetween) {
  run([&] {
    Ends ends = makeTcpEnds();
    for (int i = 0; i < 3; ++i) {
      drain(ends);
      std::thread reader([&] {
        EXPECT_EQ(io::waitFor(ends.writer.get(), POLLIN), POLLIN);
        io::write(ends.writer.get(), bytesOf("x"));
      });
      WaitGroup done(1);
      schedule(Task(
          [&, done] {
            EXPECT_EQ(receive(ends.reader.get()).value, 1);
            done.done();
          },
          Task::Flags::SameThread));
      yield();
      EXPECT_EQ(io::waitFor(ends.reader.get(), POLLOUT), POLLOUT);
      std::error_code error;
      EXPECT_EQ(io::waitFor(ends.reader.get(), POLLIN, error, past), 0);
      io::write(ends.reader.get(), bytesOf("y"));
      done.wait();
      reader.join();
      EXPECT_EQ(io::read(ends.writer.get(), buffer), 1u);
    }
  });
}

// It is closed by weft, or by others, and its file lives on.
TEST_P(IoSocketReceiveTest, WhatIsKnownOfANumberMisleadsNobodyWhoUsesItAgain) {
  run([&] {
    Ends ends = makeTcpEnds();
    drain(ends);
    const int number = ends.reader.get();
    for (const bool isClosedByWeft : {true, false}) {
      const io::UniqueFd sameFile(::dup(number));
      Ends others = makeTcpEnds();
      isClosedByWeft ? ends.reader.reset() : static_cast<void>(::close(ends.reader.release()));
      EXPECT_EQ(::dup(others.reader.get()), number) << "the system takes the lowest number";
      beginSocket(number);
      std::thread writer([&] { io::write(others.writer.get(), bytesOf("others")); });
      EXPECT_EQ(receive(number).value, 6);
      writer.join();
      io::write(ends.writer.get(), bytesOf("late"));
      EXPECT_EQ(receive(number, {.deadline = TimePoint::clock::now() + std::chrono::milliseconds(2)}).error,
                ETIMEDOUT);
      EXPECT_EQ(read(sameFile.get()).value, 4);
      std::thread next([&] { io::write(others.writer.get(), bytesOf("again")); });
      EXPECT_EQ(receive(number).value, 5);
      next.join();
      ends.reader.reset(number);
      ends.writer = std::move(others.writer);
    }
  });
}

// Another thread closes a Socket after an operation has looked at its number, and before that has begun.
TEST_P(IoSocketReceiveTest, AnOperationOfASocketNeverUsesANumberThatHasNewlyComeToMeanSomethingElse) {
  if (!GetParam()) {
    GTEST_SKIP() << "nobody ends waits of threads";  // see io::close()
  }
  run([&] {
    Ends ends = makeTcpEnds(), others = makeEnds(tests::PairKind::Sockets);
    const int number = ends.reader.get();
    io::write(others.writer.get(), bytesOf("others"));
    ends.reader.reset();
    const io::UniqueFd again(::dup(others.reader.get()));
    ASSERT_EQ(again.get(), number) << "the system takes the lowest number";
    EXPECT_EQ(Faulty::receiveBySocket(number, buffer, never_, &ends.reader).error, ECANCELED);
    EXPECT_EQ(Faulty::send(number, bytesOf("x"), 0, never_, &ends.reader).error, ECANCELED);
    EXPECT_EQ(Faulty::accept(number, nullptr, nullptr, never_, &ends.reader).error, ECANCELED);
    EXPECT_EQ(Faulty::receiveBySocket(number, buffer, never_, &again).value, 6) << "nothing was taken";
    EXPECT_EQ(Faulty::receive(others.writer.get(), buffer, 0, past).error, ETIMEDOUT) << "nothing was sent";
  });
}

// The registration of a file that lives on tells of that, with the number of a descriptor that is another.
TEST_P(IoSocketReceiveTest, WhatIsToldOfAFileThatHasLostItsNumberCountsForNobody) {
  run([&] {
    Ends ends = makeTcpEnds(), others = makeTcpEnds();
    drain(ends);
    const int number = ends.reader.get();
    const io::UniqueFd sameFile(::dup(number));
    ::close(ends.reader.release());
    ends.reader.reset(::fcntl(others.reader.get(), F_DUPFD_CLOEXEC, number));
    ASSERT_EQ(ends.reader.get(), number);
    beginSocket(number);
    EXPECT_EQ(callsOfAReceiveThatWaits(number, others.writer.get()), 2) << "it is new";
    ends.writer.reset();
    EXPECT_EQ(callsOfAReceiveThatWaits(number, others.writer.get()), 1);
    EXPECT_EQ(callsOfAReceiveThatWaits(number, others.writer.get()), 1) << "it was the end of another stream";
  });
}

// The reactor tells of it once, when nobody waits.
TEST_P(IoSocketReceiveTest, WhatComesDuringThePauseForErrorsIsNotWaitedFor) {
  run([&] {
    const auto bind = [](const io::UniqueFd& socket) {
      const io::Endpoint any = io::Endpoint::parse("127.0.0.1", 0);
      EXPECT_EQ(::bind(socket.get(), any.data(), any.size()), 0);
      std::error_code error;
      return io::Endpoint::ofSocket(socket.get(), error);
    };
    const io::UniqueFd receiver(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const io::Endpoint here = bind(receiver), nobody = io::Endpoint::parse("127.0.0.1", 9);
    const int on = 1;
    ASSERT_EQ(::setsockopt(receiver.get(), IPPROTO_IP, IP_RECVERR, &on, sizeof on), 0);
    ASSERT_EQ(::sendto(receiver.get(), "x", 1, 0, nobody.data(), nobody.size()), 1);
    ASSERT_EQ(io::waitFor(receiver.get(), POLLIN), POLLERR) << "nobody has the port 9";
    beginSocket(receiver.get());
    EXPECT_EQ(receive(receiver.get()).error, ECONNREFUSED);
    transfers = Faults();
    const Ends unused = makeEnds();
    WaitGroup done(1);
    schedule(Task(
        [&, done] {
          while (transfers.numCalls < 2) {
            yield();
          }
          const io::UniqueFd sender(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
          EXPECT_EQ(::sendto(sender.get(), "hello", 5, 0, here.data(), here.size()), 5);
          std::error_code error;
          const auto soon = TimePoint::clock::now() + std::chrono::microseconds(100);
          EXPECT_EQ(io::waitFor(unused.reader.get(), POLLIN, error, {.deadline = soon}), 0);
          done.done();
        },
        Task::Flags::SameThread));
    EXPECT_EQ(receive(receiver.get()).value, 5);
    done.wait();
  });
}

TEST_P(IoSocketReceiveTest, ACloseLeavesNoRegistrationThatLasts) {
  run([&] {
    Ends ends = makeTcpEnds();
    drain(ends);
    int error = 0;
    DescriptorSlot& slot = *descriptorSlot(ends.reader.get(), error);
    EXPECT_NE(slot.lasting.reactor, 0u);
    ends.reader.reset();
    EXPECT_EQ(slot.lasting.reactor, 0u);
    EXPECT_FALSE(slot.lasting.isSure);
  });
}

INSTANTIATE_TEST_SUITE_P(Where, IoSocketReceiveTest, ::testing::Values(true),
                         [](const auto&) { return "InATask"; });

}  // namespace
}  // namespace weft::inline v0_1::detail
