// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include <weft/dump.h>
#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/mutex.h>
#include <weft/recursivemutex.h>
#include <weft/sanitizers.h>
#include <weft/scheduler.h>
#include <weft/sharedmutex.h>
#include <weft/taskgroup.h>
#include <weft/waitgroup.h>

#include "dumps.h"
#include "lock_circle.h"
#include "waiting.h"

// What a dump says of locks: who holds them, and deadlocks.

namespace weft {
namespace {

using tests::awaitThat;
using tests::count;
using tests::dumpWith;
using tests::has;
using tests::numWaiting;

using DumpLocksTest = tests::WithScheduler;
WEFT_INSTANTIATE_WITH_SCHEDULER(DumpLocksTest);

TEST_P(DumpLocksTest, TellsMutexesApart) {
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
  const std::string text = dumpWith("held by the code of main thread ", 4);
  EXPECT_EQ(count(text, " waits for mutex 0x"), 1u) << text;
  EXPECT_EQ(count(text, " waits for SharedMutex 0x"), 2u) << text;
  EXPECT_EQ(count(text, " waits for RecursiveMutex 0x"), 1u) << text;
  plainLock.unlock();
  sharedLock.unlock();
  recursiveLock.unlock();
  done.wait();
}

TEST_P(DumpLocksTest, NamesTheTaskThatHoldsALock) {
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
    // In the waiter's line, once the holder waits too.
    const std::string text = dumpWith(", which waits for Event 0x", 1);
    EXPECT_EQ(count(text, " waits for " + std::string(name) + " 0x"), 1u) << text;
    EXPECT_EQ(count(text, "; held by task "), 1u) << text;
    EXPECT_EQ(count(text, ", fiber " + std::to_string(holder) + ", which waits for Event 0x"), 1u) << text;
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

TEST_P(DumpLocksTest, NamesWhoHoldsALockOutsideOfTasks) {
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
  // Of two codes, so that the fibers are no group.
  schedule([&, done] {
    {
      std::scoped_lock boundsLock(byBound);
    }
    done.done();
  });
  schedule([&, done] {
    {
      std::scoped_lock foreignsLock(byForeign);
    }
    done.done();
  });
  const std::string text = dumpWith(" waits for mutex 0x", 2);
  EXPECT_EQ(count(text, "held by the code of main thread "), 1u) << text;
  EXPECT_EQ(count(text, "held by a thread or task that weft does not know"), 1u) << text;
  lock.unlock();
  mayUnlock.signal();
  foreign.join();
  done.wait();
}

// Whether a task is run in place or not, it is named.
TEST_P(DumpLocksTest, NamesTheTaskThatHoldsALockInPlace) {
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
  EXPECT_TRUE(has(dumpWith(" waits for mutex 0x", 1), "; held by task "));
  mayUnlock.signal();
  done.wait();
}

// With one thread for all tasks: then the fiber of the holder is the only idle one in the end, and its next
// task may unlock.
TEST_P(DumpLocksTest, SaysThatATaskHasEndedWithoutUnlocking) {
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
  (void)dumpWith("held by a task that has ended without unlocking it", 1);
  schedule([&, done]() WEFT_NO_THREAD_SAFETY_ANALYSIS {
    guard.unlock();
    done.done();
  });
  done.wait();
}

TEST_P(DumpLocksTest, NamesTasksThatWaitForLocksOfEachOther) {
  if (numWorkers() == 0) {
    return;  // ends the program with a message of its own
  }
  tests::LockCircle circle;
  schedule(circle.first());
  schedule(circle.second());
  const std::string text = dumpWith("deadlock: 2 fibers wait for locks of each other", 1);
  EXPECT_EQ(count(text, " holds mutex 0x"), 2u) << text;
  circle.letGo();
}

// A lock that is handed on between the look at who waits and the look at who holds it makes no cycle.
TEST_P(DumpLocksTest, LocksThatAreHandedOnAreNoDeadlock) {
  constexpr unsigned kTasks = 12;
  std::atomic<bool> mayEnd{false};
  mutex first, second;
  WaitGroup done(kTasks);
  for (unsigned i = 0; i < kTasks; ++i) {
    schedule([&, done] {
      while (!mayEnd) {
        const std::scoped_lock lock(first);
        yield();
        const std::scoped_lock more(second);
        yield();
      }
      done.done();
    });
  }
  for (int i = 0; i < 100; ++i) {
    const std::string text = dumpText();
    EXPECT_FALSE(has(text, "deadlock")) << text;
    yield();
  }
  mayEnd = true;
  done.wait();
}

}  // namespace
}  // namespace weft
