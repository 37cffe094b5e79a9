// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <weft/detail/base/sync.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "with_scheduler.h"

// A sandbox may forbid a system call that the process has used before.
namespace weft {
namespace {

using SandboxDeathTest = tests::DeathTest;

constexpr int kMembarrierPrivateExpedited = 1 << 3;

long membarrier() { return syscall(__NR_membarrier, kMembarrierPrivateExpedited, 0, 0); }

// From now on membarrier fails on all threads. Returns: whether the system lets a process do that.
bool forbidMembarrier() {
  sock_filter filter[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_membarrier},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0 &&
         membarrier() != 0;
}

// For a process that can show nothing here.
[[noreturn]] void skip() {
  std::fprintf(stderr, "no membarrier, or no seccomp\n");
  std::_Exit(0);
}

void runTasks() {
  Scheduler scheduler(tests::smallConfig(2));
  Scheduler::Binding bound(scheduler);
  for (int round = 0; round < 100; ++round) {
    WaitGroup done(100);
    schedule([=] {
      for (int i = 0; i < 100; ++i) {
        schedule([=] { done.done(); });
      }
    });
    done.wait();
  }
}

TEST_F(SandboxDeathTest, OneThatForbidsMembarrierBeforeTheFirstSchedulerIsMadeLeavesFullFences) {
  EXPECT_EXIT(
      {
        if (!detail::heavyFenceIsMembarrier || !forbidMembarrier()) {
          skip();
        }
        runTasks();
        std::fprintf(stderr, detail::heavyFenceIsMembarrier ? "one side only\n" : "both sides\n");
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "both sides|no membarrier");
}

TEST_F(SandboxDeathTest, OneThatForbidsItBetweenTwoSchedulersDoesToo) {
  EXPECT_EXIT(
      {
        runTasks();
        if (!detail::heavyFenceIsMembarrier || !forbidMembarrier()) {
          skip();
        }
        runTasks();
        std::fprintf(stderr, detail::heavyFenceIsMembarrier ? "one side only\n" : "both sides\n");
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "both sides|no membarrier");
}

TEST_F(SandboxDeathTest, OneThatForbidsItWhileASchedulerExistsEndsTheProgram) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(2));
        if (!detail::heavyFenceIsMembarrier || !forbidMembarrier()) {
          std::fprintf(stderr, "no membarrier\n");
          std::abort();
        }
        detail::StdSync::heavyFence();
      },
      "weft: fatal: the system call membarrier has failed .*Put up a sandbox|no membarrier");
}

}  // namespace
}  // namespace weft
