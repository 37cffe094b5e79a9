// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io/select.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <weft/channel.h>
#include <weft/event.h>
#include <weft/io.h>
#include <weft/scheduler.h>
#include <weft/select.h>
#include <weft/waithandler.h>

#include "count_mallocs.h"
#include "in_task.h"
#include "io/closer.h"
#include "io/io_pairs.h"
#include "io/slot_waits.h"
#include "stopping.h"
#include "waiting.h"
#include "while_linking.h"
#include "with_scheduler.h"

// Cases of select() that wait for descriptors.
namespace weft::io_select_test {
namespace {

using io::onReadable;
using io::onWritable;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using tests::awaitThat;
using tests::bytesOf;
using tests::Crew;
using tests::Ends;
using tests::Kind;
using tests::kKinds;
using tests::makeEnds;
using tests::PairKind;
using tests::scaled;

constexpr auto kIgnore = [](std::optional<int>) {};
const io::Wait kNow{.deadline = io::TimePoint::min()};

int numWaiting(int fd) { return tests::numInSlot(fd); }
int numWaiting(const Ends& ends) { return numWaiting(ends.reader.get()); }

void put(const Ends& ends, const char* text = "x") { io::write(ends.writer.get(), bytesOf(text)); }

// Takes what is there, up to `most` bytes. Returns: how many.
size_t take(const Ends& ends, size_t most = 256) {
  std::array<std::byte, 256> buffer;
  std::error_code error;
  return io::read(ends.reader.get(), std::span(buffer).first(most), error, kNow);
}

class SelectIoTest : public tests::WithScheduler {
 protected:
  // Runs f() in each kind of code that may wait, one after the other.
  template <class F>
  void inEachKind(F f) {
    for (const Kind kind : kKinds) {
      Crew crew(scheduler());
      crew.start(kind, f);
    }
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(SelectIoTest);

TEST_P(SelectIoTest, WhatIsReadyHappensAtOnce) {
  inEachKind([] {
    for (const PairKind pair : tests::kPairKinds) {
      const Ends ends = makeEnds(pair);
      int numCalls = 0;
      EXPECT_EQ(select(onReadable(ends.reader.get()), otherwise()), 1u);
      EXPECT_EQ(select(onReadable(ends.reader.get()), onWritable(ends.writer.get(), [&] { ++numCalls; })),
                1u);
      put(ends);
      EXPECT_EQ(select(onReadable(ends.reader.get(), [&] { ++numCalls; })), 0u);
      EXPECT_EQ(numCalls, 2);
      EXPECT_EQ(take(ends), 1u);
    }
    const Ends ends = makeEnds(PairKind::Pipe);
    tests::fill(ends.writer.get());
    EXPECT_EQ(select(onWritable(ends.writer.get()), onTimeout(milliseconds(1))), 1u);
  });
}

TEST_P(SelectIoTest, WaitsUntilItIsReady) {
  for (const Kind kind : kKinds) {
    for (const PairKind pair : tests::kPairKinds) {
      const Ends ends = makeEnds(pair), other = makeEnds();
      const Channel<int> channel;
      std::atomic<int> numDone{0};
      Crew crew(scheduler());
      crew.start(kind, [&] {
        for (const size_t expected : {1u, 2u, 0u}) {
          const size_t chosen =
              select(onReadable(other.reader.get(), [&] { take(other); }),
                     onReadable(ends.reader.get(), [&] { take(ends); }), onReceive(channel, kIgnore));
          EXPECT_EQ(chosen, expected);
          ++numDone;
        }
      });
      const std::function<void()> steps[] = {[&] { put(ends); }, [&] { channel.send(1); },
                                             [&] { put(other); }};
      int count = 0;
      for (const auto& step : steps) {
        awaitThat([&] { return numDone == count && numWaiting(ends) == 1 && numWaiting(other) == 1; });
        step();
        ++count;
      }
      crew.join();
      EXPECT_EQ(numWaiting(ends) + numWaiting(other), 0);
    }
  }
}

TEST_P(SelectIoTest, WaitsUntilThereIsRoom) {
  for (const Kind kind : kKinds) {
    const Ends ends = makeEnds();
    tests::fill(ends.writer.get());
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_EQ(select(onTimeout(hours(1)), onWritable(ends.writer.get())), 1u); });
    awaitThat([&] { return numWaiting(ends.writer.get()) == 1; });
    while (take(ends) != 0) {
    }
    crew.join();
  }
}

// What a loser has left would lie in its frame, which is gone.
TEST_P(SelectIoTest, ALoserLeavesNothing) {
  for (const Kind kind : kKinds) {
    const Ends ends = makeEnds();
    const Event event(Event::Mode::Auto);
    std::atomic<bool> isOver{false};
    Crew crew(scheduler());
    crew.start(kind, [&] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(select(onReadable(ends.reader.get()), onTimeout(microseconds(20))), 1u);
        EXPECT_EQ(numWaiting(ends), 0);
      }
      EXPECT_EQ(select(onReadable(ends.reader.get()), onSignal(event), onReadable(ends.reader.get())), 1u);
      EXPECT_EQ(numWaiting(ends), 0);
      const int fd = ends.reader.get();
      const size_t chosen = select(onReadable(fd), tests::WhileLinking([&] { event.signal(); }),
                                   onSignal(event), onReadable(fd));
      EXPECT_EQ(chosen, 2u);
      EXPECT_EQ(numWaiting(ends), 0);
      isOver = true;
      std::error_code error;
      EXPECT_EQ(tests::readText(fd, error), "late");
    });
    awaitThat([&] { return numWaiting(ends) == 2; });
    event.signal();
    awaitThat([&] { return isOver.load(); });
    put(ends, "late");
    crew.join();
  }
}

