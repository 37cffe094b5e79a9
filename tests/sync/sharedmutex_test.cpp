// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/sharedmutex.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/detail/base/spin_lock.h>
#include <weft/event.h>
#include <weft/scheduler.h>

#include "stopping.h"
#include "waiting.h"

namespace weft::tests {
struct SharedMutexLock {
  friend constexpr auto member(SharedMutexLock);
};
struct SharedLockWord {
  friend constexpr auto member(SharedLockWord);
};
struct SharedWordEpoch {
  friend constexpr auto member(SharedWordEpoch);
};
template struct Expose<SharedMutexLock, &SharedMutex::lock_>;
template struct Expose<SharedLockWord, &detail::SharedLock<>::word_>;
template struct Expose<SharedWordEpoch, &detail::SharedWord<>::epoch_>;
inline int numWaiting(detail::SharedWord<>& word);
template struct ExposeWord<detail::SharedWord<>, &detail::SharedWord<>::base_>;

inline detail::SharedWord<>& wordOf(SharedMutex& mutex) {
  return (mutex.*member(SharedMutexLock{})).*member(SharedLockWord{});
}
inline int numWaiting(SharedMutex& mutex) { return numWaiting(wordOf(mutex)); }
}  // namespace weft::tests

namespace weft {
namespace {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kindOf;
using tests::kKinds;
using tests::milliseconds;
using tests::numWaiting;
using tests::scaled;
using tests::wordOf;

// The tests do on purpose what clang's analysis would find.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wthread-safety"
#endif

class SharedMutexTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(SharedMutexTest);

// The example of the header.
TEST_P(SharedMutexTest, KeepsTheExampleOfItsHeader) {
  std::map<std::string, int> table = {{"one", 1}};
  std::atomic<int> shown{0};
  SharedMutex mutex;
  Crew crew(scheduler());
  for (Kind kind : kKinds) {
    crew.start(kind, [&] {
      {
        std::shared_lock lock(mutex);
        shown += table.at("one");
      }
      std::unique_lock lock(mutex);
      table["two"] = 2;
    });
  }
  crew.join();
  EXPECT_EQ(shown, 3);
  EXPECT_EQ(table.size(), 2u);
}

TEST(UnboundSharedMutexTest, ManyReadOrOneWrites) {
  SharedMutex mutex;
  EXPECT_TRUE(mutex.try_lock_shared());
  EXPECT_TRUE(mutex.try_lock_shared());
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock_for(milliseconds(1)));
  EXPECT_FALSE(mutex.try_lock_until(std::chrono::system_clock::now() + milliseconds(1)));
  mutex.unlock_shared();
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock_shared();
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_TRUE(mutex.isHeldByCaller());
  std::thread other([&] {
    EXPECT_FALSE(mutex.isHeldByCaller());
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock_shared());
    EXPECT_FALSE(mutex.try_lock_shared_for(milliseconds(1)));
    EXPECT_FALSE(mutex.try_lock_shared_until(std::chrono::steady_clock::now() - milliseconds(1)));
  });
  other.join();
  mutex.unlock();
  EXPECT_FALSE(mutex.isHeldByCaller());
  EXPECT_TRUE(mutex.try_lock_shared_for(milliseconds(-1)));
  mutex.unlock_shared();
}

