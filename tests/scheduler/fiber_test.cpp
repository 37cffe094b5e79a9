// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fiber.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

#include <weft/event.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "rounds.h"
#include "with_scheduler.h"

namespace weft {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;
using tests::scaled;

class FiberTest : public tests::WithScheduler {
 protected:
  // Runs f() in a task and waits for it.
  template <class F>
  static void inTask(F f) {
    WaitGroup done(1);
    schedule([&f, done] {
      f();
      done.done();
    });
    done.wait();
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(FiberTest);

TEST(FiberWithoutSchedulerTest, ThereIsNone) {
  EXPECT_EQ(Fiber::current(), nullptr);
  yield();
}

TEST_P(FiberTest, IsThatOfTheBoundThreadOutsideTasks) {
  Fiber* self = Fiber::current();
  ASSERT_NE(self, nullptr);
  inTask([] {});
  EXPECT_EQ(Fiber::current(), self);
  Scheduler::unbind();
  EXPECT_EQ(Fiber::current(), nullptr);
}

TEST_P(FiberTest, IsTheSameTypeAsTheSchedulers) {
  static_assert(std::is_same_v<Scheduler::Fiber, Fiber>);
  EXPECT_EQ(Scheduler::Fiber::current(), Fiber::current());
}

TEST_P(FiberTest, StaysTheSameForATaskAcrossSuspensions) {
  std::atomic<int> changed{0};
  WaitGroup done(50);
  for (int i = 0; i < 50; ++i) {
    schedule([&changed, done] {
      Fiber* self = Fiber::current();
      const uint32_t id = self->id;
      for (int round = 0; round < 10; ++round) {
        yield();
        changed += Fiber::current() != self || self->id != id;
      }
      done.done();
    });
  }
  done.wait();
  EXPECT_EQ(changed, 0);
}

TEST_P(FiberTest, HasAnIdThatNoOtherFiberOfItsThreadHas) {
  std::set<uint32_t> ids;
  WaitGroup done(1);
  schedule([&ids, done] {
    // All of this thread, and all alive at the same time.
    constexpr int kFibers = 30;
    WaitGroup waiting(kFibers), left(kFibers);
    Event go(Event::Mode::Manual);
    for (int i = 0; i < kFibers; ++i) {
      schedule(Task(
          [&ids, waiting, left, go] {
            ids.insert(Fiber::current()->id);
            waiting.done();
            go.wait();
            left.done();
          },
          Task::Flags::SameThread));
    }
    waiting.wait();
    go.signal();
    left.wait();
    done.done();
  });
  done.wait();
  EXPECT_EQ(ids.size(), 30u);
}

TEST_P(FiberTest, WaitReturnsAfterNotify) {
  std::atomic<Fiber*> waiter{nullptr};
  bool woke = false;
  WaitGroup done(1);
  schedule([&, done] {
    waiter = Fiber::current();
    Fiber::current()->wait();
    woke = true;
    done.done();
  });
  schedule([&] {
    while (waiter == nullptr) {
      yield();
    }
    waiter.load()->notify();
  });
  done.wait();
  EXPECT_TRUE(woke);
}

TEST_P(FiberTest, ANotifyBeforeTheWaitIsNotLost) {
  inTask([] {
    Fiber* self = Fiber::current();
    self->notify();
    self->wait();
    self->notify();
    EXPECT_TRUE(self->wait(steady_clock::now() + std::chrono::hours(1)));
  });
  Fiber::current()->notify();
  Fiber::current()->wait();
}

TEST_P(FiberTest, SeveralNotifiesCountAsOne) {
  inTask([] {
    Fiber* self = Fiber::current();
    for (int i = 0; i < 5; ++i) {
      self->notify();
    }
    self->wait();
    EXPECT_FALSE(self->wait(steady_clock::now() + microseconds(100)));
  });
}

TEST_P(FiberTest, SeveralNotifiesToOneThatIsQueuedAlreadyCountAsOne) {
  inTask([] {
    Fiber* self = Fiber::current();
    schedule(Task(
        [self] {
          self->notify();
          self->notify();
        },
        Task::Flags::SameThread));
    self->wait();
    EXPECT_FALSE(self->wait(steady_clock::now() + microseconds(100)));
  });
}

TEST_P(FiberTest, AWaitOnAPrimitiveNeitherTakesNorLeavesANotify) {
  inTask([] {
    Fiber* self = Fiber::current();
    self->notify();
    Event event;
    schedule([event] { event.signal(); });
    event.wait();
    EXPECT_TRUE(self->wait(steady_clock::now() + std::chrono::hours(1)));
    EXPECT_FALSE(self->wait(steady_clock::now()));
  });
}

TEST_P(FiberTest, ANotifyDoesNotEndAWaitOnAPrimitive) {
  std::atomic<bool> wasSignalled{false};
  std::atomic<Fiber*> waiter{nullptr};
  std::atomic<int> tooEarly{0};
  Event event;
  WaitGroup done(2);
  schedule([&, done] {
    waiter = Fiber::current();
    event.wait();
    tooEarly += !wasSignalled;
    done.done();
  });
  schedule([&, done] {
    while (waiter == nullptr) {
      yield();
    }
    for (int i = 0; i < 20; ++i) {
      waiter.load()->notify();
      yield();
    }
    wasSignalled = true;
    event.signal();
    done.done();
  });
  done.wait();
  EXPECT_EQ(tooEarly, 0);
}

TEST_P(FiberTest, ATaskDoesNotInheritTheNotifyOfTheTaskBefore) {
  inTask([] {
    WaitGroup done(1);
    schedule(Task(
        [done] {
          Fiber::current()->notify();
          done.done();
        },
        Task::Flags::SameThread));
    done.wait();
    WaitGroup second(1);
    schedule(Task(
        [second] {
          EXPECT_FALSE(Fiber::current()->wait(steady_clock::now() + microseconds(10)));
          second.done();
        },
        Task::Flags::SameThread));
    second.wait();
  });
}

TEST_P(FiberTest, AThreadWithNothingBoundMayNotify) {
  std::atomic<Fiber*> waiter{nullptr};
  std::atomic<bool> isOver{false};
  tests::Tokens isWaiting;
  int woken = 0, notified = 0;
  WaitGroup done(1);
  schedule([&, done] {
    waiter = Fiber::current();
    for (tests::Rounds round(scaled(20'000, 2'000)); round.next();) {
      isWaiting.give();
      Fiber::current()->wait();
      ++woken;
    }
    isOver = true;
    isWaiting.give();
    done.done();
  });
  std::thread notifier([&] {
    for (;;) {
      isWaiting.take();
      if (isOver) {
        return;
      }
      ++notified;
      waiter.load()->notify();
    }
  });
  done.wait();
  notifier.join();
  EXPECT_EQ(woken, notified);
}

TEST_P(FiberTest, TwoFibersNotifyEachOtherInTurn) {
  const int kRounds = scaled(20'000, 2'000);
  std::atomic<Fiber*> fibers[2] = {};
  int turns = 0;
  WaitGroup done(2);
  for (const int side : {0, 1}) {
    schedule([&, side, done] {
      Fiber* self = Fiber::current();
      fibers[side] = self;
      while (fibers[1 - side] == nullptr) {
        yield();
      }
      for (int i = 0; i < kRounds; ++i) {
        if (side == 1 || i > 0) {
          self->wait();
        }
        ++turns;
        fibers[1 - side].load()->notify();
      }
      if (side == 0) {
        self->wait();
      }
      done.done();
    });
  }
  done.wait();
  EXPECT_EQ(turns, 2 * kRounds);
}

TEST_P(FiberTest, WaitWithAPredicateLooksAgainAfterEachNotify) {
  mutex guard;
  int value = 0;
  std::atomic<int> looks{0};
  std::atomic<Fiber*> waiter{nullptr};
  std::atomic<int> withoutLock{0};
  WaitGroup done(1);
  Event allNotified;  // until then the fiber must live
  schedule([&, done, allNotified] {
    {
      std::unique_lock lock(guard);
      waiter = Fiber::current();
      Fiber::current()->wait(lock, [&] {
        withoutLock += !lock.owns_lock();
        ++looks;
        return value == 3;
      });
      withoutLock += !lock.owns_lock();
    }
    allNotified.wait();
    done.done();
  });
  while (waiter == nullptr) {
    schedule([] {});
    yield();
  }
  for (int i = 1; i <= 3; ++i) {
    {
      std::scoped_lock lock(guard);
      value = i;
    }
    waiter.load()->notify();
  }
  allNotified.signal();
  done.wait();
  EXPECT_GE(looks, 2);
  EXPECT_EQ(withoutLock, 0);
}

TEST_P(FiberTest, WaitWithAPredicateThatHoldsDoesNotSuspend) {
  inTask([] {
    mutex guard;
    std::unique_lock lock(guard);
    Fiber::current()->wait(lock, [] { return true; });
    EXPECT_TRUE(Fiber::current()->wait(lock, steady_clock::now() - milliseconds(1), [] { return true; }));
  });
}

TEST_P(FiberTest, WaitWithAPredicateAndATimeoutReturnsThePredicate) {
  inTask([] {
    mutex guard;
    std::unique_lock lock(guard);
    EXPECT_FALSE(Fiber::current()->wait(lock, steady_clock::now() + microseconds(200), [] { return false; }));
    EXPECT_TRUE(lock.owns_lock());
    // It becomes true, and nobody says so.
    int calls = 0;
    EXPECT_TRUE(
        Fiber::current()->wait(lock, steady_clock::now() + microseconds(200), [&] { return ++calls == 2; }));
  });
}

TEST_P(FiberTest, ATimedWaitWithoutNotifyEndsNotBeforeItsTime) {
  inTask([] {
    const auto steady = steady_clock::now() + microseconds(300);
    EXPECT_FALSE(Fiber::current()->wait(steady));
    EXPECT_GE(steady_clock::now(), steady);
    const auto system = system_clock::now() + microseconds(300);
    EXPECT_FALSE(Fiber::current()->wait(system));
    EXPECT_GE(system_clock::now(), system);
  });
}

// A clock of one's own that runs at a tenth of the speed.
struct SlowClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SlowClock>;
  [[maybe_unused]] static constexpr bool is_steady = true;
  static time_point now() { return time_point(steady_clock::now().time_since_epoch() / 10); }
};

TEST_P(FiberTest, ATimedWaitIsNeverEarlyByTheClockItWasGiven) {
  inTask([] {
    const auto time = SlowClock::now() + microseconds(50);
    EXPECT_FALSE(Fiber::current()->wait(time));
    EXPECT_GE(SlowClock::now(), time);
  });
}

TEST_P(FiberTest, AWaitForThreeHundredYearsEndsWithTheNotify) {
  inTask([] {
    Fiber* self = Fiber::current();
    for (int i = 0; i < 2; ++i) {
      schedule([self] { self->notify(); });
      const auto years = std::chrono::hours(24 * 365 * 200);
      EXPECT_TRUE(i == 0 ? self->wait(steady_clock::time_point::max())
                         : self->wait(system_clock::now() + years));
    }
  });
}

TEST_P(FiberTest, AWaitUntilATimeThatIsPastGivesAnythingButANotifyBack) {
  inTask([] {
    Fiber* self = Fiber::current();
    EXPECT_FALSE(self->wait(steady_clock::now() - milliseconds(1)));
    EXPECT_FALSE(self->wait(steady_clock::time_point::min()));
    EXPECT_FALSE(self->wait(system_clock::time_point::min()));
    self->notify();
    EXPECT_TRUE(self->wait(steady_clock::now() - milliseconds(1)));
  });
}

TEST_P(FiberTest, SleepersWakeInTheOrderOfTheirTimes) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "the order is certain on one thread only";
  }
  constexpr int kFibers = 20;
  for (auto lead = milliseconds(2);; lead *= 2) {
    std::vector<int> order;
    WaitGroup done(kFibers + 1);
    const auto start = steady_clock::now() + lead;
    int numBegun = 0;
    for (int i = 0; i < kFibers; ++i) {
      const int rank = i * 7 % kFibers;
      schedule([&order, &numBegun, start, rank, done] {
        ++numBegun;
        sleep_until(start + microseconds(10 * rank));
        order.push_back(rank);
        done.done();
      });
    }
    // It runs on the thread of the sleepers, so that those that have begun have looked at the clock already.
    steady_clock::time_point allSleep;
    schedule([&numBegun, &allSleep, done] {
      while (numBegun < kFibers) {
        yield();
      }
      allSleep = steady_clock::now();
      done.done();
    });
    done.wait();
    ASSERT_EQ(order.size(), static_cast<size_t>(kFibers));
    // Whose time has passed already does not wait for others.
    if (allSleep < start) {
      EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
      break;
    }
  }
}

