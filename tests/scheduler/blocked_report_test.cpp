// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <alloca.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
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
#include <weft/sanitizers.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>
#include <weft/sharedmutex.h>
#include <weft/taskgroup.h>
#include <weft/waitgroup.h>

#include "scheduler/core/scheduler_core.h"
#include "waiting.h"

// Scheduler::reportBlockedFibers(), and what ~Scheduler says while it waits.

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
    return reportsAfter(static_cast<size_t>(numWorkers()) + numBound,
                        [this] { scheduler().reportBlockedFibers(); });
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

TEST_P(BlockedReportTest, NamesTheTaskThatHoldsALock) {
  const auto expectNamed = [&](auto& mutex, const char* name) {
    const Event mayUnlock(Event::Mode::Manual);
    const Event isHeld(Event::Mode::Manual);
    WaitGroup done(2);
    uint32_t holder = 0;
    schedule([&, isHeld, mayUnlock, done] {
      {
        std::scoped_lock lock(mutex);
        holder = Fiber::current()->id;
        isHeld.signal();
        mayUnlock.wait();
      }
      done.done();
    });
    isHeld.wait();
    schedule([&, done] {
      {
        std::scoped_lock lock(mutex);
      }
      done.done();
    });
    std::string text;
    awaitThat([&] {
      text = reports();
      return count(text, "waits for " + std::string(name)) == 1;
    });
    const std::string who = numWorkers() == 0 ? "a bound thread" : "worker ";
    const size_t at = text.find(", held by " + who);
    EXPECT_NE(at, std::string::npos) << text;
    const std::string rest = text.substr(std::min(at, text.size()));
    EXPECT_EQ(rest.find(", fiber " + std::to_string(holder) + ", task "), rest.find(", fiber ")) << text;
    mayUnlock.signal();
    done.wait();
  };
  mutex plain;
  SharedMutex shared;
  RecursiveMutex recursive;
  expectNamed(plain, "mutex");
  expectNamed(shared, "SharedMutex");
  expectNamed(recursive, "RecursiveMutex");
}

TEST_P(BlockedReportTest, NamesWhoHoldsALockOutsideOfTasks) {
  mutex byBound;
  mutex byForeign;
  std::unique_lock lock(byBound);
  const Event isHeld(Event::Mode::Manual);
  const Event mayUnlock(Event::Mode::Manual);
  std::thread foreign([&] {
    std::scoped_lock foreignLock(byForeign);
    isHeld.signal();
    mayUnlock.wait();
  });
  isHeld.wait();
  WaitGroup done(2);
  for (mutex* wanted : {&byBound, &byForeign}) {
    schedule([=] {
      {
        std::scoped_lock wantedLock(*wanted);
      }
      done.done();
    });
  }
  std::string text;
  awaitThat([&] {
    text = reports();
    return count(text, "waits for mutex") == 2;
  });
  EXPECT_EQ(count(text, ", held by the code of a bound thread, outside of tasks\n"), 1u) << text;
  EXPECT_EQ(count(text, ", held by a thread or a fiber that is not of this scheduler\n"), 1u) << text;
  lock.unlock();
  mayUnlock.signal();
  foreign.join();
  done.wait();
}

// Whether a task is run in place or not, it is named.
TEST_P(BlockedReportTest, NamesTheTaskThatHoldsALockInPlace) {
#if WEFT_ADDRESS_SANITIZER_ENABLED
  GTEST_SKIP() << "its scope may be on a fake stack";
#endif
  mutex guard;
  const Event isHeld(Event::Mode::Manual);
  const Event mayUnlock(Event::Mode::Manual);
  WaitGroup done(2);
  schedule([&, isHeld, mayUnlock, done] {
    TaskGroup group;
    group.run([&] {
      std::scoped_lock lock(guard);
      isHeld.signal();
      mayUnlock.wait();
    });
    group.wait();
    done.done();
  });
  isHeld.wait();
  schedule([&, done] {
    {
      std::scoped_lock lock(guard);
    }
    done.done();
  });
  std::string text;
  awaitThat([&] {
    text = reports();
    return count(text, "waits for mutex") == 1;
  });
  EXPECT_EQ(count(text, numWorkers() == 0 ? ", held by a bound thread, fiber " : ", held by worker "), 1u)
      << text;
  mayUnlock.signal();
  done.wait();
}

// With one thread for all tasks: then the fiber of the holder is the only idle one in the end, and its next
// task may unlock.
TEST_P(BlockedReportTest, SaysThatATaskHasEndedWithoutUnlocking) {
  if (numWorkers() > 1) {
    return;
  }
  mutex guard;
  const Event isHeld(Event::Mode::Manual);
  const Event mayEnd(Event::Mode::Manual);
  const WaitGroup ended(1);
  const WaitGroup done(2);
  schedule([&, isHeld, mayEnd, ended]() WEFT_NO_THREAD_SAFETY_ANALYSIS {
    guard.lock();
    isHeld.signal();
    mayEnd.wait();
    ended.done();
  });
  isHeld.wait();
  schedule([&, done] {
    {
      std::scoped_lock lock(guard);
    }
    done.done();
  });
  awaitThat([&] { return numWaiting(guard) == 1; });
  mayEnd.signal();
  ended.wait();
  std::string text;
  awaitThat([&] {
    text = reports();
    return count(text, ", that has ended without unlocking it\n") == 1;
  });
  schedule([&, done]() WEFT_NO_THREAD_SAFETY_ANALYSIS {
    guard.unlock();
    done.done();
  });
  done.wait();
}

TEST_P(BlockedReportTest, NamesAWorkerThatDoesNotAnswer) {
  if (numWorkers() == 0) {
    return;
  }
  std::atomic<bool> isOver{false};
  std::atomic<bool> isBusy{false};
  WaitGroup done(1);
  schedule([&, done] {
    isBusy = true;
    while (!isOver) {
      std::this_thread::yield();
    }
    done.done();
  });
  while (!isBusy) {
    std::this_thread::yield();
  }
  const std::string text = reports(0);
  EXPECT_NE(text.find(" does not answer: it is in task "), std::string::npos) << text;
  isOver = true;
  done.wait();
}

