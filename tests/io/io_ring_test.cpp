// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <weft/blockingcall.h>
#include <weft/finally.h>

#include "in_task.h"
#include "io/closer.h"
#include "io/file_ring.h"
#include "io/file_transfer.h"
#include "io/io_pairs.h"
#include "io/posix_operations.h"
#include "waiting.h"
#include "with_scheduler.h"

// The ring of io_uring, one that is too small, and over a system that fails as it is told.
namespace weft::inline v0_1::detail::io_ring_test {
namespace {

using tests::awaitThat;
using tests::bytesOf;
using tests::Ends;
using tests::makeEnds;
using tests::PairKind;

struct RingFaults {
  std::vector<int> makeErrors, enterErrors;  // the next calls fail with these, in this order
  std::vector<int> results;                  // the next requests have these results instead
  int numEnters = 0;
  bool wasFull = false, hadTooManyResults = false;
  IoRing* ring = nullptr;
  bool isOnDisk = false;  // calls with RWF_NOWAIT find nothing in memory
  std::function<void()> beforeEnter{};
};

thread_local RingFaults faults;

bool fails(std::vector<int>& errors) {
  if (errors.empty()) {
    return false;
  }
  errno = errors.front();
  errors.erase(errors.begin());
  return true;
}

struct FaultySystem : IoSystem {
  static constexpr unsigned kRingRequests = 4;
  static constexpr unsigned kRingResults = 8;

  static int makeRing(IoRing& made, unsigned requests, unsigned results) {
    return fails(faults.makeErrors) ? -1 : IoSystem::makeRing(made, requests, results);
  }
  static int enterRing(IoRing& made) {
    io_uring& ring = made.ring;
    faults.ring = &made;
    ++faults.numEnters;
    if (faults.beforeEnter) {
      faults.beforeEnter();
    }
    faults.wasFull = faults.wasFull || io_uring_sq_space_left(&ring) == 0;
    if (fails(faults.enterErrors)) {
      return -1;
    }
    const unsigned before = *ring.cq.ktail;
    const int result = IoSystem::enterRing(made);
    faults.hadTooManyResults = faults.hadTooManyResults || (*ring.sq.kflags & IORING_SQ_CQ_OVERFLOW) != 0;
    for (unsigned place = before; place != *ring.cq.ktail && !faults.results.empty(); ++place) {
      if (io_uring_cqe& posted = ring.cq.cqes[place & ring.cq.ring_mask]; posted.user_data != 0) {
        posted.res = faults.results.front();
        faults.results.erase(faults.results.begin());
      }
    }
    return result;
  }

  static ssize_t readNow(int fd, const iovec* parts, int count, int64_t offset) {
    errno = EAGAIN;
    return faults.isOnDisk ? -1 : IoSystem::readNow(fd, parts, count, offset);
  }
  static ssize_t writeNow(int fd, const iovec* parts, int count, int64_t offset) {
    errno = EAGAIN;
    return faults.isOnDisk ? -1 : IoSystem::writeNow(fd, parts, count, offset);
  }

  // The calls that the ring makes unnecessary. Nothing else fails so here.
  static ssize_t readBlocking(int, const iovec*, int, int64_t) { return failToBlock(); }
  static ssize_t writeBlocking(int, const iovec*, int, int64_t) { return failToBlock(); }
  static int sync(int) { return failToBlock(); }
  static int failToBlock() {
    errno = ENOTSUP;
    return -1;
  }
};

using Faulty = FileTransfer<FaultySystem>;
using FaultySockets = PosixOperations<FaultySystem>;

class IoRingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (io::backend() != std::string_view("uring")) {
      GTEST_SKIP() << "the system refuses io_uring";
    }
    if (const int error = tryRing(); error != 0) {
      GTEST_SKIP() << "the system grants no ring, as with too little for ulimit -l: "
                   << std::generic_category().message(error);
    }
    faults = {};
    BlockingThreads::setIdleTime(std::chrono::milliseconds(0));
  }

  // One thread, so that it has all the faults.
  template <class F>
  void run(F f) {
    Scheduler scheduler(tests::smallConfig(0));
    scheduler.bind();
    tests::inTask(f);
    Scheduler::unbind();
  }

  // Has the system read from a pipe, as from a file that takes its time.
  static IoResult readByRing(int fd, std::span<std::byte> buffer, const io::Wait& wait = {}) {
    const iovec part{buffer.data(), buffer.size()};
    return Faulty(fd, wait, "io::readAt")
        .runOnFile({.kind = FileRequest::Kind::Read, .fd = fd, .parts = &part, .numParts = 1});
  }