// A fiber whose waits end by a timeout or by the notify of another thread, once a round.
struct Contested {
  Fiber* fiber = nullptr;
  std::atomic<int> round{0};        // stored by the fiber when it begins to wait
  std::atomic<bool> isOver{false};  // stored by the fiber after its last round
  int lastNotified = 0;             // the notifier's
  int numNotified = 0, numTimedOut = 0, numLate = 0;

  // These rounds, and on until each of the two has won.
  void waitRounds(tests::Rounds rounds) {
    fiber = Fiber::current();
    std::chrono::nanoseconds timeout(1000);
    for (int i = 1; rounds.next() || numNotified == 0 || numTimedOut == 0; ++i) {
      // release: publishes `fiber`.
      round.store(i, std::memory_order_release);
      // As long as the notify takes of late, so that either may win.
      if (fiber->wait(steady_clock::now() + timeout)) {
        ++numNotified;
        timeout -= timeout / 8;
      } else {
        ++numTimedOut;
        timeout += timeout / 8 + std::chrono::nanoseconds(8);
        // The notify is still to come, and must not get lost.
        fiber->wait();
        ++numLate;
      }
    }
    isOver = true;
  }

  // Whether a round has begun that was not notified yet.
  bool isDue() const { return round.load(std::memory_order_acquire) != lastNotified; }

