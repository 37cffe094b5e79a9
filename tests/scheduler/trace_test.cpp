// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#undef WEFT_TRACE_ENABLED
#define WEFT_TRACE_ENABLED 1
#include <weft/trace.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "json_reader.h"
#include "temporary_folder.h"
#include "texts.h"

namespace weft {
namespace {

using tests::count;

// Runs `events` in a process of its own. Returns: the trace that it leaves.
template <class F>
std::string traceOf(F events) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const tests::SharedTemporaryFolder folder;
  const std::string path = folder.path() + "/trace.json";
  EXPECT_EXIT(
      {
        setenv("WEFT_TRACE_FILE", path.c_str(), 1);
        events();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  std::string text = tests::contentsOf(path);
  EXPECT_TRUE(tests::JsonReader(text).isValid()) << text;
  return text;
}

// Returns: the numbers of the rows of the events of which `part` is a part.
std::vector<std::string> rowsOf(const std::string& trace, std::string_view part) {
  std::vector<std::string> rows;
  for (size_t at = trace.find(part); at != std::string::npos; at = trace.find(part, at + 1)) {
    const size_t row = trace.find("\"tid\":", trace.rfind('\n', at));
    rows.push_back(trace.substr(row, trace.find(',', row) - row + 1));
  }
  return rows;
}

// Returns: the name of a row.
std::string nameOf(const std::string& trace, const std::string& row) {
  constexpr std::string_view kBefore = "\"name\":\"thread_name\",\"args\":{\"name\":\"";
  const size_t at = trace.find(row + std::string(kBefore));
  if (at == std::string::npos) {
    return "no name";
  }
  const size_t begin = at + row.size() + kBefore.size();
  return trace.substr(begin, trace.find('"', begin) - begin);
}

TEST(TraceDeathTest, EventsOfAScopeBeginAndEnd) {
  const std::string trace = traceOf([] {
    WEFT_NAME_THREAD("main");
    WEFT_SCOPED_EVENT("outer %d", 1);
    {
      WEFT_SCOPED_EVENT("inner");
    }
  });
  EXPECT_EQ(count(trace, "\"name\":\"thread_name\""), 1U);
  EXPECT_EQ(count(trace, "\"name\":\"thread_name\",\"args\":{\"name\":\"main (thread "), 1U);
  EXPECT_EQ(count(trace, "\"name\":\"outer 1\""), 1U);
  EXPECT_EQ(count(trace, "\"ph\":\"X\""), 2U);
}

TEST(TraceDeathTest, AsynchronousEventsCarryTheirIdAndName) {
  const std::string trace = traceOf([] {
    WEFT_BEGIN_ASYNC_EVENT(7, "request %s", "a");
    std::thread([] { WEFT_END_ASYNC_EVENT(7, "request %s", "a"); }).join();
    WEFT_SCOPED_ASYNC_EVENT(8, "request %s", "b");
  });
  EXPECT_EQ(count(trace, "\"ph\":\"b\""), 2U);
  EXPECT_EQ(count(trace, "\"ph\":\"e\""), 2U);
  EXPECT_EQ(count(trace, "\"id\":\"0x7\",\"name\":\"request a\""), 2U);
  EXPECT_EQ(count(trace, "\"id\":\"0x8\",\"name\":\"request b\""), 2U);
}

TEST(TraceDeathTest, NamesAreEscapedAndCut) {
  const std::string trace = traceOf([] {
    WEFT_SCOPED_EVENT("%s", "quote \" backslash \\ newline \n end");
    WEFT_SCOPED_EVENT("%s", std::string(1'000, '\x01').c_str());
    // The cut goes through the last letter.
    WEFT_SCOPED_EVENT("%s%s", std::string(62, 'a').c_str(), "\xc3\xa4");
  });
  EXPECT_EQ(count(trace, R"("quote \" backslash \\ newline \u000a end")"), 1U);
  EXPECT_EQ(count(trace, "\\u0001"), Trace::MaxEventNameLength - 1);
  EXPECT_EQ(count(trace, std::string(62, 'a').append("\\ufffd\"")), 1U);
}

TEST(TraceDeathTest, ATraceWithoutEventsSaysOnlyWhoseItIs) {
  const std::string trace = traceOf([] { Trace::get(); });
  EXPECT_EQ(count(trace, "\"traceEvents\":["), 1U);
  EXPECT_EQ(count(trace, "\"ph\":"), 1U);
  EXPECT_EQ(count(trace, "\"name\":\"process_name\""), 1U);
}

TEST(TraceDeathTest, EachFiberHasALineOfItsOwn) {
  const std::string trace = traceOf([] {
    Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1));
    Scheduler::Binding bound(scheduler);
    const WaitGroup arrived(2), done(2);
    for (int i = 0; i < 2; ++i) {
      schedule([=] {
        WEFT_SCOPED_EVENT("task");
        arrived.done();
        arrived.wait();  // both are in their scopes at the same time
        done.done();
      });
    }
    done.wait();
  });
  const std::vector<std::string> lines = rowsOf(trace, "\"name\":\"task\"");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0], lines[1]);
  for (const std::string& line : lines) {
    EXPECT_EQ(count(nameOf(trace, line), "worker 0, fiber "), 1U) << nameOf(trace, line);
  }
}

TEST(TraceDeathTest, MacrosAndTheRecordersOwnScopesShareALine) {
  const std::string trace = traceOf([] {
    Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1));
    Scheduler::Binding bound(scheduler);
    const WaitGroup done(1);
    schedule([=] {
      WEFT_NAME_THREAD("reader");
      const trace::Scope outer("by the recorder");
      yield();
      WEFT_SCOPED_EVENT("by a macro");
      trace::mark("mark");
      done.done();
    });
    done.wait();
    WEFT_SCOPED_EVENT("of the bound thread");
  });
  const std::vector<std::string> outer = rowsOf(trace, "\"name\":\"by the recorder\"");
  ASSERT_EQ(outer.size(), 1u);
  EXPECT_EQ(rowsOf(trace, "\"name\":\"by a macro\""), outer);
  EXPECT_EQ(rowsOf(trace, "\"name\":\"mark\""), outer);
  EXPECT_EQ(count(nameOf(trace, outer[0]), "reader (worker 0, fiber "), 1U) << nameOf(trace, outer[0]);
  const std::vector<std::string> own = rowsOf(trace, "\"name\":\"of the bound thread\"");
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(count(nameOf(trace, own[0]), "bound thread "), 1U) << nameOf(trace, own[0]);
}

TEST(TraceDeathTest, WhatTheRecorderHoldsAlreadyIsWrittenToo) {
  const std::string trace = traceOf([] {
    trace::start({.eventsPerThread = 64});
    trace::mark("early");
    WEFT_SCOPED_EVENT("late");
  });
  EXPECT_EQ(count(trace, "\"name\":\"early\""), 1U);
  EXPECT_EQ(count(trace, "\"name\":\"late\""), 1U);
}

TEST(TraceDeathTest, AStopEndsTheEvents) {
  const std::string trace = traceOf([] {
    {
      WEFT_SCOPED_EVENT("before");
    }
    trace::stop();
    WEFT_SCOPED_EVENT("after");
    WEFT_NAME_THREAD("after");
    WEFT_SCOPED_ASYNC_EVENT(1, "after");
  });
  EXPECT_EQ(count(trace, "\"name\":\"before\""), 1U);
  EXPECT_EQ(count(trace, "after"), 0U);
}

TEST(TraceDeathTest, AChildThatExitsWritesNoFile) {
  const std::string trace = traceOf([] {
    {
      WEFT_SCOPED_EVENT("of the parent");
    }
    const std::string path = std::getenv("WEFT_TRACE_FILE");
    const pid_t child = fork();
    if (child == 0) {
      std::exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    if (status != 0 || access(path.c_str(), F_OK) == 0) {
      std::abort();
    }
  });
  EXPECT_EQ(count(trace, "\"name\":\"of the parent\""), 1U);
}

TEST(TraceDeathTest, TheFolderIsTheOneOfTheFirstEvent) {
  const std::string trace = traceOf([] {
    const std::string path = std::getenv("WEFT_TRACE_FILE");
    const size_t slash = path.rfind('/');
    setenv("WEFT_TRACE_FILE", path.substr(slash + 1).c_str(), 1);
    EXPECT_EQ(chdir(path.substr(0, slash).c_str()), 0);
    {
      WEFT_SCOPED_EVENT("event");
    }
    EXPECT_EQ(chdir("/"), 0);
  });
  EXPECT_EQ(count(trace, "\"name\":\"event\""), 1U);
}

TEST(TraceDeathTest, EventsOfManyThreadsDoNotMix) {
  const std::string trace = traceOf([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([i] {
        WEFT_NAME_THREAD("thread %d", i);
        for (int j = 0; j < 500; ++j) {
          WEFT_SCOPED_EVENT("event");
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  });
  EXPECT_EQ(count(trace, "\"name\":\"event\""), 2'000U);
  EXPECT_EQ(count(trace, "\"ph\":\"X\""), 2'000U);
}

TEST(TraceDeathTest, AFileThatCannotBeWrittenIsWarnedOf) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("WEFT_TRACE_FILE", "/nonexistent/trace.json", 1);
        {
          WEFT_SCOPED_EVENT("lost");
        }
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "weft: warning: WEFT_TRACE_FILE=/nonexistent/trace.json: it cannot be opened .No such file or "
      "directory.*Choose a path that can be written");
}

TEST(TraceDeathTest, EventsBeginAndEndWithoutAScope) {
  const std::string trace = traceOf([] {
    Trace::get()->beginEvent("step %d", 1);
    Trace::get()->endEvent();
  });
  EXPECT_EQ(count(trace, "\"ph\":\"X\""), 1U);
  EXPECT_EQ(count(trace, "\"name\":\"step 1\""), 1U);
}

TEST(TraceDeathTest, ANameThatCannotBeFormattedIsAQuestionMark) {
  const std::string trace = traceOf([] {
    WEFT_SCOPED_EVENT("%ls", L"\u20ac");  // a character that the C locale has not
    WEFT_SCOPED_ASYNC_EVENT(1, "%ls", L"\u20ac");
  });
  EXPECT_EQ(count(trace, "\"name\":\"?\""), 3U);
}

TEST(TraceDeathTest, TheFileIsInTheCurrentFolderWhereNoneIsNamed) {
  GTEST_FLAG_SET(death_test_style, "fast");  // the process that traces knows the folder
  std::string folder = testing::TempDir() + "weft_trace_test.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EXIT(
      {
        unsetenv("WEFT_TRACE_FILE");
        std::exit(chdir(folder.c_str()) == 0 && Trace::get() != nullptr ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EQ(std::remove((folder + "/chrome.trace").c_str()), 0);
  EXPECT_EQ(rmdir(folder.c_str()), 0);
}

TEST(TraceDeathTest, ATraceThatIsNotCompleteIsWarnedOf) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("WEFT_TRACE_FILE", "/dev/full", 1);
        {
          WEFT_SCOPED_EVENT("lost");
        }
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "weft: warning: WEFT_TRACE_FILE=/dev/full: the file is not complete .No space left on device");
}

}  // namespace
}  // namespace weft
