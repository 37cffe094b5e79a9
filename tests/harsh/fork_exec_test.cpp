// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Tasks that start programs, while others run.

#include <gtest/gtest.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include <weft/blockingcall.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "../with_scheduler.h"
#include "../workloads.h"

namespace weft {
namespace {

using tests::scaled;
using tests::smallConfig;

using ForkExecTest = tests::WithAllocator;

// Returns: what the child ended with, or -1.
int awaitChild(pid_t child) {
  int status = -1;
  const bool isThere = weft::blocking_call([&] { return waitpid(child, &status, 0) == child; });
  return isThere && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int forkAndExec(const std::string& code) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit $0", code.c_str(), static_cast<char*>(nullptr));
    _exit(99);
  }
  return awaitChild(child);
}

int spawn(std::string code) {
  std::string name = "sh", option = "-c", command = "exit $0";
  char* const arguments[] = {name.data(), option.data(), command.data(), code.data(), nullptr};
  pid_t child = -1;
  return posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, nullptr) == 0 ? awaitChild(child) : -1;
}

TEST_F(ForkExecTest, ProgramsThatManyTasksStartEndAsTheyShould) {
  const int numTasks = scaled(24, 8);
  constexpr int kProgramsPerTask = 4;
  for (const int numWorkers : {0, 1, 4}) {
    Scheduler scheduler(smallConfig(numWorkers, allocator()));
    const Scheduler::Binding bound(scheduler);
    std::atomic<int> numRight{0};
    const WaitGroup done(static_cast<unsigned>(numTasks));
    for (int i = 0; i < numTasks; ++i) {
      schedule([&numRight, i, done] {
        for (int program = 0; program < kProgramsPerTask; ++program) {
          const int code = (7 * i + program) % 90;
          const std::string text = std::to_string(code);
          numRight += (program % 2 == 0 ? forkAndExec(text) : spawn(text)) == code ? 1 : 0;
        }
        done.done();
      });
      // The others, meanwhile.
      EXPECT_EQ(tests::fibInTask(8), 21u);
    }
    done.wait();
    EXPECT_EQ(numRight, numTasks * kProgramsPerTask);
  }
}

}  // namespace
}  // namespace weft