  void notify() {
    ++lastNotified;
    fiber->notify();
  }
};

// A timeout and a notify race; the number of those that win must be the number of rounds, on either side: a
// notify that comes too late for one wait ends the next, and none is counted twice. More than a million
// rounds, of many fibers at once, so that neither thread waits for the other.
TEST_P(FiberTest, OfATimeoutAndANotifyThatRaceExactlyOneWins) {
  constexpr int kFibers = 64;
  const int kRounds = scaled(numWorkers() <= 1 ? 8'000 : 1'000, 500);
  std::vector<Contested> contested(kFibers);
  WaitGroup done(kFibers);
  for (Contested& one : contested) {
    schedule([&one, kRounds, done] {
      one.waitRounds(tests::Rounds(kRounds, microseconds(scaled(500, 5000))));
      done.done();
    });
  }
  std::thread notifier([&] {
    tests::Patience patience;
    for (;;) {
      std::vector<Contested*> due;
      int numActive = 0;
      for (Contested& one : contested) {
        if (one.isOver) {
          continue;
        }
        ++numActive;
        if (one.isDue()) {
          due.push_back(&one);
        }
      }
      if (numActive == 0) {
        break;
      }
      // Many at a time: waking a thread that sleeps costs far more than the race.
      if (2 * static_cast<int>(due.size()) < numActive) {
        patience.wait();
        continue;
      }
      patience = {};
      for (Contested* one : due) {
        one->notify();
      }
    }
  });
  done.wait();
  notifier.join();
  for (const Contested& one : contested) {
    EXPECT_EQ(one.numNotified + one.numTimedOut, one.lastNotified)
        << "a round has taken no notify of its own";
    EXPECT_EQ(one.numLate, one.numTimedOut);
  }
}

