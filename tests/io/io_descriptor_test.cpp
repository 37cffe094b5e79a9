// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/detail/wait/reactor.h>
#include <weft/event.h>
#include <weft/finally.h>
#include <weft/waitgroup.h>

#include "in_task.h"
#include "io/io_pairs.h"
#include "io/refusal.h"
#include "temporary_folder.h"
#include "waiting.h"
#include "with_scheduler.h"

// The operations on descriptors, on a kernel as it is.
namespace weft {
namespace {

using std::chrono::milliseconds;
using tests::awaitThat;
using tests::bytesOf;
using tests::Crew;
using tests::Ends;
using tests::fill;
using tests::kKinds;
using tests::kPairKinds;
using tests::makeEnds;
using tests::readText;

io::TimePoint soon() { return io::TimePoint::clock::now() + milliseconds(2); }

class IoTest : public tests::WithScheduler {
 protected:
  // Runs f(kind of the two ends) in each kind of code that may wait, all at once.
  template <class F>
  void everywhere(F f) {
    Crew crew(scheduler());
    for (const auto kind : kKinds) {
      for (const auto pair : kPairKinds) {
        crew.start(kind, [f, pair] { f(pair); });
      }
    }
  }
  // Returns once `count` fibers of this scheduler wait.
  void awaitWaiting(uint64_t count) {
    awaitThat([&] { return numWaiting() >= count; });
  }
  uint64_t numWaiting() {
    uint64_t waiting = 0;
    for (const auto& worker : scheduler().stats().workers) {
      waiting += worker.numBlockedFibers;
    }
    return waiting;
  }
};

TEST_P(IoTest, AReadWaitsForWhatIsWrittenLater) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    std::thread writer([&] { io::writeAll(ends.writer.get(), bytesOf("hello")); });
    std::error_code error;
    EXPECT_EQ(readText(ends.reader.get(), error), "hello");
    EXPECT_FALSE(error);
    writer.join();
  });
}

TEST_P(IoTest, FibersOfOneThreadWriteToEachOther) {
  std::string got;
  tests::inTask([&] {
    Ends ends = makeEnds();
    WaitGroup done(1);
    schedule(Task(
        [&, done] {
          std::error_code error;
          got = readText(ends.reader.get(), error);
          done.done();
        },
        Task::Flags::SameThread));
    yield();
    io::write(ends.writer.get(), bytesOf("hello"));
    done.wait();
  });
  EXPECT_EQ(got, "hello");
}

TEST_P(IoTest, TheEndOfAStreamIsZeroBytes) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    io::write(ends.writer.get(), bytesOf("x"));
    ends.writer.reset();
    std::error_code error;
    EXPECT_EQ(readText(ends.reader.get(), error), "x");
    EXPECT_EQ(readText(ends.reader.get(), error), "");
    EXPECT_FALSE(error);
  });
}

TEST_P(IoTest, AReaderThatWaitsSeesTheOtherEndClose) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    std::thread other([&] { ends.writer.reset(); });
    std::error_code error;
    EXPECT_EQ(readText(ends.reader.get(), error), "");
    EXPECT_FALSE(error);
    other.join();
  });
}

TEST_P(IoTest, AWriteWaitsForRoomAndMayBeShort) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    const std::vector<std::byte> data(1'000'000, std::byte{7});
    std::vector<std::byte> got(data.size());
    std::thread reader([&] { EXPECT_EQ(io::readAll(ends.reader.get(), got), got.size()); });
    EXPECT_EQ(io::writeAll(ends.writer.get(), data), data.size());
    reader.join();
    EXPECT_EQ(got, data);
  });
}

TEST_P(IoTest, SeveralBuffersAreReadAndWritten) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    char hello[] = "hello ", world[] = "world";
    const iovec data[] = {{hello, 6}, {world, 5}};
    EXPECT_EQ(io::writev(ends.writer.get(), data), 11u);
    char first[4], second[20];
    const iovec buffers[] = {{first, 4}, {second, 20}};
    EXPECT_EQ(io::readv(ends.reader.get(), buffers), 11u);
    EXPECT_EQ(std::string(first, 4) + std::string(second, 7), "hello world");
  });
}

