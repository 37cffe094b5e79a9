// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/debug.h>
#include <weft/executor.h>
#include <weft/join.h>
#include <weft/parallel.h>
#include <weft/scheduler.h>
#include <weft/taskgroup.h>

#include "with_scheduler.h"

// WEFT_WARN_SERIAL.
namespace weft {
namespace {

class SerialWarningDeathTest : public tests::DeathTest {};

// Ends the process with what `function` prints, with the number of its warnings as the status.
template <class F>
[[noreturn]] void endWithWarningsOf(const char* wish, F function) {
  setenv("WEFT_WARN_SERIAL", wish, 1);
  testing::internal::CaptureStderr();
  function();
  const std::string text = testing::internal::GetCapturedStderr();
  int count = 0;
  for (size_t at = 0; (at = text.find("no scheduler is bound", at)) != std::string::npos; ++at) {
    ++count;
  }
  detail::writeStderr(text.data(), text.size());
  _exit(count);
}

void loop() {
  std::vector<int> values(100);
  parallelFor(values, [](int& value) { ++value; });
}
void sort() {
  std::vector<int> values(10'000);
  parallelSort(values);
}
void fork() {
  join([] {}, [] {});
}
void group() {
  TaskGroup tasks;
  tasks.run([] {});
  tasks.wait();
}

TEST_F(SerialWarningDeathTest, TellsOfTheFirstThatRunsAlone) {
  for (void (*const run)() : {&loop, &sort, &fork, &group}) {
    EXPECT_EXIT(endWithWarningsOf("1",
                                  [run] {
                                    run();
                                    loop();
                                    group();
                                  }),
                testing::ExitedWithCode(1),
                "weft: warning: .*Binding on this thread.*defaultExecutor.*\n  called from .*0x");
  }
}

// Returns: whether `text` names a place of `function` among the calls.
bool namesAPlaceOf(void (*function)(), const std::string& text) {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(function), &info);
  for (size_t at = 0; (at = text.find("+0x", at)) != std::string::npos; ++at) {
    char* const place = static_cast<char*>(info.dli_fbase) + std::stoul(text.substr(at + 3), nullptr, 16);
    if (_Unwind_FindEnclosingFunction(place) == reinterpret_cast<void*>(function)) {
      return true;
    }
  }
  return false;
}

// Names of weft's own functions are not known in a static program, where they lead the list.
TEST_F(SerialWarningDeathTest, NamesThePlaceInTheProgram) {
  for (void (*const run)() : {&loop, &sort, &fork, &group}) {
    EXPECT_EXIT(
        {
          setenv("WEFT_WARN_SERIAL", "1", 1);
          testing::internal::CaptureStderr();
          run();
          const std::string text = testing::internal::GetCapturedStderr();
          detail::writeStderr(text.data(), text.size());
          _exit(namesAPlaceOf(run, text) ? 0 : 1);
        },
        testing::ExitedWithCode(0), "called from");
  }
}

TEST_F(SerialWarningDeathTest, IsSilentUnlessItIsAskedFor) {
  for (const char* wish : {"", "0"}) {
    EXPECT_EXIT(endWithWarningsOf(wish,
                                  [] {
                                    loop();
                                    group();
                                  }),
                testing::ExitedWithCode(0), "");
  }
}

TEST_F(SerialWarningDeathTest, IsSilentWhereASchedulerOrAnExecutorRunsTheWork) {
  for (const int numWorkers : {0, 2}) {
    EXPECT_EXIT(endWithWarningsOf("1",
                                  [numWorkers] {
                                    Scheduler scheduler(tests::smallConfig(numWorkers));
                                    const Scheduler::Binding binding(scheduler);
                                    loop();
                                    sort();
                                    fork();
                                    group();
                                  }),
                testing::ExitedWithCode(0), "");
  }
  EXPECT_EXIT(endWithWarningsOf("1",
                                [] {
                                  PoolExecutor pool(2);
                                  TaskGroup tasks(pool);
                                  tasks.run([] { loop(); });
                                  tasks.wait();
                                  parallelFor(pool, 0, 100, [](int) {});
                                }),
              testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft
