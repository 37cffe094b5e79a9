// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/once.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>

#include "waiting.h"

namespace weft::tests {
struct OnceCoreOf {
  friend constexpr auto member(OnceCoreOf);
};
template struct Expose<OnceCoreOf, &Once::core_>;
inline int numWaiting(Once& once);
template struct ExposeCore<Once, &Once::core_, &detail::OnceCore<>::word_>;
}  // namespace weft::tests

namespace weft {
namespace {

using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kindOf;
using tests::numWaiting;
using tests::scaled;

class OnceTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(OnceTest);

TEST(UnboundOnceTest, CallsTheFunctionOnceWithItsArguments) {
  Once once;
  int sum = 0;
  EXPECT_FALSE(once.isDone());
  for (int i = 1; i <= 3; ++i) {
    once.call([&](int by, std::unique_ptr<int> more) { sum += by + *more; }, i, std::make_unique<int>(10));
  }
  EXPECT_TRUE(once.isDone());
  EXPECT_EQ(sum, 11);
}

TEST_P(OnceTest, OthersWaitUntilTheFunctionHasReturned) {
  constexpr int kCallers = 12;
  Once once;
  Event mayReturn;
  int value = 0;
  std::atomic<int> numCalled{0};
  Crew crew(scheduler());
  for (int i = 0; i < kCallers; ++i) {
    crew.start(kindOf(i), [&] {
      once.call([&] {
        ++numCalled;
        mayReturn.wait();
        value = 42;
      });
      EXPECT_EQ(value, 42);
    });
  }
  awaitThat([&] { return numWaiting(once) == kCallers - 1; });
  mayReturn.signal();
  crew.join();
  EXPECT_EQ(numCalled, 1);
}

TEST_P(OnceTest, ManyRaceForEachOfMany) {
  const int rounds = scaled(300, 60);
  std::vector<std::unique_ptr<Once>> onces;
  for (int i = 0; i < rounds; ++i) {
    onces.push_back(std::make_unique<Once>());
  }
  std::vector<int> values(onces.size());
  Crew crew(scheduler());
  for (int i = 0; i < 6; ++i) {
    crew.start(kindOf(i), [&] {
      for (size_t j = 0; j < onces.size(); ++j) {
        onces[j]->call([&] {
          yield();
          ++values[j];
        });
        EXPECT_EQ(values[j], 1);
      }
    });
  }
}

TEST_P(OnceTest, StopEndsTheWaitForAnothersCall) {
  for (Kind kind : tests::kKinds) {
    Once once;
    Event mayReturn;
    std::stop_source source;
    std::atomic<bool> isThere{false};
    Crew crew(scheduler());
    crew.start(Kind::Task, [&] {
      once.call([&] {
        isThere = true;
        mayReturn.wait();
      });
    });
    awaitThat([&] { return isThere.load(); });
    crew.start(kind, [&] {
      EXPECT_FALSE(once.call(source.get_token(), [] { ADD_FAILURE(); }));
      EXPECT_FALSE(once.call(source.get_token(), [] { ADD_FAILURE(); }));
      EXPECT_EQ(numWaiting(once), 0);
      mayReturn.signal();
      EXPECT_TRUE(once.call(std::stop_token(), [] { ADD_FAILURE(); }));
      EXPECT_TRUE(once.call(source.get_token(), [] { ADD_FAILURE(); }));
    });
    awaitThat([&] { return numWaiting(once) == 1; });
    source.request_stop();
  }
}

TEST(UnboundOnceTest, ATurnWinsAgainstAStop) {
  Once once;
  std::stop_source source;
  source.request_stop();
  int numCalls = 0;
  EXPECT_TRUE(once.call(source.get_token(), [&](int by) { numCalls += by; }, 1));
  EXPECT_EQ(numCalls, 1);
}

// Each round one calls, others wait for it with a stop that comes meanwhile; nobody is forgotten in the list.
TEST_P(OnceTest, StopsRaceWithTheEndOfTheCall) {
  const int rounds = scaled(300, 60);
  for (int round = 0; round < rounds; ++round) {
    Once once;
    std::stop_source source;
    std::atomic<int> numCalls{0};
    Crew crew(scheduler());
    for (int i = 0; i < 4; ++i) {
      crew.start(Kind::Task, [&] {
        const bool isDone = once.call(source.get_token(), [&] {
          yield();
          ++numCalls;
        });
        EXPECT_TRUE(!isDone || numCalls == 1);
      });
    }
    crew.start(Kind::Task, [&] { source.request_stop(); });
    crew.join();
    EXPECT_EQ(numCalls, 1);
  }
}

#if defined(__cpp_exceptions)
TEST_P(OnceTest, AnExceptionReachesItsCallerAndLetsTheNextTry) {
  constexpr int kCallers = 9;
  Once once;
  Event mayThrow;
  std::atomic<int> numTried{0}, numThrown{0};
  std::vector<int> order;
  Crew crew(scheduler());
  for (int i = 0; i < kCallers; ++i) {
    crew.start(kindOf(i), [&, i] {
      try {
        once.call([&] {
          if (i == 0) {
            mayThrow.wait();
          }
          order.push_back(i);
          if (++numTried < 4) {
            throw std::runtime_error("not yet");
          }
        });
      } catch (const std::runtime_error&) {
        ++numThrown;
      }
    });
    awaitThat([&] { return i == 0 ? true : numWaiting(once) == i; });
    if (i == 0) {
      awaitThat([&] { return (once.*member(tests::OnceCoreOf{})).isRunning(); });
    }
  }
  mayThrow.signal();
  crew.join();
  EXPECT_EQ(order, std::vector<int>({0, 1, 2, 3}));
  EXPECT_EQ(numThrown, 3);
  EXPECT_TRUE(once.isDone());
}

TEST(UnboundOnceTest, ACallThatThrewIsTriedAgain) {
  Once once;
  EXPECT_THROW(once.call([] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_FALSE(once.isDone());
  once.call([] {});
  EXPECT_TRUE(once.isDone());
}
#endif

using OnceDeathTest = tests::DeathTest;

TEST_F(OnceDeathTest, CalledWithinItsFunction) {
  EXPECT_DEATH(
      {
        Once once;
        once.call([&] { once.call([] {}); });
      },
      "Once .*: call\\(\\) was called within the function that it calls");
}

TEST_F(OnceDeathTest, DestroyedWhileItsFunctionRuns) {
  EXPECT_DEATH(
      {
        std::optional<Once> once(std::in_place);
        once->call([&] { once.reset(); });
      },
      "a Once was destroyed while its function was being called");
}

}  // namespace
}  // namespace weft