TEST_P(BlockedReportTest, NamesABoundThreadThatDoesNotAnswer) {
  std::atomic<bool> isBound{false};
  std::atomic<bool> isOver{false};
  std::thread other([&] {
    Scheduler::Binding bound(scheduler());
    isBound = true;
    while (!isOver) {
      std::this_thread::yield();
    }
  });
  while (!isBound) {
    std::this_thread::yield();
  }
  const std::string text = reports();
  EXPECT_NE(text.find("a bound thread does not answer: it is in its own code, outside of tasks, for "),
            std::string::npos)
      << text;
  isOver = true;
  other.join();
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

// ~Scheduler, and what it says for what it waits.
class ShutdownReportTest : public tests::WithAllocator {
 protected:
  void SetUp() override { detail::shutdownPatience = 1'000'000; }
  void TearDown() override {
    detail::shutdownPatience = patience_;
    tests::WithAllocator::TearDown();
  }

  // Destroys `scheduler` on a thread of its own, and calls `letGo` once stderr has got `expected`. Returns:
  // stderr.
  static std::string endedAfter(std::unique_ptr<Scheduler> scheduler, const std::string& expected,
                                const std::function<void()>& letGo) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const int saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    std::thread ending([&] { scheduler.reset(); });
    std::string text;
    bool hasLetGo = false;
    // The pipe is read until nobody has it open for writing, lest ~Scheduler waits for its reader.
    std::thread closer;
    char buffer[4096];
    for (ssize_t length = 0; (length = read(ends[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<size_t>(length));
      if (!hasLetGo && text.find(expected) != std::string::npos) {
        hasLetGo = true;
        letGo();
        closer = std::thread([&] {
          ending.join();
          dup2(saved, STDERR_FILENO);
        });
      }
    }
    closer.join();
    close(saved);
    close(ends[0]);
    return text;
  }

 private:
  const int64_t patience_ = detail::shutdownPatience;
};

void awaitOneBlockedFiber(const Scheduler& scheduler) {
  tests::awaitThat([&] {
    uint64_t numBlocked = 0;
    for (const Scheduler::WorkerStats& worker : scheduler.stats().workers) {
      numBlocked += worker.numBlockedFibers;
    }
    return numBlocked == 1;
  });
}

TEST_F(ShutdownReportTest, NamesFibersThatWait) {
  auto scheduler = std::make_unique<Scheduler>(tests::smallConfig(2, allocator()));
  const Event event(Event::Mode::Manual);
  scheduler->enqueue(Task([=] { event.wait(); }));
  awaitOneBlockedFiber(*scheduler);
  const std::string text = endedAfter(std::move(scheduler), ", waits for Event 0x", [&] { event.signal(); });
  EXPECT_NE(text.find("weft: warning: ~Scheduler has waited for "), std::string::npos) << text;
  EXPECT_NE(text.find("Threads still bound: 0. Fibers that wait: 1. Tasks and fibers that are ready: 0."),
            std::string::npos)
      << text;
}

// The worker sleeps on the stack of the fiber that waits, and writes its report from there.
TEST_F(ShutdownReportTest, NeedsNoStackOfTheFiberThatWaits) {
#if !defined(__OPTIMIZE__)
  GTEST_SKIP() << "frames are larger than those of a user";
#endif
  if (tests::kUnderAsan || tests::kUnderTsan) {
    GTEST_SKIP() << "frames are larger than those of a user";
  }
  constexpr size_t kLeft = 4096;
  auto scheduler = std::make_unique<Scheduler>(tests::smallConfig(1, allocator()));
  const Event event(Event::Mode::Manual);
  scheduler->enqueue(Task([event] {
    const detail::Stack& stack = static_cast<detail::FiberControlBlock*>(Fiber::current())->stack();
    const char here = 0;
    volatile char* used =
        static_cast<char*>(alloca(reinterpret_cast<uintptr_t>(&here) - stack.bottom() - kLeft));
    used[0] = 1;
    event.wait();
  }));
  awaitOneBlockedFiber(*scheduler);
  endedAfter(std::move(scheduler), ", waits for Event 0x", [&] { event.signal(); });
}

TEST_F(ShutdownReportTest, NamesTasksThatRun) {
  auto scheduler = std::make_unique<Scheduler>(tests::smallConfig(1, allocator()));
  std::atomic<bool> isOver{false};
  scheduler->enqueue(Task([&] {
    while (!isOver) {
      std::this_thread::yield();
    }
  }));
  const std::string text =
      endedAfter(std::move(scheduler), "worker 0 does not answer: it is in task ", [&] { isOver = true; });
  EXPECT_NE(text.find("Fibers that wait: 0."), std::string::npos) << text;
}

TEST_F(ShutdownReportTest, NamesThreadsThatAreBound) {
  auto scheduler = std::make_unique<Scheduler>(tests::smallConfig(1, allocator()));
  const Event mayUnbind(Event::Mode::Manual);
  const Event isBound(Event::Mode::Manual);
  std::thread bound([&, target = scheduler.get()] {
    Scheduler::Binding binding(*target);
    isBound.signal();
    mayUnbind.wait();
  });
  isBound.wait();
  awaitOneBlockedFiber(*scheduler);
  const std::string text =
      endedAfter(std::move(scheduler), "the code of the bound thread, outside of tasks, waits for Event",
                 [&] { mayUnbind.signal(); });
  bound.join();
  EXPECT_NE(text.find("Threads still bound: 1. Fibers that wait: 1."), std::string::npos) << text;
}

}  // namespace
}  // namespace weft
