// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/debug.h>
#include <weft/event.h>
#include <weft/sanitizers.h>
#include <weft/scheduler.h>
#include <weft/task.h>
#include <weft/taskgroup.h>
#include <weft/trace.h>
#include <weft/waitgroup.h>
#include <weft/watchdog.h>

#include "children.h"
#include "json_reader.h"
#include "surroundings.h"
#include "temporary_folder.h"
#include "waiting.h"

// Files of the flight recorder: what has them written, and what bad use says.
namespace weft {
namespace {
namespace trace_dump_test {

using namespace std::chrono_literals;

using tests::contentsOf;

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool isWhole(const std::string& path) {
  const std::string text = contentsOf(path);
  return !text.empty() && tests::JsonReader(text).isValid();
}

void computeFor(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

class TraceDumpTest : public testing::Test {
 protected:
  TraceDumpTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  ~TraceDumpTest() override { trace::stop(); }

  std::string path(const char* name = "late.json") const { return folder_.path() + "/" + name; }

 private:
  tests::SharedTemporaryFolder folder_;
};
using TraceDumpDeathTest = TraceDumpTest;

// Returns once the thread that dumps has written that file, and said so.
void awaitTold(const std::string& file, const std::string& after) {
  tests::awaitThat([&] { return isWhole(file); });
  trace::dumpOnSignal(SIGUSR2, after.c_str());
  raise(SIGUSR2);
  tests::awaitThat([&] { return isWhole(after); });
}

// Some events of a task.
void runATask() {
  Scheduler scheduler(Scheduler::Config{});
  Scheduler::Binding bound(scheduler);
  schedule([] { trace::mark("of the task"); });
  WaitGroup done(1);
  schedule([done] { done.done(); });
  done.wait();
}

TEST_F(TraceDumpTest, AFileHasWhatWasMarked) {
  trace::start();
  runATask();
  ASSERT_TRUE(trace::dump(path().c_str()));
  EXPECT_TRUE(isWhole(path()));
  EXPECT_NE(contentsOf(path()).find("of the task"), std::string::npos);
}

TEST_F(TraceDumpDeathTest, AFileThatCannotBeWrittenIsWarnedOf) {
  const auto dumpTo = [](const char* path) {
    trace::start();
    trace::mark("mark");
    std::exit(trace::dump(path) ? 1 : 0);
  };
  const auto fails = testing::ExitedWithCode(0);
  EXPECT_EXIT(dumpTo("/nonexistent/a.json"), fails,
              "trace::dump.\"/nonexistent/a.json\".: it cannot be opened .No such file or directory");
  EXPECT_EXIT(dumpTo("/dev/full"), fails,
              "trace::dump.\"/dev/full\".: the file is not complete .No space left on device");
}

TEST_F(TraceDumpDeathTest, ADumpBeforeTheStartIsWarnedOf) {
  const std::string file = path();
  EXPECT_EXIT(std::exit(trace::dump(file.c_str()) ? 1 : 0), testing::ExitedWithCode(0),
              "there is no file: nothing was recorded. Call weft::trace::start.. first");
  EXPECT_FALSE(exists(file));
}

TEST_F(TraceDumpDeathTest, ASecondStartChangesNothing) {
  const std::string file = path(), other = path("other.json");
  EXPECT_DEATH(
      {
        trace::start({.path = file.c_str()});
        trace::mark("mark");
        if (!trace::start({.path = other.c_str()})) {
          WEFT_FATAL("the end");
        }
      },
      "the end");
  EXPECT_TRUE(isWhole(file));
  EXPECT_FALSE(exists(other));
}

TEST_F(TraceDumpDeathTest, BadTimesEndTheProgram) {
  EXPECT_DEATH(trace::start({.path = "a.json", .longestRun = -1ns}), "a time of Config is less than zero");
  EXPECT_DEATH(trace::start({.longestWake = 1ns}), "a longestWake, and no path. Set Config::path");
  EXPECT_DEATH(trace::start({.path = ""}), "a path of 0 characters");
  EXPECT_DEATH(trace::start({.path = std::string(5'000, 'a').c_str()}), "a path of 5000 characters");
}

TEST_F(TraceDumpTest, ARingThatIsTooSmallSaysWhatWasOverwritten) {
  trace::start({.eventsPerThread = 64});
  std::thread([] {
    for (int i = 0; i < 1'000; ++i) {
      trace::mark("mark");
    }
  }).join();
  ASSERT_TRUE(trace::dump(path().c_str()));
  EXPECT_TRUE(isWhole(path()));
  EXPECT_NE(contentsOf(path()).find(" older events were overwritten"), std::string::npos);
}

TEST_F(TraceDumpDeathTest, ASignalHasAFileWritten) {
  const std::string file = path("signal.json"), second = path("signal-2.json");
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start();
        EXPECT_TRUE(trace::dumpOnSignal(SIGUSR2, file.c_str()));
        runATask();
        raise(SIGUSR2);
        raise(SIGUSR2);
        tests::awaitThat([&] { return isWhole(second); });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "weft: the events of the flight recorder are in .*signal.json\n");
  EXPECT_TRUE(isWhole(file));
}

TEST_F(TraceDumpDeathTest, TheEnvironmentNamesTheSignalOfAFile) {
  const std::string file = path("named.json");
  const auto obey = [&](const char* to) {
    tests::endWithTheTest();
    setenv("WEFT_TRACE", to, 1);
    setenv("WEFT_TRACE_SIGNAL", "USR2", 1);
    runATask();
    if (*to != '\0') {
      raise(SIGUSR2);
      raise(SIGUSR2);
      tests::awaitThat([&] { return isWhole(path("named-2.json")); });
    }
    std::exit(0);
  };
  EXPECT_EXIT(obey(file.c_str()), testing::ExitedWithCode(0), "are in .*named.json");
  EXPECT_TRUE(isWhole(path("named-3.json")));  // of the end
  EXPECT_EXIT(obey(""), testing::ExitedWithCode(0),
              "WEFT_TRACE_SIGNAL=USR2 has no effect without WEFT_TRACE");
}

TEST_F(TraceDumpTest, AFindingOfAWatchdogSaysWhereItsFileIs) {
  trace::start({.path = path().c_str()});
  std::atomic<bool> isTold{false};
  std::string text;
  {
    const Watchdog watchdog(
        Watchdog::Config().setLongestTask(10ms).setHandler([&](const Watchdog::Report& report) {
          if (report.condition == Watchdog::Condition::LongTask && !isTold) {
            text = report.text;
            isTold = true;
          }
        }));
    Scheduler scheduler(tests::smallConfig(1));
    scheduler.enqueue(Task([&] {
      while (!isTold) {
      }
    }));
  }
  EXPECT_TRUE(text.ends_with("weft: watchdog: the events of the flight recorder are in " + path() + "\n"))
      << text;
  EXPECT_TRUE(isWhole(path()));
}

TEST_F(TraceDumpDeathTest, AFatalMessageHasAFileWritten) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        trace::start({.path = file.c_str()});
        runATask();
        WEFT_FATAL("the end");
      },
      testing::KilledBySignal(SIGABRT), "fatal: the end\n.*\nweft: the events .* are in .*late.json");
  EXPECT_TRUE(isWhole(file));
}

TEST_F(TraceDumpDeathTest, AnEscapedExceptionHasAFileWritten) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        trace::start({.path = file.c_str()});
        Scheduler scheduler(tests::smallConfig(1));
        scheduler.enqueue(Task([] { throw std::runtime_error("lost"); }));
        tests::awaitThat([] { return false; });
      },
      testing::KilledBySignal(SIGABRT), "an exception escaped from a task.*lost(.|\n)*are in .*late.json");
  EXPECT_TRUE(isWhole(file));
}

#if !WEFT_ASAN && !WEFT_TSAN
[[gnu::noinline]] int recurse(int depth) {
  char local[1'000];
  asm volatile("" : : "r"(local) : "memory");
  return depth == 0 ? 0 : recurse(depth - 1) + local[0];
}

TEST_F(TraceDumpDeathTest, AnOverflowHasAFileWritten) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        trace::start({.path = file.c_str()});
        Scheduler scheduler(tests::smallConfig(1));
        scheduler.enqueue(Task([] { recurse(1'000'000'000); }));
        tests::awaitThat([] { return false; });
      },
      testing::KilledBySignal(SIGSEGV), "stack overflow in fiber(.|\n)*are in .*late.json");
  EXPECT_TRUE(isWhole(file));
}
#endif

// Otherwise the process would end while the first of them writes.
TEST_F(TraceDumpDeathTest, ManyFatalMessagesHaveOneFile) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        trace::start({.path = file.c_str()});
        std::atomic<int> numReady{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
          threads.emplace_back([&] {
            for (int j = 0; j < 10'000; ++j) {
              trace::mark("mark");
            }
            ++numReady;
            while (numReady < 4) {
            }
            WEFT_FATAL("the end");
          });
        }
        for (std::thread& thread : threads) {
          thread.join();
        }
      },
      testing::KilledBySignal(SIGABRT), "the end");
  EXPECT_TRUE(isWhole(file));
  EXPECT_FALSE(exists(path("late-2.json")));
}