// Ten million rounds together with those above.
TEST_P(FiberTest, OfATimeoutAndANotifyOnOneThreadThatRaceExactlyOneWins) {
  const int kRounds = scaled(numWorkers() <= 1 ? 4'400'000 : 50'000, 20'000);
  struct Shared {
    Fiber* waiter = nullptr;
    int notified = 0, timedOut = 0, late = 0;
    int round = 0, notifiedRound = 0;
    bool isOver = false;
  } shared;
  WaitGroup done(2);
  schedule([&shared, kRounds, done] {
    shared.waiter = Fiber::current();
    schedule(Task(
        [&shared, done] {
          while (!shared.isOver) {
            // Now and then up to 79 rounds of the worker come between the wait and the notify.
            const int round = shared.round;
            for (int pause = round % 16 == 0 ? round / 16 % 80 : 0; pause > 0; --pause) {
              yield();
            }
            if (shared.notifiedRound != round) {
              shared.notifiedRound = round;
              shared.waiter->notify();
            }
            yield();
          }
          done.done();
        },
        Task::Flags::SameThread));
    tests::Rounds rounds(kRounds, microseconds(scaled(2, 200)));
    std::chrono::nanoseconds timeout(100);
    for (bool isFurther = rounds.next(); isFurther || shared.notified == 0; isFurther = rounds.next()) {
      const int i = ++shared.round;
      // Where every notify has come too late so far, one will come in time.
      timeout *= isFurther ? 1 : 2;
      if (shared.waiter->wait(steady_clock::now() + (i % 8 == 0 ? std::chrono::nanoseconds(0) : timeout))) {
        ++shared.notified;
      } else {
        ++shared.timedOut;
        shared.waiter->wait();
        ++shared.late;
      }
    }
    shared.isOver = true;
    done.done();
  });
  done.wait();
  EXPECT_EQ(shared.notified + shared.timedOut, shared.notifiedRound);
  EXPECT_EQ(shared.late, shared.timedOut);
  EXPECT_GT(shared.timedOut, 0) << "a time that has passed already";
}

