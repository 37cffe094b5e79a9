// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fiberhooks.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/fiberlocal.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/trace.h>
#include <weft/waitgroup.h>

namespace weft {
namespace {

// What the hooks were told, in its order.
struct HookCall {
  bool isEntered;
  FiberHooks::Run run;
  std::thread::id thread;
};
std::mutex hookMutex;
std::vector<HookCall> hookCalls;

void addHookCall(bool isEntered, const FiberHooks::Run& run) {
  const std::lock_guard<std::mutex> guard(hookMutex);
  hookCalls.push_back({isEntered, run, std::this_thread::get_id()});
}
void noteEntered(const FiberHooks::Run& run) noexcept { addHookCall(true, run); }
void noteLeft(const FiberHooks::Run& run) noexcept { addHookCall(false, run); }
const FiberHooks notingHooks = {.entered = &noteEntered, .left = &noteLeft};

class Bound {
 public:
  Bound() { scheduler_.bind(); }
  ~Bound() { Scheduler::unbind(); }

 private:
  Scheduler scheduler_{Scheduler::Config{}};
};

class FiberHooksTest : public testing::Test {
 protected:
  void SetUp() override {
    hookCalls.clear();
    EXPECT_EQ(setFiberHooks(&notingHooks), nullptr);
  }
  void TearDown() override {
    setFiberHooks(nullptr);
    expectPairs();
  }

  // On each thread, `left` follows `entered`, with the same run.
  static void expectPairs() {
    std::map<std::thread::id, const HookCall*> open;
    for (const HookCall& call : hookCalls) {
      const HookCall*& entered = open[call.thread];
      ASSERT_EQ(entered == nullptr, call.isEntered);
      if (!call.isEntered) {
        EXPECT_EQ(entered->run.task, call.run.task);
        EXPECT_EQ(entered->run.code, call.run.code);
        EXPECT_EQ(entered->run.fiber, call.run.fiber);
      }
      entered = call.isEntered ? &call : nullptr;
    }
    for (const auto& [thread, entered] : open) {
      EXPECT_EQ(entered, nullptr);
    }
  }

  // "A( A- A) ": task A begins, waits, ... Tasks are named in the order of their first run.
  static std::string story() {
    std::string text;
    std::map<uint64_t, char> names;
    for (const HookCall& call : hookCalls) {
      const char name = names.try_emplace(call.run.task, static_cast<char>('A' + names.size())).first->second;
      const char what = call.isEntered ? (call.run.isFirst ? '(' : '+') : (call.run.isLast ? ')' : '-');
      text += std::string{name, what, ' '};
    }
    return text;
  }

  using Sleep = std::function<void()>;