TEST_F(TraceDumpDeathTest, AFatalMessageEndsTheProcessIfNoFileCanBeWritten) {
  for (const char* const file : {"/dev/full", "/nonexistent/a.json"}) {
    EXPECT_EXIT(
        {
          trace::start({.path = file});
          trace::mark("mark");
          WEFT_FATAL("the end");
        },
        testing::KilledBySignal(SIGABRT), "the end\n.*\nweft: warning: trace::dump");
  }
}

// A pipe that nobody reads cannot even be opened. The test sends the alarm that comes after half a minute.
TEST_F(TraceDumpDeathTest, AFatalMessageEndsTheProcessIfTheFileTakesForEver) {
  const std::string pipe = path("pipe");
  mkfifo(pipe.c_str(), 0600);
  EXPECT_EXIT(
      {
        trace::start({.path = pipe.c_str()});
        trace::mark("mark");
        std::thread([] {
          struct sigaction current{};
          while (sigaction(SIGALRM, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) {
            std::this_thread::yield();
          }
          kill(getpid(), SIGALRM);
        }).detach();
        WEFT_FATAL("the end");
      },
      testing::KilledBySignal(SIGABRT), "the end(.|\n)*the events of the flight recorder are not written");
}

TEST_F(TraceDumpDeathTest, ALongRunHasAFileWritten) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestRun = 2ms, .dumpInterval = 1h});
        {
          Scheduler scheduler(Scheduler::Config{});
          Scheduler::Binding bound(scheduler);
          schedule([] {});  // not late
          schedule([] { computeFor(3ms); });
        }
        awaitTold(file, path("after.json"));
        // Within the interval there is no other one.
        Scheduler scheduler(Scheduler::Config{});
        Scheduler::Binding bound(scheduler);
        const WaitGroup done(1);
        schedule([] { computeFor(3ms); });
        schedule([done] { done.done(); });
        done.wait();
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "weft: task .*ALongRunHasAFileWritten.* ran for [0-9.]+ ms in one go on main thread [0-9]+, "
      "longer than trace::Config::longestRun: "
      "the events of the flight recorder are in .*late.json\n");
  EXPECT_NE(contentsOf(file).find("longer than trace::Config::longestRun"), std::string::npos);
  EXPECT_FALSE(exists(path("late-2.json")));
}

