// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/trace/recorder.h"
#include "scheduler/trace/task_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/fiberlocal.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/task.h>
#include <weft/taskgroup.h>
#include <weft/trace.h>
#include <weft/waitgroup.h>

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

// The events that a thread has recorded since the start, oldest first.
std::vector<TraceEvent> eventsOf(const TraceThread& thread) {
  std::vector<TraceEvent> events;
  const auto& ring = thread.ring;
  const uint64_t end = ring.numWritten();
  // As events have it: without the upper byte, which is not zero under qemu-user.
  const TraceEvent start{
      TraceEvent::headOf(TraceKind::None, detail::recorder.startedAt.load(std::memory_order_relaxed))};
  for (uint64_t n = end - std::min(end, ring.capacity()); n < end; ++n) {
    const TraceEvent event = ring.at(n);
    if (event.kind() == TraceKind::Text || event.ticks() >= start.ticks()) {
      events.push_back(event);
    }
  }
  return events;
}

std::vector<TraceEvent> ownEvents() { return eventsOf(own()); }

std::vector<TraceKind> kindsOf(const std::vector<TraceEvent>& events) {
  std::vector<TraceKind> kinds;
  for (const TraceEvent& event : events) {
    kinds.push_back(event.kind());
  }
  return kinds;
}

const char* textOf(const TraceEvent& event) { return reinterpret_cast<const char*>(event.operand); }

void taskOfTest() {}

struct Frame {
  void draw() { isRecorded = weft::trace::isRecording(); }
  bool isLate() const { return false; }
  bool isRecorded = false;
};

TEST(RecorderTest, TheExampleOfTheHeaderRecordsAFrame) {
  Frame frame;
  weft::trace::start();
  frame.draw();
  if (frame.isLate()) {
    weft::trace::dump("late.pftrace");
  }
  EXPECT_TRUE(frame.isRecorded);
  weft::trace::stop();
}

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

TEST(RecorderTest, TheEndOfATaskAndTheBeginningOfTheNextAreOneEvent) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  constexpr int kNumTasks = 40;
  for (int i = 0; i < kNumTasks; ++i) {
    schedule(&taskOfTest);
  }
  Scheduler::unbind();
  using enum TraceKind;
  std::vector<TraceKind> kinds = kindsOf(ownEvents());
  EXPECT_GE(std::ranges::count(kinds, TaskFollowed), kNumTasks / 2);  // polls come between others
  for (auto it = kinds.begin(); it != kinds.end(); ++it) {
    if (*it == TaskFollowed) {
      *it = TaskEnded;
      it = kinds.insert(it + 1, TaskBegan);
    }
  }
  std::vector<TraceKind> expected{ThreadBound, FiberResumed, FiberLeft, FiberResumed};
  for (int i = 0; i < kNumTasks; ++i) {
    expected.insert(expected.end(), {TaskBegan, TaskEnded});
  }
  expected.insert(expected.end(), {FiberLeft, FiberResumed, ThreadUnbound});
  EXPECT_EQ(kinds, expected);
}

// Marks when it is destroyed, after its task has ended.
struct MarksItsEnd {
  ~MarksItsEnd() { trace::mark("destroyed"); }
  int value = 0;
};
FiberLocal<MarksItsEnd> marksItsEnd;

TEST(RecorderTest, WhatRunsBetweenTwoTasksBelongsToNone) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule([] { marksItsEnd->value = 1; });
  schedule(&taskOfTest);
  Scheduler::unbind();
  const std::vector<TraceEvent> events = ownEvents();
  using enum TraceKind;
  EXPECT_EQ(kindsOf(events),
            (std::vector{ThreadBound, FiberResumed, FiberLeft, FiberResumed, TaskBegan, TaskEnded, Mark,
                         TaskBegan, TaskEnded, FiberLeft, FiberResumed, ThreadUnbound}));
}

struct Silent {
  ~Silent() { isDestroyed = true; }
  static inline std::atomic<bool> isDestroyed = false;
  int value = 0;
};
FiberLocal<Silent> silent;

TEST(RecorderTest, ATaskDoesNotBeginBeforeTheFiberLocalsOfTheOneBeforeAreDestroyed) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule([] { silent->value = 1; });
  schedule(&taskOfTest);
  Scheduler::unbind();
  EXPECT_TRUE(Silent::isDestroyed);
  EXPECT_EQ(std::ranges::count(kindsOf(ownEvents()), TraceKind::TaskFollowed), 0);
}

// Follows the events of a thread: which fibers there are, and which of them have a task.
class Followed {
 public:
  explicit Followed(const std::vector<TraceEvent>& events) {
    for (const TraceEvent& event : events) {
      if (event.kind() != TraceKind::Text) {
        EXPECT_GE(event.ticks(), time_);
        time_ = event.ticks();
        take(event);
      }
    }
    EXPECT_EQ(tasks_.size(), 0u) << "tasks that have not ended";
  }
  int numTasks() const { return numTasks_; }
  int numFollowed() const { return numFollowed_; }

