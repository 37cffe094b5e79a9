// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/recursivemutex.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/future.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "stopping.h"
#include "waiting.h"

namespace weft::tests {
struct RecursiveMutexMutex {
  friend constexpr auto member(RecursiveMutexMutex);
};
template struct Expose<RecursiveMutexMutex, &RecursiveMutex::mutex_>;
inline int numWaiting(RecursiveMutex& mutex) { return numWaiting(mutex.*member(RecursiveMutexMutex{})); }
}  // namespace weft::tests

namespace weft {
namespace {

using tests::Crew;
using tests::Kind;
using tests::kindOf;
using tests::kKinds;
using tests::milliseconds;
using tests::scaled;

class RecursiveMutexTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(RecursiveMutexTest);

// The example of the header.
struct Node {
  std::vector<Node> children;
};
struct Counter {
  void add(const Node& node) {
    std::scoped_lock lock(mutex);
    ++count;
    for (const Node& child : node.children) {
      add(child);
    }
  }
  RecursiveMutex mutex;
  int count = 0;
};

TEST_P(RecursiveMutexTest, KeepsTheExampleOfItsHeader) {
  const Node tree{{Node{{Node{}, Node{}}}, Node{}}};
  const int rounds = scaled(300, 60);
  Counter counter;
  Crew crew(scheduler());
  for (int i = 0; i < 6; ++i) {
    crew.start(kindOf(i), [&] {
      for (int round = 0; round < rounds; ++round) {
        counter.add(tree);
      }
    });
  }
  crew.join();
  EXPECT_EQ(counter.count, 6 * rounds * 5);
}

TEST(UnboundRecursiveMutexTest, IsFreeWhenItWasUnlockedAsOftenAsItWasLocked) {
  RecursiveMutex mutex;
  const auto isFreeForOthers = [&] {
    bool isFree = false;
    std::thread([&] {
      isFree = mutex.try_lock_for(milliseconds(0));
      EXPECT_EQ(mutex.try_lock_until(std::chrono::system_clock::now()), isFree);
      EXPECT_EQ(mutex.try_lock(), isFree);
      for (int i = 0; i < (isFree ? 3 : 0); ++i) {
        mutex.unlock();
      }
    }).join();
    return isFree;
  };
  mutex.lock();
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_TRUE(mutex.lock(std::stop_token()));
  EXPECT_TRUE(mutex.try_lock_for(milliseconds(-1)));
  EXPECT_TRUE(mutex.try_lock_until(std::chrono::steady_clock::now()));
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(isFreeForOthers());
    mutex.unlock();
  }
  EXPECT_TRUE(isFreeForOthers());
}

// Tasks of one worker share a thread, but not the mutex.
TEST_P(RecursiveMutexTest, BelongsToTheFiberNotToTheThread) {
  RecursiveMutex mutex;
  Event isHeld, mayRelease;
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    std::scoped_lock lock(mutex);
    std::scoped_lock again(mutex);
    isHeld.signal();
    mayRelease.wait();
  });
  isHeld.wait();
  crew.start(Kind::Task, [&] {
    EXPECT_FALSE(mutex.try_lock());
    mayRelease.signal();
    std::scoped_lock lock(mutex);
  });
}

TEST_P(RecursiveMutexTest, StopAndTimeEndTheWait) {
  for (Kind kind : kKinds) {
    RecursiveMutex mutex;
    std::stop_source source;
    std::atomic<bool> isThere{false};
    mutex.lock();
    Crew crew(scheduler());
    crew.start(kind, [&] {
      EXPECT_FALSE(mutex.try_lock_for(milliseconds(1), source.get_token()));
      isThere = true;
      EXPECT_FALSE(mutex.lock(source.get_token()));
      EXPECT_FALSE(
          mutex.try_lock_until(std::chrono::steady_clock::now() + std::chrono::hours(1), source.get_token()));
    });
    tests::awaitThat([&] { return isThere.load(); });
    source.request_stop();
    EXPECT_TRUE(mutex.lock(source.get_token())) << "its holder gets it in any case";
    mutex.unlock();
    crew.join();
    mutex.unlock();
    EXPECT_TRUE(mutex.lock(source.get_token())) << "a mutex that is free wins";
    mutex.unlock();
  }
}

