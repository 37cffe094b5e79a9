// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include <weft/blockingcall.h>
#include <weft/channel.h>
#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/mutex.h>
#include <weft/parallel.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "../waiting.h"
#include "../workloads.h"

// What is run in torture surroundings: a little of everything, whose results are known.
namespace weft::tests {

// Many add to one number, and some of them wait with the lock.
inline void expectNothingLostUnderALock(Scheduler& scheduler) {
  constexpr int kMembers = 12, kSteps = 20;
  mutex guard;
  int sum = 0;
  Crew crew(scheduler);
  for (int i = 0; i < kMembers; ++i) {
    crew.start(kindOf(i), [&] {
      for (int step = 0; step < kSteps; ++step) {
        const lock held(guard);
        const int before = sum;
        if (step % 8 == 0) {
          yield();
        }
        sum = before + 1;
      }
    });
  }
  crew.join();
  EXPECT_EQ(sum, kMembers * kSteps);
}

// Each token is taken once, by waits with and without a time limit.
inline void expectEachTokenTakenOnce(Scheduler& scheduler) {
  constexpr int kMembers = 6, kSteps = 20;
  const Semaphore tokens;
  std::atomic<int> numTaken{0};
  Crew crew(scheduler);
  for (int i = 0; i < kMembers; ++i) {
    crew.start(kindOf(i), [&, i] {
      for (int step = 0; step < kSteps; ++step) {
        if (step % 2 == 0) {
          tokens.acquire();
        } else {
          while (!tokens.try_acquire_for(std::chrono::microseconds(20 * i + step))) {
          }
        }
        ++numTaken;
      }
    });
    crew.start(kindOf(i + 1), [&] {
      for (int step = 0; step < kSteps; ++step) {
        tokens.release();
      }
    });
  }
  crew.join();
  EXPECT_EQ(numTaken, kMembers * kSteps);
  EXPECT_FALSE(tokens.try_acquire());
}

// What is sent is received once.
inline void expectEachValueReceivedOnce() {
  constexpr int kMembers = 4, kValues = 50;
  const Channel<int> channel(3);
  const WaitGroup sent(kMembers), received(kMembers);
  std::atomic<int> sum{0};
  for (int i = 0; i < kMembers; ++i) {
    schedule([=] {
      for (int value = 1; value <= kValues; ++value) {
        channel.send(value);
      }
      sent.done();
    });
    schedule([&sum, channel, received] {
      for (const int value : channel) {
        sum += value;
      }
      received.done();
    });
  }
  sent.wait();
  channel.close();
  received.wait();
  EXPECT_EQ(sum, kMembers * kValues * (kValues + 1) / 2);
}

// No sleep ends early, and no wait for what does not come ends otherwise than by its time.
inline void expectTimesAreKept(Scheduler& scheduler) {
  const Event never;
  Crew crew(scheduler);
  for (int i = 0; i < 9; ++i) {
    crew.start(kindOf(i), [&, i] {
      for (int step = 0; step < 3; ++step) {
        const auto time = std::chrono::steady_clock::now() + std::chrono::microseconds(300 * i);
        if (step == 1) {
          EXPECT_FALSE(never.wait_until(time));
        } else {
          sleep_until(time);
        }
        EXPECT_GE(std::chrono::steady_clock::now(), time);
      }
    });
  }
}

// Requires: the calling thread is bound to `scheduler`.
inline void expectExactResults(Scheduler& scheduler) {
  EXPECT_EQ(fibInTask(12), 144u);
  expectNothingLostUnderALock(scheduler);
  expectEachTokenTakenOnce(scheduler);
  expectEachValueReceivedOnce();
  expectTimesAreKept(scheduler);
  EXPECT_EQ(parallelReduce(0, 10'000, 0), 49'995'000);
  EXPECT_EQ(blocking_call([] { return 42; }), 42);
}

}  // namespace weft::tests
