// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "drawn_timeline.h"
#include "hand_made.h"
#include "inspect/text.h"
#include "inspect/timeline_file.h"
#include "json_reader.h"
#include "made_recording.h"

namespace {
namespace timeline_test {

using weft::detail::inspect::Address;
using weft::detail::inspect::Text;
using weft::detail::inspect::TimelineFormat;
using weft::detail::inspect::TraceKind;
using weft::detail::inspect::withFiber;
using weft::tests::DrawnTimeline;
using weft::tests::FakeNames;
using weft::tests::MadeRecording;
using weft::tests::ScarceMemory;

TEST(TimelineTest, TasksAreSlicesOfTheirThreadAndOfTheirFiber) {
  MadeRecording made;
  made.thread();
  made.at(10).add(TraceKind::ThreadBound, 4);
  made.at(20).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.at(30).add(TraceKind::FiberLeft, "Event::wait").add(TraceKind::WaitsFor, 0x7f40);
  made.add(TraceKind::FiberResumed, 2);
  made.add(TraceKind::TaskBegan, 'B').add(TraceKind::TaskNamed, "the second");
  made.at(40).add(TraceKind::TaskEnded).add(TraceKind::FiberLeft, uint64_t{0});
  made.add(TraceKind::FiberResumed, 1);
  made.at(60).add(TraceKind::FiberLeft, uint64_t{0}).at(65).add(TraceKind::FiberResumed, 1);
  made.at(70).add(TraceKind::TaskEnded);
  EXPECT_EQ(made.draw(),
            "worker 3\n"
            "  20-30 A | fiber 1 | part 1\n"
            "  30-40 the second | fiber 2 | part 1\n"
            "  40-60 A | fiber 1 | part 2\n"
            "  65-70 A | fiber 1 | part 3\n"
            "worker 3, fiber 1\n"
            "  20-70 A\n"
            "    30-40 waits: Event::wait | object 0x7f40\n"
            "    60-65 lets others run\n"
            "worker 3, fiber 2\n"
            "  30-40 the second | code B\n");
}

TEST(TimelineTest, ATaskThatFollowsEndsTheOneBefore) {
  MadeRecording made;
  made.thread();
  made.at(10).add(TraceKind::ThreadBound, 1);
  made.at(20).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.at(25).add(TraceKind::ScopeBegan, "left open");
  made.at(30).add(TraceKind::TaskFollowed, 'B').add(TraceKind::TaskNamed, "named");
  made.at(40).add(TraceKind::TaskFollowed, 'C');
  made.at(50).add(TraceKind::TaskEnded);
  EXPECT_EQ(made.draw(),
            "worker 0\n"
            "  20-30 A | fiber 1 | part 1\n"
            "  30-40 named | fiber 1 | part 1\n"
            "  40-50 C | fiber 1 | part 1\n"
            "worker 0, fiber 1\n"
            "  20-30 A\n"
            "    25-30 left open\n"
            "  30-40 named | code B\n"
            "  40-50 C\n");
}

TEST(TimelineTest, ATaskThatFollowsEndsOneThatBeganEarlier) {
  MadeRecording made;
  made.thread();
  made.at(10).add(TraceKind::Mark, "first");
  made.at(20).add(TraceKind::TaskFollowed, 'B');
  made.at(30).add(TraceKind::TaskEnded);
  EXPECT_EQ(made.draw(),
            "thread 4711\n"
            "  10-20 task that began earlier\n"
            "    10 first\n"
            "  20-30 B\n"
            "thread 4711, fiber ?\n"
            "  10-20 task that began earlier\n"
            "  20-30 B\n");
}

TEST(TimelineTest, AThreadThatHasNothingToRunIsIdleAndAsleepInThat) {
  MadeRecording made;
  made.thread(4711, "pool");
  made.at(10).add(TraceKind::ThreadBound, 1).add(TraceKind::IdleBegan);
  made.at(11).add(TraceKind::SearchBegan).at(15).add(TraceKind::SearchEnded);
  made.at(16).add(TraceKind::Parked).at(20).add(TraceKind::Unparked, 1);
  made.at(21).add(TraceKind::IdleEnded).add(TraceKind::TaskBegan, 'A');
  made.at(30).add(TraceKind::IdleBegan, "mutex").add(TraceKind::WaitsFor, 0x10);
  made.at(40).add(TraceKind::IdleEnded).add(TraceKind::FiberResumed, 0);
  made.at(50).add(TraceKind::IdleBegan, "mutex");
  made.at(60).add(TraceKind::IdleEnded).add(TraceKind::Stole, 'B').add(TraceKind::FiberResumed, 1);
  made.at(60).add(TraceKind::TaskBegan, 'B').at(70).add(TraceKind::TaskEnded);
  EXPECT_EQ(made.draw(),
            "pool (worker 0)\n"
            "  10-21 idle\n"
            "    11-15 looks for work\n"
            "    16-20 asleep\n"
            "  21-30 A | fiber 0 | part 1\n"
            "  30-40 idle\n"
            "  40-50 A | fiber 0 | part 2\n"
            "  50-60 idle\n"
            "  60 stole a task | task B\n"
            "  60-70 B | fiber 1 | part 1\n"
            "worker 0, fiber 0\n"
            "  21-70 A\n"
            "    30-40 waits: mutex | object 0x10\n"
            "    50-70 waits: mutex\n"
            "worker 0, fiber 1\n"
            "  60-70 B\n");
}

TEST(TimelineTest, ABoundThreadHasItsOwnCode) {
  MadeRecording made;
  made.thread();
  made.at(5).add(TraceKind::ScopeBegan, "outside");
  made.at(10).add(TraceKind::ThreadBound).at(12).add(TraceKind::ScopeBegan, "inside");
  made.at(20).add(TraceKind::FiberLeft, "WaitGroup").add(TraceKind::FiberResumed, 1);
  made.add(TraceKind::TaskBegan, 'A').at(30).add(TraceKind::TaskEnded);
  made.add(TraceKind::FiberLeft).add(TraceKind::FiberResumed);
  made.at(40).add(TraceKind::ScopeEnded).at(50).add(TraceKind::ThreadUnbound);
  made.at(60).add(TraceKind::ScopeEnded);
  EXPECT_EQ(made.draw(),
            "bound thread 4711\n"
            "  5-60 outside\n"
            "    10-20 own code | fiber 0 | part 1\n"
            "    20-30 A | fiber 1 | part 1\n"
            "    30-50 own code | fiber 0 | part 2\n"
            "bound thread 4711, fiber 0\n"
            "  12-40 inside\n"
            "    20-30 waits: WaitGroup\n"
            "bound thread 4711, fiber 1\n"
            "  20-30 A\n");
}

TEST(TimelineTest, ScopesTasksInPlaceAndMarksNestInTheTask) {
  MadeRecording made;
  made.thread();
  made.at(10).add(TraceKind::ThreadBound, 1).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.at(11).add(TraceKind::TrackNamed).text("the name of a fiber that needs events");
  made.at(20).add(TraceKind::ScopeBegan).text("fifteen bytes:)").at(21).add(TraceKind::InPlaceBegan, 'B');
  made.at(22).add(TraceKind::Mark, "here").at(23).add(TraceKind::FiberLeft, "mutex");
  made.at(24).add(TraceKind::FiberResumed, 1).at(25).add(TraceKind::InPlaceEnded);
  made.at(30).add(TraceKind::ScopeEnded).at(40).add(TraceKind::TaskEnded);
  EXPECT_EQ(made.draw(),
            "worker 0\n"
            "  10-23 A | fiber 1 | part 1\n"
            "  24-40 A | fiber 1 | part 2\n"
            "the name of a fiber that needs events (worker 0, fiber 1)\n"
            "  10-40 A\n"
            "    20-30 fifteen bytes:)\n"
            "      21-25 B\n"
            "        22 here\n"
            "        23-24 waits: mutex\n");
}

TEST(TimelineTest, ArrowsLeadFromTheWakeToTheSliceThatGoesOn) {
  MadeRecording made;
  made.thread(1);
  made.at(10).add(TraceKind::ThreadBound, 1).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.at(20).add(TraceKind::FiberLeft, "Event").add(TraceKind::FiberResumed, 2);
  made.add(TraceKind::TaskBegan, 'B').at(30).add(TraceKind::IdleBegan, "mutex");
  made.at(37).add(TraceKind::IdleEnded).add(TraceKind::FiberResumed, 2);
  made.at(50).add(TraceKind::TaskEnded).add(TraceKind::FiberLeft).add(TraceKind::FiberResumed, 1);
  made.at(60).add(TraceKind::TaskEnded);
  made.thread(2);
  made.at(10).add(TraceKind::ThreadBound, 2).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'C');
  made.at(25).woke(1, 1).at(35).woke(1, 2).at(40).woke(1, 2).woke(9, 9);
  made.at(41).add(TraceKind::TaskEnded).at(42).add(TraceKind::TimerFired, withFiber(7, 3));
  EXPECT_EQ(made.draw(),
            "worker 0\n"
            "  10-20 A | fiber 1 | part 1\n"
            "  20-30 B | fiber 2 | part 1\n"
            "  30-37 idle\n"
            "  37-50 B | fiber 2 | part 2 | ns from wake to run 2 <=2\n"
            "  50-60 A | fiber 1 | part 2 | ns from wake to run 25 <=1\n"
            "worker 0, fiber 1\n"
            "  10-60 A\n"
            "    20-50 waits: Event\n"
            "worker 0, fiber 2\n"
            "  20-50 B\n"
            "    30-37 waits: mutex\n"
            "worker 1\n"
            "  10-41 C | fiber 1 | part 1\n"
            "    25 wakes a fiber | thread worker 0 | fiber 1 =>1\n"
            "    35 wakes a fiber | thread worker 0 | fiber 2 =>2\n"
            "  42 timer | fiber 3 | us late 7\n"
            "worker 1, fiber 1\n"
            "  10-41 C\n");
}

// A worker of which fiber 1 waits since 1,000, while fiber 2 computes until 90,000. Then fiber 1 goes on.
void addWaitBesideLongTask(MadeRecording& made) {
  made.thread(1);
  made.at(10).add(TraceKind::ThreadBound, 1).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.at(1'000).add(TraceKind::FiberLeft, "Event").add(TraceKind::FiberResumed, 2);
  made.add(TraceKind::TaskBegan, 'B').at(90'000).add(TraceKind::TaskEnded).add(TraceKind::FiberLeft);
  made.add(TraceKind::FiberResumed, 1).at(95'000).add(TraceKind::TaskEnded);
}

// Returns: the lines of the row of that name.
std::string rowOf(const std::string& picture, std::string_view name) {
  const std::string lines = '\n' + picture;
  const size_t begin = lines.find('\n' + std::string(name) + '\n');
  if (begin == std::string::npos) {
    return "no row";
  }
  const size_t first = begin + name.size() + 2;
  size_t end = first;
  while (lines[end] == ' ') {
    end = lines.find('\n', end) + 1;
  }
  return lines.substr(first, end - first);
}

TEST(TimelineTest, AFiberIsReadyFromItsWakeToWhereItGoesOn) {
  MadeRecording made;
  addWaitBesideLongTask(made);
  made.thread(2);
  made.at(30'000).woke(1, 1);
  EXPECT_EQ(made.draw(),
            "worker 0\n"
            "  10-1000 A | fiber 1 | part 1\n"
            "  1000-90000 B | fiber 2 | part 1\n"
            "  90000-95000 A | fiber 1 | part 2 | ns from wake to run 60000 <=1\n"
            "worker 0, fiber 1\n"
            "  10-95000 A\n"
            "    1000-29999 waits: Event\n"
            "    30000-90000 ready\n"
            "worker 0, fiber 2\n"
            "  1000-90000 B\n"
            "thread 2\n"
            "  30000 wakes a fiber | thread worker 0 | fiber 1 =>1\n");
}

TEST(TimelineTest, AWakeByAnotherFiberOfTheThreadMakesReady) {
  MadeRecording made;
  made.thread(1);
  made.at(10).add(TraceKind::ThreadBound).at(1'000).add(TraceKind::IdleBegan, "Event");
  made.at(2'000).woke(1, 0).at(3'500).add(TraceKind::IdleEnded).add(TraceKind::FiberResumed);
  made.at(4'000).add(TraceKind::FiberLeft, "mutex").add(TraceKind::FiberResumed, 1);
  made.add(TraceKind::TaskBegan, 'A').at(5'000).woke(1, 0).at(7'000).add(TraceKind::TaskEnded);
  made.add(TraceKind::FiberLeft).add(TraceKind::FiberResumed).at(8'000).add(TraceKind::ThreadUnbound);
  EXPECT_EQ(rowOf(made.draw(), "bound thread 1, fiber 0"),
            "  1000-1999 waits: Event\n"
            "  2000-3500 ready\n"
            "  4000-4999 waits: mutex\n"
            "  5000-7000 ready\n");
}

TEST(TimelineTest, AFiberIsReadyForAMicrosecondOrHasNoSuchSlice) {
  for (const uint64_t wokenAt : {89'000, 89'001, 90'000}) {
    MadeRecording made;
    addWaitBesideLongTask(made);
    made.thread(2);
    made.at(wokenAt).woke(1, 1);
    EXPECT_EQ(rowOf(made.draw(), "worker 0, fiber 1"),
              wokenAt == 89'000 ? "  10-95000 A\n    1000-88999 waits: Event\n    89000-90000 ready\n"
                                : "  10-95000 A\n    1000-90000 waits: Event\n");
  }
}

TEST(TimelineTest, AWakeThatIsNotOfThisWaitMakesNotReady) {
  for (const uint64_t wokenAt : {5, 999, 90'001}) {  // the last one by a clock that goes a little before
    MadeRecording made;
    addWaitBesideLongTask(made);
    made.thread(2);
    made.at(wokenAt).woke(1, 1).at(50'000).woke(1, 2).woke(2, 1);
    EXPECT_EQ(rowOf(made.draw(), "worker 0, fiber 1"), "  10-95000 A\n    1000-90000 waits: Event\n");
  }
}

TEST(TimelineTest, AFiberIsReadySinceItsTimeLimitIsOver) {
  struct Case {
    uint64_t microsecondsLate;
    std::string_view wait;
    std::string_view ready;
  };
  constexpr Case kCases[] = {{0, "1000-79999", "80000-90000"},
                             {50, "1000-29999", "30000-90000"},
                             {79, "1000-1000", "1000-90000"},
                             {~uint32_t{0}, "1000-1000", "1000-90000"}};
  for (const Case& one : kCases) {
    MadeRecording made;
    made.thread(1);
    made.at(10).add(TraceKind::ThreadBound, 1).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
    made.at(1'000).add(TraceKind::FiberLeft, "sleep").add(TraceKind::FiberResumed, 2);
    made.add(TraceKind::TaskBegan, 'B')
        .at(80'000)
        .add(TraceKind::TimerFired, withFiber(one.microsecondsLate, 1));
    made.add(TraceKind::TimerFired, withFiber(60, 2)).add(TraceKind::TimerFired, 77);
    made.at(90'000).add(TraceKind::TaskEnded).add(TraceKind::FiberLeft).add(TraceKind::FiberResumed, 1);
    made.at(92'000).add(TraceKind::FiberLeft, "Event").add(TraceKind::FiberResumed, 2);
    made.at(99'000).add(TraceKind::FiberLeft).add(TraceKind::FiberResumed, 1);
    EXPECT_EQ(rowOf(made.draw(), "worker 0, fiber 1"), "  10-99000 A\n    " + std::string(one.wait) +
                                                           " waits: sleep\n    " + std::string(one.ready) +
                                                           " ready\n    92000-99000 waits: Event\n");
  }
}

TEST(TimelineTest, ATimeLimitThatIsOverIsNotThatOfTheNextWait) {
  MadeRecording made;
  made.thread(1);
  made.at(10).add(TraceKind::ThreadBound).at(1'000).add(TraceKind::IdleBegan, "sleep");
  made.at(5'000).add(TraceKind::TimerFired, 0).add(TraceKind::IdleEnded).add(TraceKind::FiberResumed);
  made.add(TraceKind::IdleBegan, "Event").at(9'000).add(TraceKind::IdleEnded).add(TraceKind::FiberResumed);
  made.at(9'500).add(TraceKind::ThreadUnbound);
  EXPECT_EQ(rowOf(made.draw(), "bound thread 1, fiber 0"),
            "  1000-5000 waits: sleep\n  5000-9000 waits: Event\n");
}

TEST(TimelineTest, AFiberThatLetsOthersRunIsReadyAlready) {
  MadeRecording made;
  made.thread(1);
  made.at(10).add(TraceKind::ThreadBound, 1).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.at(1'000).add(TraceKind::FiberLeft).add(TraceKind::FiberResumed, 2).add(TraceKind::TaskBegan, 'B');
  made.at(5'000).woke(1, 1).add(TraceKind::TimerFired, 1);
  made.at(9'000).add(TraceKind::TaskEnded).add(TraceKind::FiberLeft).add(TraceKind::FiberResumed, 1);
  made.at(9'500).add(TraceKind::TaskEnded);
  EXPECT_EQ(rowOf(made.draw(), "worker 0, fiber 1"), "  10-9500 A\n    1000-9000 lets others run\n");
}

TEST(TimelineTest, WhoeverIsReadyAtTheEndIsReadyUntilThen) {
  MadeRecording made;
  made.recording.stoppedAt = 50'000;
  made.thread(1);
  made.at(10).add(TraceKind::ThreadBound, 1).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.at(1'000).add(TraceKind::FiberLeft, "Event").add(TraceKind::FiberResumed, 2);
  made.add(TraceKind::TaskBegan, 'B').at(2'000).add(TraceKind::FiberLeft, "sleep");
  made.add(TraceKind::FiberResumed, 3).add(TraceKind::TaskBegan, 'C');
  made.at(3'000).add(TraceKind::FiberLeft, "mutex").add(TraceKind::FiberResumed, 4);
  made.add(TraceKind::TaskBegan, 'D').at(20'000).add(TraceKind::TimerFired, withFiber(8, 2));
  made.thread(2);
  made.at(500).woke(1, 3).at(30'000).woke(1, 1).at(60'000).woke(1, 3);
  const std::string picture = made.draw();
  EXPECT_EQ(rowOf(picture, "worker 0, fiber 1"),
            "  10-50000 A\n    1000-29999 waits: Event\n    30000-50000 ready\n");
  EXPECT_EQ(rowOf(picture, "worker 0, fiber 2"),
            "  1000-50000 B\n    2000-11999 waits: sleep\n    12000-50000 ready\n");
  EXPECT_EQ(rowOf(picture, "worker 0, fiber 3"), "  2000-50000 C\n    3000-50000 waits: mutex\n");
}

TEST(TimelineTest, AWaitSinceEarlierEndsWithTheWake) {
  MadeRecording made;
  made.recording.startedAt = 100;
  made.thread(1);
  made.at(200)
      .add(TraceKind::ThreadBound, 1)
      .add(TraceKind::FiberResumed, 2)
      .add(TraceKind::TaskResumed, 'A');
  made.at(9'000).add(TraceKind::FiberLeft, "Event").add(TraceKind::FiberResumed, 1);
  made.add(TraceKind::TaskResumed, 'B').at(9'900).add(TraceKind::TaskEnded);
  made.thread(2);
  made.at(5'000).woke(1, 1);
  EXPECT_EQ(rowOf(made.draw(), "worker 0, fiber 1"),
            "  100-9900 B\n    100-4999 waits since earlier\n    5000-9000 ready\n");
}

TEST(TimelineTest, NothingOnItsRowComesAfterAFiberIsReadyThatWasMarkedLater) {
  MadeRecording made;
  made.thread(1);
  made.at(10).add(TraceKind::ThreadBound).at(1'000).add(TraceKind::IdleBegan, "Event");
  made.at(5'000).add(TraceKind::Mark, "mark").at(9'000).add(TraceKind::IdleEnded);
  made.add(TraceKind::FiberResumed).at(9'500).add(TraceKind::ThreadUnbound);
  made.thread(2);
  made.at(3'000).woke(1, 0);
  const std::string picture = made.draw();
  EXPECT_EQ(rowOf(picture, "bound thread 1, fiber 0"), "  1000-9000 waits: Event\n    5000 mark\n")
      << picture;
}

TEST(TimelineTest, AWakeNamesTheThreadOfTheFiberAsItsRow) {
  MadeRecording made;
  made.thread(1, "weft:0");
  made.at(20).woke(2, 0);
  made.thread(4711, "server");
  made.at(5).add(TraceKind::TrackNamed).text("chosen").at(10).add(TraceKind::ThreadBound);
  made.at(15).add(TraceKind::FiberLeft, "Event").at(30).add(TraceKind::FiberResumed);
  made.recording.threads.back().hasEnded = true;
  const std::string text = made.draw();
  constexpr std::string_view kRow = "chosen (bound thread 4711, has ended)";
  EXPECT_NE(text.find("20 wakes a fiber | thread " + std::string(kRow) + " | fiber 0"), std::string::npos);
  EXPECT_NE(text.find("\n" + std::string(kRow) + "\n"), std::string::npos) << text;
}

TEST(TimelineTest, AWakeWhoseResumptionMayBeOverwrittenHasNoArrow) {
  MadeRecording made;
  made.thread(1);
  made.recording.threads.back().numOverwritten = 5;
  made.at(30).add(TraceKind::FiberResumed, 1).at(40).add(TraceKind::FiberLeft, "sleep");
  made.at(50).add(TraceKind::FiberResumed, 1).at(60).add(TraceKind::TaskEnded);
  made.thread(2);
  made.at(10).woke(1, 1);
  EXPECT_EQ(made.draw().find("wakes"), std::string::npos);
}

TEST(TimelineTest, AWakeOfAThreadThatHadTheNumberBeforeHasNoArrow) {
  MadeRecording made;
  made.thread(1);
  made.recording.threads.back().followsAnother = true;
  made.recording.startedAt = 5;
  made.at(30).add(TraceKind::ThreadBound, 1).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.thread(2);
  made.at(10).woke(1, 1);
  EXPECT_EQ(made.draw().find("wakes"), std::string::npos);
}

TEST(TimelineTest, WhatBeganEarlierBeginsWithTheFirstEvent) {
  MadeRecording made;
  made.thread();
  made.recording.threads.back().numOverwritten = 12'345;
  made.recording.startedAt = 1'000;
  made.at(3'000'100).add(TraceKind::InPlaceEnded).at(3'000'110).add(TraceKind::TaskEnded);
  made.add(TraceKind::FiberLeft).at(3'000'120).add(TraceKind::FiberResumed, 7);
  made.at(3'000'130).add(TraceKind::ScopeEnded).at(3'000'140).add(TraceKind::FiberLeft, "mutex");
  made.add(TraceKind::FiberResumed, 8).add(TraceKind::TaskBegan, 'A');
  EXPECT_EQ(made.draw(),
            "thread 4711\n"
            "  3000100-3000110 task that began earlier\n"
            "  3000120-3000140 task that began earlier | fiber 7 | part 1\n"
            "  3000140-3000140 A | fiber 8 | part 1\n"
            "thread 4711, fiber ?\n"
            "  3000100-3000110 task that began earlier\n"
            "    3000100-3000100 task in place that began earlier\n"
            "thread 4711, fiber 7\n"
            "  3000100-3000140 task that began earlier\n"
            "    3000100-3000130 scope that began earlier\n"
            "      3000100-3000120 waits since earlier\n"
            "    3000140-3000140 waits: mutex\n"
            "thread 4711, fiber 8\n"
            "  3000140-3000140 A\n");
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_EQ(
      made.notes[0],
      "thread 4711: 12,345 older events were overwritten; the first one left is of 2.9 ms after the start");
}

TEST(TimelineTest, WhatHasNotEndedEndsWithTheRecording) {
  MadeRecording made;
  made.recording.startedAt = 100;
  made.recording.stoppedAt = 500;
  made.thread();
  made.at(90).add(TraceKind::ScopeBegan, "before");
  made.at(150).add(TraceKind::Unparked, 1).add(TraceKind::IdleEnded);
  made.at(160).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.at(170).add(TraceKind::ScopeBegan, "open");
  made.at(510).add(TraceKind::TaskEnded);
  made.recording.numRefused = 2;
  EXPECT_EQ(made.draw(),
            "thread 4711\n"
            "  100-150 idle\n"
            "    100-150 asleep\n"
            "  160-500 A | fiber 1 | part 1\n"
            "thread 4711, fiber 1\n"
            "  160-500 A\n"
            "    170-500 open\n");
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_EQ(made.notes[0], "The events of 2 threads are missing: there was no memory to record them.");
}

TEST(TimelineTest, AThreadThatWasIdleOnATaskGoesOnWithIt) {
  MadeRecording made;
  made.thread();
  made.at(10).add(TraceKind::SearchEnded).add(TraceKind::Parked).at(20).add(TraceKind::Unparked);
  made.add(TraceKind::IdleEnded).add(TraceKind::FiberResumed, 3).at(30).add(TraceKind::TaskEnded);
  EXPECT_EQ(made.draw(),
            "thread 4711\n"
            "  10-20 idle\n"
            "    10-10 looks for work\n"
            "    10-20 asleep\n"
            "  20-30 task that began earlier | fiber 3 | part 1\n"
            "thread 4711, fiber 3\n"
            "  10-30 task that began earlier\n"
            "    10-20 waits since earlier\n");
}

TEST(TimelineTest, ATaskThatRunsWhenTheRecordingBeginsHasItsName) {
  MadeRecording made;
  made.recording.startedAt = 5;
  made.thread();
  made.at(10).add(TraceKind::ThreadBound, 1).add(TraceKind::FiberResumed, 7).add(TraceKind::TaskResumed, 'A');
  made.at(20).add(TraceKind::ScopeEnded).at(30).add(TraceKind::FiberLeft, "mutex");
  made.add(TraceKind::FiberResumed, 8).add(TraceKind::TaskResumed, 'B').at(40).add(TraceKind::TaskEnded);
  EXPECT_EQ(made.draw(),
            "worker 0\n"
            "  10-30 A | fiber 7 | part 1\n"
            "  30-40 B | fiber 8 | part 1\n"
            "worker 0, fiber 7\n"
            "  5-40 A\n"
            "    5-20 scope that began earlier\n"
            "    30-40 waits: mutex\n"
            "worker 0, fiber 8\n"
            "  5-40 B\n"
            "    5-30 waits since earlier\n");
}

TEST(TimelineTest, AFiberThatIsLeftAfterTheThreadWasIdleOnItStillWaits) {
  MadeRecording made;
  made.thread();
  made.at(10).add(TraceKind::ThreadBound, 1).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.at(20).add(TraceKind::IdleBegan, "mutex").at(30).add(TraceKind::IdleEnded);
  made.at(40).add(TraceKind::FiberLeft, "mutex").add(TraceKind::FiberResumed, 2);
  made.add(TraceKind::TaskBegan, 'B').at(50).add(TraceKind::ScopeBegan, "lost").add(TraceKind::TaskEnded);
  made.add(TraceKind::FiberLeft).add(TraceKind::FiberResumed, 1).add(TraceKind::IdleBegan, "mutex");
  made.at(60).add(TraceKind::IdleEnded).add(TraceKind::FiberResumed, 1);
  made.at(5'000).add(TraceKind::FiberLeft, "mutex");
  EXPECT_EQ(made.draw(),
            "worker 0\n"
            "  10-20 A | fiber 1 | part 1\n"
            "  20-30 idle\n"
            "  40-50 B | fiber 2 | part 1\n"
            "  50-50 A | fiber 1 | part 2\n"
            "  50-60 idle\n"
            "  60-5000 A | fiber 1 | part 3\n"
            "worker 0, fiber 1\n"
            "  10-5000 A\n"
            "    20-50 waits: mutex\n"
            "    50-60 waits: mutex\n"
            "    5000-5000 waits: mutex\n"
            "worker 0, fiber 2\n"
            "  40-50 B\n"
            "    50-50 lost\n");
}

TEST(TimelineTest, AnEndAfterTheThreadWasSeenToBeginIdlingIsOfNothingEarlier) {
  MadeRecording made;
  made.thread();
  made.at(10).add(TraceKind::ThreadBound, 1).add(TraceKind::FiberResumed, 1).add(TraceKind::TaskBegan, 'A');
  made.at(20).add(TraceKind::IdleBegan, "mutex").at(30).add(TraceKind::Unparked, 1);
  made.at(40).add(TraceKind::IdleEnded).add(TraceKind::FiberResumed, 1).at(50).add(TraceKind::TaskEnded);
  made.at(60).add(TraceKind::ThreadUnbound);
  EXPECT_EQ(made.draw().find("asleep"), std::string::npos);
}

TEST(TimelineTest, AnEndThatIsOfNothingEarlierEndsNothingElse) {
  MadeRecording made;
  made.thread();
  made.at(10).add(TraceKind::ThreadBound).at(20).add(TraceKind::ThreadUnbound);
  made.at(30).add(TraceKind::TaskBegan, 'A').at(40).add(TraceKind::TaskEnded);
  made.at(50).add(TraceKind::ScopeBegan, "open").at(60).add(TraceKind::TaskEnded);
  made.at(70).add(TraceKind::Mark, "end");
  EXPECT_NE(made.draw().find("  50-70 open\n"), std::string::npos);
}

TEST(TimelineTest, TheProcessIsCalledAsTheFileOfItsProgram) {
  for (const std::string_view path : {"/opt/bin/server", "server"}) {
    MadeRecording made;
    made.recording.program = path;
    DrawnTimeline timeline;
    made.drawTo(timeline);
    EXPECT_EQ(timeline.program, "server");
  }
}

TEST(TimelineTest, WorkersAreCalledByTheirNumbers) {
  MadeRecording made;
  for (const std::string_view name : {"weft:12", "weft:", "weft:1x", "mine"}) {
    made.thread(1, name);
    made.add(TraceKind::TaskBegan, 'A');
  }
  made.thread(1, "weft:2");
  made.add(TraceKind::TrackNamed).text("chosen");
  const std::string text = made.draw();
  EXPECT_EQ(text.substr(0, text.find('\n')), "worker 12");
  EXPECT_NE(text.find("\nweft: (thread 1)\n"), std::string::npos);
  EXPECT_NE(text.find("\nweft:1x (thread 1)\n"), std::string::npos);
  EXPECT_NE(text.find("\nmine (thread 1)\n"), std::string::npos);
  EXPECT_NE(text.find("\nchosen (worker 2)\n"), std::string::npos);
}

TEST(TimelineTest, CountersAndAsynchronousSlicesAreThoseOfAllThreads) {
  const auto value = [](double number) { return std::bit_cast<uint64_t>(number); };
  MadeRecording made;
  made.thread(1);
  made.at(10).add(TraceKind::CounterNamed, "depth").add(TraceKind::CounterValue, value(1.5));
  made.at(20).add(TraceKind::AsyncBegan, 7).text("request");
  made.at(30).add(TraceKind::CounterNamed).text("other").add(TraceKind::CounterValue, value(-2));
  made.at(40).add(TraceKind::CounterNamed, "lost").at(45).add(TraceKind::AsyncEnded, 9).text("request");
  made.at(50).add(TraceKind::CounterNamed, "depth").add(TraceKind::CounterValue, value(3));
  made.thread(2);
  made.at(15).add(TraceKind::CounterNamed).text("depth").add(TraceKind::CounterValue, value(2));
  made.at(25)
      .add(TraceKind::AsyncEnded, 7)
      .text("request")
      .at(30)
      .add(TraceKind::AsyncBegan, 8)
      .text("request");
  EXPECT_EQ(made.draw(),
            "thread 1\n"
            "thread 2\n"
            "depth\n"
            "  10 1.5\n"
            "  15 2\n"
            "  50 3\n"
            "other\n"
            "  30 -2\n"
            "async 20-25 request 7\n"
            "async 30-50 request 8\n"
            "async 10-45 request 9\n");
}

TEST(TimelineTest, WhatStandsAloneOrIsOfANewerLibraryIsLeftOut) {
  MadeRecording made;
  made.thread();
  made.text("the rest of a text that is long").add(TraceKind::WaitsFor, 5).add(TraceKind::CounterValue, 5);
  made.at(10).add(static_cast<TraceKind>(200), 5).text("what").add(TraceKind::None);
  made.at(20).add(TraceKind::ScopeBegan, Address{0x77}).at(18).add(TraceKind::ScopeEnded);
  made.at(30).add(TraceKind::Mark, "mark").at(40).add(TraceKind::Parked);
  made.at(41).add(static_cast<TraceKind>(200), 5).at(42).add(TraceKind::Unparked);
  made.recording.threads.back().hasEnded = true;
  EXPECT_EQ(made.draw(),
            "thread 4711, has ended\n"
            "  20-20 0x77\n"
            "  30 mark\n"
            "  40-42 asleep\n");
}

TEST(TimelineTest, LongTextsAreCut) {
  MadeRecording made;
  made.thread();
  made.at(10).add(TraceKind::Mark).text(std::string(2'000, 'a'));
  made.add(TraceKind::Mark, std::string(2'000, 'b'));
  EXPECT_EQ(made.draw(),
            "thread 4711\n  10 " + std::string(256, 'a') + "\n  10 " + std::string(256, 'b') + "\n");
}

TEST(TimelineTest, TicksComeRoundAndRunAtTheirOwnSpeed) {
  constexpr uint64_t kRound = uint64_t{3} << 56;
  MadeRecording made;
  made.recording.first = {kRound - 1'000'000, 5'000'000'000};
  made.recording.last = {kRound + 1'000'000, 5'001'000'000};
  made.thread();
  made.at(kRound - 400).add(TraceKind::ScopeBegan, "scope");
  made.at(kRound + 200).add(TraceKind::ScopeEnded);
  EXPECT_EQ(made.draw(), "thread 4711\n  5000499800-5000500100 scope\n");
}

// What a thread may write, mostly in a sensible order.
void addRandom(MadeRecording& made, std::mt19937& random, bool isNonsense, uint64_t nanoseconds = 1) {
  constexpr auto kLast = static_cast<uint32_t>(TraceKind::StepEnded) + 3;
  const auto below = [&](uint32_t n) { return static_cast<uint64_t>(random() % n); };
  const uint32_t numEvents = random() % 300;
  for (uint32_t i = 0; i < numEvents; ++i) {
    made.now += nanoseconds * below(20);
    made.now -= std::min<uint64_t>(made.now, below(8) == 0 ? nanoseconds * below(5) : 0);
    const auto kind = static_cast<TraceKind>(below(kLast));
    uint64_t operand = below(6);
    if (kind == TraceKind::Woke) {
      operand = withFiber(1 + below(4), static_cast<uint32_t>(operand));
    } else if (isNonsense && below(3) == 0) {
      operand = uint64_t{random()} << 32 | random();
    }
    made.add(kind, operand);
    if (below(6) == 0) {
      made.text("abcdefghijklmnopqrstuvwxyz");
    }
  }
}

TEST(TimelineTest, WhateverTheEventsAreSlicesNestAndArrowsHaveBothEnds) {
  uint64_t numSlices = 0;
  uint64_t numReady = 0;
  for (uint32_t seed = 0; seed < 3'000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    MadeRecording made;
    const uint64_t nanoseconds = random() % 2 == 0 ? 1 : 200;
    made.recording.startedAt = random() % 3 == 0 ? 400 * nanoseconds : 0;
    made.recording.stoppedAt = random() % 3 == 0 ? 1'000 * nanoseconds : 0;
    for (int i = 0; i < 4; ++i) {
      made.thread();
      made.recording.threads.back().numOverwritten = random() % 2;
      made.recording.threads.back().hasEnded = random() % 2 == 0;
      made.now = nanoseconds * (random() % 100);
      addRandom(made, random, seed % 2 == 1, nanoseconds);
    }
    DrawnTimeline timeline;
    made.drawTo(timeline);
    EXPECT_TRUE(timeline.hasEnded);
    timeline.checkArrows();
    numSlices += timeline.numSlices;
    numReady += timeline.checkReady();
  }
  EXPECT_GT(numSlices, 100'000U);
  EXPECT_GT(numReady, 1'000U);
}

constexpr std::string_view kNoMemory = "There was no memory for all of the picture.";

// Has a picture drawn without memory from the first request on, then from the second one on, and so on, up to
// a picture for which there is enough. `draw` returns whether the picture says kNoMemory.
template <class F>
void drawWithLittleMemory(F draw) {
  bool isWhole = false;
  int numNotes = 0;
  for (int numLeft = 0; !isWhole && !testing::Test::HasFailure(); ++numLeft) {
    SCOPED_TRACE(numLeft);
    ScarceMemory memory;
    MadeRecording made(&memory);
    std::mt19937 random(7);
    for (int i = 0; i < 3; ++i) {
      made.thread();
      addRandom(made, random, false, 200);
    }
    memory.numLeft = numLeft;
    const bool hasNote = draw(made);
    isWhole = memory.numLeft >= 0;
    EXPECT_FALSE(isWhole && hasNote);
    numNotes += hasNote ? 1 : 0;
  }
  EXPECT_GT(numNotes, 10);
}

TEST(TimelineTest, WithoutMemoryItSaysSoAndSlicesNest) {
  drawWithLittleMemory([](MadeRecording& made) {
    DrawnTimeline timeline;
    made.drawTo(timeline);
    EXPECT_TRUE(timeline.hasEnded);
    EXPECT_TRUE(timeline.notes.empty() || timeline.notes[0] == kNoMemory);
    return !timeline.notes.empty();
  });
}

TEST(TimelineTest, WithoutMemoryTheFileIsValidJson) {
  drawWithLittleMemory([](MadeRecording& made) {
    std::string file;
    {
      Text text(&weft::detail::inspect::appendTo, &file);
      FakeNames names;
      writeTimelineFile(made.recording, names, made.memory, TimelineFormat::ChromeJson, text);
    }
    EXPECT_TRUE(weft::tests::JsonReader(file).isValid()) << file;
    return file.find(kNoMemory) != std::string::npos;
  });
}

}  // namespace timeline_test
}  // namespace