// More than one call takes.
TEST_P(IoTest, EmptyBuffersBeforeOthersAreNoEndOfTheStream) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    char hello[] = "hello", got[20];
    std::vector<iovec> data(2 * IOV_MAX, iovec{hello, 0}), buffers(2 * IOV_MAX, iovec{got, 0});
    data.back().iov_len = 5;
    buffers.back().iov_len = 20;
    EXPECT_EQ(io::writev(ends.writer.get(), data), 5u);
    EXPECT_EQ(io::readv(ends.reader.get(), buffers), 5u);
    EXPECT_EQ(std::string(got, 5), "hello");
  });
}

TEST_P(IoTest, ADeadlineEndsAWaitAndNothingIsLost) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    std::error_code error;
    const auto deadline = soon();
    EXPECT_EQ(readText(ends.reader.get(), error, {.deadline = deadline}), "");
    EXPECT_EQ(error, std::errc::timed_out);
    EXPECT_GE(io::TimePoint::clock::now(), deadline);
    io::write(ends.writer.get(), bytesOf("later"));
    EXPECT_EQ(readText(ends.reader.get(), error), "later");
    fill(ends.writer.get());
    io::write(ends.writer.get(), bytesOf("x"), error, {.deadline = soon()});
    EXPECT_EQ(error, std::errc::timed_out);
  });
}

TEST_P(IoTest, ADeadlineThatHasPassedTriesOnce) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    const io::Wait past{.deadline = io::TimePoint::min()};
    std::error_code error;
    EXPECT_EQ(readText(ends.reader.get(), error, past), "");
    EXPECT_EQ(error, std::errc::timed_out);
    io::write(ends.writer.get(), bytesOf("now"), past);
    EXPECT_EQ(readText(ends.reader.get(), error, past), "now");
  });
}

// What is left until then is less than a number may say.
TEST_P(IoTest, ADeadlineLongAgoHasPassed) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    const io::Wait longAgo{.deadline = io::TimePoint::min() + milliseconds(1)};
    std::error_code error;
    EXPECT_EQ(readText(ends.reader.get(), error, longAgo), "");
    EXPECT_EQ(error, std::errc::timed_out);
  });
}

TEST_P(IoTest, AStopEndsAWait) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    std::stop_source source;
    std::thread stopper([&] { source.request_stop(); });
    std::error_code error;
    EXPECT_EQ(readText(ends.reader.get(), error, {.stop = source.get_token()}), "");
    EXPECT_EQ(error, std::errc::operation_canceled);
    stopper.join();
    // A stop that was requested before ends only what would wait.
    EXPECT_EQ(readText(ends.reader.get(), error, {.stop = source.get_token()}), "");
    EXPECT_EQ(error, std::errc::operation_canceled);
    io::write(ends.writer.get(), bytesOf("x"));
    EXPECT_EQ(readText(ends.reader.get(), error, {.stop = source.get_token()}), "x");
    EXPECT_FALSE(error);
  });
}

TEST_P(IoTest, FibersThatWaitForOneDescriptorAreServedInTheirOrder) {
  std::vector<int> order;
  tests::inTask([&] {
    Ends ends = makeEnds();
    WaitGroup done(3);
    for (int i = 0; i < 3; ++i) {
      schedule(Task(
          [&, i, done] {
            std::byte byte[1];
            // Twice, so that a fiber that is served goes to the end of the row.
            for (int round = 0; round < 2; ++round) {
              io::read(ends.reader.get(), byte);
              order.push_back(i);
            }
            done.done();
          },
          Task::Flags::SameThread));
      yield();
    }
    for (int i = 0; i < 6; ++i) {
      io::write(ends.writer.get(), bytesOf("x"));
      awaitThat([&] { return order.size() > static_cast<size_t>(i); });
    }
    done.wait();
  });
  EXPECT_EQ(order, (std::vector{0, 1, 2, 0, 1, 2}));
}

TEST_P(IoTest, OneFiberReadsAndAnotherWritesOneSocket) {
  tests::inTask([&] {
    Ends ends = makeEnds();
    fill(ends.writer.get());
    WaitGroup hasRead(1), hasWritten(1);
    schedule(Task(
        [&, hasRead] {
          std::error_code error;
          EXPECT_EQ(readText(ends.writer.get(), error), "back");
          hasRead.done();
        },
        Task::Flags::SameThread));
    yield();
    schedule(Task(
        [&, hasWritten] {
          EXPECT_EQ(io::write(ends.writer.get(), bytesOf("x")), 1u);
          hasWritten.done();
        },
        Task::Flags::SameThread));
    yield();
    io::write(ends.reader.get(), bytesOf("back"));
    hasRead.wait();  // while the other waits still
    std::vector<std::byte> buffer(1 << 20);
    io::read(ends.reader.get(), buffer);
    hasWritten.wait();
  });
}

// What is remembered of a number must not outlast the descriptor.
TEST_P(IoTest, ANumberIsUsedAgainAtOnceByCodeThatKnowsNothingOfWeft) {
  tests::inTask([&] {
    int last = -1;
    for (int i = 0; i < 50; ++i) {
      Ends ends = makeEnds(i % 2 == 0 ? tests::PairKind::Sockets : tests::PairKind::Pipe);
      const int number = ends.reader.get();
      EXPECT_TRUE(last == -1 || last == number) << "the system takes the lowest number";
      last = number;
      WaitGroup done(1);
      schedule(Task(
          [&, done] {
            std::error_code error;
            EXPECT_EQ(readText(number, error), "x");
            done.done();
          },
          Task::Flags::SameThread));
      yield();
      io::write(ends.writer.get(), bytesOf("x"));
      done.wait();
      ::close(ends.reader.release());
      ::close(ends.writer.release());
    }
  });
}

TEST_P(IoTest, CloseEndsTheWaitsOfOthers) {
  Ends ends = makeEnds();
  WaitGroup done(4);
  std::atomic<int> numCanceled{0};
  const int number = ends.reader.release();
  for (int i = 0; i < 4; ++i) {
    schedule([&, done] {
      std::error_code error;
      readText(number, error);
      numCanceled += error == std::errc::operation_canceled ? 1 : 0;
      done.done();
    });
  }
  awaitWaiting(4);
  io::close(io::UniqueFd(number));
  done.wait();
  EXPECT_EQ(numCanceled, 4);
  std::error_code error;
  readText(number, error);
  EXPECT_EQ(error, std::errc::bad_file_descriptor);
}

// Closes `own`, and lets make() have its number.
template <class Make>
auto closeAndMake(io::UniqueFd own, Make make) {
  const int number = own.get();
  io::close(std::move(own));
  auto made = make();
  EXPECT_EQ(made.get(), number) << "the number is not used again: the test shows nothing";
  return made;
}

// One look into the reactor finds two fibers ready. The first closes what the second is about to read.
TEST_P(IoTest, AFiberThatIsReadyDoesNotReadFromWhatHasTheNumberNow) {
  if (numWorkers() > 1) {
    return;  // the order of the fibers would be left to chance
  }
  Ends closed = makeEnds();
  const Ends signal = makeEnds();
  const int number = closed.reader.get();
  Ends later;
  std::string seen;
  std::error_code error;
  tests::inTask([&] {
    WaitGroup done(2), begun(2);
    schedule([&, done, begun] {
      std::error_code ignored;
      begun.done();
      readText(signal.reader.get(), ignored);
      later.reader = closeAndMake(std::move(closed.reader), [&] {
        Ends made = makeEnds();
        later.writer = std::move(made.writer);
        return std::move(made.reader);
      });
      io::writeAll(later.writer.get(), bytesOf("of another"));
      done.done();
    });
    schedule([&, done, begun] {
      begun.done();
      seen = readText(number, error);
      done.done();
    });
    schedule([&, begun] {
      begun.wait();
      (void)!::write(signal.writer.get(), "x", 1);
      (void)!::write(closed.writer.get(), "mine", 4);
    });
    done.wait();
  });
  EXPECT_NE(seen, "of another");
  EXPECT_TRUE(seen == "mine" || error == std::errc::operation_canceled) << error.message();
}