  // Runs the tasks that scheduleTasks(sleep) schedules, and again with longer sleeps until the thread has
  // slept in sleep(). Where another program has the processor, a short sleep is over before the task waits,
  // so that nothing is left or entered.
  static void runUntilThreadSleeps(const std::function<void(const Sleep& sleep)>& scheduleTasks) {
    bool hasSlept = false;
    for (std::chrono::milliseconds time(1); !hasSlept; time *= 2) {
      const Sleep sleep = [&] {
        sleep_for(time);
        hasSlept = Scheduler::get()->stats().workers.at(0).numParks > 0;
      };
      hookCalls.clear();
      const Bound bound;
      scheduleTasks(sleep);
    }
  }
};

TEST_F(FiberHooksTest, ATaskBeginsAndEnds) {
  {
    const Bound bound;
    schedule([] {});
    schedule([] {});
  }
  EXPECT_EQ(story(), "A( A) B( B) ");
  EXPECT_EQ(hookCalls[0].run.worker, -1);
}

TEST_F(FiberHooksTest, ATaskThatWaitsIsLeftAndGoesOn) {
  {
    const Bound bound;
    const Event event;
    schedule([event] { event.wait(); });
    schedule([event] { event.signal(); });
  }
  EXPECT_EQ(story(), "A( A- B( B) A+ A) ");
  EXPECT_EQ(hookCalls[0].run.fiber, hookCalls[4].run.fiber);
  EXPECT_NE(hookCalls[0].run.fiber, hookCalls[2].run.fiber);
}

TEST_F(FiberHooksTest, NoTaskRunsWhileItsThreadSleeps) {
  runUntilThreadSleeps([](const Sleep& sleep) { schedule(sleep); });
  EXPECT_EQ(story(), "A( A- A+ A) ");
}

TEST_F(FiberHooksTest, AnotherTaskGoesOnAfterASleepOnTheStackOfTheFirst) {
  runUntilThreadSleeps([](const Sleep& sleep) {
    const Event event;
    schedule([=] {
      sleep();
      event.signal();
    });
    schedule([=] { event.wait(); });
  });
  EXPECT_EQ(story(), "A( A- B( B- A+ A) B+ B) ");
}

TEST_F(FiberHooksTest, ATaskRunInPlaceBelongsToTheRunOfItsWaiter) {
  runUntilThreadSleeps([](const Sleep& sleep) {
    schedule([=] {
      TaskGroup group;
      group.run(sleep);
      group.wait();
    });
  });
  EXPECT_EQ(story(), "A( A- A+ A) ");
}

TEST_F(FiberHooksTest, ADestructorOfAFiberLocalMayWaitAfterItsTask) {
  struct Waits {
    ~Waits() { sleep(); }
    Sleep sleep;
  };
  runUntilThreadSleeps([](const Sleep& sleep) {
    static FiberLocal<Waits> local;
    schedule([=] { local->sleep = sleep; });
    schedule([] {});
  });
  expectPairs();
  EXPECT_EQ(std::ranges::count_if(hookCalls, [](const HookCall& call) { return call.run.isLast; }), 2);
}

TEST_F(FiberHooksTest, TheyBeginAndEndInTheMiddleOfTasks) {
  setFiberHooks(nullptr);
  {
    const Bound bound;
    schedule([] {
      setFiberHooks(&notingHooks);
      for (int i = 0; i < 200; ++i) {
        yield();  // polls come within so many
      }
      EXPECT_FALSE(hookCalls.empty());
      EXPECT_FALSE(hookCalls[0].run.isFirst);
      setFiberHooks(nullptr);
      for (int i = 0; i < 200; ++i) {
        yield();
      }
      expectPairs();
    });
    schedule([] {
      for (int i = 0; i < 500; ++i) {
        yield();
      }
    });
  }
}

TEST_F(FiberHooksTest, OthersTakeTheirPlace) {
  static std::atomic<int> numEntered{0};
  static std::atomic<int> numLeft{0};
  static const FiberHooks counting = {.entered = [](const FiberHooks::Run&) noexcept { ++numEntered; },
                                      .left = [](const FiberHooks::Run&) noexcept { ++numLeft; }};
  static const FiberHooks none;
  {
    const Bound bound;
    const auto yieldOften = [](int times) {
      for (int i = 0; i < times; ++i) {
        yield();
      }
    };
    schedule([yieldOften] {
      yieldOften(200);
      EXPECT_EQ(setFiberHooks(&counting), &notingHooks);
      yieldOften(200);
      EXPECT_EQ(setFiberHooks(&none), &counting);
      yieldOften(200);
      EXPECT_EQ(numEntered, numLeft);
    });
    schedule([yieldOften] { yieldOften(1000); });
  }
  expectPairs();
  EXPECT_GT(numEntered, 100);
}

TEST_F(FiberHooksTest, ManyWorkersTellOfAllTasks) {
  constexpr int kTasks = 1000;
  {
    Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(4));
    scheduler.bind();
    const WaitGroup done(kTasks);
    const Event event(Event::Mode::Manual);
    for (int i = 0; i < kTasks; ++i) {
      schedule([=] {
        i % 2 == 0 ? event.wait() : yield();
        done.done();
      });
    }
    event.signal();
    done.wait();
    Scheduler::unbind();
  }
  expectPairs();
  EXPECT_EQ(std::ranges::count_if(hookCalls, [](const HookCall& call) { return call.run.isLast; }), kTasks);
  for (const HookCall& call : hookCalls) {
    EXPECT_TRUE(call.run.worker >= 0 && call.run.worker < 4);
  }
}

TEST_F(FiberHooksTest, TheFlightRecorderRecordsBesideThem) {
  EXPECT_TRUE(trace::start({.eventsPerThread = 4096}));
  runUntilThreadSleeps([](const Sleep& sleep) { schedule(sleep); });
  trace::stop();
  {
    const Bound bound;
    schedule([] {});
  }
  EXPECT_EQ(story(), "A( A- A+ A) B( B) ");
}

struct TaskWithAName {
  void operator()() const { yield(); }
};

// Asks for names where it is called last before a switch, and first on a stack that has run nothing.
void askForName(const FiberHooks::Run& run) noexcept {
  EXPECT_NE(std::string(taskName(run.code)).find("TaskWithAName"), std::string::npos) << taskName(run.code);
  EXPECT_EQ(taskName(run.code), taskName(run.code));
  // What lies there has a name too, and needs a look at the program's symbols each time.
  static char places[1000];
  static int numPlaces = 0;
  EXPECT_NE(taskName(&places[numPlaces++]), nullptr);
}

TEST_F(FiberHooksTest, AHookMayAskForTheNameOfATask) {
  static const FiberHooks asking = {.entered = &askForName, .left = &askForName};
  setFiberHooks(&asking);
  {
    const Bound bound;
    for (int i = 0; i < 10; ++i) {
      schedule(TaskWithAName());
    }
  }
}

namespace header_example {

struct Profiler {
  void begin(const char* name) { names.emplace_back(name); }
  void end() { ++numEnds; }
  std::vector<std::string> names;
  size_t numEnds = 0;
} profiler;

void entered(const weft::FiberHooks::Run& run) noexcept { profiler.begin(weft::taskName(run.code)); }
void left(const weft::FiberHooks::Run&) noexcept { profiler.end(); }
const weft::FiberHooks hooks = {.entered = &entered, .left = &left};

}  // namespace header_example

TEST_F(FiberHooksTest, TheExampleOfTheHeaderRuns) {
  weft::setFiberHooks(&header_example::hooks);
  {
    const Bound bound;
    schedule(TaskWithAName());
  }
  const auto& profiler = header_example::profiler;
  ASSERT_EQ(profiler.names.size(), 1u);
  EXPECT_EQ(profiler.numEnds, 1u);
  EXPECT_NE(profiler.names[0].find("TaskWithAName"), std::string::npos);
}

}  // namespace
}  // namespace weft