TEST_F(TraceDumpDeathTest, TheEnvironmentSetsLimits) {
  const std::string file = path();
  const auto obey = [&](const char* to, const char* run, const char* wake) {
    setenv("WEFT_TRACE", to, 1);
    unlink(file.c_str());  // of a process before
    unlink(path("after.json").c_str());
    setenv("WEFT_TRACE_LONGEST_RUN", run, 1);
    setenv("WEFT_TRACE_LONGEST_WAKE", wake, 1);
    tests::endWithTheTest();
    {
      Scheduler scheduler(Scheduler::Config{});
      Scheduler::Binding bound(scheduler);
      const Event event;
      schedule([event] { event.wait(); });
      schedule([event] {
        event.signal();
        computeFor(2ms);
      });
    }
    if (*to != '\0' && (run == std::string("1.5") || wake == std::string("0.5"))) {
      awaitTold(file, path("after.json"));
    }
    std::exit(0);
  };
  const auto ends = testing::ExitedWithCode(0);
  EXPECT_EXIT(obey(file.c_str(), "1.5", ""), ends, "longer than trace::Config::longestRun: .*late.json\n");
  EXPECT_EXIT(obey(file.c_str(), "", "0.5"), ends, "longer than trace::Config::longestWake; .*late.json\n");
  for (const char* const wrong : {"soon", "-1", "1.5.5", "0", "1e9", "99999999999999999999"}) {
    EXPECT_EXIT(obey(file.c_str(), wrong, ""), ends,
                "WEFT_TRACE_LONGEST_RUN=.* is no number of milliseconds");
  }
  EXPECT_EXIT(obey("", "", "0.5"), ends, "WEFT_TRACE_LONGEST_WAKE=0.5 has no effect without WEFT_TRACE");
}