io::UniqueFd makeFile(int flags = 0) {
  const char* const folder = std::getenv("TMPDIR");
  std::string name = std::string(folder != nullptr ? folder : "/tmp") + "/weft_io_XXXXXX";
  io::UniqueFd made(::mkostemp(name.data(), O_CLOEXEC | flags));
  ::unlink(name.c_str());
  return made;
}

TEST_P(IoTest, AWriteThatACloseOvertakesDoesNotGoIntoTheNextFile) {
  constexpr size_t kSize = 4096;
  alignas(kSize) static const std::byte block[kSize] = {};
  if (numWorkers() > 1) {
    return;  // the order of the fibers would be left to chance
  }
  if (makeFile(O_DIRECT).get() < 0) {
    GTEST_SKIP() << "this file system has no O_DIRECT";
  }
  for (int i = 0; i < 50; ++i) {
    io::UniqueFd mine = makeFile(O_DIRECT);
    const int number = mine.get();
    io::UniqueFd next;
    tests::inTask([&] {
      WaitGroup done(2), begun(1);
      schedule([&, done, begun] {
        std::error_code error;
        begun.done();
        io::writeAt(number, block, 0, error);
        done.done();
      });
      schedule([&, done, begun] {
        begun.wait();
        std::thread([&] { next = closeAndMake(std::move(mine), [] { return makeFile(); }); }).join();
        // Operations that need not wait: the reactor is looked at in between.
        for (int j = 0; j < 20; ++j) {
          std::error_code error;
          io::waitFor(next.get(), POLLIN, error);
        }
        done.done();
      });
      done.wait();
    });
    ASSERT_EQ(::lseek(next.get(), 0, SEEK_END), 0) << "in round " << i;
  }
}

TEST_P(IoTest, NothingOfAClosedSocketIsLeftBehind) {
  if (numWorkers() > 1) {
    return;  // the order of the fibers would be left to chance
  }
  Ends ends = makeEnds();
  const int number = ends.reader.get();
  Ends kept;
  tests::inTask([&] {
    WaitGroup done(2), begun(1);
    schedule([&, done, begun] {
      std::error_code error;
      begun.done();
      readText(number, error);
      done.done();
    });
    schedule([&, done, begun] {
      begun.wait();
      std::error_code error;
      // Sees to it that the other's wait is known to the system.
      const Ends others = makeEnds();
      readText(others.reader.get(), error, {.deadline = soon()});
      kept.reader = closeAndMake(std::move(ends.reader), [&] {
        Ends made = makeEnds();
        kept.writer = std::move(made.writer);
        return std::move(made.reader);
      });
      readText(kept.reader.get(), error, {.deadline = io::TimePoint::clock::now()});
      EXPECT_EQ(error, std::errc::timed_out);
      done.done();
    });
    done.wait();
  });
  pollfd peer{ends.writer.get(), POLLIN, 0};
  // Without a limit but that of CTest: where something is left behind, the peer sees no end.
  EXPECT_EQ(::poll(&peer, 1, -1), 1);
}

TEST_P(IoTest, CancelAllEndsAllWaitsAlsoThoseThatBeginLater) {
  Ends ends = makeEnds();
  std::atomic<int> numCanceled{0};
  constexpr int kWaiting = 10;
  for (int i = 0; i < kWaiting; ++i) {
    schedule([&] {
      std::error_code error;
      // Each time anew: the second wait begins after the cancel.
      for (int round = 0; round < 2; ++round) {
        readText(ends.reader.get(), error);
        numCanceled += error == std::errc::operation_canceled ? 1 : 0;
      }
    });
  }
  awaitWaiting(kWaiting);
  io::cancelAll(scheduler());
  destroyScheduler();
  EXPECT_EQ(numCanceled, 2 * kWaiting);
}

TEST_P(IoTest, CancelAllLeavesOtherSchedulersAlone) {
  Ends ends = makeEnds();
  Scheduler other(tests::smallConfig(1));
  io::cancelAll(other);
  schedule([&] {
    std::error_code error;
    EXPECT_EQ(readText(ends.reader.get(), error), "x");
  });
  awaitWaiting(1);
  io::cancelAll(other);
  io::write(ends.writer.get(), bytesOf("x"));
  destroyScheduler();
}