// A select() that has lost is still in the list when the reactor looks there: the next one is woken.
TEST_P(SelectIoTest, ASelectThatHasLostPassesOnWhatComes) {
  tests::inTask([&] {
    const Ends ends = makeEnds();
    const Event event;
    const WaitGroup done(2);
    const auto start = [&](std::function<void()> f) {
      const int before = numWaiting(ends);
      schedule(Task(
          [f = std::move(f), done] {
            f();
            done.done();
          },
          Task::Flags::SameThread));
      awaitThat([&] { return numWaiting(ends) == before + 1; });
    };
    start([&] { EXPECT_EQ(select(onReadable(ends.reader.get()), onSignal(event)), 1u); });
    start([&] { EXPECT_EQ(select(onReadable(ends.reader.get()), onTimeout(hours(1))), 0u); });
    event.signal();
    put(ends);
    done.wait();
    EXPECT_EQ(numWaiting(ends), 0);
  });
}

// As where another fiber has read what the reactor saw.
TEST_P(SelectIoTest, ASelectThatFindsNothingLeftGoesOnWaiting) {
  const Ends ends = makeEnds();
  tests::inTask([&] {
    tests::WithFalseReport waiting(ends.reader.get(), [&] {
      EXPECT_EQ(select(onReadable(ends.reader.get()), onTimeout(hours(1))), 0u);
      EXPECT_EQ(take(ends), 1u);
    });
    EXPECT_TRUE(waiting.goesOn());
    put(ends);
  });
}

TEST_P(SelectIoTest, ACloseMakesItHappen) {
  for (const Kind kind : kKinds) {
    Ends ends = makeEnds();
    const int fd = ends.reader.get();
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_EQ(select(onTimeout(hours(1)), onReadable(fd)), 1u); });
    awaitThat([&] { return numWaiting(fd) == 1; });
    io::close(std::move(ends.reader));
    crew.join();
    EXPECT_EQ(numWaiting(fd), 0);
  }
}

TEST_P(SelectIoTest, CancelAllMakesItHappenAlsoLater) {
  const Ends ends = makeEnds();
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(select(onReadable(ends.reader.get()), onTimeout(hours(1))), 0u);
      std::error_code error;
      tests::readText(ends.reader.get(), error);
      EXPECT_EQ(error, std::errc::operation_canceled);
    }
  });
  awaitThat([&] { return numWaiting(ends) == 1; });
  io::cancelAll(scheduler());
  crew.join();
}

TEST_P(SelectIoTest, ErrorsEndsAndFilesAreReady) {
  inEachKind([] {
    Ends ends = makeEnds(PairKind::Pipe);
    const int reader = ends.reader.get(), writer = ends.writer.get();
    tests::fill(writer);
    ends.reader.reset();
    EXPECT_EQ(select(onWritable(writer), onTimeout(hours(1))), 0u);
    for (const int fd : {-1, -2, reader, 16 * 1024 * 1024, INT32_MAX}) {
      EXPECT_EQ(select(onReadable(fd), onTimeout(hours(1))), 0u);
      EXPECT_EQ(select(onTimeout(hours(1)), onWritable(fd)), 1u);
    }
    ends = makeEnds(PairKind::Pipe);
    ends.writer.reset();
    EXPECT_EQ(select(onReadable(ends.reader.get()), onTimeout(hours(1))), 0u);
    const io::UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(select(onReadable(file.get()), onTimeout(hours(1))), 0u);
  });
}