TEST_P(FiberTest, SleepLastsAtLeastAsLongAsAskedFor) {
  const auto before = steady_clock::now();
  sleep_for(microseconds(200));
  EXPECT_GE(steady_clock::now() - before, microseconds(200));
  inTask([] {
    const auto start = steady_clock::now();
    sleep_for(microseconds(200));
    sleep_until(system_clock::now());
    sleep_for(microseconds(-5));
    EXPECT_GE(steady_clock::now() - start, microseconds(200));
  });
}

TEST(FiberWithoutSchedulerTest, SleepBlocksTheThread) {
  const auto before = steady_clock::now();
  sleep_for(microseconds(200));
  sleep_until(before + microseconds(300));
  EXPECT_GE(steady_clock::now() - before, microseconds(300));
}

TEST_P(FiberTest, ASleepingFiberLetsOthersRun) {
  inTask([] {
    Event slept;
    bool ran = false;
    schedule(Task(
        [&ran, slept] {
          ran = true;
          slept.signal();
        },
        Task::Flags::SameThread));
    sleep_for(microseconds(50));
    slept.wait();
    EXPECT_TRUE(ran);
  });
}

TEST_P(FiberTest, ABoundThreadWaitsAndIsNotifiedLikeATask) {
  Fiber* self = Fiber::current();
  for (int i = 0; i < 100; ++i) {
    schedule([self] { self->notify(); });
    self->wait();
  }
  EXPECT_FALSE(self->wait(steady_clock::now() + microseconds(10)));
}

// What fiber.h says: a task finds the rounding mode that another has left on its thread.
TEST(FiberEnvironmentTest, TheRoundingModeBelongsToTheThread) {
  Scheduler scheduler(Scheduler::Config{});
  Scheduler::Binding bound(scheduler);
  const int before = std::fegetround();
  int seen = before;
  WaitGroup done(2);
  schedule([&] {
    std::fesetround(FE_UPWARD);
    yield();
    std::fesetround(before);
    done.done();
  });
  schedule([&] {
    seen = std::fegetround();
    done.done();
  });
  done.wait();
  EXPECT_EQ(seen, FE_UPWARD);
  EXPECT_EQ(std::fegetround(), before);
}

template <size_t kBytes>
[[gnu::noinline]] void useStack() {
  char local[kBytes];
  std::fill_n(local, kBytes, '\1');
  asm volatile("" : : "r"(local) : "memory");
}

TEST_P(FiberTest, TheHighWaterOfAStackIsItsDeepestPage) {
  size_t before = 0, after = 0;
  inTask([&] {
    before = Fiber::current()->stackHighWater();
    useStack<40'000>();
    after = Fiber::current()->stackHighWater();
  });
  EXPECT_GT(before, 0u);
  EXPECT_EQ(after % 4096, 0u);
  EXPECT_GE(after, before);
  EXPECT_LE(after, Scheduler::get()->config().fiberStackSize);
  if (!tests::kUnderAsan) {  // which may keep locals elsewhere
    EXPECT_GE(after, 40'000u);
  }
}

TEST_P(FiberTest, TheHighWaterOfAnotherFiberMayBeAskedFor) {
  Event asked;
  WaitGroup waits(1), done(1);
  Fiber* other = nullptr;
  schedule([&, asked, waits, done] {
    useStack<40'000>();
    other = Fiber::current();
    waits.done();
    asked.wait();
    done.done();
  });
  waits.wait();
  EXPECT_GT(other->stackHighWater(), tests::kUnderAsan ? 0u : 40'000u);
  asked.signal();
  done.wait();
}

TEST_P(FiberTest, TheHighWaterOfABoundThreadIsThatOfItsOwnStack) {
  Fiber* const self = Fiber::current();
  useStack<2'000'000>();
  EXPECT_GT(self->stackHighWater(), tests::kUnderAsan ? 0u : 2'000'000u);
  size_t elsewhere = 1;
  std::thread([&] { elsewhere = self->stackHighWater(); }).join();
  EXPECT_EQ(elsewhere, 0u);
}

}  // namespace
}  // namespace weft