TEST_P(IoTest, TheDestructorWaitsForIo) {
  Ends ends = makeEnds();
  std::string got;
  schedule([&] {
    std::error_code error;
    got = readText(ends.reader.get(), error);
  });
  awaitWaiting(1);
  std::thread writer([&] { io::write(ends.writer.get(), bytesOf("last")); });
  destroyScheduler();
  EXPECT_EQ(got, "last");
  writer.join();
}

TEST_P(IoTest, WaitForTellsWhatHolds) {
  everywhere([](tests::PairKind) {
    Ends ends = makeEnds();
    EXPECT_EQ(io::waitFor(ends.writer.get(), POLLOUT), POLLOUT);
    std::thread writer([&] { io::write(ends.writer.get(), bytesOf("x")); });
    EXPECT_EQ(io::waitFor(ends.reader.get(), POLLIN), POLLIN);
    writer.join();
    EXPECT_EQ(io::waitFor(ends.reader.get(), POLLIN | POLLOUT), POLLIN | POLLOUT);
    ends.writer.reset();
    EXPECT_NE(io::waitFor(ends.reader.get(), POLLIN) & POLLHUP, 0);
    std::error_code error;
    EXPECT_EQ(io::waitFor(ends.reader.get(), POLLPRI, error, {.deadline = soon()}) & POLLPRI, 0);
  });
}

// Of what it waits for, the system tells without being asked. Another waiter of its worker comes before.
TEST_P(IoTest, WhoWaitsForNothingButTheEndIsToldOfThat) {
  Ends ends = makeEnds();
  const int worker = numWorkers() - 1;
  std::atomic<int> numBegun{0};
  std::atomic<bool> hasRead{false};
  WaitGroup done(2);
  const auto start = [&](auto f) {
    Task task([&, f, done] {
      ++numBegun;
      f();
      done.done();
    });
    worker < 0 ? schedule(std::move(task)) : scheduler().enqueueOn(worker, std::move(task));
  };
  start([&] { EXPECT_EQ(io::waitFor(ends.reader.get(), 0), POLLHUP); });
  start([&] {
    std::error_code error;
    EXPECT_EQ(readText(ends.reader.get(), error), "hello");
    hasRead = true;
  });
  awaitThat([&] { return numBegun == 2; });
  awaitWaiting(2);
  io::write(ends.writer.get(), bytesOf("hello"));
  awaitThat([&] { return hasRead.load(); });
  ends.writer.reset();
  done.wait();
}

TEST_P(IoTest, WritingToNobodyIsAnErrorAndNoSignal) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    ends.reader.reset();
    std::error_code error;
    io::write(ends.writer.get(), bytesOf("x"), error);
    EXPECT_EQ(error, std::errc::broken_pipe);
    io::writeAll(ends.writer.get(), bytesOf("x"), error);
    EXPECT_EQ(error, std::errc::broken_pipe);
    sigset_t pending{};
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  });
}

TEST_P(IoTest, WhatMakesNoSenseIsAnError) {
  everywhere([](tests::PairKind kind) {
    Ends ends = makeEnds(kind);
    std::byte byte[1];
    std::error_code error;
    EXPECT_EQ(io::read(ends.reader.get(), {}, error), 0u);
    EXPECT_EQ(error, std::errc::invalid_argument) << "no bytes would look like the end";
    EXPECT_EQ(io::write(ends.writer.get(), {}, error), 0u);
    for (const int bad : {-1, 1 << 30}) {
      EXPECT_EQ(io::read(bad, byte, error), 0u);
      EXPECT_EQ(error, std::errc::bad_file_descriptor);
      EXPECT_EQ(io::write(bad, byte, error), 0u);
      EXPECT_EQ(error, std::errc::bad_file_descriptor);
      EXPECT_EQ(io::recv(bad, byte, 0, error), 0u);
      EXPECT_EQ(error, std::errc::bad_file_descriptor);
      EXPECT_EQ(io::waitFor(bad, POLLIN, error), 0);
      EXPECT_EQ(error, std::errc::bad_file_descriptor);
      EXPECT_FALSE(io::accept(bad, nullptr, error));
      EXPECT_EQ(error, std::errc::bad_file_descriptor);
      io::close(io::UniqueFd(bad), error);
      EXPECT_EQ(error, std::errc::bad_file_descriptor);
    }
    EXPECT_THROW(io::read(-1, byte), std::system_error);
    EXPECT_EQ(io::readAt(ends.reader.get(), byte, 0, error), 0u);
    EXPECT_EQ(error, std::errc::invalid_seek);
  });
}