TEST_P(SelectIoTest, AListIsUsedAgain) {
  inEachKind([] {
    const Ends ends = makeEnds(), never = makeEnds();
    int numCalls = 0;
    std::vector<AnyCase> cases;
    cases.emplace_back(onReadable(never.reader.get()));
    cases.emplace_back(onReadable(ends.reader.get(), [&] { ++numCalls; }));
    cases.emplace_back(onTimeout(hours(1)));
    for (int i = 0; i < 3; ++i) {
      std::thread writer([&] { put(ends); });
      EXPECT_EQ(select(cases), 1u);
      EXPECT_EQ(take(ends), 1u);
      writer.join();
    }
    EXPECT_EQ(numCalls, 3);
    cases.pop_back();
    cases.emplace_back(onTimeout(microseconds(1)));
    EXPECT_EQ(select(cases), 2u);
  });
}

TEST_P(SelectIoTest, AHandlerThatThrowsLeavesNothing) {
  for (const Kind kind : kKinds) {
    const Ends ends = makeEnds();
    Crew crew(scheduler());
    crew.start(kind, [&] {
      const auto fail = [] { throw std::runtime_error("handler"); };
      EXPECT_THROW(select(onReadable(ends.reader.get(), fail)), std::runtime_error);
      EXPECT_EQ(take(ends), 1u);
      EXPECT_EQ(select(onReadable(ends.reader.get()), onTimeout(microseconds(1))), 1u);
    });
    awaitThat([&] { return numWaiting(ends) == 1; });
    put(ends);
    crew.join();
  }
}

// A pipe as a gate: each byte lets one through.
struct PipeGate {
  template <class... More>
  bool waitAmong(More&&... more) {
    for (;;) {
      if (select(onReadable(ends.reader.get()), std::forward<More>(more)...) != 0) {
        return false;
      }
      if (take(ends, 1) == 1) {
        return true;
      }
    }
  }
  bool wait(const std::stop_token& token) { return waitAmong(onStop(token)); }
  template <class Duration>
  bool waitFor(const Duration& duration, const std::stop_token& token = {}) {
    return waitAmong(onTimeout(std::chrono::steady_clock::now() + duration), onStop(token));
  }
  void wakeOne() const { put(ends); }
  int numWaiting() const { return io_select_test::numWaiting(ends); }

  Ends ends = makeEnds();
};

TEST_P(SelectIoTest, AStopOrATimeEndsTheWait) {
  tests::expectStopEndsTheWait<PipeGate>(scheduler());
  tests::expectStopEndsAllWaits<PipeGate>(scheduler());
  tests::expectTimeEndsTheWait<PipeGate>(scheduler());
}

// No time ends these waits: whose wake is lost stays for ever.
TEST_P(SelectIoTest, NobodyIsLeftAsleepWhileThereIsSomethingToRead) {
  constexpr int kSelects = 6;
  const int count = scaled(300, 60);
  PipeGate left, right;
  std::atomic<int> numTaken{0};
  Crew crew(scheduler());
  for (int i = 0; i < kSelects; ++i) {
    crew.start(tests::kindOf(i), [&, i] {
      const std::stop_source never;
      const Ends& first = i % 2 == 0 ? left.ends : right.ends;
      const Ends& second = i % 2 == 0 ? right.ends : left.ends;
      for (int k = 0; k < count;) {
        const auto takeOne = [&](const Ends& ends) {
          return [&] {
            const int taken = static_cast<int>(take(ends, 1));
            k += taken;
            numTaken += taken;
          };
        };
        select(onReadable(first.reader.get(), takeOne(first)), onStop(never.get_token()),
               onReadable(second.reader.get(), takeOne(second)));
      }
    });
  }
  for (int k = 0; k < kSelects * count / 2; ++k) {
    left.wakeOne();
    right.wakeOne();
    if (k % 8 == 0) {
      awaitThat([&] { return numTaken >= 2 * k; });
    }
  }
  crew.join();
  EXPECT_EQ(numTaken, kSelects * count);
  EXPECT_EQ(left.numWaiting() + right.numWaiting(), 0);
}

