// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <weft/detail/base/sync.h>
#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/thread.h>
#include <weft/waitgroup.h>

#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_group.h"
#include "with_scheduler.h"

// A sandbox may forbid a system call that the process has used before.
namespace weft {
namespace {

using SandboxDeathTest = tests::DeathTest;

constexpr int kMembarrierPrivateExpedited = 1 << 3;

long membarrier() { return syscall(__NR_membarrier, kMembarrierPrivateExpedited, 0, 0); }

// A system call that a sandbox refuses, and the error that it returns instead. `advice`: the third argument
// of the calls that are meant, or none for all of them.
struct Refused {
  const char* name;
  long number;
  std::optional<uint32_t> advice;
  uint32_t error;
};

// From now on the call fails on all threads. Returns: whether the system lets a process do that.
bool forbid(const Refused& refused) {
  const auto number = static_cast<uint32_t>(refused.number);
  const uint32_t fail = SECCOMP_RET_ERRNO | refused.error;
  // The lower half of the argument, on a machine that has it first.
  sock_filter filter[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, number},
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, args[2])},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, static_cast<uint8_t>(refused.advice ? 1 : 0),
       refused.advice.value_or(0)},
      {BPF_RET | BPF_K, 0, 0, fail},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

bool forbidMembarrier() {
  return forbid({"membarrier", __NR_membarrier, std::nullopt, EPERM}) && membarrier() != 0;
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

// More stacks than one, each of a task that waits until its time is over.
void runTimedWaits() {
  Scheduler scheduler(tests::smallConfig(2));
  Scheduler::Binding bound(scheduler);
  WaitGroup done(50);
  for (int i = 0; i < 50; ++i) {
    schedule([=] {
      Event never;
      if (never.wait_for(std::chrono::milliseconds(1))) {
        std::abort();
      }
      done.done();
    });
  }
  done.wait();
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

// Each fence that a thread of the scheduler leaves out would let two threads take one task.
TEST_F(SandboxDeathTest, OneThatForbidsItBeforeTheFirstSchedulerIsMadeLeavesNoFenceOut) {
  EXPECT_EXIT(
      {
        if (!detail::heavyFenceIsMembarrier || !forbidMembarrier()) {
          skip();
        }
        Scheduler scheduler(tests::smallConfig(0));
        Scheduler::Binding bound(scheduler);
        detail::StealGate<>::Stealer owner(detail::Worker::current()->group().stealGate);
        std::fprintf(stderr, owner.isUnseen() ? "takes without a fence\n" : "takes with a fence\n");
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "takes with a fence|no membarrier");
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

// What older kernels lack, and what sandboxes and the managers of containers refuse: each costs something, or
// is said, but nothing fails.
class RefusingSandboxTest : public tests::DeathTest, public ::testing::WithParamInterface<Refused> {};

TEST_P(RefusingSandboxTest, SchedulersRunAllTheSame) {
  if (tests::kUnderAsan || tests::kUnderTsan) {
    GTEST_SKIP() << "the sanitizer needs these calls itself";
  }
  EXPECT_EXIT(
      {
        if (!forbid(GetParam())) {
          std::fprintf(stderr, "no seccomp\n");
          std::_Exit(0);
        }
        runTasks();
        runTimedWaits();
        std::fprintf(stderr, "all ran\n");
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "all ran|no seccomp");
}

// Without the call for it, no worker is bound to its processors.
[[noreturn]] void runBoundWorkers(uint32_t error) {
  using Affinity = Thread::Affinity;
  if (!forbid({"sched_setaffinity", __NR_sched_setaffinity, std::nullopt, error})) {
    std::fprintf(stderr, "no seccomp\n");
    std::_Exit(0);
  }
  Thread::Core nowhere;
  nowhere.pthread.index = 8191;  // so that the set is not the calling thread's, which needs no call
  auto policy = Affinity::Policy::anyOf(Affinity({Affinity::all()[0], nowhere}));
  Scheduler scheduler(tests::smallConfig(2).setWorkerThreadAffinityPolicy(policy));
  WaitGroup done(1);
  scheduler.enqueue([=] { done.done(); });
  done.wait();
  std::fprintf(stderr, "all ran\n");
  std::_Exit(0);
}

TEST_F(SandboxDeathTest, OneThatForbidsToBindThreadsLeavesThemUnbound) {
  for (const uint32_t error : {EPERM, ENOSYS, EACCES}) {
    EXPECT_EXIT(runBoundWorkers(error), ::testing::ExitedWithCode(0),
                "warning: thread weft:1: the system does not bind it.*all ran|no seccomp");
  }
}

constexpr uint32_t kGuardInstall = 102;
INSTANTIATE_TEST_SUITE_P(
    , RefusingSandboxTest,
    ::testing::Values(Refused{"GuardInstall", __NR_madvise, kGuardInstall, EINVAL},
                      Refused{"GuardsOfManyStacks", __NR_process_madvise, std::nullopt, ENOSYS},
                      Refused{"AllAdvice", __NR_madvise, std::nullopt, EPERM},
                      Refused{"Membarrier", __NR_membarrier, std::nullopt, ENOSYS},
                      Refused{"Affinity", __NR_sched_setaffinity, std::nullopt, EPERM},
                      Refused{"ListOfProcessors", __NR_sched_getaffinity, std::nullopt, EPERM}),
    [](const auto& refused) { return refused.param.name; });

}  // namespace
}  // namespace weft
