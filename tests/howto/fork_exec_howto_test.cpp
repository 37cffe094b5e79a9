// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The code of docs/howto/fork_exec.md that needs no weft::io. The rest is in tests/io/child_process_test.cpp.

#include <gtest/gtest.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include <weft/blockingcall.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

namespace {

// Returns: the exit status of the program, or -1 if a signal ended it.
int awaitChild(pid_t child) {
  int status = 0;
  const int error = weft::blocking_call([&] { return waitpid(child, &status, 0) < 0 ? errno : 0; });
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), "waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int runShell(std::string command) {
  std::string name = "sh", option = "-c";
  char* const arguments[] = {name.data(), option.data(), command.data(), nullptr};
  pid_t child = -1;
  const int error = posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), "posix_spawn");
  }
  return awaitChild(child);
}

int runIn(const char* folder, const char* command) {
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder) == 0) {
      execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    }
    _exit(127);  // not return, and not exit()
  }
  if (child < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  return awaitChild(child);
}

TEST(ForkExecHowtoTest, TasksRunPrograms) {
  for (const int numWorkers : {0, 2}) {
    weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(numWorkers));
    const weft::Scheduler::Binding bound(scheduler);
    const weft::WaitGroup done(2);
    weft::schedule([=] {
      EXPECT_EQ(runShell("exit 3"), 3);
      EXPECT_EQ(runShell("kill -9 $$"), -1);
      done.done();
    });
    weft::schedule([=] {
      EXPECT_EQ(runIn("/", "test $(pwd) = /"), 0);
      EXPECT_EQ(runIn("/nowhere", "true"), 127);
      done.done();
    });
    done.wait();
  }
}

}  // namespace