  static io::Wait soon() { return {.deadline = TimePoint::clock::now() + std::chrono::milliseconds(2)}; }
};

TEST_F(IoRingTest, MoreRequestsAndResultsThanTheRingHasRoomForComeInTime) {
  run([] {
    constexpr size_t kMany = 50;
    std::vector<Ends> ends(kMany);
    std::string got(kMany, '-');
    WaitGroup done(kMany);
    for (size_t i = 0; i < kMany; ++i) {
      ends[i] = makeEnds(PairKind::BlockingPipe);
      schedule(Task(
          [&, i, done] {
            const auto byte = std::as_writable_bytes(std::span(&got[i], 1));
            EXPECT_EQ(readByRing(ends[i].reader.get(), byte).value, 1);
            done.done();
          },
          Task::Flags::SameThread));
    }
    // All of them wait, and all that they wait for comes at once.
    for (int i = 0; i < 1'000; ++i) {
      yield();
    }
    for (const Ends& pair : ends) {
      EXPECT_EQ(::write(pair.writer.get(), "x", 1), 1);
    }
    done.wait();
    EXPECT_EQ(got, std::string(kMany, 'x'));
  });
  EXPECT_TRUE(faults.wasFull);
  EXPECT_TRUE(faults.hadTooManyResults);
}

TEST_F(IoRingTest, WhatTheSystemDoesNotTakeIsHandedOverAgain) {
  run([] {
    Ends ends = makeEnds(PairKind::BlockingPipe);
    for (int i = 0; i < 10; ++i) {
      faults.enterErrors = {EBUSY, EAGAIN, EINTR, EAGAIN, EBUSY};
      std::thread writer([&] { io::write(ends.writer.get(), bytesOf("x")); });
      std::byte byte[2];
      EXPECT_EQ(readByRing(ends.reader.get(), byte).value, 1);
      EXPECT_EQ(readByRing(ends.reader.get(), byte, soon()).error, ETIMEDOUT);
      writer.join();
    }
  });
}

// The worker sleeps in its epoll, where the ring is.
TEST_F(IoRingTest, AWorkerThatWaitsForAFileAndForASocketSleepsUntilEitherIsThere) {
  run([] {
    Ends file = makeEnds(PairKind::BlockingPipe), stream = makeEnds();
    for (int i = 0; i < 10; ++i) {
      WaitGroup done(1);
      schedule(Task(
          [&, done] {
            std::byte byte[1];
            EXPECT_EQ(FaultySockets::receive(stream.reader.get(), byte, 0, {}).value, 1);
            EXPECT_EQ(io::write(file.writer.get(), bytesOf("x")), 1u);
            done.done();
          },
          Task::Flags::SameThread));
      std::thread writer([&] { io::write(stream.writer.get(), bytesOf("x")); });
      std::byte byte[1];
      EXPECT_EQ(readByRing(file.reader.get(), byte).value, 1);
      done.wait();
      writer.join();
    }
  });
}

TEST_F(IoRingTest, ACloseWaitsUntilTheSystemHasTakenTheRequest) {
  run([] {
    Ends ends = makeEnds(PairKind::Pipe);
    std::optional<tests::Closer> closer;
    faults.beforeEnter = [&] {
      if (!closer) {
        closer.emplace(ends.reader);
        closer->expectThatItWaits();
      }
    };
    std::byte bytes[8];
    EXPECT_EQ(readByRing(ends.reader.get(), bytes).error, ECANCELED);
    EXPECT_TRUE(closer);
  });
}

// EPERM: as by a filter for system calls that has come meanwhile.
TEST_F(IoRingTest, WithoutARingThereAreThreadsAndTheNextRequestTriesAgain) {
  run([] {
    Ends ends = makeEnds(PairKind::BlockingPipe);
    for (const int error : {EMFILE, EPERM}) {
      faults.makeErrors = {error};
      EXPECT_EQ(Faulty(ends.reader.get(), {}, "io::fsync").runOnFile({.kind = FileRequest::Kind::Sync}).error,
                ENOTSUP)
          << "not on a thread";
    }
    EXPECT_EQ(faults.numEnters, 0);
    io::write(ends.writer.get(), bytesOf("x"));
    std::byte byte[1];
    EXPECT_EQ(readByRing(ends.reader.get(), byte).value, 1);
  });
}

TEST_F(IoRingTest, AResultThatComesLateIsWaitedFor) {
  run([] {
    Ends ends = makeEnds(PairKind::BlockingPipe);
    std::thread writer([&] { io::write(ends.writer.get(), bytesOf("hello")); });
    std::byte buffer[10];
    EXPECT_EQ(readByRing(ends.reader.get(), buffer).value, 5);
    EXPECT_EQ(tests::textOf(std::span(buffer).first(5)), "hello");
    writer.join();
  });
}

