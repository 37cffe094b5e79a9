// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/debug.h>
#include <weft/sanitizers.h>
#include <weft/scheduler.h>
#include <weft/task.h>
#include <weft/trace.h>
#include <weft/waitgroup.h>
#include <weft/watchdog.h>

#include "children.h"
#include "scheduler/trace/trace_file.h"
#include "surroundings.h"
#include "temporary_folder.h"
#include "trace_files.h"
#include "waiting.h"

// Files of the flight recorder: what has them written, and what bad use says.
namespace weft {
namespace {
namespace trace_dump_test {

using namespace std::chrono_literals;

using tests::contentsOf;
using tests::exists;
using tests::isWholeJson;

using TraceDumpTest = tests::TraceFilesTest;
using TraceDumpDeathTest = TraceDumpTest;

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
  EXPECT_TRUE(isWholeJson(path()));
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
  EXPECT_TRUE(isWholeJson(file));
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
  EXPECT_TRUE(isWholeJson(path()));
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
        tests::awaitThat([&] { return isWholeJson(second); });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "weft: the events of the flight recorder are in .*signal.json\n");
  EXPECT_TRUE(isWholeJson(file));
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
      tests::awaitThat([&] { return isWholeJson(path("named-2.json")); });
    }
    std::exit(0);
  };
  EXPECT_EXIT(obey(file.c_str()), testing::ExitedWithCode(0), "are in .*named.json");
  EXPECT_TRUE(isWholeJson(path("named-3.json")));  // of the end
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
  EXPECT_TRUE(isWholeJson(path()));
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
  EXPECT_TRUE(isWholeJson(file));
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
  EXPECT_TRUE(isWholeJson(file));
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
  EXPECT_TRUE(isWholeJson(file));
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
  EXPECT_TRUE(isWholeJson(file));
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

TEST(TraceFileTest, TheNewestReplacesTheEighth) {
  const tests::TemporaryFolder folder;
  const std::string begin = folder.path() + "/late";
  detail::TraceFile& file = detail::TraceFile::of((begin + ".json").c_str());
  char path[PATH_MAX];
  for (int i = 1; i <= 12; ++i) {
    file.nextPath(false, path);
    EXPECT_EQ(path, begin + (i == 1 ? "" : "-" + std::to_string(std::min(i, 8))) + ".json");
  }
  file.nextPath(true, path);
  EXPECT_EQ(path, begin + "-9.json");
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
    EXPECT_TRUE(isWholeJson(file));
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
  EXPECT_TRUE(isWholeJson(path("end.json")));
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
  EXPECT_TRUE(isWholeJson(file));
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
  EXPECT_TRUE(isWholeJson(file));
  EXPECT_FALSE(exists(path("by_itself.json")));
}

}  // namespace trace_dump_test
}  // namespace
}  // namespace weft
