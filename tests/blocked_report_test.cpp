// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/mutex.h>
#include <weft/recursivemutex.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>
#include <weft/sharedmutex.h>
#include <weft/waitgroup.h>

#include "waiting.h"

// Scheduler::reportBlockedFibers().

namespace weft {
namespace {

using tests::awaitThat;
using tests::numWaiting;

size_t count(const std::string& text, const std::string& part) {
  size_t times = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++times;
  }
  return times;
}

// Returns: what is written to stderr after `ask` was called, up to the end of `numReports` reports.
std::string reportsAfter(size_t numReports, const std::function<void()>& ask) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  ask();
  std::string text;
  while (count(text, " fibers that wait\n") < numReports) {
    char buffer[4096];
    const ssize_t length = read(ends[0], buffer, sizeof buffer);
    if (length <= 0) {
      break;
    }
    text.append(buffer, static_cast<size_t>(length));
  }
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[0]);
  return text;
}

class BlockedReportTest : public tests::WithScheduler {
 protected:
  std::string reports(size_t numBound = 1) {
    return reportsAfter(static_cast<size_t>(numWorkers()) + numBound, [this] { scheduler().reportBlockedFibers(); });
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(BlockedReportTest);

TEST_P(BlockedReportTest, NamesEachFiberAndWhatItWaitsFor) {
  const Event event(Event::Mode::Manual);
  const Semaphore semaphore(0);
  WaitGroup done(3);
  for (int i = 0; i < 2; ++i) {
    schedule([=] {
      event.wait();
      done.done();
    });
  }
  schedule([=] {
    semaphore.acquire();
    done.done();
  });
  awaitThat([&] { return numWaiting(event) == 2 && numWaiting(semaphore) == 1; });
  const std::string text = reports();
  EXPECT_EQ(count(text, ", waits for Event 0x"), 2u) << text;
  EXPECT_EQ(count(text, ", waits for Semaphore 0x"), 1u) << text;
  EXPECT_EQ(count(text, numWorkers() == 0 ? "a bound thread, fiber " : ", fiber "), 3u) << text;
  EXPECT_EQ(count(text, "weft: warning: a bound thread has "), 1u) << text;
  event.signal();
  semaphore.release();
  done.wait();
  EXPECT_EQ(count(reports(), "waits for"), 0u);
}

TEST_P(BlockedReportTest, TellsMutexesApart) {
  mutex plain;
  SharedMutex shared;
  RecursiveMutex recursive;
  std::unique_lock plainLock(plain);
  std::unique_lock sharedLock(shared);
  std::unique_lock recursiveLock(recursive);
  WaitGroup done(4);
  const auto lockLater = [&](auto lock) {
    schedule([=] {
      lock();
      done.done();
    });
  };
  lockLater([&] { std::scoped_lock lock(plain); });
  lockLater([&] { std::scoped_lock lock(shared); });
  lockLater([&] { std::shared_lock lock(shared); });
  lockLater([&] { std::scoped_lock lock(recursive); });
  std::string text;
  awaitThat([&] {
    text = reports();
    return count(text, ", waits for ") == 4;
  });
  EXPECT_EQ(count(text, ", waits for mutex 0x"), 1u) << text;
  EXPECT_EQ(count(text, ", waits for SharedMutex 0x"), 2u) << text;
  EXPECT_EQ(count(text, ", waits for RecursiveMutex 0x"), 1u) << text;
  plainLock.unlock();
  sharedLock.unlock();
  recursiveLock.unlock();
  done.wait();
}

TEST_P(BlockedReportTest, IncludesOtherBoundThreads) {
  const Event event;
  std::thread other([&] {
    Scheduler::Binding bound(scheduler());
    event.wait();
  });
  awaitThat([&] { return numWaiting(event) == 1; });
  const std::string text = reports(2);
  EXPECT_EQ(count(text, "the code of the bound thread, outside of tasks, waits for Event 0x"), 1u) << text;
  EXPECT_EQ(count(text, "a bound thread has 1 fibers that wait"), 1u) << text;
  event.signal();
  other.join();
}

TEST_P(BlockedReportTest, ComesFromWorkersThatAreNeverIdle) {
  std::atomic<bool> isOver{false};
  std::atomic<int> numBusy{0};
  const int numTasks = std::max(numWorkers(), 1);
  WaitGroup done(static_cast<unsigned>(numTasks));
  for (int i = 0; i < numTasks; ++i) {
    schedule([&, done] {
      ++numBusy;
      while (!isOver) {
        yield();
      }
      done.done();
    });
  }
  awaitThat([&] { return numBusy == numTasks; });
  EXPECT_EQ(count(reports(), "waits for"), 0u);
  isOver = true;
  done.wait();
}

TEST_P(BlockedReportTest, CutsLongListsShort) {
  constexpr int kFibers = 150;
  const Event event(Event::Mode::Manual);
  WaitGroup done(kFibers);
  schedule([=] {
    for (int i = 0; i < kFibers; ++i) {
      schedule(Task(
          [=] {
            event.wait();
            done.done();
          },
          Task::Flags::SameThread));
    }
  });
  awaitThat([&] { return numWaiting(event) == kFibers; });
  const std::string text = reports();
  EXPECT_EQ(count(text, "waits for Event"), 100u) << text;
  EXPECT_EQ(count(text, " has 150 fibers that wait"), 1u) << text;
  event.signal();
  done.wait();
}

}  // namespace
}  // namespace weft