TEST_F(IoRingTest, ARequestThatIsEndedEarlyHasDoneNothing) {
  run([] {
    Ends ends = makeEnds(PairKind::BlockingPipe);
    std::byte buffer[10];
    EXPECT_EQ(readByRing(ends.reader.get(), buffer, soon()).error, ETIMEDOUT);
    std::stop_source stop;
    std::thread stopper([&] { stop.request_stop(); });
    EXPECT_EQ(readByRing(ends.reader.get(), buffer, {.stop = stop.get_token()}).error, ECANCELED);
    stopper.join();
    io::write(ends.writer.get(), bytesOf("hello"));
    EXPECT_EQ(readByRing(ends.reader.get(), buffer).value, 5);
  });
}

constexpr int kRestart = 512;  // ERESTARTSYS, within Linux

// Reads from a pipe in a task of this thread.
class Reading {
 public:
  explicit Reading(int fd, const io::Wait& wait = {}) {
    schedule(Task(
        [this, fd, wait] {
          const iovec part{buffer, sizeof buffer};
          result = Faulty(fd, wait, "io::readAt")
                       .runOnFile({.kind = FileRequest::Kind::Read, .fd = fd, .parts = &part, .numParts = 1});
          done.done();
        },
        Task::Flags::SameThread));
    yield();
  }

  IoResult result;
  std::byte buffer[10];
  WaitGroup done{1};
};

TEST_F(IoRingTest, OfAResultAndACancelTheFirstWins) {
  run([] {
    for (const bool isDoneFirst : {false, true}) {
      Ends ends = makeEnds(PairKind::BlockingPipe);
      std::stop_source stop;
      Reading reading(ends.reader.get(), {.stop = stop.get_token()});
      const int before = faults.numEnters;
      awaitThat([&] { return faults.numEnters > before; });  // the system has the request
      io::write(ends.writer.get(), bytesOf("hello"));
      if (isDoneFirst) {
        IoSystem::enterRing(*faults.ring);  // there is a result, and nobody has looked
      }
      stop.request_stop();
      reading.done.wait();
      if (isDoneFirst) {
        EXPECT_EQ(reading.result.value, 5);
      } else if (reading.result.error != 0) {
        EXPECT_EQ(reading.result.error, ECANCELED);
        std::byte buffer[10];
        EXPECT_EQ(readByRing(ends.reader.get(), buffer).value, 5) << "nothing is lost";
      }
    }
  });
}

TEST_F(IoRingTest, ARequestThatWasNotHandedOverYetNeedsNoCancel) {
  run([] {
    Ends ends = makeEnds(PairKind::BlockingPipe);
    std::stop_source stop;
    Reading first(ends.reader.get());  // makes the ring
    Reading reading(ends.reader.get(), {.stop = stop.get_token()});
    const int before = faults.numEnters;
    stop.request_stop();
    reading.done.wait();
    EXPECT_EQ(reading.result.error, ECANCELED);
    EXPECT_EQ(faults.numEnters, before);
    io::write(ends.writer.get(), bytesOf("x"));
    first.done.wait();
  });
}

TEST_F(IoRingTest, CloseAndCancelAllEndRequests) {
  run([] {
    Ends ends = makeEnds(PairKind::BlockingPipe);
    Reading closed(ends.reader.get());
    const int before = faults.numEnters;
    awaitThat([&] { return faults.numEnters > before; });
    ends.reader.reset();
    closed.done.wait();
    EXPECT_EQ(closed.result.error, ECANCELED);
    Ends others = makeEnds(PairKind::BlockingPipe);
    Reading canceled(others.reader.get());
    io::cancelAll(*Scheduler::get());
    canceled.done.wait();
    EXPECT_EQ(canceled.result.error, ECANCELED);
    Reading later(others.reader.get());
    later.done.wait();
    EXPECT_EQ(later.result.error, ECANCELED);
  });
}

// As an open of a FIFO says where it is canceled.
TEST_F(IoRingTest, ARequestThatWouldBeMadeAgainAfterASignalHasEndedByItsStop) {
  run([] {
    const Ends ends = makeEnds(PairKind::BlockingPipe);
    std::stop_source stop;
    Reading reading(ends.reader.get(), {.stop = stop.get_token()});
    const int before = faults.numEnters;
    awaitThat([&] { return faults.numEnters > before; });  // the system has the request
    faults.results = {-kRestart};
    stop.request_stop();
    reading.done.wait();
    EXPECT_TRUE(faults.results.empty());
    EXPECT_EQ(reading.result.error, ECANCELED);
  });
}

