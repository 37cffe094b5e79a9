// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The code of docs/howto/fork_exec.md that waits for a child by weft::io.

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>

#include <weft/io.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

namespace {

using namespace std::chrono_literals;

// Returns: the exit status of the child, or -1 if a signal ended it. Kills it after `limit`.
int awaitChildFor(pid_t child, std::chrono::milliseconds limit) {
  weft::io::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));  // Linux 5.3 or later
  if (!pidfd) {
    throw std::system_error(errno, std::generic_category(), "pidfd_open");
  }
  std::error_code error;
  const auto deadline = weft::io::TimePoint::clock::now() + limit;
  weft::io::waitFor(pidfd.get(), POLLIN, error, {.deadline = deadline});  // ready when the child has ended
  if (error) {
    kill(child, SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);  // does not wait, or for a moment only
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

pid_t startShell(const char* command) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    _exit(127);
  }
  return child;
}

TEST(ChildProcessTest, AFiberWaitsForAChildByItsPidfd) {
  const pid_t self = getpid();
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, self, 0));
  if (pidfd < 0) {
    GTEST_SKIP() << "the system has no pidfd_open()";
  }
  close(pidfd);
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  const weft::Scheduler::Binding bound(scheduler);
  const weft::WaitGroup done(2);
  weft::schedule([=] {
    EXPECT_EQ(awaitChildFor(startShell("exit 3"), 1min), 3);
    done.done();
  });
  weft::schedule([=] {
    EXPECT_EQ(awaitChildFor(startShell("exec sleep 1000"), 1ms), -1);
    done.done();
  });
  done.wait();
}

}  // namespace
