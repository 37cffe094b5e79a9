// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Tasks that start programs, while others run.

#include <gtest/gtest.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>

#include <weft/blockingcall.h>
#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "../with_scheduler.h"
#include "../workloads.h"

namespace weft {
namespace {

using namespace std::chrono_literals;
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

// Returns: what a child writes that forks in a task of a scheduler and then calls `goOn`, and ends early.
std::string saidByChild(int numWorkers, void (*goOn)()) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  {
    Scheduler scheduler(smallConfig(numWorkers));
    const Scheduler::Binding bound(scheduler);
    const Event mayGoOn(Event::Mode::Manual);
    const WaitGroup done(3);
    schedule([=] {
      mayGoOn.wait();
      done.done();
    });
    std::atomic<pid_t> child{-1};
    schedule([&, done, goOn] {
      schedule([=] { done.done(); });
      child = fork();
      if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        goOn();
      } else {
        close(ends[1]);
        done.done();
      }
    });
    mayGoOn.signal();
    done.wait();
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  }
  std::string text;
  char buffer[4096];
  for (ssize_t length = 0; (length = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(length));
  }
  close(ends[0]);
  return text;
}

// Otherwise it would go on as a worker, with tasks and fibers of the parent.
TEST_F(ForkExecTest, AChildThatReturnsFromItsTaskOrLetsOthersRunEnds) {
  for (const int numWorkers : {0, 1, 4}) {
    for (void (*goOn)() : {+[] {}, +[] { yield(); }, +[] { Event().wait(); }, +[] { sleep_for(1us); }}) {
      const std::string text = saidByChild(numWorkers, goOn);
      EXPECT_NE(text.find("in a child of fork()"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace weft
