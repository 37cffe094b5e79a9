// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Tasks, bound threads and threads with nothing bound, in any mixture, on every primitive, with and without
// timeouts; and that none of it allocates.

#include <weft/weft.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "count_mallocs.h"
#include "waiting.h"

namespace weft {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kindOf;
using tests::kKinds;
using tests::scaled;

class MixtureTest : public tests::WithScheduler {
 protected:
  // Calls f(kind of waiter, kind of waker) for each pair.
  template <class F>
  static void forEachPair(F f) {
    for (Kind waiter : kKinds) {
      for (Kind waker : kKinds) {
        f(waiter, waker);
      }
    }
  }

  // A waiter of one kind and a waker of another hand a token back and forth.
  template <class Gate, class Wait>
  void pingPong(Wait wait) {
    const int rounds = scaled(100, 30);
    forEachPair([&](Kind first, Kind second) {
      Gate there, back;
      Crew crew(scheduler());
      crew.start(first, [&] {
        for (int i = 0; i < rounds; ++i) {
          there.wakeOne();
          wait(back, i);
        }
      });
      crew.start(second, [&] {
        for (int i = 0; i < rounds; ++i) {
          wait(there, i);
          back.wakeOne();
        }
      });
    });
  }

  template <class Gate>
  void pingPong() {
    pingPong<Gate>([](Gate& gate, int) { gate.wait(); });
    pingPong<Gate>([](Gate& gate, int) { EXPECT_TRUE(gate.waitFor(hours(1))); });
    // Timeouts that end about when the wake comes.
    pingPong<Gate>([](Gate& gate, int i) {
      while (!gate.waitFor(microseconds(i % 20))) {
      }
    });
  }

