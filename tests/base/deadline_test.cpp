// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/base/deadline.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "waiting.h"

namespace weft {
namespace {

using detail::deadlineAfter;
using detail::kNever;
using detail::TimePoint;
using detail::waitUntilByClock;
using std::chrono::duration;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;
using std::chrono::time_point;
using tests::awaitThat;
using tests::Crew;
using tests::Kind;
using tests::kKinds;
using tests::milliseconds;
using tests::SetBackClock;
using tests::SetClock;

// Returns: the deadline that a wait until `time` is given first, as it returns true at once.
template <class Clock, class Duration>
TimePoint firstDeadline(const time_point<Clock, Duration>& time) {
  TimePoint given{};
  EXPECT_TRUE(waitUntilByClock(time, [&](TimePoint deadline) {
    given = deadline;
    return true;
  }));
  return given;
}

TEST(DeadlineTest, LiesTheDurationAheadRoundedUp) {
  const TimePoint before = steady_clock::now();
  const TimePoint deadline = deadlineAfter(hours(1));
  const TimePoint after = steady_clock::now();
  EXPECT_GE(deadline, before + hours(1));
  EXPECT_LE(deadline, after + hours(1));
  EXPECT_GE(deadlineAfter(duration<double, std::nano>(0.25)), before + nanoseconds(1));
  EXPECT_GE(deadlineAfter(duration<double>(0.5)), before + milliseconds(500));
  EXPECT_GE(deadlineAfter(duration<long long, std::pico>(1)), before + nanoseconds(1));
}

TEST(DeadlineTest, IsNowForDurationsThatAreNotPositive) {
  for (const TimePoint deadline :
       {deadlineAfter(hours(0)), deadlineAfter(hours(-1)), deadlineAfter(hours::min()),
        deadlineAfter(nanoseconds::min()), deadlineAfter(duration<double>(-1e300)),
        deadlineAfter(duration<double>(-std::numeric_limits<double>::infinity())),
        deadlineAfter(duration<double>(std::numeric_limits<double>::quiet_NaN()))}) {
    EXPECT_LE(deadline, steady_clock::now());
    EXPECT_GE(deadline, TimePoint());
  }
}

TEST(DeadlineTest, IsNeverForDurationsBeyondTheClock) {
  EXPECT_EQ(deadlineAfter(hours::max()), kNever);
  EXPECT_EQ(deadlineAfter(nanoseconds::max()), kNever);
  EXPECT_EQ(deadlineAfter(seconds::max()), kNever);
  EXPECT_EQ(deadlineAfter(duration<double>(1e300)), kNever);
  EXPECT_EQ(deadlineAfter(duration<double>(std::numeric_limits<double>::infinity())), kNever);
  EXPECT_EQ(deadlineAfter(tests::kThreeHundredYears), kNever);  // 292 years fit
}

// A clock with an adjustable reading in floating-point seconds.
struct FloatingClock {
  using duration = std::chrono::duration<double>;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<FloatingClock>;
  static constexpr bool is_steady = false;
  static time_point now() { return time_point(duration(current)); }
  static inline double current = 0;
};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// As for a comparison with the clock, which is false: sleep_until() of std returns at once.
TEST(DeadlineTest, ATimeThatIsNoNumberHasPassed) {
  const auto expectPassed = [](const auto& time) {
    int looks = 0;
    TimePoint last{};
    EXPECT_FALSE(waitUntilByClock(time, [&](TimePoint deadline) {
      last = deadline;
      return ++looks == 3;
    }));
    EXPECT_EQ(looks, 1);
    EXPECT_LE(last, steady_clock::now());
  };
  FloatingClock::current = 5;
  expectPassed(FloatingClock::time_point(duration<double>(kNaN)));
  expectPassed(FloatingClock::time_point(duration<double>(-kInfinity)));
  expectPassed(time_point<system_clock, duration<double>>(duration<double>(kNaN)));
  expectPassed(time_point<steady_clock, duration<double>>(duration<double>(kNaN)));
  expectPassed(time_point<steady_clock, duration<double>>(duration<double>(-kInfinity)));
  FloatingClock::current = kNaN;
  expectPassed(FloatingClock::time_point(duration<double>(5)));
  FloatingClock::current = kInfinity;
  expectPassed(FloatingClock::time_point(duration<double>(5)));
}

TEST(DeadlineTest, AnInfiniteTimeNeverComes) {
  FloatingClock::current = 5;
  EXPECT_EQ(firstDeadline(FloatingClock::time_point(duration<double>(kInfinity))), kNever);
  EXPECT_EQ(firstDeadline(FloatingClock::time_point::max()), kNever);
  EXPECT_EQ(firstDeadline(time_point<system_clock, duration<double>>(duration<double>(kInfinity))), kNever);
  EXPECT_EQ(firstDeadline(time_point<steady_clock, duration<double>>(duration<double>(kInfinity))), kNever);
}

TEST(DeadlineTest, IsFarAheadForTwoHundredYears) {
  const TimePoint deadline = deadlineAfter(hours(24 * 365 * 200));
  EXPECT_GT(deadline, steady_clock::now() + hours(24 * 365 * 199));
  EXPECT_LT(deadline, kNever);
}

TEST(DeadlineTest, OfSteadyClockIsTheTimeItself) {
  const TimePoint time = steady_clock::now() + milliseconds(7);
  EXPECT_EQ(firstDeadline(time), time);
  EXPECT_EQ(
      firstDeadline(time_point<steady_clock, duration<double, std::nano>>(duration<double, std::nano>(1.25))),
      TimePoint(nanoseconds(2)));
  EXPECT_EQ(firstDeadline(TimePoint::max()), kNever);
  EXPECT_EQ(firstDeadline(TimePoint::min()), TimePoint::min());
  EXPECT_EQ(firstDeadline(time_point<steady_clock, hours>::max()), kNever);
  EXPECT_EQ(firstDeadline(time_point<steady_clock, hours>::min()), TimePoint::min());
}

TEST(DeadlineTest, OfAnotherClockIsAsFarAheadAsThatClockSays) {
  SetClock::current = 5;
  const TimePoint before = steady_clock::now();
  const TimePoint deadline = firstDeadline(SetClock::time_point(seconds(9)) + microseconds(5));
  EXPECT_GE(deadline, before + seconds(9));
  EXPECT_LE(deadline, steady_clock::now() + seconds(9) + microseconds(1));
  EXPECT_EQ(firstDeadline(SetClock::time_point::max()), kNever);
  EXPECT_EQ(firstDeadline(time_point<system_clock, hours>::max()), kNever);
  EXPECT_EQ(firstDeadline(system_clock::time_point::max()), kNever);
  const TimePoint deadlines[] = {firstDeadline(SetClock::time_point::min()),
                                 firstDeadline(time_point<system_clock, hours>::min())};
  const TimePoint after = steady_clock::now();
  EXPECT_LE(deadlines[0], after);
  EXPECT_LE(deadlines[1], after);
}

TEST(DeadlineTest, TimesLongPastEndTheWaitAfterOneLook) {
  const auto numLooks = [](const auto& time) {
    int looks = 0;
    EXPECT_FALSE(waitUntilByClock(time, [&](TimePoint) { return ++looks == 0; }));
    return looks;
  };
  EXPECT_EQ(numLooks(SetClock::time_point::min()), 1);
  EXPECT_EQ(numLooks(system_clock::time_point::min()), 1);
  EXPECT_EQ(numLooks(time_point<system_clock, hours>::min()), 1);
  EXPECT_EQ(numLooks(time_point<steady_clock, hours>::min()), 1);
}

TEST(DeadlineTest, ClockThatWasSetBackMakesTheWaitGoOn) {
  SetClock::current = 0;
  std::vector<TimePoint> deadlines;
  const auto wait = [&](TimePoint deadline) {
    deadlines.push_back(deadline);
    // The first wait takes as long as it should, but the clock is set back by five seconds meanwhile.
    SetClock::current = deadlines.size() == 1 ? -5'000'000 : 1'000;
    return false;
  };
  EXPECT_FALSE(waitUntilByClock(SetClock::time_point(milliseconds(1)), wait));
  ASSERT_EQ(deadlines.size(), 2u);
  EXPECT_GE(deadlines[1], deadlines[0] + seconds(5) - milliseconds(1));
}

TEST(DeadlineTest, ClockThatWasSetForwardEndsTheWaitSoon) {
  SetClock::current = 0;
  std::vector<TimePoint> deadlines;
  const auto wait = [&](TimePoint deadline) {
    EXPECT_LE(deadline, steady_clock::now() + seconds(10));
    deadlines.push_back(deadline);
    // The clock goes as it should for a part of the wait, and is then set forward by two hours.
    SetClock::current += deadlines.size() < 3 ? 10'000'000 : 7'200'000'000;
    return false;
  };
  const TimePoint before = steady_clock::now();
  EXPECT_FALSE(waitUntilByClock(SetClock::time_point(hours(1)), wait));
  ASSERT_EQ(deadlines.size(), 3u);
  EXPECT_GE(deadlines[0], before + seconds(10));
}

TEST(DeadlineTest, TheLastPartOfAWaitByAnotherClockIsAsLongAsWhatIsLeft) {
  SetClock::current = 0;
  int numWaits = 0;
  TimePoint before = steady_clock::now();
  const auto wait = [&](TimePoint deadline) {
    const auto length = seconds(++numWaits < 3 ? 10 : 5);
    EXPECT_GE(deadline, before + length);
    before = steady_clock::now();
    EXPECT_LE(deadline, before + length + microseconds(1));
    SetClock::current += microseconds(length).count();
    return false;
  };
  EXPECT_FALSE(waitUntilByClock(SetClock::time_point(seconds(25)), wait));
  EXPECT_EQ(numWaits, 3);
}

class TimedWaitTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(TimedWaitTest);

// Calls f(a wait until a time, which returns whether it was woken) for each primitive, and a kind of waiter.
template <class Gate, class Clock>
void expectNotEarly(Scheduler& scheduler) {
  for (Kind kind : kKinds) {
    Crew crew(scheduler);
    crew.start(kind, [] {
      Gate gate;
      for (int i = 0; i < 5; ++i) {
        const auto time = Clock::now() + microseconds(300 * i);
        EXPECT_FALSE(gate.waitUntil(time));
        EXPECT_GE(Clock::now(), time);
        const auto begin = steady_clock::now();
        EXPECT_FALSE(gate.waitFor(microseconds(300 * i)));
        EXPECT_GE(steady_clock::now(), begin + microseconds(300 * i));
      }
    });
  }
}

template <class Clock>
void expectNobodyEarly(Scheduler& scheduler) {
  expectNotEarly<tests::AutoEventGate, Clock>(scheduler);
  expectNotEarly<tests::SemaphoreGate, Clock>(scheduler);
  expectNotEarly<tests::StdVariableGate, Clock>(scheduler);
  expectNotEarly<tests::WeftVariableGate, Clock>(scheduler);
}

TEST_P(TimedWaitTest, IsNeverEarlyBySteadyClock) { expectNobodyEarly<steady_clock>(scheduler()); }
TEST_P(TimedWaitTest, IsNeverEarlyBySystemClock) { expectNobodyEarly<system_clock>(scheduler()); }

TEST_P(TimedWaitTest, OfAFiberIsNeverEarly) {
  const auto expectNotEarlyBy = [](auto now) {
    for (int i = 0; i < 5; ++i) {
      const auto time = now() + microseconds(300 * i);
      EXPECT_FALSE(Fiber::current()->wait(time));
      EXPECT_GE(now(), time);
      std::mutex guard;
      std::unique_lock held(guard);
      EXPECT_FALSE(Fiber::current()->wait(held, now() + microseconds(i), [] { return false; }));
    }
  };
  Crew crew(scheduler());
  for (Kind kind : {Kind::Task, Kind::BoundThread}) {
    crew.start(kind, [=] {
      expectNotEarlyBy([] { return steady_clock::now(); });
      expectNotEarlyBy([] { return system_clock::now(); });
    });
  }
}

template <class Gate>
void expectNotEarlyThoughSetBack(Scheduler& scheduler) {
  for (Kind kind : kKinds) {
    SetBackClock::numReadings = 0;
    Gate gate;
    Crew crew(scheduler);
    crew.start(kind, [&] {
      const auto time = SetBackClock::now() + milliseconds(2);
      EXPECT_FALSE(gate.waitUntil(time));
      EXPECT_GE(SetBackClock::now(), time);
    });
  }
}

TEST_P(TimedWaitTest, IsNeverEarlyByAClockThatIsSetBack) {
  expectNotEarlyThoughSetBack<tests::AutoEventGate>(scheduler());
  expectNotEarlyThoughSetBack<tests::SemaphoreGate>(scheduler());
  expectNotEarlyThoughSetBack<tests::StdVariableGate>(scheduler());
  expectNotEarlyThoughSetBack<tests::WeftVariableGate>(scheduler());
}

template <class Gate>
void expectLongWaitsLast(Scheduler& scheduler) {
  for (Kind kind : kKinds) {
    const auto expectWait = [&](auto wait) {
      Gate gate;
      Crew crew(scheduler);
      crew.start(kind, [&] { EXPECT_TRUE(wait(gate)); });
      awaitThat([&] { return gate.numWaiting() == 1; });
      gate.wakeOne();
    };
    expectWait([](Gate& gate) { return gate.waitFor(tests::kThreeHundredYears); });
    expectWait([](Gate& gate) { return gate.waitFor(nanoseconds::max()); });
    expectWait([](Gate& gate) { return gate.waitFor(hours::max()); });
    expectWait([](Gate& gate) { return gate.waitFor(hours(24 * 365 * 200)); });
    expectWait([](Gate& gate) { return gate.waitUntil(steady_clock::time_point::max()); });
    expectWait([](Gate& gate) { return gate.waitUntil(system_clock::time_point::max()); });
    expectWait([](Gate& gate) { return gate.waitUntil(time_point<system_clock, hours>::max()); });
    expectWait([](Gate& gate) { return gate.waitUntil(system_clock::now() + hours(24 * 365 * 200)); });
  }
}

TEST_P(TimedWaitTest, OfCenturiesDoesNotReturnAtOnce) {
  expectLongWaitsLast<tests::AutoEventGate>(scheduler());
  expectLongWaitsLast<tests::SemaphoreGate>(scheduler());
  expectLongWaitsLast<tests::WeftVariableGate>(scheduler());
}

TEST_P(TimedWaitTest, OfAFiberForCenturiesDoesNotReturnAtOnce) {
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    Fiber* self = Fiber::current();
    const auto expectWait = [&](auto time) {
      std::atomic<bool> isNotified{false};
      std::thread notifier([&] {
        isNotified = true;
        self->notify();
      });
      EXPECT_TRUE(self->wait(time));
      EXPECT_TRUE(isNotified);
      notifier.join();
    };
    expectWait(steady_clock::time_point::max());
    expectWait(system_clock::time_point::max());
    expectWait(time_point<steady_clock, hours>::max());
  });
}

}  // namespace
}  // namespace weft