TEST_P(SharedMutexTest, WritersExcludeEverybody) {
  constexpr int kMembers = 9;
  const int rounds = scaled(600, 100);
  SharedMutex mutex;
  std::atomic<int> numReaders{0}, numWriters{0};
  int64_t total = 0;
  Crew crew(scheduler());
  for (int i = 0; i < kMembers; ++i) {
    crew.start(kindOf(i), [&, i] {
      for (int round = 0; round < rounds; ++round) {
        if ((round + i) % 4 == 0) {
          std::unique_lock lock(mutex);
          EXPECT_EQ(++numWriters, 1);
          EXPECT_EQ(numReaders, 0);
          ++total;
          if (round % 16 == 0) {
            yield();
          }
          --numWriters;
        } else {
          std::shared_lock lock(mutex);
          ++numReaders;
          EXPECT_EQ(numWriters, 0);
          if (round % 16 == 1) {
            yield();
          }
          --numReaders;
        }
      }
    });
  }
  crew.join();
  int64_t expected = 0;
  for (int i = 0; i < kMembers; ++i) {
    for (int round = 0; round < rounds; ++round) {
      expected += (round + i) % 4 == 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(total, expected);
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST_P(SharedMutexTest, ReadersHoldItTogether) {
  constexpr int kReaders = 12;
  SharedMutex mutex;
  std::atomic<int> numInside{0};
  Crew crew(scheduler());
  for (int i = 0; i < kReaders; ++i) {
    crew.start(kindOf(i), [&] {
      std::shared_lock lock(mutex);
      ++numInside;
      awaitThat([&] { return numInside == kReaders; });
    });
  }
}

// Readers pass a writer that waits, so often and no more. Returns: how often they did.
int passWriters(SharedMutex& mutex) {
  int numPassed = 0;
  for (; mutex.try_lock_shared(); ++numPassed) {
    mutex.unlock_shared();
  }
  return numPassed;
}

TEST_P(SharedMutexTest, ReadersPassAWriterThatWaitsSoOftenAndNoMore) {
  SharedMutex mutex;
  std::stop_source source;
  mutex.lock_shared();
  for (Kind kind : kKinds) {
    Crew crew(scheduler());
    crew.start(kind, [&] { std::unique_lock lock(mutex); });
    crew.start(kind, [&] { EXPECT_FALSE(mutex.lock(source.get_token())); });
    awaitThat([&] { return numWaiting(mutex) == 2; });
    EXPECT_EQ(passWriters(mutex), 64);
    // One that gives up, and one that comes, let nobody pass.
    source.request_stop();
    awaitThat([&] { return numWaiting(mutex) == 1; });
    crew.start(kind, [&] { std::unique_lock lock(mutex); });
    awaitThat([&] { return numWaiting(mutex) == 2; });
    EXPECT_EQ(passWriters(mutex), 0);
    mutex.unlock_shared();
    crew.join();
    source = std::stop_source();
    mutex.lock_shared();
  }
  mutex.unlock_shared();
}

// In what order those have it that come one after the other, readers as 'r' and writers as 'w'.
// Returns: nothing if somebody lost its turn, because it did not come in time.
std::string orderOfWaiters(Scheduler& scheduler, const std::string& waiters) {
  SharedMutex mutex;
  std::mutex guard;
  std::string order;
  const auto note = [&](char who) {
    const std::scoped_lock lock(guard);
    order += who;
  };
  mutex.lock();
  Crew crew(scheduler);
  int numQueued = 0;
  for (const char who : waiters) {
    crew.start(kindOf(numQueued), [&, who] {
      if (who == 'r') {
        const std::shared_lock lock(mutex);
        note(who);
      } else {
        const std::unique_lock lock(mutex);
        note(who);
      }
    });
    ++numQueued;
    awaitThat([&] { return numWaiting(mutex) == numQueued; });
  }
  mutex.unlock();
  crew.join();
  return (wordOf(mutex).*member(tests::SharedWordEpoch{})).get() == 0 ? order : std::string();
}

TEST_P(SharedMutexTest, GoesToWaitersFirstInFirstOut) {
  for (const std::string waiters : {"wrrw", "rwrr", "rrww", "wwrw"}) {
    std::string order;
    while (order.empty()) {
      order = orderOfWaiters(scheduler(), waiters);
    }
    EXPECT_EQ(order, waiters);
  }
}

// They come one after the other while a reader holds it and no more may pass: nobody has it before that one
// lets go, and then all have it.
TEST_P(SharedMutexTest, GoesToAllThatWaitSoThatNeitherKindStarves) {
  SharedMutex mutex;
  std::atomic<int> numReaders{0}, numWriters{0};
  mutex.lock_shared();
  Crew crew(scheduler());
  int numQueued = 0;
  for (char who : std::string("wrrrwrrw")) {
    crew.start(kindOf(numQueued), [&, who] {
      if (who == 'r') {
        std::shared_lock lock(mutex);
        ++numReaders;
      } else {
        std::unique_lock lock(mutex);
        ++numWriters;
      }
    });
    ++numQueued;
    awaitThat([&] { return numWaiting(mutex) == numQueued; });
    EXPECT_EQ(passWriters(mutex), numQueued == 1 ? 64 : 0);
  }
  EXPECT_EQ(numReaders + numWriters, 0);
  mutex.unlock_shared();
  crew.join();
  EXPECT_EQ(numReaders, 5);
  EXPECT_EQ(numWriters, 3);
}

TEST_P(SharedMutexTest, MayBeHeldAcrossSuspensions) {
  SharedMutex mutex;
  Event go;
  Crew crew(scheduler());
  std::atomic<int> numBack{0};
  crew.start(Kind::Task, [&] {
    std::unique_lock lock(mutex);
    go.wait();
  });
  awaitThat([&] { return tests::numWaiting(go) == 1; });
  for (int i = 0; i < 5; ++i) {
    crew.start(Kind::Task, [&] {
      std::shared_lock lock(mutex);
      ++numBack;
    });
  }
  awaitThat([&] { return numWaiting(mutex) == 5; });
  EXPECT_EQ(numBack, 0);
  go.signal();
  crew.join();
  EXPECT_EQ(numBack, 5);
}

// The two ways to hold it.
struct Exclusive {
  static bool lock(SharedMutex& mutex, const std::stop_token& token) { return mutex.lock(token); }
  template <class Duration>
  static bool lockFor(SharedMutex& mutex, const Duration& duration, const std::stop_token& token) {
    return mutex.try_lock_for(duration, token);
  }
  static void unlock(SharedMutex& mutex) { mutex.unlock(); }
};
struct Shared {
  static bool lock(SharedMutex& mutex, const std::stop_token& token) { return mutex.lock_shared(token); }
  template <class Duration>
  static bool lockFor(SharedMutex& mutex, const Duration& duration, const std::stop_token& token) {
    return mutex.try_lock_shared_for(duration, token);
  }
  static void unlock(SharedMutex& mutex) { mutex.unlock_shared(); }
};

template <class How>
void expectStopAndTimeEndTheWait(Scheduler& scheduler) {
  for (Kind kind : kKinds) {
    SharedMutex mutex;
    std::stop_source source;
    mutex.lock();
    Crew crew(scheduler);
    crew.start(kind, [&] {
      EXPECT_FALSE(How::lockFor(mutex, milliseconds(1), source.get_token()));
      EXPECT_EQ(numWaiting(mutex), 0);
      EXPECT_FALSE(How::lock(mutex, source.get_token()));
      EXPECT_FALSE(How::lockFor(mutex, std::chrono::hours(1), source.get_token()));
      EXPECT_EQ(numWaiting(mutex), 0);
    });
    awaitThat([&] { return numWaiting(mutex) == 1; });
    awaitThat([&] { return source.request_stop() || numWaiting(mutex) == 0; });
    crew.join();
    mutex.unlock();
    EXPECT_TRUE(How::lock(mutex, source.get_token())) << "a mutex that is free wins";
    How::unlock(mutex);
  }
}

TEST_P(SharedMutexTest, StopAndTimeEndTheWait) {
  expectStopAndTimeEndTheWait<Exclusive>(scheduler());
  expectStopAndTimeEndTheWait<Shared>(scheduler());
}

// Has a task wait for `mutex` as How that runs on this thread only, when it waits or yields.
template <class How>
void waitOnThisThread(SharedMutex& mutex, std::atomic<bool>& hadIt) {
  hadIt = false;
  schedule(Task(
      [&] {
        EXPECT_TRUE(How::lock(mutex, std::stop_token()));
        hadIt = true;
        How::unlock(mutex);
      },
      Task::Flags::SameThread));
  awaitThat([&] { return numWaiting(mutex) == 1; });
}

// The first to be woken can run only when this thread waits. The next could run all the time, and so can this
// thread.
template <class First, class Next>
void expectOthersGoOn(SharedMutex& mutex) {
  std::atomic<bool> hadIt{false}, firstHadIt{false};
  mutex.lock();
  waitOnThisThread<First>(mutex, firstHadIt);
  std::thread next([&] {
    EXPECT_TRUE(Next::lock(mutex, std::stop_token()));
    hadIt = true;
    Next::unlock(mutex);
  });
  awaitThat([&] { return numWaiting(mutex) == 2; });
  mutex.unlock();
  while (!hadIt) {
    detail::StdSync::pause();  // runs code of its own
  }
  next.join();
  while (!mutex.try_lock()) {
    detail::StdSync::pause();  // until the waiter has lost it
  }
  EXPECT_FALSE(firstHadIt);
  mutex.unlock();
  awaitThat([&] { return firstHadIt.load(); });
}

TEST_P(SharedMutexTest, IsNotKeptFromOthersByAWaiterThatCannotRun) {
  SharedMutex mutex;
  expectOthersGoOn<Exclusive, Exclusive>(mutex);
  expectOthersGoOn<Exclusive, Shared>(mutex);
  expectOthersGoOn<Shared, Exclusive>(mutex);
  expectOthersGoOn<Shared, Shared>(mutex);
}

// One locks and unlocks without end and never suspends by itself.
template <class Loops, class Waits>
void expectGivesWay(SharedMutex& mutex, bool isMissing) {
  std::atomic<bool> hadIt{false};
  EXPECT_TRUE(Loops::lock(mutex, std::stop_token()));
  waitOnThisThread<Waits>(mutex, hadIt);
  Loops::unlock(mutex);
  if (isMissing) {
    while (!mutex.try_lock()) {
      detail::StdSync::pause();  // until the waiter has lost it again
    }
    mutex.unlock();
  }
  while (!hadIt) {
    EXPECT_TRUE(Loops::lock(mutex, std::stop_token()));
    Loops::unlock(mutex);
  }
  // It may have released the mutex to nobody yet.
  awaitThat([&] { return mutex.try_lock(); });
  mutex.unlock();
}

TEST_P(SharedMutexTest, IsGivenUpForAWaiterOfTheSameThread) {
  SharedMutex mutex;
  for (bool isMissing : {false, true}) {
    expectGivesWay<Exclusive, Exclusive>(mutex, isMissing);
    expectGivesWay<Exclusive, Shared>(mutex, isMissing);
    expectGivesWay<Shared, Exclusive>(mutex, isMissing);
  }
}

// The readers behind a writer that gives up need not wait any more.
TEST_P(SharedMutexTest, AWriterThatGivesUpLetsTheReadersBehindItIn) {
  for (Kind kind : kKinds) {
    SharedMutex mutex;
    std::stop_source source;
    mutex.lock_shared();
    Crew crew(scheduler());
    crew.start(kind, [&] { EXPECT_FALSE(mutex.lock(source.get_token())); });
    awaitThat([&] { return numWaiting(mutex) == 1; });
    (void)passWriters(mutex);
    std::atomic<int> numIn{0};
    for (int i = 0; i < 3; ++i) {
      crew.start(kindOf(i), [&] {
        std::shared_lock lock(mutex);
        ++numIn;
      });
    }
    awaitThat([&] { return numWaiting(mutex) == 4; });
    EXPECT_EQ(numIn, 0);
    source.request_stop();
    crew.join();
    EXPECT_EQ(numIn, 3);
    mutex.unlock_shared();
  }
}

// Holds, stops and deadlines race; whoever got it has it, and at the end it is free.
TEST_P(SharedMutexTest, NoHoldIsLostToAStopOrADeadline) {
  constexpr int kMembers = 6;
  const int rounds = scaled(400, 80);
  SharedMutex mutex;
  std::mutex guard;
  std::stop_source current;
  std::atomic<int> numReaders{0}, numWriters{0}, numLeft{kMembers};
  Crew crew(scheduler());
  for (int i = 0; i < kMembers; ++i) {
    crew.start(kindOf(i), [&, i] {
      for (int round = 0; round < rounds; ++round) {
        std::stop_source source;
        {
          std::scoped_lock lock(guard);
          current = source;
        }
        const std::chrono::microseconds time((round * 7 + i) % 60);
        if ((round + i) % 2 == 0) {
          if (round % 3 == 0 ? mutex.lock(source.get_token())
                             : mutex.try_lock_for(time, source.get_token())) {
            EXPECT_EQ(++numWriters + numReaders, 1);
            yield();
            --numWriters;
            mutex.unlock();
          }
        } else if (round % 3 == 0 ? mutex.lock_shared(source.get_token())
                                  : mutex.try_lock_shared_for(time, source.get_token())) {
          ++numReaders;
          EXPECT_EQ(numWriters, 0);
          yield();
          --numReaders;
          mutex.unlock_shared();
        }
      }
      --numLeft;
    });
  }
  crew.start(Kind::FreeThread, [&] {
    while (numLeft > 0) {
      std::stop_source source;
      {
        std::scoped_lock lock(guard);
        source = current;
      }
      source.request_stop();
      std::this_thread::yield();
    }
  });
  crew.join();
  EXPECT_EQ(numWaiting(mutex), 0);
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

// The holder releases; whoever waited destroys the mutex as soon as it is its own, while the holder may still
// be returning.
template <class First, class Second>
struct HandOverGate {
  void wait() {
    awaitHold();
    EXPECT_TRUE(Second::lock(mutex, std::stop_token()));
    Second::unlock(mutex);
  }
  void wakeOne() {
    EXPECT_TRUE(First::lock(mutex, std::stop_token()));
    isHeld = true;
    detail::StdSync::pause();
    First::unlock(mutex);
  }
  void awaitHold() {
    uint32_t round = 0;
    while (!isHeld.load()) {
      detail::relax(round);
    }
  }
  SharedMutex mutex;
  std::atomic<bool> isHeld{false};
};

TEST_P(SharedMutexTest, MayBeDestroyedAsSoonAsTheLastUnlockLetsTheWaiterGo) {
  for (Kind kind : kKinds) {
    const int rounds = scaled(2'000, 500);
    tests::destroyAsSoonAsWaitReturns<HandOverGate<Exclusive, Exclusive>>(scheduler(), kind, rounds);
    tests::destroyAsSoonAsWaitReturns<HandOverGate<Exclusive, Shared>>(scheduler(), kind, rounds);
    tests::destroyAsSoonAsWaitReturns<HandOverGate<Shared, Exclusive>>(scheduler(), kind, rounds);
  }
}

using SharedMutexDeathTest = tests::DeathTest;

TEST_F(SharedMutexDeathTest, UnlockedByOneThatDoesNotHoldIt) {
  EXPECT_DEATH(SharedMutex().unlock(),
               "SharedMutex .* was unlocked by a fiber or thread that does not hold it alone .it is not "
               "locked, or shared");
  EXPECT_DEATH(
      {
        SharedMutex mutex;
        mutex.lock();
        std::thread([&] { mutex.unlock(); }).join();
      },
      "held by another");
  EXPECT_DEATH(
      {
        SharedMutex mutex;
        mutex.lock_shared();
        mutex.unlock();
      },
      "not locked, or shared");
}

TEST_F(SharedMutexDeathTest, UnlockedSharedWhileNobodySharesIt) {
  EXPECT_DEATH(SharedMutex().unlock_shared(), "unlock_shared\\(\\) was called while nobody shares it");
  EXPECT_DEATH(
      {
        SharedMutex mutex;
        mutex.lock();
        mutex.unlock_shared();
      },
      "unlock_shared\\(\\) was called while nobody shares it");
}

TEST_F(SharedMutexDeathTest, LockedByItsHolder) {
  EXPECT_DEATH(
      {
        SharedMutex mutex;
        mutex.lock();
        mutex.lock();
      },
      "was locked by the fiber or thread that holds it alone already");
  EXPECT_DEATH(
      {
        SharedMutex mutex;
        mutex.lock();
        mutex.lock_shared();
      },
      "was locked by the fiber or thread that holds it alone already");
}

TEST_F(SharedMutexDeathTest, DestroyedWhileItIsHeld) {
  EXPECT_DEATH(
      {
        SharedMutex mutex;
        mutex.lock_shared();
      },
      "SharedMutex was destroyed while somebody held it or waited for it");
}

}  // namespace
}  // namespace weft