TEST_P(SelectIoTest, EachByteArrivesOnceInAStormOfTimeoutsReadsAndChannels) {
  constexpr size_t kPipes = 3;
  constexpr int kSelects = 6;
  const int count = scaled(400, 100);
  std::array<Ends, kPipes> pipes;
  for (Ends& ends : pipes) {
    ends = makeEnds(PairKind::Pipe);
  }
  const Channel<int> channel(1);
  std::atomic<int> numTaken{0}, sum{0};
  std::stop_source over;
  Crew crew(scheduler());
  for (int i = 0; i < kSelects; ++i) {
    crew.start(tests::kindOf(i), [&, i] {
      for (int k = 0; !over.stop_requested(); ++k) {
        const Ends& one = pipes[static_cast<size_t>(i + k) % kPipes];
        const Ends& other = pipes[static_cast<size_t>(i + k + 1) % kPipes];
        const auto takeSome = [&](const Ends& ends) {
          return [&] { numTaken += static_cast<int>(take(ends, 2)); };
        };
        select(onReadable(one.reader.get(), takeSome(one)), onSend(channel, 1, [&] { sum += 1; }),
               onTimeout(microseconds((k + i) % 40)), onReadable(other.reader.get(), takeSome(other)),
               onReceive(channel, [&](std::optional<int> value) { sum -= *value; }),
               onStop(over.get_token()));
        yield();  // the channel alone would let these go on for ever
      }
    });
  }
  // A plain read beside them.
  crew.start(Kind::Task, [&] {
    std::error_code error;
    while (!error) {
      numTaken +=
          static_cast<int>(tests::readText(pipes[0].reader.get(), error, {.stop = over.get_token()}).size());
    }
  });
  const int all = count * static_cast<int>(kPipes);
  for (int k = 0; k < all; ++k) {
    put(pipes[static_cast<size_t>(k) % kPipes]);
    if (k % 16 == 0) {
      awaitThat([&] { return numTaken + 32 >= k; });
    }
  }
  awaitThat([&] { return numTaken == all; });
  over.request_stop();
  crew.join();
  EXPECT_EQ(numTaken, all);
  EXPECT_EQ(sum, static_cast<int>(channel.size()));
  for (const Ends& ends : pipes) {
    EXPECT_EQ(numWaiting(ends), 0);
  }
}

// Closes come while selects begin, wait and end.
TEST_P(SelectIoTest, ClosesAmongSelectsStrandNobody) {
  const int count = scaled(200, 50);
  for (const Kind kind : kKinds) {
    Crew crew(scheduler());
    for (int i = 0; i < count; ++i) {
      Ends ends = makeEnds();
      const int fd = ends.reader.get();
      std::atomic<bool> hasBegun{false};
      crew.start(kind, [&] {
        hasBegun = true;
        EXPECT_EQ(select(onTimeout(hours(1)), onReadable(fd)), 1u);
      });
      awaitThat([&] { return hasBegun.load(); });
      ends.reader.reset();
      crew.join();
    }
  }
}

class UnboundSelectIoTest : public ::testing::Test {};

// Returns: how many descriptors of this process are an epoll.
int numEpolls() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    count += std::filesystem::read_symlink(entry.path(), error) == "anon_inode:[eventpoll]" ? 1 : 0;
  }
  return count;
}

TEST_F(UnboundSelectIoTest, TheEpollOfAThreadEndsWithIt) {
  const Ends ends = makeEnds();
  const int before = numEpolls();
  std::thread selecting([&] {
    EXPECT_EQ(select(onReadable(ends.reader.get()), onTimeout(hours(1))), 0u);
    EXPECT_EQ(numEpolls(), before + 1);
  });
  awaitThat([&] { return numWaiting(ends) == 1; });
  put(ends);
  selecting.join();
  EXPECT_EQ(numEpolls(), before);
}

TEST_F(UnboundSelectIoTest, SelectsAllocateNothing) {
  const Ends ends = makeEnds();
  std::vector<AnyCase> cases;
  cases.emplace_back(onReadable(ends.reader.get()));
  cases.emplace_back(onTimeout(io::TimePoint::min()));
  const auto waitInVain = [&] {
    EXPECT_EQ(select(cases), 1u);
    EXPECT_EQ(select(onReadable(ends.reader.get()), onTimeout(microseconds(1))), 1u);
  };
  waitInVain();  // makes the reactor of the thread
  // Threads of other tests may still end.
  bool hasAllocated = true;
  for (int round = 0; round < 1'000 && hasAllocated; ++round) {
    const uint64_t before = tests::numMallocs();
    for (int i = 0; i < 10; ++i) {
      waitInVain();
      put(ends);
      EXPECT_EQ(select(onReadable(ends.reader.get())), 0u);
      EXPECT_EQ(take(ends), 1u);
    }
    hasAllocated = tests::numMallocs() != before;
  }
  EXPECT_FALSE(hasAllocated);
}

class SelectIoDeathTest : public tests::DeathTest {};

TEST_F(SelectIoDeathTest, OnAThreadWithAWaitHandler) {
  EXPECT_DEATH(
      {
        setThreadWaitHandler([](const WaitHandle&) {});
        select(onReadable(0), otherwise());
      },
      "cannot wait on a thread with a wait handler");
  EXPECT_DEATH((void)onReadable(0, std::function<void()>()), "a case of select");
}

}  // namespace
}  // namespace weft::io_select_test