 private:
  void take(const TraceEvent& event) {
    switch (event.kind()) {
      case TraceKind::FiberResumed:
        fiber_ = event.operand;
        return;
      case TraceKind::TaskResumed:
        EXPECT_TRUE(tasks_.contains(fiber_)) << "the task that goes on has ended";
        return;
      case TraceKind::TaskFollowed:
        ++numFollowed_;
        end();
        [[fallthrough]];
      case TraceKind::TaskBegan:
        EXPECT_TRUE(tasks_.insert(fiber_).second) << "the task before has not ended";
        ++numTasks_;
        return;
      case TraceKind::TaskEnded:
        return end();
      default:
        return;
    }
  }
  void end() { EXPECT_EQ(tasks_.erase(fiber_), 1u) << "a task ends that has not begun"; }

  uint64_t time_ = 0;
  uint64_t fiber_ = 0;
  std::set<uint64_t> tasks_;  // fibers that have one
  int numTasks_ = 0;
  int numFollowed_ = 0;
};

// Tasks that each do what a random number says, and schedule more of them.
class RandomTasks {
 public:
  explicit RandomTasks(uint32_t seed) : seed_(seed) {}

  void run(int numWorkers) {
    Scheduler scheduler(Scheduler::Config{}.setWorkerThreadCount(numWorkers));
    scheduler.bind();
    for (uint32_t i = 0; i < 100; ++i) {
      add(i * 1'000, 5);
    }
    done_.wait();
    Scheduler::unbind();
  }
  int numTasks() const { return numTasks_; }
  int numInGroups() const { return numInGroups_; }

 private:
  void add(uint32_t number, int depth) {
    ++numTasks_;
    done_.add();
    schedule([this, number, depth] {
      std::minstd_rand random(seed_ + number);
      const uint32_t numSteps = random() % 4;
      for (uint32_t i = 0; i < numSteps; ++i) {
        step(random() % 8, number * 7 + i, depth);
      }
      done_.done();
    });
  }
  void step(uint32_t choice, uint32_t number, int depth) {
    switch (choice) {
      case 0:
        return yield();
      case 1:
        return trace::mark("mark");
      case 2:
        marksItsEnd->value = 1;
        return;
      case 3:
        silent->value = 1;
        return;
      case 4: {
        TaskGroup group;
        group.run([this] { ++numInGroups_; });
        return group.wait();
      }
      case 5:
        return sleep_for(std::chrono::microseconds(1));
      case 6: {
        const Event event;
        schedule([event] { event.signal(); });
        ++numTasks_;
        return event.wait();
      }
      default:
        if (depth > 0) {
          add(number + 1, depth - 1);
          add(number + 2, depth - 1);
        }
    }
  }

  const uint32_t seed_;
  std::atomic<int> numTasks_{0};
  std::atomic<int> numInGroups_{0};  // run in place, or as tasks
  WaitGroup done_;
};

class RecordedTasksTest : public testing::TestWithParam<int> {};

TEST_P(RecordedTasksTest, EachTaskBeginsAndEndsOnceInTheOrderOfTime) {
  constexpr size_t kEvents = 1 << 16;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    RandomTasks tasks(seed);
    int numTasks = 0;
    int numFollowed = 0;
    bool hasSmallRings = false;
    {
      const Recording recording(kEvents);
      // This thread may have a smaller ring already.
      std::thread([&] { tasks.run(GetParam()); }).join();
    }
    for (const TraceThread* thread = detail::recorder.newest; thread != nullptr; thread = thread->older) {
      // Rings of threads that have ended serve again. Those that other tests have left may be too small.
      if (thread->ring.capacity() < kEvents) {
        hasSmallRings = hasSmallRings || !eventsOf(*thread).empty();
        continue;
      }
      const Followed followed(eventsOf(*thread));
      numTasks += followed.numTasks();
      numFollowed += followed.numFollowed();
    }
    if (hasSmallRings) {
      continue;
    }
    EXPECT_GE(numTasks, tasks.numTasks());
    EXPECT_LE(numTasks, tasks.numTasks() + tasks.numInGroups());
    EXPECT_GT(numFollowed, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, RecordedTasksTest, testing::Values(0, 1, 3));

// Returns: the names of the tasks that began, "" of those without.
std::vector<std::string> namesOfTasks(const std::vector<TraceEvent>& events) {
  std::vector<std::string> names;
  for (const TraceEvent& event : events) {
    if (event.kind() == TraceKind::TaskBegan || event.kind() == TraceKind::TaskFollowed) {
      names.emplace_back();
    } else if (event.kind() == TraceKind::TaskNamed) {
      names.back() = textOf(event);
    }
  }
  return names;
}

TEST(RecorderTest, TasksHaveTheNamesThatTheyWereGiven) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule(Task(&taskOfTest).setName("first"));
  schedule(&taskOfTest);
  Task task([] {}, Task::Flags::SameThread);
  task.setName("replaced").setName("second");
  EXPECT_TRUE(task.is(Task::Flags::SameThread));
  schedule(std::move(task));
  schedule(Task(&taskOfTest).setName("first").setName(nullptr));
  std::vector<Task> tasks;
  tasks.push_back(Task(&taskOfTest).setName("of many"));
  tasks.emplace_back(&taskOfTest);
  scheduleMany(std::move(tasks));
  Scheduler::unbind();
  EXPECT_EQ(namesOfTasks(ownEvents()), (std::vector<std::string>{"first", "", "second", "", "of many", ""}));
}

struct Page {
  void load() { isLoaded = true; }
  bool isLoaded = false;
};

TEST(RecorderTest, TheExampleOfTheHeaderNamesATask) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  const auto page = std::make_shared<Page>();
  weft::schedule(weft::Task([page] { page->load(); }).setName("load a page"));
  Scheduler::unbind();
  EXPECT_TRUE(page->isLoaded);
  EXPECT_EQ(namesOfTasks(ownEvents()), std::vector<std::string>{"load a page"});
}