TEST_P(IoTest, FilesAreReadAndWrittenInPlace) {
  everywhere([](tests::PairKind) {
    char path[] = "/tmp/weft_io_test_XXXXXX";
    io::File file((io::UniqueFd(::mkstemp(path))));
    const auto removed = make_finally([&] { ::unlink(path); });
    ASSERT_TRUE(file);
    EXPECT_EQ(file.writeAt(bytesOf("hello world"), 5), 11u);
    file.sync();
    std::error_code error;
    EXPECT_EQ(file.size(error), 16u);
    std::byte buffer[20];
    EXPECT_EQ(file.readAt(buffer, 5), 11u);
    EXPECT_EQ(tests::textOf(std::span(buffer).first(11)), "hello world");
    EXPECT_EQ(file.readAt(buffer, 16), 0u) << "the end";
    const io::File again = io::File::open(path, O_RDONLY);
    EXPECT_EQ(io::readAll(again.fd(), buffer), 16u);
    EXPECT_EQ(io::File::open("/nowhere/at/all", O_RDONLY, 0, error).fd(), -1);
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    EXPECT_THROW(io::open("/nowhere/at/all", O_RDONLY), std::system_error);
    EXPECT_EQ(file.readAt(buffer, ~uint64_t{0}, error), 0u);
    EXPECT_EQ(error, std::errc::invalid_argument);
  });
}

// A fiber whose reads need never wait.
TEST_P(IoTest, AnOpenOfAFifoWaitsForItsOtherEnd) {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const int flags : {O_RDONLY, O_WRONLY}) {
    io::UniqueFd opened;
    std::error_code error;
    std::atomic<bool> isOpen{false};
    WaitGroup done(1);
    schedule([&, done] {
      opened = io::open(path.c_str(), flags, 0, error);
      isOpen = true;
      done.done();
    });
    awaitThat([&] { return isOpen || numWaiting() != 0; });
    EXPECT_FALSE(isOpen);
    const io::UniqueFd other(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    done.wait();
    EXPECT_FALSE(error) << error.message();
    EXPECT_EQ(::fcntl(opened.get(), F_GETFL) & O_NONBLOCK, 0);
  }
  tests::inTask([&] {
    std::error_code error;
    EXPECT_FALSE(io::open(path.c_str(), O_WRONLY | O_NONBLOCK, 0, error));
    EXPECT_EQ(error, std::errc::no_such_device_or_address) << "nobody reads, and it does not wait";
  });
}

TEST_P(IoTest, AStreamThatNeverRunsDryLetsOthersRun) {
  tests::inTask([&] {
    const io::UniqueFd zeros = io::open("/dev/zero", O_RDONLY);
    std::atomic<bool> hasRun{false};
    schedule(Task([&] { hasRun = true; }, Task::Flags::SameThread));
    std::byte buffer[16];
    while (!hasRun) {
      io::read(zeros.get(), buffer);
    }
  });
}

WEFT_INSTANTIATE_WITH_SCHEDULER(IoTest);

// As ctest sets it for each run.
std::string askedBackend() {
  const char* const asked = std::getenv("WEFT_IO");
  return asked != nullptr ? asked : "";
}

TEST(IoBackendTest, ItsNameIsTold) {
  const std::string name = io::backend();
  EXPECT_TRUE(name == "epoll" || name == "uring") << name;
  EXPECT_TRUE(askedBackend().empty() || name == askedBackend()) << name;
}