// The wake eventfd was rung for all of them, so that the worker must not sleep before it has looked at all.
TEST_F(IoRingTest, ResultsThatWereNotLookedAtKeepTheWorkerAwake) {
  const io::UniqueFd wakeFd(IoSystem::makeWakeFd());
  const auto ring = FileRing<IoSystem>::make(wakeFd.get());
  ASSERT_NE(ring, nullptr);
  constexpr int kMany = 200;
  FileWait unknown;
  for (int i = 0; i < kMany; ++i) {
    ring->cancel(unknown);
  }
  WaitList claimed;
  int numLooks = 0;
  for (; ring->isBehind(); ++numLooks) {
    ring->look(claimed);
  }
  EXPECT_GT(numLooks, 1) << "it takes some at a time";
  EXPECT_TRUE(claimed.isEmpty());
}

TEST_F(IoRingTest, AnInterruptedRequestIsMadeAgainAndOneThatTheRingCannotDoIsMadeElsewhere) {
  run([] {
    const io::UniqueFd zeros(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
    std::byte buffer[3];
    faults.results = {-EINTR, -kRestart, 3};
    EXPECT_EQ(readByRing(zeros.get(), buffer).value, 3);
    EXPECT_TRUE(faults.results.empty());
    // The system cancels what it gets no thread for.
    for (const int result : {-EAGAIN, -ECANCELED}) {
      faults.results = {result};
      Reading elsewhere(zeros.get());
      elsewhere.done.wait();
      EXPECT_EQ(elsewhere.result.error, ENOTSUP);
    }
  });
}

// To the ring it is three steps to read the position, to transfer, and to advance it.
TEST_F(IoRingTest, WhatIsAtAFilesOwnPositionIsOneCall) {
  char path[] = "/tmp/weft_io_ring_XXXXXX";
  const io::UniqueFd file(::mkstemp(path));
  ::unlink(path);
  run([&] {
    std::byte byte[1] = {};
    const iovec part{byte, 1};
    faults.isOnDisk = true;
    EXPECT_EQ(Faulty::readParts(file.get(), {&part, 1}, -1, {}, "io::read").error, ENOTSUP);
    EXPECT_EQ(Faulty::writeParts(file.get(), {&part, 1}, {}, "io::write").error, ENOTSUP);
  });
  EXPECT_EQ(faults.numEnters, 0);
}

// The kernel has threads of its own for what blocks.
TEST_F(IoRingTest, FilesNeedNoThreadsOfBlockingCall) {
  char path[] = "/tmp/weft_io_ring_XXXXXX";
  ::close(::mkstemp(path));
  const auto removed = make_finally([&] { ::unlink(path); });
  awaitThat([] { return BlockingThreads::count() == 0; });
  run([&] {
    const auto open = [](const char* name) {
      return Faulty(-1, {}, "io::open")
          .runOnFile({.kind = FileRequest::Kind::Open, .path = name, .flags = O_RDWR | O_CLOEXEC});
    };
    const auto sync = [](int fd) {
      return Faulty(fd, {}, "io::fsync").runOnFile({.kind = FileRequest::Kind::Sync, .fd = fd});
    };
    const int file = static_cast<int>(open(path).value);
    ASSERT_GE(file, 0);
    std::vector<std::byte> data(1 << 20, std::byte{7});
    const iovec part{data.data(), data.size()};
    EXPECT_EQ(
        Faulty(file, {}, "io::writeAt")
            .runOnFile(
                {.kind = FileRequest::Kind::Write, .fd = file, .parts = &part, .numParts = 1, .offset = 5})
            .value,
        1 << 20);
    EXPECT_EQ(sync(file).error, 0);
    std::vector<std::byte> got(data.size());
    const iovec into{got.data(), got.size()};
    EXPECT_EQ(
        Faulty(file, {}, "io::readAt")
            .runOnFile(
                {.kind = FileRequest::Kind::Read, .fd = file, .parts = &into, .numParts = 1, .offset = 5})
            .value,
        1 << 20);
    EXPECT_EQ(got, data);
    EXPECT_EQ(open("/nowhere/at/all").error, ENOENT);
    EXPECT_EQ(sync(-1).error, EBADF);
    ::close(file);
    EXPECT_EQ(BlockingThreads::count(), 0u);
  });
}

}  // namespace
}  // namespace weft::inline v0_1::detail::io_ring_test
