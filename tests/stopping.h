// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/scheduler.h>

#include "waiting.h"

// What must hold for each wait that takes a std::stop_token. A Gate is made of the primitive:
//
//   bool wait(token), bool waitFor(duration, token)   wait for a signal and use it up
//   void wakeOne()                                    gives one signal
//   int numWaiting()
namespace weft::tests {

// A stop wakes one that waits, of each kind, and leaves nothing behind.
template <class Gate>
void expectStopEndsTheWait(Scheduler& scheduler) {
  for (Kind kind : kKinds) {
    for (Kind stopper : kKinds) {
      Gate gate;
      std::stop_source source;
      Crew crew(scheduler);
      crew.start(kind, [&] { EXPECT_FALSE(gate.wait(source.get_token())); });
      awaitThat([&] { return gate.numWaiting() == 1; });
      crew.start(stopper, [&] { EXPECT_TRUE(source.request_stop()); });
      crew.join();
      EXPECT_EQ(gate.numWaiting(), 0);
      gate.wakeOne();
      EXPECT_TRUE(gate.waitFor(std::chrono::hours(1), std::stop_token()));
    }
  }
}

// One stop wakes all that were given its token, and nobody else.
template <class Gate>
void expectStopEndsAllWaits(Scheduler& scheduler) {
  constexpr int kStopped = 9;
  Gate gate;
  std::stop_source source, other;
  std::atomic<int> numStopped{0};
  Crew crew(scheduler);
  for (int i = 0; i < kStopped; ++i) {
    crew.start(kindOf(i), [&] { numStopped += gate.wait(source.get_token()) ? 0 : 1; });
    crew.start(kindOf(i), [&] { EXPECT_TRUE(gate.wait(other.get_token())); });
  }
  awaitThat([&] { return gate.numWaiting() == 2 * kStopped; });
  source.request_stop();
  awaitThat([&] { return numStopped == kStopped; });
  EXPECT_EQ(gate.numWaiting(), kStopped);
  for (int i = 0; i < kStopped; ++i) {
    gate.wakeOne();
  }
  crew.join();
}

template <class Gate>
constexpr bool stopWins() {
  if constexpr (requires { Gate::kStopWins; }) {
    return Gate::kStopWins;
  } else {
    return false;
  }
}

// A stop that was requested before ends the wait before it begins: nobody else runs meanwhile. A signal that
// is there wins, but where the gate says otherwise.
template <class Gate>
void expectAStopBeforeTheWaitEndsItAtOnce(Scheduler& scheduler) {
  for (Kind kind : kKinds) {
    Gate gate;
    std::stop_source source;
    source.request_stop();
    Crew crew(scheduler);
    crew.start(kind, [&] {
      bool isInterrupted = false;
      if (Scheduler::get() != nullptr) {
        schedule(Task([&] { isInterrupted = true; }, Task::Flags::SameThread));
      }
      EXPECT_FALSE(gate.wait(source.get_token()));
      EXPECT_FALSE(gate.waitFor(std::chrono::hours(1), source.get_token()));
      EXPECT_FALSE(isInterrupted);
      EXPECT_EQ(gate.numWaiting(), 0);
      gate.wakeOne();
      EXPECT_EQ(gate.wait(source.get_token()), !stopWins<Gate>());
      while (Scheduler::get() != nullptr && !isInterrupted) {
        yield();
      }
    });
  }
}

// Timed waits with a token end with the time as well.
template <class Gate>
void expectTimeEndsTheWait(Scheduler& scheduler) {
  for (Kind kind : kKinds) {
    Gate gate;
    Crew crew(scheduler);
    crew.start(kind, [&] {
      std::stop_source source;
      EXPECT_FALSE(gate.waitFor(milliseconds(1), source.get_token()));
      EXPECT_FALSE(gate.waitFor(milliseconds(-1), std::stop_token()));
      EXPECT_EQ(gate.numWaiting(), 0);
      EXPECT_FALSE(source.stop_requested());
    });
  }
}

// Stops the wait that is under way, again and again, from a thread of its own.
class Stopper {
 public:
  // Returns: the token of a source that this stops soon.
  std::stop_token next() {
    std::stop_source source;
    {
      std::scoped_lock lock(guard_);
      current_ = source;
    }
    hasNext_.give();
    return source.get_token();
  }

  // No further source comes.
  void end() {
    {
      std::scoped_lock lock(guard_);
      current_ = std::stop_source(std::nostopstate);
    }
    hasNext_.give();
  }

  // Until end().
  void run() {
    for (;;) {
      hasNext_.take();
      std::stop_source source(std::nostopstate);
      {
        std::scoped_lock lock(guard_);
        source = current_;
      }
      if (!source.stop_possible()) {
        return;
      }
      source.request_stop();
    }
  }

 private:
  Tokens hasNext_;
  std::mutex guard_;
  std::stop_source current_;
};

// Signals, stops and deadlines race: every signal is told to exactly one wait.
template <class Gate>
void expectOneWinnerOfSignalStopAndTime(Scheduler& scheduler, int rounds) {
  for (Kind kind : kKinds) {
    Gate gate;
    Stopper stopper;
    const Event taken;
    std::atomic<int> numTaken{0};
    std::atomic<bool> isOver{false};
    Crew crew(scheduler);
    crew.start(kind, [&] {
      for (int i = 0; !isOver; ++i) {
        const std::stop_token token = stopper.next();
        const bool took =
            i % 2 == 0 ? gate.wait(token) : gate.waitFor(std::chrono::microseconds(i % 50), token);
        if (took) {
          ++numTaken;
          taken.signal();
        }
      }
      stopper.end();
    });
    crew.start(Kind::FreeThread, [&] { stopper.run(); });
    Rounds round(rounds);
    while (round.next()) {
      gate.wakeOne();
      taken.wait();
      EXPECT_EQ(numTaken, round.count());
    }
    isOver = true;
    crew.join();
    EXPECT_EQ(numTaken, round.count());
    EXPECT_EQ(gate.numWaiting(), 0);
    EXPECT_FALSE(gate.waitFor(milliseconds(0), std::stop_token()));
  }
}

// Whoever was stopped may destroy the primitive, the token and its source at once, while request_stop() is
// still returning.
template <class Gate>
void destroyAsSoonAsStopped(Scheduler& scheduler, int rounds) {
  for (Kind kind : kKinds) {
    std::atomic<std::stop_source*> offered{nullptr};
    Tokens isOffered;
    Crew crew(scheduler);
    crew.start(kind, [&] {
      for (Rounds round(rounds); round.next();) {
        auto gate = std::make_unique<Gate>();
        auto source = std::make_unique<std::stop_source>();
        offered.store(new std::stop_source(*source), std::memory_order_release);
        isOffered.give();
        EXPECT_FALSE(gate->wait(source->get_token()));
      }
      isOffered.give();  // without a source: it was the last round
    });
    crew.start(Kind::FreeThread, [&] {
      for (;;) {
        isOffered.take();
        const std::unique_ptr<std::stop_source> taken(offered.exchange(nullptr, std::memory_order_acquire));
        if (taken == nullptr) {
          return;
        }
        taken->request_stop();
      }
    });
  }
}

}  // namespace weft::tests