// What stands for that of an AsioContext.
class ForeignReactor final : public detail::Reactor {
 public:
  ForeignReactor() : Reactor(Use::Asio) {}
  bool poll() override { return false; }
  bool park(detail::Parker<>&, detail::TimePoint) override { return true; }
};

using DescriptorDeathTest = tests::DeathTest;

TEST_F(DescriptorDeathTest, AWorkerThatPollsAnAsioContextSaysThatItCannotWaitByIoToo) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(1));
        WaitGroup done(1);
        scheduler.enqueue(Task([done] {
          detail::setCurrentReactor(std::make_unique<ForeignReactor>());
          const tests::Ends ends = tests::makeEnds();
          std::error_code error;
          tests::readText(ends.reader.get(), error);
          done.done();
        }));
        done.wait();
      },
      "a fiber waits by weft::io on a worker that polls a weft::AsioContext.*without a worker");
}

class IoBackendDeathTest : public tests::DeathTest {};

TEST_F(IoBackendDeathTest, ABackendWithoutANameIsAMessage) {
  EXPECT_DEATH(
      {
        ::setenv("WEFT_IO", "select", 1);
        io::backend();
      },
      "WEFT_IO=select, which names no backend. Set WEFT_IO=epoll or WEFT_IO=uring");
}

// Each in a process of its own, which has not chosen yet. Ends with 0 if a file and a stream work.
[[noreturn]] void useIo(const char* asked, [[maybe_unused]] uint32_t refusal) {
  asked != nullptr ? ::setenv("WEFT_IO", asked, 1) : ::unsetenv("WEFT_IO");
#ifdef WEFT_IO_URING  // else it is never asked for
  constexpr uint32_t kUringSetup = 425;
  if (refusal != 0) {
    tests::refuse(kUringSetup, refusal);
  }
#endif
  {
    Scheduler scheduler(tests::smallConfig(1));
    scheduler.bind();
    tests::inTask([] {
      Ends ends = makeEnds();
      std::thread writer([&] { io::write(ends.writer.get(), bytesOf("x")); });
      std::byte byte[1];
      io::read(ends.reader.get(), byte);
      writer.join();
      io::open("/dev/null", O_RDONLY);
    });
    Scheduler::unbind();
  }
  std::fprintf(stderr, "by %s\n", io::backend());
  std::exit(0);
}

TEST_F(IoBackendDeathTest, WhatIsAskedForIsUsed) {
  EXPECT_EXIT(useIo("epoll", 0), ::testing::ExitedWithCode(0), "by epoll");
  if (askedBackend() == "uring") {
    EXPECT_EXIT(useIo("uring", 0), ::testing::ExitedWithCode(0), "by uring");
  }
}

TEST_F(IoBackendDeathTest, WhereIoUringIsRefusedEpollIsUsed) {
  for (const uint32_t error : {EPERM, ENOSYS, EINVAL}) {
    EXPECT_EXIT(useIo(nullptr, error), ::testing::ExitedWithCode(0), "by epoll");
  }
}

TEST_F(IoBackendDeathTest, ABackendThatIsAskedForAndNotThereIsAMessage) {
#ifdef WEFT_IO_URING
  EXPECT_DEATH(useIo("uring", EPERM),
               "WEFT_IO=uring, but the system refuses io_uring: Operation not permitted.*WEFT_IO=epoll");
#else
  EXPECT_DEATH(useIo("uring", 0), "WEFT_IO=uring, but this weft::io is built without io_uring");
#endif
}

[[noreturn]] void resolveWithoutThreads() {
  std::error_code error;
  tests::refuseThreads();
  io::resolve("127.0.0.1", "80", error);
  std::fprintf(stderr, "it says: %s\n", error.message().c_str());
  std::exit(error == std::errc::resource_unavailable_try_again ? 0 : 1);
}

TEST_F(IoBackendDeathTest, WhereThreadsAreRefusedResolveSaysSo) {
  EXPECT_EXIT(resolveWithoutThreads(), ::testing::ExitedWithCode(0), "it says");
}

}  // namespace
}  // namespace weft