  // As many take tokens as give some, of all kinds. Every token is taken once.
  template <class Gate>
  void crowd() {
    constexpr int kMembers = 6;
    const int rounds = scaled(200, 50);
    Gate gate;
    std::atomic<int> numGiven{0}, numTaken{0};
    Crew crew(scheduler());
    for (int i = 0; i < kMembers; ++i) {
      crew.start(kindOf(i), [&, i] {
        for (int round = 0; round < rounds; ++round) {
          if (round % 2 == 0) {
            gate.wait();
          } else {
            while (!gate.waitFor(microseconds(round % (10 * (i + 1))))) {
            }
          }
          ++numTaken;
        }
      });
      crew.start(kindOf(i + 1), [&, i] {
        for (int round = 0; round < rounds; ++round) {
          ++numGiven;
          gate.wakeOne();
          if (round % 8 == i) {
            yield();
          }
        }
      });
    }
    crew.join();
    EXPECT_EQ(numTaken, numGiven);
    EXPECT_EQ(gate.numWaiting(), 0);
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(MixtureTest);

TEST_P(MixtureTest, EventsHandATokenBackAndForth) { pingPong<tests::AutoEventGate>(); }
TEST_P(MixtureTest, SemaphoresHandATokenBackAndForth) { pingPong<tests::SemaphoreGate>(); }
TEST_P(MixtureTest, ConditionVariablesHandATokenBackAndForth) { pingPong<tests::WeftVariableGate>(); }
TEST_P(MixtureTest, ConditionVariablesOverAStdMutexHandATokenBackAndForth) {
  pingPong<tests::StdVariableGate>();
}

TEST_P(MixtureTest, SemaphoreServesACrowd) { crowd<tests::SemaphoreGate>(); }
TEST_P(MixtureTest, ConditionVariableServesACrowd) { crowd<tests::WeftVariableGate>(); }
TEST_P(MixtureTest, ConditionVariableOverAStdMutexServesACrowd) { crowd<tests::StdVariableGate>(); }

TEST_P(MixtureTest, ARingOfEventsPassesATokenRound) {
  constexpr size_t kMembers = 9;
  const int rounds = scaled(100, 30);
  const std::vector<Event> ring = [] {
    std::vector<Event> events;
    for (size_t i = 0; i < kMembers; ++i) {
      events.emplace_back(Event::Mode::Auto);
    }
    return events;
  }();
  int numPasses = 0;
  {
    Crew crew(scheduler());
    for (size_t i = 0; i < kMembers; ++i) {
      crew.start(kindOf(static_cast<int>(i)), [&, i] {
        for (int round = 0; round < rounds; ++round) {
          if (round % 3 == 0) {
            while (!ring[i].wait_for(microseconds(50))) {
            }
          } else {
            ring[i].wait();
          }
          ++numPasses;
          ring[(i + 1) % kMembers].signal();
        }
      });
    }
    ring[0].signal();
  }
  EXPECT_EQ(numPasses, static_cast<int>(kMembers) * rounds);
}

// Rounds that all members begin together.
TEST_P(MixtureTest, WaitGroupsHoldACrowdTogether) {
  constexpr int kMembers = 9;
  const int rounds = scaled(60, 20);
  std::vector<WaitGroup> arrived, left;
  for (int i = 0; i < rounds; ++i) {
    arrived.emplace_back(kMembers);
    left.emplace_back(kMembers);
  }
  std::vector<int> numThere(static_cast<size_t>(rounds));
  mutex guard;
  Crew crew(scheduler());
  for (int i = 0; i < kMembers; ++i) {
    crew.start(kindOf(i), [&] {
      for (size_t round = 0; round < numThere.size(); ++round) {
        {
          lock held(guard);
          ++numThere[round];
        }
        arrived[round].done();
        arrived[round].wait();
        EXPECT_EQ(numThere[round], kMembers);
        left[round].done();
        left[round].wait();
      }
    });
  }
}

TEST_P(MixtureTest, AQueueJoinsProducersAndConsumers) {
  constexpr int kMembers = 6;
  constexpr size_t kRoom = 4;
  const int rounds = scaled(200, 50);
  mutex guard;
  ConditionVariable hasItem, hasRoom;
  std::deque<int> queue;
  long long sum = 0;
  {
    Crew crew(scheduler());
    for (int i = 0; i < kMembers; ++i) {
      crew.start(kindOf(i), [&] {
        for (int round = 0; round < rounds; ++round) {
          lock held(guard);
          hasRoom.wait(held, [&] { return queue.size() < kRoom; });
          queue.push_back(round);
          hasItem.notify_one();
        }
      });
      crew.start(kindOf(i + 2), [&] {
        for (int round = 0; round < rounds; ++round) {
          lock held(guard);
          while (!hasItem.wait_for(held, microseconds(round % 30), [&] { return !queue.empty(); })) {
          }
          sum += queue.front();
          queue.pop_front();
          hasRoom.notify_one();
        }
      });
    }
  }
  EXPECT_EQ(sum, static_cast<long long>(kMembers) * rounds * (rounds - 1) / 2);
}

// Fibers wait for themselves; everybody may notify them.
TEST_P(MixtureTest, FibersAreNotifiedByAllKinds) {
  const int rounds = scaled(100, 30);
  for (Kind waiter : {Kind::Task, Kind::BoundThread}) {
    for (Kind waker : kKinds) {
      std::atomic<Fiber*> fiber{nullptr};
      std::atomic<int> numNotified{0};
      const Semaphore next, last;
      Crew crew(scheduler());
      crew.start(waiter, [&] {
        fiber = Fiber::current();
        std::mutex guard;
        for (int i = 0; i < rounds; ++i) {
          // A permit may be left over from a round that found its condition true before the notify.
          while (i % 3 == 0 && numNotified <= i) {
            Fiber::current()->wait();
          }
          while (i % 3 == 1 && numNotified <= i) {
            Fiber::current()->wait(std::chrono::steady_clock::now() + microseconds(i % 20));
          }
          if (i % 3 == 2) {
            std::unique_lock held(guard);
            Fiber::current()->wait(held, [&] { return numNotified > i; });
          }
          next.release();
        }
        last.acquire();  // a fiber may be notified until its task ends
      });
      crew.start(waker, [&] {
        awaitThat([&] { return fiber != nullptr; });
        for (int i = 0; i < rounds; ++i) {
          ++numNotified;
          fiber.load()->notify();
          next.acquire();
        }
        last.release();
      });
    }
  }
}

TEST_P(MixtureTest, AllSleepAtOnce) {
  Crew crew(scheduler());
  for (int i = 0; i < 12; ++i) {
    crew.start(kindOf(i), [i] {
      for (int round = 0; round < 5; ++round) {
        const auto time = std::chrono::steady_clock::now() + microseconds(100 * (i % 5));
        sleep_until(time);
        EXPECT_GE(std::chrono::steady_clock::now(), time);
      }
    });
  }
}

// One kind of waiter after the other on one thread: a bound thread's fiber is another waiter than the thread
// itself.
TEST_P(MixtureTest, AThreadWaitsBeforeDuringAndAfterItsBinding) {
  Event event;
  Crew crew(scheduler());
  crew.start(Kind::FreeThread, [&] {
    event.wait();
    {
      Scheduler::Binding bound(scheduler());
      event.wait();
    }
    event.wait();
  });
  for (int i = 0; i < 3; ++i) {
    awaitThat([&] { return tests::numWaiting(event) == 1; });
    event.signal();
  }
}

// Runs `f` often, on a fiber, then again, counting what it allocates. The first rounds may: pools are filled.
void expectNoAllocations(Scheduler& scheduler, const char* what, const std::function<void()>& f) {
  if (!tests::kCountsMallocs) {
    return;
  }
  constexpr int kRounds = 500;
  for (Kind kind : kKinds) {
    Crew crew(scheduler);
    crew.start(kind, [&] {
      for (int i = 0; i < kRounds; ++i) {
        f();
      }
      // Another worker may end the crew before only now, and so begin to use its pools. What allocates does
      // so in each round.
      uint64_t numNew = 1;
      for (int attempt = 0; numNew != 0 && attempt < 10; ++attempt) {
        const uint64_t before = tests::numMallocs();
        for (int i = 0; i < kRounds; ++i) {
          f();
        }
        numNew = tests::numMallocs() - before;
      }
      EXPECT_EQ(numNew, 0u) << what;
    });
  }
}

TEST_P(MixtureTest, FastPathsAllocateNothing) {
  mutex guard;
  ConditionVariable variable;
  const Event event;
  const Event manual(Event::Mode::Manual, true);
  const Semaphore semaphore(1'000'000);
  expectNoAllocations(scheduler(), "mutex", [&] {
    {
      lock held(guard);
    }
    while (!guard.try_lock()) {
    }
    guard.unlock();
  });
  expectNoAllocations(scheduler(), "Event", [&] {
    event.signal();
    event.test();
    event.clear();
    manual.wait();
    EXPECT_TRUE(manual.wait_for(hours(1)));
    EXPECT_FALSE(Event().isSignalled());
  });
  expectNoAllocations(scheduler(), "WaitGroup", [] {
    const WaitGroup group(1);
    group.add();
    group.done();
    group.done();
    group.wait();
  });
  expectNoAllocations(scheduler(), "Semaphore", [&] {
    semaphore.acquire();
    EXPECT_TRUE(semaphore.try_acquire_for(hours(1)));
    semaphore.release(2);
    const Semaphore another(1);
  });
  expectNoAllocations(scheduler(), "ConditionVariable", [&] {
    variable.notify_one();
    variable.notify_all();
    lock held(guard);
    variable.wait(held, [] { return true; });
  });
}

// Waiting itself, on a fiber whose stack is there: a thing to wait for is found by a timeout, or by another
// task.
TEST_P(MixtureTest, WaitsAllocateNothing) {
  mutex guard;
  ConditionVariable variable;
  const Event never;
  const Semaphore none;
  expectNoAllocations(scheduler(), "timed waits", [&] {
    EXPECT_FALSE(never.wait_for(microseconds(1)));
    EXPECT_FALSE(none.try_acquire_for(microseconds(1)));
    lock held(guard);
    EXPECT_FALSE(variable.wait_for(held, microseconds(1), [] { return false; }));
    sleep_for(microseconds(1));
  });
}

TEST_P(MixtureTest, WaitingForATaskAllocatesNothing) {
  if (!tests::kCountsMallocs) {
    return;
  }
  const auto rounds = [](int count) {
    for (int i = 0; i < count; ++i) {
      const Event there, back;
      const WaitGroup group(1);
      schedule([=] {
        there.wait();
        back.signal();
        group.done();
      });
      there.signal();
      EXPECT_TRUE(back.wait_for(hours(1)));
      group.wait();
    }
  };
  // A pool may still grow now and then on several workers, since it is a matter of who frees how many. It
  // stops.
  uint64_t numNew = 1;
  for (int attempt = 0; numNew != 0 && attempt < 50; ++attempt) {
    const uint64_t before = tests::numMallocs();
    rounds(300);
    numNew = tests::numMallocs() - before;
  }
  EXPECT_EQ(numNew, 0u);
}

}  // namespace
}  // namespace weft