// A task that lives long, and waits and yields meanwhile, does not run long.
TEST_F(TraceDumpDeathTest, ManyRunsOfATaskAreNoLongRun) {
  // Longer than a system takes the processor away from a thread.
  constexpr auto kLimit = 400ms;
  constexpr auto kRun = 70ms;
  const std::string file = path();
  EXPECT_EXIT(
      {
        trace::start({.path = file.c_str(), .longestRun = kLimit, .dumpInterval = 0s});
        Scheduler scheduler(Scheduler::Config{});
        Scheduler::Binding bound(scheduler);
        const Event never;
        const WaitGroup done(1);
        schedule([=] {
          for (int i = 0; i < 3; ++i) {
            schedule([=] { computeFor(kRun); });
            yield();  // to that task
            computeFor(kRun);
            never.wait_for(kRun);
          }
          done.done();
        });
        done.wait();
        computeFor(kLimit + 10ms);  // outside of tasks
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST_F(TraceDumpDeathTest, ALongRunIsToldWhileItsTaskLives) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestRun = 2ms, .dumpInterval = 1h});
        Scheduler scheduler(tests::smallConfig(1));
        scheduler.enqueue(Task([=] {
          const Event never;
          while (!isWhole(file)) {
            computeFor(3ms);
            never.wait_for(1ms);
          }
        }));
        awaitTold(file, path("after.json"));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "weft: task .* ran for [0-9.]+ ms in one go on worker 0, longer than");
  EXPECT_TRUE(isWhole(file));
}

TEST_F(TraceDumpDeathTest, ATaskInPlaceCountsForTheOneThatWaitsForIt) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestRun = 4ms, .dumpInterval = 1h});
        {
          Scheduler scheduler(Scheduler::Config{});
          Scheduler::Binding bound(scheduler);
          schedule([] {
            TaskGroup group;
            group.run([] { computeFor(2ms); });
            group.run([] { computeFor(2ms); });
            group.wait();
          });
        }
        awaitTold(file, path("after.json"));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "weft: task .* ran for [0-9.]+ ms in one go on main thread");
  EXPECT_TRUE(isWhole(file));
}

TEST_F(TraceDumpDeathTest, ALateWakeHasAFileWritten) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestWake = 2ms});
        {
          Scheduler scheduler(Scheduler::Config{});
          Scheduler::Binding bound(scheduler);
          const Event event;
          schedule([event] { event.wait(); });
          schedule([event] {
            event.signal();
            computeFor(3ms);
          });
        }
        awaitTold(file, path("after.json"));
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "task .* went on only [0-9.]+ ms after it was woken, longer than trace::Config::longestWake; "
      "main thread [0-9]+ ran task .* for [0-9.]+ ms of these: the events ");
}

TEST_F(TraceDumpDeathTest, ALateTimerHasAFileWritten) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestWake = 2ms});
        {
          Scheduler scheduler(Scheduler::Config{});
          Scheduler::Binding bound(scheduler);
          schedule([=] {
            const Event never;
            while (!isWhole(file)) {
              schedule([] { computeFor(10ms); });
              never.wait_for(1ms);
            }
          });
        }
        awaitTold(file, path("after.json"));
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "task .* went on only [0-9.]+ ms after its time had come, longer than trace::Config::longestWake");
}

TEST_F(TraceDumpDeathTest, ATaskThatRanLongBeforeTheWakeIsNotBlamed) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start({.path = file.c_str(), .longestWake = 2ms});
        {
          Scheduler scheduler(Scheduler::Config{});
          Scheduler::Binding bound(scheduler);
          const Event event;
          const WaitGroup done(1);
          schedule([=] {
            event.wait();
            done.done();
          });
          yield();  // until it waits
          schedule([] { computeFor(5ms); });
          yield();
          event.signal();
          computeFor(3ms);  // outside of tasks
          done.wait();
        }
        awaitTold(file, path("after.json"));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "after it was woken, longer than trace::Config::longestWake: the events ");
}