// One that was woken can run only when this thread waits; the next could run all the time, and so can this
// one.
TEST_P(RecursiveMutexTest, IsNotKeptFromOthersByAWaiterThatCannotRun) {
  RecursiveMutex mutex;
  std::atomic<bool> hadIt{false};
  WaitGroup done(1);
  mutex.lock();
  schedule(Task(
      [&] {
        std::scoped_lock lock(mutex);
        done.done();
      },
      Task::Flags::SameThread));
  tests::awaitThat([&] { return tests::numWaiting(mutex) == 1; });
  std::thread next([&] {
    std::scoped_lock lock(mutex);
    hadIt = true;
  });
  tests::awaitThat([&] { return tests::numWaiting(mutex) == 2; });
  mutex.unlock();
  while (!hadIt) {
    detail::StdSync::pause();  // runs code of its own
  }
  next.join();
  EXPECT_TRUE(mutex.try_lock()) << "a woken waiter does not hold it yet";
  mutex.unlock();
  done.wait();
}

using RecursiveMutexDeathTest = tests::DeathTest;

TEST_F(RecursiveMutexDeathTest, UnlockedByOneThatDoesNotHoldIt) {
  EXPECT_DEATH(RecursiveMutex().unlock(),
               "RecursiveMutex .* was unlocked by a fiber or thread that does not hold it");
  EXPECT_DEATH(
      {
        RecursiveMutex mutex;
        mutex.lock();
        mutex.lock();
        std::thread([&] { mutex.unlock(); }).join();
      },
      "RecursiveMutex .* was unlocked by a fiber or thread that does not hold it");
}

// Calls `enter` in a task that runs where one has ended that has locked the mutex: on the same fiber, or in
// place with the frame of the same wait.
template <class Enter>
void enterAfterItsHolder(const Enter& enter, bool isInPlace) {
  Scheduler scheduler(tests::smallConfig(0));
  Scheduler::Binding bound(scheduler);
  auto* const mutex = new RecursiveMutex;
  const auto run = [&](const auto& function) {
    if (isInPlace) {
      async([&] { async(function).get(); }).get();
      return;
    }
    const WaitGroup done(1);
    schedule([&, done] {
      function();
      done.done();
    });
    done.wait();
  };
  for (const bool isFirst : {true, false}) {
    run([&] { isFirst ? mutex->lock() : enter(*mutex); });
  }
}

TEST_F(RecursiveMutexDeathTest, EnteredWhereATaskHasEndedThatHoldsIt) {
  const char* const message =
      "RecursiveMutex .* is held by a task or thread that has ended without unlocking it";
  for (const bool isInPlace : {false, true}) {
    EXPECT_DEATH(enterAfterItsHolder([](RecursiveMutex& mutex) { mutex.lock(); }, isInPlace), message);
    EXPECT_DEATH(enterAfterItsHolder([](RecursiveMutex& mutex) { (void)mutex.try_lock(); }, isInPlace),
                 message);
    EXPECT_DEATH(enterAfterItsHolder([](RecursiveMutex& mutex) { (void)mutex.try_lock_for(milliseconds(1)); },
                                     isInPlace),
                 message);
    EXPECT_DEATH(enterAfterItsHolder([](RecursiveMutex& mutex) { mutex.unlock(); }, isInPlace), message);
  }
}

// The system gives a new thread the memory of one that has ended. Where it does not, the new thread waits.
TEST_F(RecursiveMutexDeathTest, EnteredByAThreadAfterAThreadHasEndedThatHoldsIt) {
  EXPECT_DEATH(
      {
        auto* const mutex = new RecursiveMutex;
        std::thread([&] { mutex->lock(); }).join();
        for (int i = 0; i < 100; ++i) {
          std::thread([&] {
            if (mutex->try_lock()) {
              std::fprintf(stderr, "it was let in\n");
              std::_Exit(1);
            }
          }).join();
        }
        std::fprintf(stderr, "has ended without unlocking it: nobody was let in\n");
        std::abort();
      },
      "has ended without unlocking it");
}

// To a lock a thread is the same before, while and after a scheduler is bound.
TEST(RecursiveMutexOfThreadTest, IsHeldAcrossBindAndUnbind) {
  Scheduler scheduler(tests::smallConfig(0));
  RecursiveMutex mutex;
  mutex.lock();
  scheduler.bind();
  mutex.lock();
  Scheduler::unbind();
  ASSERT_TRUE(mutex.try_lock());
  for (int i = 0; i < 3; ++i) {
    mutex.unlock();
  }
}

TEST_F(RecursiveMutexDeathTest, DestroyedWhileItIsHeld) {
  EXPECT_DEATH(
      {
        RecursiveMutex mutex;
        mutex.lock();
        mutex.lock();
        mutex.unlock();
      },
      "a RecursiveMutex was destroyed while somebody held it or waited for it");
}

}  // namespace
}  // namespace weft
