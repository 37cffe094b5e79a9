// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/trace/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/trace.h>

namespace weft {
namespace {

using detail::EventRing;
using detail::TraceEvent;
using detail::TraceKind;
using detail::TraceThread;

// Records while it lives.
class Recording {
 public:
  explicit Recording(size_t eventsPerThread = 4096) {
    EXPECT_TRUE(trace::start(trace::Config{.eventsPerThread = eventsPerThread}));
  }
  ~Recording() { trace::stop(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

TraceThread& own() { return *detail::ownTraceThread; }

// The events that the calling thread has recorded since the start, oldest first.
std::vector<TraceEvent> ownEvents() {
  std::vector<TraceEvent> events;
  const auto& ring = own().ring;
  const uint64_t end = ring.numWritten();
  for (uint64_t n = end - std::min(end, ring.capacity()); n < end; ++n) {
    const TraceEvent event = ring.at(n);
    if (event.kind() == TraceKind::Text ||
        event.ticks() >= detail::recorder.startedAt.load(std::memory_order_relaxed)) {
      events.push_back(event);
    }
  }
  return events;
}

std::vector<TraceKind> kindsOf(const std::vector<TraceEvent>& events) {
  std::vector<TraceKind> kinds;
  for (const TraceEvent& event : events) {
    kinds.push_back(event.kind());
  }
  return kinds;
}

const char* textOf(const TraceEvent& event) { return reinterpret_cast<const char*>(event.operand); }

void taskOfTest() {}

TEST(RecorderTest, ATaskBeginsAndEnds) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule(&taskOfTest);
  Scheduler::unbind();
  using enum TraceKind;
  EXPECT_EQ(kindsOf(ownEvents()), (std::vector{ThreadBound, FiberResumed, FiberLeft, FiberResumed, TaskBegan,
                                               TaskEnded, FiberLeft, FiberResumed, ThreadUnbound}));
}

TEST(RecorderTest, AWaitSaysForWhatAndWhoEndedIt) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  const Event event;
  schedule([event] { event.wait(); });
  schedule([event] { event.signal(); });
  Scheduler::unbind();
  const std::vector<TraceEvent> events = ownEvents();
  const auto isWait = [](const TraceEvent& each) {
    return each.kind() == TraceKind::FiberLeft && each.operand != 0;
  };
  const auto wait = std::find_if(events.begin(), events.end(), isWait);
  ASSERT_NE(wait, events.end());
  EXPECT_STREQ(textOf(*wait), "Event");
  EXPECT_EQ(wait[1].kind(), TraceKind::WaitsFor);
  const auto woke =
      std::find_if(wait, events.end(), [](const TraceEvent& each) { return each.kind() == TraceKind::Woke; });
  ASSERT_NE(woke, events.end());
  EXPECT_EQ(woke->operand >> 32, own().number);
  const auto resumed = std::find_if(woke, events.end(), [&](const TraceEvent& each) {
    return each.kind() == TraceKind::FiberResumed && each.operand == (woke->operand & 0xffffffff);
  });
  ASSERT_NE(resumed, events.end());
  EXPECT_EQ(resumed[1].kind(), TraceKind::TaskResumed);
}

TEST(RecorderTest, TimesGoUp) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  for (int i = 0; i < 100; ++i) {
    schedule([] { yield(); });
  }
  Scheduler::unbind();
  const std::vector<TraceEvent> events = ownEvents();
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(),
                             [](const TraceEvent& a, const TraceEvent& b) { return a.ticks() < b.ticks(); }));
}

TEST(RecorderTest, ItBeginsAndEndsInTheMiddleOfTasks) {
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule([] {
    trace::start({.eventsPerThread = 4096});
    for (int i = 0; i < 200; ++i) {
      yield();  // polls come within so many
    }
    EXPECT_EQ(std::ranges::count(kindsOf(ownEvents()), TraceKind::ThreadBound), 1);
    EXPECT_GE(std::ranges::count(kindsOf(ownEvents()), TraceKind::TaskResumed), 1);
    trace::stop();
    for (int i = 0; i < 200; ++i) {
      yield();
    }
    EXPECT_EQ(ownEvents().back().kind(), TraceKind::ThreadUnbound);
  });
  schedule([] {
    for (int i = 0; i < 500; ++i) {
      yield();
    }
  });
  Scheduler::unbind();
}

TEST(RecorderTest, ASecondStartIsRefused) {
  const Recording recording;
  EXPECT_TRUE(trace::isRecording());
  EXPECT_FALSE(trace::start());
}

TEST(RecorderTest, TasksInPlaceAreRecorded) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule([] {
    TaskGroup group;
    group.run([] {});
    group.run([] {});
    group.wait();
  });
  Scheduler::unbind();
  EXPECT_EQ(std::ranges::count(kindsOf(ownEvents()), TraceKind::InPlaceBegan), 2);
  EXPECT_EQ(std::ranges::count(kindsOf(ownEvents()), TraceKind::InPlaceEnded), 2);
}

TEST(RecorderTest, ATaskInPlaceSeesNoExceptionOfItsWaiter) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule([] {
    try {
      throw 1;
    } catch (int) {
      TaskGroup group;
      group.run([] { EXPECT_EQ(std::current_exception(), nullptr); });
      group.wait();
      EXPECT_NE(std::current_exception(), nullptr);
    }
  });
  Scheduler::unbind();
}

TEST(RecorderTest, AThreadThatEndsLeavesItsRing) {
  const Recording recording;
  const TraceThread* ring = nullptr;
  std::thread([&] {
    detail::record(TraceKind::Mark, "mark");
    ring = &own();
    EXPECT_FALSE(ring->hasEnded);
  }).join();
  EXPECT_TRUE(ring->hasEnded);
  EXPECT_EQ(ring->ring.numWritten(), 1u);
}

TEST(RecorderTest, TextGoesOverSeveralEvents) {
  const Recording recording;
  for (const size_t length : {0, 1, 6, 7, 8, 14, 15, 16, 29, 30, 31, 100, 127, 128, 129, 500}) {
    const std::string text(length, 'x');
    detail::TraceEvents().addText(text.c_str());
    std::string found;
    std::vector<TraceEvent> events = ownEvents();
    auto first = events.end();
    do {
      --first;
    } while (first != events.begin() && first[-1].kind() == TraceKind::Text &&
             (first[-1].operand >> 56) != 0);
    for (; first != events.end(); ++first) {
      for (int i = 1; i < 8; ++i) {
        found += static_cast<char>(first->head >> (8 * i));
      }
      for (int i = 0; i < 8; ++i) {
        found += static_cast<char>(first->operand >> (8 * i));
      }
    }
    EXPECT_EQ(std::string(found.c_str()), text.substr(0, 128)) << length;
  }
}

TEST(RecorderTest, ManyThreadsThatComeAndGoTakeFewRings) {
  const Recording recording(64);
  for (int i = 0; i < 200; ++i) {
    std::thread([] { detail::record(TraceKind::Mark, "mark"); }).join();
  }
  int numThreads = 0;
  for (const TraceThread* thread = detail::recorder.newest; thread != nullptr; thread = thread->older) {
    ++numThreads;
  }
  EXPECT_LE(numThreads, 50);
}

}  // namespace
}  // namespace weft
