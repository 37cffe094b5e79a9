// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <weft/blockingcall.h>

#include "io/io_pairs.h"
#include "torture/rain.h"
#include "waiting.h"
#include "with_scheduler.h"
#include "workers.h"

// Operations of all kinds while signals come, while programs are started, and beside a task that computes.
namespace weft::io_surroundings_test {
namespace {

using tests::awaitThat;
using tests::bytesOf;
using tests::Crew;
using tests::Ends;
using tests::kindOf;
using tests::makeEnds;
using tests::numHandled;
using tests::Rain;
using tests::smallConfig;

std::vector<std::byte> someBytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * i >> 3);
  }
  return bytes;
}

// Through more than a socket's buffer, so that both sides wait.
void expectThatAStreamComesWhole(Crew& crew, Ends& ends, int number) {
  static const std::vector<std::byte> sent = someBytes(500'000);
  crew.start(kindOf(number), [&ends] {
    EXPECT_EQ(io::writeAll(ends.writer.get(), sent), sent.size());
    ends.writer.reset();
  });
  crew.start(kindOf(number + 1), [&ends] {
    std::vector<std::byte> got(sent.size() + 1);
    EXPECT_EQ(io::readAll(ends.reader.get(), got), sent.size());
    got.resize(sent.size());
    EXPECT_EQ(got, sent);
  });
}

void expectThatConnectionsTalk(Crew& crew, io::Listener& listener, int number) {
  constexpr int kConnections = 30;
  crew.start(kindOf(number), [&listener] {
    for (int i = 0; i < kConnections; ++i) {
      io::Socket socket = listener.accept();
      std::byte buffer[8];
      EXPECT_EQ(socket.recvAll(buffer), 5u);
      socket.send(std::span(buffer).first(5));
    }
  });
  crew.start(kindOf(number + 1), [&listener] {
    for (int i = 0; i < kConnections; ++i) {
      io::Socket socket = io::Socket::connect(listener.endpoint());
      socket.send(bytesOf("hello"));
      std::error_code error;
      socket.shutdownSend(error);
      std::byte buffer[8];
      EXPECT_EQ(socket.recvAll(buffer), 5u);
      EXPECT_EQ(tests::textOf(std::span(buffer).first(5)), "hello");
    }
  });
}

void expectThatAFileKeepsWhatIsWritten(Crew& crew, int number) {
  crew.start(kindOf(number), [] {
    char path[] = "/tmp/weft_io_surroundings_XXXXXX";
    io::File file((io::UniqueFd(::mkstemp(path))));
    ::unlink(path);
    const std::vector<std::byte> data = someBytes(30'000);
    std::vector<std::byte> got(data.size());
    for (uint64_t offset = 0; offset < 10 * data.size(); offset += data.size()) {
      EXPECT_EQ(file.writeAt(data, offset), data.size());
      file.sync();
      EXPECT_EQ(file.readAt(got, offset), data.size());
      EXPECT_EQ(got, data);
      EXPECT_TRUE(io::open("/dev/null", O_RDONLY));
    }
  });
}

// Nothing but the time ends these.
void expectThatDeadlinesEndWaits(Crew& crew, Ends& silent, int number) {
  crew.start(kindOf(number), [&silent] {
    for (int i = 0; i < 30; ++i) {
      std::error_code error;
      const auto deadline = io::TimePoint::clock::now() + std::chrono::microseconds(500);
      tests::readText(silent.reader.get(), error, {.deadline = deadline});
      EXPECT_EQ(error, std::errc::timed_out);
      EXPECT_GE(io::TimePoint::clock::now(), deadline);
    }
  });
}

// On workers, bound threads and others.
void expectThatIoWorks(Scheduler& scheduler) {
  std::array<Ends, 4> streams;
  std::array<Ends, 3> silent;
  io::Listener listener = io::Listener::listen(io::Endpoint::parse("127.0.0.1", 0));
  Crew crew(scheduler);
  for (int i = 0; i < 4; ++i) {
    Ends& stream = streams[static_cast<size_t>(i)];
    stream = makeEnds(tests::kPairKinds[i]);
    expectThatAStreamComesWhole(crew, stream, i);
  }
  for (int i = 0; i < 3; ++i) {
    silent[static_cast<size_t>(i)] = makeEnds();
    expectThatConnectionsTalk(crew, listener, i);
    expectThatAFileKeepsWhatIsWritten(crew, i);
    expectThatDeadlinesEndWaits(crew, silent[static_cast<size_t>(i)], i);
  }
}

class IoSignalsTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Flags, IoSignalsTest, ::testing::Values(0, SA_RESTART, SA_RESTART | SA_ONSTACK));

TEST_P(IoSignalsTest, AStormOfSignalsChangesNoResult) {
  const Rain rain(GetParam());
  for (const int numWorkers : {0, 1, 3}) {
    Scheduler scheduler(smallConfig(numWorkers));
    const Scheduler::Binding bound(scheduler);
    for (const uint64_t before = numHandled; numHandled < before + 1'000;) {
      expectThatIoWorks(scheduler);
    }
  }
}

// Ends with 7 if it has inherited nothing that fibers wait in.
int startProgram() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", "case \"$(ls -l /proc/$$/fd)\" in *anon_inode*) exit 1;; esac; exit 7",
            static_cast<char*>(nullptr));
    ::_exit(99);
  }
  int status = -1;
  const bool isThere = blocking_call([&] { return ::waitpid(child, &status, 0) == child; });
  return isThere && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(IoForkTest, ProgramsThatFibersStartDisturbNoIoAndInheritNoneOfIt) {
  for (const int numWorkers : {0, 2}) {
    Scheduler scheduler(smallConfig(numWorkers));
    const Scheduler::Binding bound(scheduler);
    std::atomic<bool> isOver{false};
    std::atomic<int> numStarted{0};
    Crew crew(scheduler);
    for (int i = 0; i < 3; ++i) {
      crew.start(kindOf(i), [&] {
        // With a wait of its own behind it, so that there is something to inherit.
        Ends ends = makeEnds();
        std::error_code error;
        tests::readText(ends.reader.get(), error, {.deadline = io::TimePoint::min()});
        while (!isOver) {
          EXPECT_EQ(startProgram(), 7);
          ++numStarted;
        }
      });
    }
    while (numStarted < 6) {
      expectThatIoWorks(scheduler);
    }
    isOver = true;
  }
}

