// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <weft/blockingcall.h>
#include <weft/finally.h>

#include "io/closer.h"
#include "io/faulty_system.h"
#include "io/io_pairs.h"
#include "io/posix_operations.h"
#include "temporary_folder.h"
#include "waiting.h"

// Operations over a system whose calls fail as it is told.
namespace weft::inline v0_1::detail {
namespace {

using tests::awaitThat;
using tests::bytesOf;
using tests::Ends;
using tests::makeEnds;

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
    epollWaits.errors = polls.errors = std::vector<int>(20, EINTR);
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
    EXPECT_EQ(Faulty::receive(ends.reader.get(), buffer, 0, never_).value, 5);
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

// As for a terminal, with an old kernel, or within a filter for system calls: poll(2) tells whether a call
// would wait.
TEST_P(IoFaultsTest, WithoutCallsThatDoNotWaitReadinessIsAskedFor) {
  run([&] {
    for (const int error : {EOPNOTSUPP, ENOSYS, EPERM}) {
      Ends ends = makeEnds(tests::PairKind::BlockingPipe);
      transfers = {.errors = std::vector<int>(100, error)};
      EXPECT_EQ(
          read(ends.reader.get(), {.deadline = TimePoint::clock::now() + std::chrono::milliseconds(2)}).error,
          ETIMEDOUT);
      std::thread writer([&] { io::write(ends.writer.get(), bytesOf("hello")); });
      EXPECT_EQ(read(ends.reader.get()).value, 5);
      writer.join();
      const iovec part{buffer, 4};
      EXPECT_EQ(FaultyFiles::writeParts(ends.writer.get(), {&part, 1}, never_, "io::write").value, 4);
    }
  });
}

TEST_P(IoFaultsTest, WithoutCallsThatDoNotWaitAWriteThatFindsRoomIsDoneWhateverItsLimits) {
  run([&] {
    std::stop_source stop;
    stop.request_stop();
    for (const io::Wait& limits :
         {io::Wait{.deadline = TimePoint::min()}, io::Wait{.stop = stop.get_token()}}) {
      Ends ends = makeEnds(tests::PairKind::BlockingPipe);
      transfers = {.errors = std::vector<int>(100, ENOSYS)};
      const iovec part = partOf(bytesOf("hello"));
      EXPECT_EQ(FaultyFiles::writeParts(ends.writer.get(), {&part, 1}, limits, "io::write").value, 5);
      EXPECT_EQ(read(ends.reader.get(), limits).value, 5);
    }
    if (GetParam()) {
      io::cancelAll(*Scheduler::get());
      Ends ends = makeEnds(tests::PairKind::BlockingPipe);
      std::vector<std::byte> data(1'000'000);
      const iovec part{data.data(), data.size()};
      EXPECT_EQ(FaultyFiles::writeParts(ends.writer.get(), {&part, 1}, never_, "io::write").value, PIPE_BUF);
    }
  });
}

TEST_P(IoFaultsTest, WithoutCallsThatDoNotWaitAPipeSaysAtOnceThatItHasNoOffsets) {
  run([&] {
    Ends ends = makeEnds(tests::PairKind::BlockingPipe);
    const io::Wait soon{.deadline = TimePoint::clock::now() + std::chrono::milliseconds(2)};
    transfers = {.errors = std::vector<int>(100, ENOSYS)};
    EXPECT_EQ(FaultyFiles::readAt(ends.reader.get(), partOf(buffer), 0, soon).error, ESPIPE);
    tests::fill(ends.writer.get());
    EXPECT_EQ(FaultyFiles::writeAt(ends.writer.get(), partOf(buffer), 0, soon).error, ESPIPE);
  });
}

TEST_P(IoFaultsTest, WithoutCallsThatDoNotWaitADescriptorSaysAtOnceWhatItIsNotFor) {
  run([&] {
    const Ends ends = makeEnds(tests::PairKind::BlockingPipe);
    const io::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
    transfers = {.errors = std::vector<int>(100, ENOSYS)};
    const iovec part = partOf(buffer);
    const io::Wait soon{.deadline = TimePoint::clock::now() + std::chrono::milliseconds(2)};
    EXPECT_EQ(read(ends.writer.get(), soon).error, EBADF);
    EXPECT_EQ(FaultyFiles::writeParts(ends.reader.get(), {&part, 1}, soon, "io::write").error, EBADF);
    EXPECT_EQ(read(epoll.get(), soon).error, EINVAL);
  });
}

// A call with more than that would wait for room, and neither a deadline nor a stop would end it.
TEST_P(IoFaultsTest, WithoutCallsThatDoNotWaitAPipeIsFilledUntilTheDeadline) {
  run([&] {
    Ends ends = makeEnds(tests::PairKind::BlockingPipe);
    transfers = {.errors = std::vector<int>(100, ENOSYS)};
    std::vector<std::byte> data(PIPE_BUF + 1, std::byte{7});
    const iovec large{data.data(), data.size()};
    const iovec parts[] = {{data.data(), PIPE_BUF - 1}, {data.data(), 1}, {data.data(), 1}};
    const io::Wait past{.deadline = TimePoint::min()};
    EXPECT_EQ(FaultyFiles::writeParts(ends.writer.get(), {&large, 1}, past, "io::write").value, PIPE_BUF);
    EXPECT_EQ(FaultyFiles::writeParts(ends.writer.get(), parts, past, "io::write").value, PIPE_BUF);
    const io::Wait soon{.deadline = TimePoint::clock::now() + std::chrono::milliseconds(2)};
    IoResult last{PIPE_BUF, 0};
    ssize_t written = 2 * PIPE_BUF;
    while (last.value == PIPE_BUF) {
      last = FaultyFiles::writeParts(ends.writer.get(), {&large, 1}, soon, "io::write");
      written += std::max<ssize_t>(last.value, 0);
    }
    EXPECT_EQ(last.error, ETIMEDOUT);
    int unread = 0;
    EXPECT_EQ(::ioctl(ends.reader.get(), FIONREAD, &unread), 0);
    EXPECT_EQ(written, unread) << "nothing is lost, and nothing comes later";
  });
}

TEST_P(IoFaultsTest, WhereAFilterRefusesCallsThatDoNotWaitFilesAreReadAndWritten) {
  const io::UniqueFd file(::memfd_create("weft_io_faults", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_TRUE(file);
  run([&] {
    transfers = {.errors = std::vector<int>(100, EPERM)};
    EXPECT_EQ(FaultyFiles::writeAt(file.get(), partOf(bytesOf("hello")), 0, never_).value, 5);
    EXPECT_EQ(FaultyFiles::readAt(file.get(), partOf(buffer), 0, never_).value, 5);
    EXPECT_EQ(::lseek(file.get(), 0, SEEK_SET), 0);
    EXPECT_EQ(read(file.get()).value, 5);
  });
  ASSERT_EQ(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  run([&] {
    transfers = Faults();
    EXPECT_EQ(FaultyFiles::writeAt(file.get(), partOf(bytesOf("hello")), 0, never_).error, EPERM)
        << "the file says so";
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
    const IoResult written = FaultyFiles::writeParts(ends.writer.get(), {&part, 1}, never_, "io::write");
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
    EXPECT_LE(messages.numCalls, 6) << "after 1, 2, 4 and 8 ms, and at the end";
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
    EXPECT_LE(transfers.numCalls, 22);
    // The first two tries have only a wait between them, which ends at once.
    std::stop_source stop;
    TimePoint last = TimePoint::min();
    transfers = {.errors = std::vector<int>(5, EAGAIN)};
    transfers.before = [&] {
      const TimePoint now = TimePoint::clock::now();
      EXPECT_TRUE(transfers.numCalls <= 2 || now - last >= std::chrono::milliseconds(1))
          << transfers.numCalls;
      last = now;
      if (transfers.numCalls == 5) {
        stop.request_stop();
      }
    };
    EXPECT_EQ(Faulty::receive(receiver.get(), buffer, 0, {.stop = stop.get_token()}).error, ECANCELED);
    EXPECT_EQ(transfers.numCalls, 5);
    transfers = Faults();
    std::byte queued[64];
    EXPECT_EQ(io::recv(receiver.get(), queued, MSG_ERRQUEUE), 1u);
    EXPECT_EQ(Faulty::receive(receiver.get(), buffer, 0, {.deadline = TimePoint::min()}).error, ETIMEDOUT);
  });
}

// The system calls a socket ready to read though there is nothing behind the place where a peek begins.
TEST_P(IoFaultsTest, APeekBehindAllThatThereIsIsTriedAgainAfterAPause) {
  run([&] {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    const Ends ends{io::UniqueFd(pair[0]), io::UniqueFd(pair[1])};
    const int start = 0;
    if (::setsockopt(ends.reader.get(), SOL_SOCKET, SO_PEEK_OFF, &start, sizeof start) != 0) {
      GTEST_SKIP() << "the system has no offset for peeks";
    }
    io::write(ends.writer.get(), bytesOf("x"));
    EXPECT_EQ(Faulty::receive(ends.reader.get(), buffer, MSG_PEEK, never_).value, 1);
    transfers = Faults();
    const io::Wait limit{.deadline = TimePoint::clock::now() + std::chrono::milliseconds(20)};
    EXPECT_EQ(Faulty::receive(ends.reader.get(), buffer, MSG_PEEK, limit).error, ETIMEDOUT);
    EXPECT_LE(transfers.numCalls, 9 + 20);
    std::thread writer([&] {
      while (io::write(ends.writer.get(), bytesOf("y")) == 0) {
      }
    });
    EXPECT_EQ(Faulty::receive(ends.reader.get(), buffer, MSG_PEEK, never_).value, 1);
    EXPECT_EQ(buffer[0], std::byte{'y'});
    writer.join();
  });
}

TEST_P(IoFaultsTest, AWriteForWhichAnEventfdHasNoRoomIsTriedAgainAfterAPause) {
  run([&] {
    const io::UniqueFd number(::eventfd(5, EFD_CLOEXEC | EFD_NONBLOCK));
    uint64_t most = ~uint64_t{0} - 1;
    const iovec part{&most, sizeof most};
    transfers = Faults();
    const io::Wait limit{.deadline = TimePoint::clock::now() + std::chrono::milliseconds(20)};
    EXPECT_EQ(FaultyFiles::writeParts(number.get(), {&part, 1}, limit, "io::write").error, ETIMEDOUT);
    EXPECT_LE(polls.numCalls, 2 * (9 + 20))
        << "without a fiber, each try is one poll(2) to wait, and one after it";
    io::read(number.get(), buffer);
    EXPECT_EQ(FaultyFiles::writeParts(number.get(), {&part, 1}, never_, "io::write").value, 8);
  });
}

// Else it would be tried again and again as long as there is something else to receive.
TEST_P(IoFaultsTest, AReceiveWaitsForWhatItsFlagsAskFor) {
  run([&] {
    const io::UniqueFd receiver(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const io::Endpoint here = io::Endpoint::parse("127.0.0.1", 0);
    ASSERT_EQ(::bind(receiver.get(), here.data(), here.size()), 0);
    std::error_code error;
    const io::Endpoint bound = io::Endpoint::ofSocket(receiver.get(), error);
    ASSERT_EQ(::sendto(receiver.get(), "x", 1, 0, bound.data(), bound.size()), 1);
    ASSERT_EQ(io::waitFor(receiver.get(), POLLIN), POLLIN);
    const auto soon = [] { return TimePoint::clock::now() + std::chrono::milliseconds(20); };
    EXPECT_EQ(Faulty::receive(receiver.get(), buffer, MSG_ERRQUEUE, {.deadline = soon()}).error, ETIMEDOUT);
    EXPECT_EQ(transfers.numCalls, 1);

    // Urgent data are announced at once, also where there is no room for them yet.
    Ends ends = tests::makeTcpEnds();
    const int small = 4096;
    const std::vector<std::byte> data(1'000'000);
    ASSERT_EQ(::setsockopt(ends.reader.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    ASSERT_GT(::send(ends.writer.get(), data.data(), data.size(), MSG_OOB | MSG_DONTWAIT), 0);
    ASSERT_EQ(io::waitFor(ends.reader.get(), POLLIN), POLLIN);
    transfers = Faults();
    EXPECT_EQ(Faulty::receive(ends.reader.get(), buffer, MSG_OOB, {.deadline = soon()}).error, ETIMEDOUT);
    EXPECT_EQ(transfers.numCalls, 1);
  });
}

TEST_P(IoFaultsTest, AcceptGoesOnWhereThePeerHasGoneAndTellsWhereNoDescriptorIsLeft) {
  run([&] {
    io::Listener listener = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0));
    const io::Socket client = io::Socket::connect(listener.endpoint());
    for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM, EPERM}) {
      accepts = {.errors = {EINTR, ECONNABORTED, EPROTO, ENOPROTOOPT, EHOSTUNREACH, EAGAIN, ENETDOWN, error}};
      EXPECT_EQ(Faulty::accept(listener.fd(), nullptr, nullptr, never_).error, error);
    }
    const IoResult accepted = Faulty::accept(listener.fd(), nullptr, nullptr, never_);
    EXPECT_GE(accepted.value, 0) << "the connection has waited";
    io::UniqueFd(static_cast<int>(accepted.value)).reset();
  });
}

TEST_P(IoFaultsTest, AConnectWithoutRoomAtTheLocalListenerIsTriedAgain) {
  run([&] {
    const tests::TemporaryFolder folder;
    const io::Endpoint where = io::Endpoint::local(folder.path() + "/socket");
    io::Listener listener = io::Listener::listen(where);
    io::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    connects.errors = {EAGAIN, EAGAIN};
    EXPECT_EQ(Faulty::connect(socket.get(), where.data(), where.size(), never_).error, 0);
    EXPECT_EQ(connects.numCalls, 3);
    EXPECT_EQ(::fcntl(socket.get(), F_GETFL) & O_NONBLOCK, 0) << "it is blocking again";
    connects = {.errors = std::vector<int>(1000, EAGAIN)};
    const io::Wait limit{.deadline = TimePoint::clock::now() + std::chrono::milliseconds(20)};
    EXPECT_EQ(Faulty::connect(socket.get(), where.data(), where.size(), limit).error, ETIMEDOUT);
    EXPECT_GE(TimePoint::clock::now(), limit.deadline);
    EXPECT_LE(connects.numCalls, 6) << "after 1, 2, 4 and 8 ms, and at the end";
  });
}

// It is told to one of them alone.
TEST_P(IoFaultsTest, OfTwoConnectsOfASocketNoneTakesARefusalForSuccess) {
  run([&] {
    io::Listener listener = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0));
    const io::Endpoint nobody = listener.endpoint();
    listener.close();
    const io::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    connects.errors = {EINPROGRESS};
    connects.before = [&] {
      int error = 0;
      socklen_t size = sizeof error;
      EXPECT_EQ(::connect(socket.get(), nobody.data(), nobody.size()), -1);
      if (errno == EINPROGRESS) {
        pollfd refused{socket.get(), POLLOUT, 0};
        ::poll(&refused, 1, -1);
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        errno = error;
      }
      EXPECT_EQ(errno, ECONNREFUSED);
    };
    EXPECT_EQ(Faulty::connect(socket.get(), nobody.data(), nobody.size(), never_).error, ENOTCONN);
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
    EXPECT_EQ(FaultyFiles::writeAt(file.get(), partOf(page), 0, never_).error, expected);
    EXPECT_EQ(FaultyFiles::readAt(file.get(), partOf(page), 0, never_).error, expected);
  });
}

// That takes a good part of the time of a read from memory.
TEST_P(IoFaultsTest, ReadsOfOneFileSeldomAskWhetherItIsDirect) {
  char path[] = "/tmp/weft_io_seldom_XXXXXX";
  io::UniqueFd file(::mkostemp(path, O_CLOEXEC));
  const auto removed = make_finally([&] { ::unlink(path); });
  alignas(4096) static std::byte page[4096];
  run([&] {
    const auto looksOf = [&](int numReads) {
      numFlagLooks = 0;
      for (int i = 0; i < numReads; ++i) {
        EXPECT_EQ(FaultyFiles::readAt(file.get(), partOf(page), 0, never_).error, 0);
      }
      return numFlagLooks;
    };
    ASSERT_EQ(FaultyFiles::writeAt(file.get(), partOf(page), 0, never_).value, 4096);
    const int perSixtyFour = GetParam() ? 1 : 0;
    EXPECT_EQ(looksOf(640), 10 * perSixtyFour);
    const int number = file.get();
    file.reset();
    file.reset(::open(path, O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(file.get(), number) << "the system takes the lowest number";
    EXPECT_EQ(looksOf(1), perSixtyFour) << "it is another file";
  });
}

INSTANTIATE_TEST_SUITE_P(Where, IoFaultsTest, ::testing::Bool(),
                         [](const auto& where) { return where.param ? "InATask" : "OnAThread"; });

class IoReactorFaultsTest : public IoFaultsTest {};

TEST_P(IoReactorFaultsTest, WithoutADescriptorForTheReactorTheWaitFailsAndTheNextOneTriesAgain) {
  run([&] {
    Ends ends = makeEnds();
    wakeFds.errors = epolls.errors = controls.errors = {EMFILE};
    EXPECT_EQ(read(ends.reader.get()).error, EMFILE);
    // The wake eventfd of a parker stays, so that there may be one already.
    while (wakeFds.numCalls + epolls.numCalls + controls.numCalls < 3) {
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

TEST_P(IoReactorFaultsTest, AWaitThatCannotBeArmedFailsAndLeavesNothingBehind) {
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
TEST_P(IoReactorFaultsTest, ARegistrationThatIsThereAgainstExpectationIsUsed) {
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
    const IoResult written = FaultyFiles::writeParts(ends.writer.get(), {&part, 1}, never_, "io::write");
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
    EXPECT_EQ(FaultyFiles(-1, limit, "io::open").runBlocking(call).error, ECANCELED);
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
    FaultyFiles operation(number, never_, "io::fsync");
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
    FaultyFiles(number, never_, "io::fsync").runBlocking([&]() -> ssize_t {
      closer.emplace(ends.reader, tests::Closer::Next::Nothing);
      isClosing = true;
      awaitThat([&] { return mayEnd.load(); });
      return 0;
    });
    done.wait();
  });
}

INSTANTIATE_TEST_SUITE_P(Where, IoReactorFaultsTest, ::testing::Values(true),
                         [](const auto&) { return "InATask"; });

}  // namespace
}  // namespace weft::inline v0_1::detail
