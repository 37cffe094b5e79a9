// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <stop_token>
#include <thread>

#include <weft/weft.h>

#include "with_scheduler.h"

// The examples of docs/howto/ctrl_c_compute.md.
namespace howto_ctrl_c_compute {
namespace {

std::atomic<int> numSteps{0};

// Ctrl-C comes after some steps.
void step() {
  if (++numSteps == 1'000) {
    kill(getpid(), SIGINT);
  }
}

class InterruptWatcher {
 public:
  // Create it before all other threads: they inherit that SIGINT is blocked.
  InterruptWatcher() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = std::thread([this] {
      int signal = 0;
      sigwait(&signals_, &signal);
      stop_.request_stop();
    });
  }
  ~InterruptWatcher() {
    pthread_kill(thread_.native_handle(), SIGINT);  // ends sigwait()
    thread_.join();
  }

  std::stop_token token() const { return stop_.get_token(); }

 private:
  sigset_t signals_;
  std::stop_source stop_;
  std::thread thread_;
};

void computeInLoop(const std::stop_token& token) {
  weft::parallelFor(0L, 1L << 60, [](long) { step(); }, token);
}

void computeInTasks(const std::stop_token& token) {
  weft::TaskGroup group(token);
  for (int i = 0; i < 4; ++i) {
    group.run([](const std::stop_token& ofGroup) {
      for (;;) {
        weft::interruptionPoint(ofGroup);  // throws weft::TaskCanceled after a stop
        step();
      }
    });
  }
  group.wait();
}

int run(void (*compute)(const std::stop_token&)) {
  const InterruptWatcher interrupts;
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  compute(interrupts.token());
  return interrupts.token().stop_requested() ? 130 : 0;
}

using HowtoCtrlCComputeTest = weft::tests::DeathTest;

TEST_F(HowtoCtrlCComputeTest, EndsALoop) {
  EXPECT_EXIT(std::exit(run(computeInLoop)), ::testing::ExitedWithCode(130), "");
}

TEST_F(HowtoCtrlCComputeTest, EndsTasks) {
  EXPECT_EXIT(std::exit(run(computeInTasks)), ::testing::ExitedWithCode(130), "");
}

TEST_F(HowtoCtrlCComputeTest, TheWatcherEndsWithoutASignal) {
  EXPECT_EXIT(std::exit(run([](const std::stop_token&) {})), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace howto_ctrl_c_compute