// A connection whose bytes a fiber sends back. An L takes the fiber long.
struct Connection {
  Ends ends = makeEnds();
  std::atomic<int> numBack{0};

  void echo(std::atomic<bool>& isBusy, const std::atomic<bool>& mayEnd) {
    std::byte byte[1];
    while (io::read(ends.reader.get(), byte) == 1) {
      if (byte[0] == std::byte{'L'}) {
        isBusy = true;
        while (!mayEnd) {
          std::this_thread::yield();
        }
      }
      ++numBack;
      io::write(ends.reader.get(), byte);
    }
  }
  void send(std::string_view text) { io::write(ends.writer.get(), bytesOf(text)); }
  void expectBack(std::string_view text) {
    std::error_code error;
    EXPECT_EQ(tests::readText(ends.writer.get(), error), text);
  }
};

TEST(IoLongTaskTest, ItDelaysTheConnectionsOfItsWorkerAndNobodyElsesAndTheReportNamesIt) {
  Scheduler scheduler(smallConfig(2));
  const Scheduler::Binding bound(scheduler);
  std::array<std::array<Connection, 3>, 2> connections;  // of each worker
  std::atomic<bool> isBusy{false}, mayEnd{false};
  tests::Rendezvous allWorkers(2);
  const WaitGroup done(6);
  for (auto& own : connections) {
    schedule([&, done] {
      allWorkers.meet();
      for (Connection& connection : own) {
        schedule(Task(
            [&, done] {
              connection.echo(isBusy, mayEnd);
              done.done();
            },
            Task::Flags::SameThread));
      }
    });
  }
  allWorkers.wait();
  auto& [mine, others] = connections;
  const auto talk = [](std::array<Connection, 3>& all) {
    for (Connection& connection : all) {
      connection.send("x");
      connection.expectBack("x");
    }
  };
  talk(mine);
  talk(others);
  // Whoever has answered waits again a little later.
  awaitThat([&] {
    uint64_t numBlocked = 0;
    for (const Scheduler::WorkerStats& worker : scheduler.stats().workers) {
      numBlocked += worker.numBlockedFibers;
    }
    return numBlocked == 6;
  });

  mine[0].send("L");
  awaitThat([&] { return isBusy.load(); });
  mine[1].send("y");
  for (int round = 0; round < 100; ++round) {
    talk(others);
  }
  EXPECT_EQ(mine[1].numBack, 1);
  testing::internal::CaptureStderr();
  scheduler.reportBlockedFibers();
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find(": runs task "), std::string::npos) << report;
  EXPECT_NE(report.find("fibers wait, 2 for I/O\n"), std::string::npos) << report;

  mayEnd = true;
  mine[0].expectBack("L");
  mine[1].expectBack("y");
  talk(mine);
  for (auto& all : connections) {
    for (Connection& connection : all) {
      connection.ends.writer.reset();
    }
  }
  done.wait();
}

}  // namespace
}  // namespace weft::io_surroundings_test