// What a fiber has run since an earlier wake does not count, nor do its waits.
TEST_F(TraceDumpDeathTest, LongRunsAndLongWaitsAreNoLateWakes) {
  // Longer than a system takes the processor away from a thread that has just woken a fiber.
  constexpr auto kLimit = 400ms;
  constexpr auto kLonger = 480ms;
  const std::string file = path();
  EXPECT_EXIT(
      {
        trace::start({.path = file.c_str(), .longestWake = kLimit, .dumpInterval = 0s});
        Scheduler scheduler(Scheduler::Config{});
        Scheduler::Binding bound(scheduler);
        const Event event;
        const Event other;
        const WaitGroup done(1);
        schedule([=] {
          event.wait();
          computeFor(kLonger);
          yield();
          other.wait_for(kLonger);
          done.done();
        });
        schedule([event] { event.signal(); });
        done.wait();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST_F(TraceDumpDeathTest, TheNewestReplacesTheEighth) {
  const std::string file = path("many.json");
  EXPECT_EXIT(
      {
        tests::endWithTheTest();
        trace::start();
        trace::mark("mark");
        trace::dumpOnSignal(SIGUSR2, file.c_str());
        for (int i = 0; i < 12; ++i) {
          raise(SIGUSR2);
        }
        tests::awaitThat([&] { return isWhole(path("many-8.json")); });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "are in .*many-7.json");
  EXPECT_TRUE(isWhole(path("many-7.json")));
  EXPECT_FALSE(exists(path("many-9.json")));
}

// Each dump is whole, whatever comes and goes meanwhile.
void dumpWhileItChanges(const std::string& file, int numDumps, const std::function<void()>& change) {
  trace::start({.eventsPerThread = 1'024});
  trace::mark("first");
  std::atomic<bool> isOver{false};
  std::thread changer([&] {
    while (!isOver) {
      change();
    }
  });
  for (int i = 0; i < numDumps; ++i) {
    EXPECT_TRUE(trace::dump(file.c_str()));
    EXPECT_TRUE(isWhole(file));
  }
  isOver = true;
  changer.join();
  trace::stop();
}

TEST_F(TraceDumpTest, SchedulersMayBeginAndEndMeanwhile) {
  dumpWhileItChanges(path(), 10, [] {
    Scheduler scheduler(tests::smallConfig(2));
    Scheduler::Binding bound(scheduler);
    const WaitGroup done(8);
    for (int i = 0; i < 8; ++i) {
      schedule([done] { done.done(); });
    }
    done.wait();
  });
}

TEST_F(TraceDumpTest, ThreadsMayComeAndGoMeanwhile) {
  dumpWhileItChanges(path(), 10, [] { std::thread([] { trace::mark("mark"); }).join(); });
}

TEST_F(TraceDumpTest, AllThreadsMayRecordAllTheTime) {
  std::atomic<bool> isOver{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!isOver) {
        trace::Scope scope("scope");
        trace::counter("counter", 1);
      }
    });
  }
  dumpWhileItChanges(path(), 3, [] { trace::mark("mark"); });
  isOver = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(TraceDumpTest, ItMayStartAndStopMeanwhile) {
  dumpWhileItChanges(path(), 10, [] {
    trace::stop();
    trace::start({.eventsPerThread = 1'024});
    trace::mark("mark");
  });
}

TEST_F(TraceDumpDeathTest, TheProcessMayEndMeanwhile) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        setenv("WEFT_TRACE", path("end.json").c_str(), 1);
        runATask();
        std::atomic<int> numDumps{0};
        std::thread([&] {
          while (trace::dump(file.c_str())) {
            ++numDumps;
          }
        }).detach();
        tests::awaitThat([&] { return numDumps > 2; });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
  EXPECT_TRUE(isWhole(path("end.json")));
}

#if !WEFT_ASAN && !WEFT_TSAN
TEST_F(TraceDumpDeathTest, MemoryThatIsRefusedForARingIsNoted) {
  const std::string file = path();
  EXPECT_EXIT(
      {
        trace::start({.eventsPerThread = size_t{1} << 24});
        trace::mark("mark");  // the ring of this thread
        std::thread([] {
          rlimit limit{};
          getrlimit(RLIMIT_AS, &limit);
          limit.rlim_cur = size_t{200} << 20;  // a ring takes 256 MiB
          setrlimit(RLIMIT_AS, &limit);
          trace::mark("lost");
          limit.rlim_cur = limit.rlim_max;
          setrlimit(RLIMIT_AS, &limit);
        }).join();
        std::exit(trace::dump(file.c_str()) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_TRUE(isWhole(file));
  EXPECT_NE(contentsOf(file).find("The events of 1 thread are missing: there was no memory"),
            std::string::npos);
}
#endif

TEST_F(TraceDumpTest, AChildOfForkWritesWhenItIsAskedAndNotByItself) {
  const std::string file = path("asked.json");
  trace::start({.path = path("by_itself.json").c_str()});
  runATask();
  const pid_t child = fork();
  if (child == 0) {
    tests::endWithTheTest();
    if (!trace::dump(file.c_str())) {
      _exit(1);
    }
    WEFT_FATAL("the end");
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  EXPECT_TRUE(isWhole(file));
  EXPECT_FALSE(exists(path("by_itself.json")));
}

}  // namespace trace_dump_test
}  // namespace
}  // namespace weft