TEST(RecorderTest, ATaskForOneWorkerKeepsItsName) {
  const Recording recording;
  Scheduler scheduler(Scheduler::Config{}.setWorkerThreadCount(1));
  scheduler.bind();
  std::vector<std::string> names;
  const Event done;
  scheduler.enqueueOn(0, Task([&] {
                           names = namesOfTasks(ownEvents());
                           done.signal();
                         }).setName("placed"));
  done.wait();
  Scheduler::unbind();
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.back(), "placed");
}

TEST(RecorderTest, AnEmptyTaskTakesNoName) {
  Task task;
  EXPECT_FALSE(task.setName("name"));
  EXPECT_EQ(task.release(), nullptr);
}

TEST(RecorderTest, TaskNamesAreFoundAgainUntilTheTableIsFull) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static const std::string texts(4'200, '\0');
        std::vector<Task> tasks;
        for (size_t i = 0; i < texts.size(); ++i) {
          tasks.push_back(Task(&taskOfTest).setName(&texts[i]));
          tasks.push_back(Task(&taskOfTest).setName(&texts[i]));
        }
        int numNamed = 0;
        for (size_t i = 0; i < tasks.size(); ++i) {
          detail::TaskNode* const node = tasks[i].release();
          const char* const name = detail::taskNameOf(*node);
          numNamed += name == &texts[i / 2] ? 1 : 0;
          if (name != nullptr && name != &texts[i / 2]) {
            std::abort();
          }
          node->invoke(node, detail::TaskOp::Discard);
        }
        std::fprintf(stderr, "%d named\n", numNamed);
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "^weft: warning: Task::setName[^\n]*there are 4094 names already[^\n]*\n8188 named\n$");
}

TEST(RecorderTest, ThreadsThatNameTasksAtOnceGetTheirNames) {
  static const std::string texts(256, '\0');
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (const char& text : texts) {
        detail::TaskNode* const node = Task(&taskOfTest).setName(&text).release();
        EXPECT_EQ(detail::taskNameOf(*node), &text);
        node->invoke(node, detail::TaskOp::Discard);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
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

TEST(RecorderTest, AWorkerThatHasMissedTheStopLooksAtNewLimits) {
  using std::chrono::hours;
  using std::chrono::nanoseconds;
  trace::start({.eventsPerThread = 4096});
  Scheduler scheduler(Scheduler::Config{});
  scheduler.bind();
  schedule([] {
    trace::stop();
    trace::start({.path = "/dev/null", .longestRun = nanoseconds(1), .dumpInterval = hours(1)});
  });
  for (int i = 0; i < 200; ++i) {
    schedule(&taskOfTest);  // polls come within so many
  }
  Scheduler::unbind();
  trace::stop();
  EXPECT_GE(std::ranges::count(kindsOf(ownEvents()), TraceKind::Mark), 1);
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
  for (const size_t length : {0, 1, 6, 7, 8, 14, 15, 16, 29, 30, 31, 100, 255, 256, 257, 500}) {
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
    EXPECT_EQ(std::string(found.c_str()), text.substr(0, 256)) << length;
  }
}

TEST(RecorderTest, ManyThreadsThatComeAndGoTakeFewRings) {
  const Recording recording(1 << 16);
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
