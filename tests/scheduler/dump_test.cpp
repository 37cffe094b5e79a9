// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <regex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <weft/barrier.h>
#include <weft/channel.h>
#include <weft/dump.h>
#include <weft/event.h>
#include <weft/fair/task_scheduler.h>
#include <weft/fiber.h>
#include <weft/latch.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>
#include <weft/sharedmutex.h>
#include <weft/waitgroup.h>

#include "dumps.h"
#include "waiting.h"
#include "workers.h"

// Dumps. What they say of locks is in dump_locks_test.cpp.

namespace weft {
namespace {

using tests::awaitThat;
using tests::BusyTask;
using tests::count;
using tests::dumpWith;
using tests::has;
using tests::numWaiting;

using DumpTest = tests::WithScheduler;
WEFT_INSTANTIATE_WITH_SCHEDULER(DumpTest);

[[gnu::noinline]] void waitHere(const Event& event) {
  event.wait();
  asm volatile("");  // no tail call
}

TEST_P(DumpTest, GroupsFibersThatWaitAlike) {
  constexpr unsigned kFibers = 5;
  const Event event(Event::Mode::Manual);
  const Semaphore semaphore(0);
  WaitGroup done(kFibers + 1);
  for (unsigned i = 0; i < kFibers; ++i) {
    schedule([=] {
      waitHere(event);
      done.done();
    });
  }
  schedule([=] {
    semaphore.acquire();
    done.done();
  });
  awaitThat([&] { return numWaiting(event) == kFibers && numWaiting(semaphore) == 1; });
  const std::string text = dumpWith("5 fibers wait for Event 0x", 1);
  EXPECT_EQ(count(text, "1 fiber waits for Semaphore 0x"), 1u) << text;
  EXPECT_EQ(count(text, ", of which 6 wait; 2"), 1u) << text;
  EXPECT_EQ(count(text, "  main thread "), 1u) << text;
  EXPECT_EQ(count(text, "  worker "), static_cast<size_t>(numWorkers() < 4 ? numWorkers() : 0)) << text;
  event.signal();
  semaphore.release();
  done.wait();
  EXPECT_FALSE(has(dumpText(), " for Event "));
}

// Functions have the names that the file's table of symbols has.
TEST_P(DumpTest, NamesTheCallsThatLedToTheWait) {
  const Event event(Event::Mode::Manual);
  WaitGroup done(1);
  schedule([=] {
    waitHere(event);
    done.done();
  });
  awaitThat([&] { return numWaiting(event) == 1; });
  // While the worker looks for work on the fiber's stack, its calls cannot be seen.
  const std::string text = dumpWith(", in weft::(anonymous namespace)::waitHere(weft::Event const&)+0x", 1);
  EXPECT_TRUE(has(text, "\n    weft::(anonymous namespace)::waitHere(weft::Event const&)+0x")) << text;
  event.signal();
  done.wait();
}

TEST_P(DumpTest, TellsWhatIsInTheObjectsThatAreWaitedFor) {
  const WaitGroup group(3);
  Latch latch(7);
  Barrier barrier(4);
  SharedMutex shared;
  const Event manual(Event::Mode::Manual);
  const Event automatic;
  const Channel<int> full(2);
  const Channel<int> empty(8);
  const Channel<int> noBuffer(0);
  std::shared_lock sharedLock(shared);
  ASSERT_TRUE(full.trySend(1) && full.trySend(2));
  WaitGroup done(9);
  const auto waitLater = [&](auto wait) {
    schedule([wait, done] {
      wait();
      done.done();
    });
  };
  waitLater([&] { group.wait(); });
  waitLater([&] { latch.wait(); });
  waitLater([&] { barrier.arrive_and_wait(); });
  waitLater([&] { std::scoped_lock lock(shared); });
  waitLater([&] { manual.wait(); });
  waitLater([&] { automatic.wait(); });
  waitLater([&] { full.send(3); });
  waitLater([&] { (void)empty.receive(); });
  waitLater([&] { (void)noBuffer.receive(); });
  const std::string expected[] = {
      "1 fiber waits for WaitGroup # (count 3), ",
      "1 fiber waits for Latch # (count 7), ",
      "1 fiber waits for Barrier # (3 still to arrive), ",
      "1 fiber waits for SharedMutex # (held by 1 reader), ",
      "1 fiber waits for Event # (not signalled, Mode::Manual), ",
      "1 fiber waits for Event # (not signalled, Mode::Auto), ",
      "1 fiber waits for Channel::send # (2 of 2 values; no fiber waits to receive), ",
      "1 fiber waits for Channel::receive # (0 of 8 values; no fiber waits to send), ",
      "1 fiber waits for Channel::receive # (no buffer; no fiber waits to send), ",
  };
  std::string text;
  awaitThat([&] {
    text = std::regex_replace(dumpText(), std::regex("0x[0-9a-f]+"), "#");
    return std::ranges::all_of(expected, [&](const std::string& part) { return count(text, part) == 1; });
  });
  for (int i = 0; i < 3; ++i) {
    group.done();
    (void)barrier.arrive();
  }
  latch.count_down(7);
  sharedLock.unlock();
  manual.signal();
  automatic.signal();
  (void)full.receive();
  empty.close();
  noBuffer.close();
  done.wait();
}

TEST_P(DumpTest, NamesATaskThatRuns) {
  std::string text;
  if (numWorkers() == 0) {
    const WaitGroup done(1);
    schedule([&, done] {
      text = dumpText();
      done.done();
    });
    done.wait();
  } else {
    BusyTask busy;
    schedule(busy.task());
    busy.awaitBegin();
    text = dumpText();
    busy.end();
  }
  EXPECT_EQ(count(text, ": runs task "), 1u) << text;
  EXPECT_TRUE(has(text, " on fiber ")) << text;
}

TEST_P(DumpTest, IncludesOtherBoundThreads) {
  const Event event;
  std::thread other([&] {
    Scheduler::Binding bound(scheduler());
    event.wait();
  });
  const std::string text = dumpWith("the code of bound thread ", 1);
  EXPECT_EQ(count(text, "  bound thread "), 1u) << text;
  EXPECT_EQ(count(text, "  main thread "), 1u) << text;
  event.signal();
  other.join();
}

TEST_P(DumpTest, CountsFibersThatWereWokenAndWaitForTheirTurn) {
  if (numWorkers() != 1) {
    return;
  }
  const Event event(Event::Mode::Manual);
  WaitGroup done(1);
  schedule([=] {
    event.wait();
    done.done();
  });
  awaitThat([&] { return numWaiting(event) == 1; });
  BusyTask busy;
  schedule(busy.task());
  busy.awaitBegin();
  event.signal();
  const std::string text = dumpText();
  EXPECT_TRUE(has(text, "1 fiber ready to go on")) << text;
  EXPECT_TRUE(has(text, "\n1 fiber is ready to go on, and waits for its turn on worker ")) << text;
  busy.end();
  done.wait();
}

// Also before the worker has looked for them.
TEST_P(DumpTest, CountsTasksThatArePlacedOnAWorker) {
  if (numWorkers() == 0) {
    return;
  }
  constexpr unsigned kTasks = 3;
  BusyTask busy;
  scheduler().enqueueOn(0, busy.task());
  busy.awaitBegin();
  EXPECT_FALSE(has(dumpText(), " queued"));
  WaitGroup done(kTasks);
  for (unsigned i = 0; i < kTasks; ++i) {
    scheduler().enqueueOn(0, Task([=] { done.done(); }));
  }
  const std::string text = dumpText();
  EXPECT_TRUE(has(text, "; 3 tasks queued")) << text;
  busy.end();
  done.wait();
}

TEST_P(DumpTest, IsPrintedForOneScheduler) {
  Scheduler other(tests::smallConfig(1, allocator()));
  testing::internal::CaptureStderr();
  scheduler().reportBlockedFibers();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count(text, "\nscheduler 0x"), 1u) << text;
  EXPECT_EQ(count(dumpText(), "\nscheduler 0x"), 2u);
}

// The tasks of weft::fair have no fibers: their schedulers are not in a dump.
TEST_P(DumpTest, LeavesOutSchedulersOfFairTasks) {
  const std::string before = dumpText();
  const fair::TaskScheduler fair("fair", 2);
  const std::string text = dumpText();
  EXPECT_EQ(count(text, "\nscheduler 0x"), count(before, "\nscheduler 0x")) << text;
  EXPECT_EQ(count(text, "is left out"), 0U) << text;
}

// Fibers come, wait and go while other threads dump.
TEST_P(DumpTest, MayRunAtAnyTime) {
  std::atomic<bool> isOver{false};
  std::vector<std::thread> dumpers;
  for (int i = 0; i < 2; ++i) {
    dumpers.emplace_back([&] {
      while (!isOver) {
        EXPECT_TRUE(has(dumpText(), "weft: process "));
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    Scheduler shortLived(tests::smallConfig(1, allocator()));
    const Event event(Event::Mode::Manual);
    WaitGroup done(50);
    for (int i = 0; i < 50; ++i) {
      schedule([=] {
        event.wait();
        done.done();
      });
    }
    event.signal();
    done.wait();
  }
  isOver = true;
  for (std::thread& dumper : dumpers) {
    dumper.join();
  }
}

TEST(DumpOfNothingTest, SaysWhenItWasTakenAndThatItEnds) {
  const std::regex whole(
      "weft: process [0-9]+, /.*; 20[0-9-]{8}T[0-9:]{8}Z\n(.*\n)*weft: end of process [0-9]+\n");
  EXPECT_TRUE(std::regex_match(dumpText(), whole)) << dumpText();
}

TEST(DumpOfNothingTest, SaysThatThereIsNoScheduler) {
  EXPECT_TRUE(has(dumpText(), ": 0 schedulers, 0 fibers in use")) << dumpText();
}

// Prints a dump while the process can open no file, then one while it can again.
void dumpWithoutDescriptors() {
  Scheduler scheduler(tests::smallConfig(0));
  const Scheduler::Binding bound(scheduler);
  schedule([] {
    rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none{0, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    dump();
    setrlimit(RLIMIT_NOFILE, &before);
    const std::string text = dumpText();
    std::_Exit(has(text, "dumpWithoutDescriptors()") && !has(text, "are missing") ? 0 : 1);
  });
  yield();
}

TEST(DumpDeathTest, SaysWhyNamesAreMissing) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(dumpWithoutDescriptors(), testing::ExitedWithCode(0),
              "\nNames and calls are missing: /proc/[0-9]+/maps cannot be read \\((Too many open files|errno "
              "24)\\)\\.\nweft: end of process [0-9]+\n");
}

// Returns: what is written to stderr while and after `act` runs, until it has `part` so often.
std::string stderrUntil(const std::string& part, size_t times, const std::function<void()>& act) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  act();
  std::string text;
  char buffer[4096];
  for (ssize_t length = 1; length > 0 && count(text, part) < times;) {
    length = read(ends[0], buffer, sizeof buffer);
    text.append(buffer, static_cast<size_t>(std::max<ssize_t>(length, 0)));
  }
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[0]);
  return text;
}

TEST(DumpSignalTest, PrintsADumpForEachSignal) {
  struct sigaction before{};
  sigaction(SIGUSR2, nullptr, &before);
  stderrUntil("weft: process ", 2, [] {
    EXPECT_TRUE(dumpOnSignal(SIGUSR2));
    raise(SIGUSR2);
    raise(SIGUSR2);
  });
  sigaction(SIGUSR2, &before, nullptr);
}

TEST(DumpSignalTest, RefusesWhatIsNoSignal) {
  EXPECT_FALSE(dumpOnSignal(0));
  EXPECT_FALSE(dumpOnSignal(SIGKILL));
}

// Makes a scheduler in a process whose environment has WEFT_DUMP_SIGNAL=`wish`, and sends it SIGUSR1 if that
// is wanted. Ends with 0 once `expected` was written.
void obeyWish(const char* wish, const char* expected, bool isSent) {
  setenv("WEFT_DUMP_SIGNAL", wish, 1);
  stderrUntil(expected, 1, [isSent] {
    const Scheduler scheduler(tests::smallConfig(1));
    if (isSent) {
      raise(SIGUSR1);
    }
  });
  std::exit(0);
}

TEST(DumpSignalDeathTest, TheEnvironmentNamesTheSignal) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto succeeds = testing::ExitedWithCode(0);
  EXPECT_EXIT(obeyWish("USR1", "weft: process ", true), succeeds, "");
  EXPECT_EXIT(obeyWish("SIGUSR1", "weft: process ", true), succeeds, "");
  EXPECT_EXIT(obeyWish("10", "weft: process ", true), succeeds, "");
  EXPECT_EXIT(obeyWish("FOO", "WEFT_DUMP_SIGNAL=FOO names no signal. Write USR1", false), succeeds, "");
  EXPECT_EXIT(
      {
        signal(SIGUSR1, SIG_IGN);
        obeyWish("USR1", "the program handles or ignores that signal itself", false);
      },
      succeeds, "");
}

}  // namespace
}  // namespace weft
