// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Signals that interrupt what threads do: waits go on, and results are as without them.

#include <gtest/gtest.h>

#include <signal.h>

#include <atomic>
#include <stop_token>
#include <thread>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/signal.h>
#include <weft/waitgroup.h>

#include "../with_scheduler.h"
#include "exact_results.h"
#include "rain.h"

namespace {

// docs/scheduler.md
void stopOnSignal() {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);  // before there are other threads: they inherit it

  std::stop_source interrupted;
  std::thread watcher([=]() mutable {
    int signal = 0;
    sigwait(&interrupts, &signal);
    interrupted.request_stop();
  });

  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  weft::Scheduler::Binding bound(scheduler);
  weft::WaitGroup done(2);
  for (int i = 0; i < 2; ++i) {
    weft::schedule([=] {
      while (!interrupted.stop_requested()) {
        // compute a little
      }
      done.done();
    });
  }
  pthread_kill(watcher.native_handle(), SIGINT);  // what Ctrl+C does, and what ends the thread otherwise
  done.wait();
  watcher.join();
}

constinit weft::Signal hungUp;

void reloadOnSignal() {
  struct sigaction action = {};
  action.sa_handler = [](int) { hungUp.send(); };
  action.sa_flags = SA_RESTART | SA_ONSTACK;  // not on the stack of a fiber
  sigaction(SIGHUP, &action, nullptr);

  weft::Event reload;
  std::thread watcher([=] {
    hungUp.receiveBlocking();
    reload.signal();
  });
  raise(SIGHUP);
  reload.wait();
  watcher.join();
}

}  // namespace

namespace weft {
namespace {

using tests::numHandled;
using tests::Rain;
using tests::scaled;
using tests::smallConfig;

class SignalsTest : public ::testing::TestWithParam<int> {
 protected:
  void TearDown() override { tests::expectNothingAllocated(allocator_); }
  TrackedAllocator* allocator() { return &allocator_; }

 private:
  TrackedAllocator allocator_{Allocator::Default};
};
// Without SA_RESTART a call of the system that is interrupted returns; a wait of a futex does so in either
// case where it has a time limit. With SA_ONSTACK the handler does not run on the stack of a fiber.
INSTANTIATE_TEST_SUITE_P(Flags, SignalsTest, ::testing::Values(0, SA_RESTART, SA_RESTART | SA_ONSTACK));

TEST_P(SignalsTest, ChangeNoResult) {
  const Rain rain(GetParam());
  for (const int numWorkers : {0, 2, 8}) {
    Scheduler scheduler(smallConfig(numWorkers, allocator()));
    const Scheduler::Binding bound(scheduler);
    const uint64_t before = numHandled;
    // The thread that sends the signals may be late.
    for (int round = 0; round < scaled(10, 2) || numHandled == before; ++round) {
      tests::expectExactResults(scheduler);
    }
  }
}

// All wait while many signals come, and none of them takes a signal for its wake.
TEST_P(SignalsTest, EndNoWait) {
  for (const int numWorkers : {0, 2}) {
    Scheduler scheduler(smallConfig(numWorkers, allocator()));
    const Scheduler::Binding bound(scheduler);
    const Event go(Event::Mode::Manual);
    const Semaphore begun;
    std::atomic<int> numBack{0};
    tests::Crew crew(scheduler);
    constexpr int kMembers = 6;
    for (int i = 0; i < kMembers; ++i) {
      crew.start(tests::kindOf(i), [&, i] {
        begun.release();
        if (i < 3) {
          go.wait();
        } else {
          EXPECT_TRUE(go.wait_for(std::chrono::hours(1)));
        }
        ++numBack;
      });
    }
    for (int i = 0; i < kMembers; ++i) {
      begun.acquire();
    }
    {
      const Rain rain(GetParam());
      tests::awaitThat([] { return numHandled >= 1'000; });
    }
    EXPECT_EQ(numBack, 0);
    go.signal();
    crew.join();
    EXPECT_EQ(numBack, kMembers);
  }
}

// Both workers compute, so that a task that awaited a signalfd would not run.
TEST(SignalWatcherTest, AThreadOfItsOwnSeesASignalWhileAllWorkersCompute) {
  sigset_t before;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
  stopOnSignal();
  EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST(SignalWatcherTest, AHandlerSendsASignalToAThread) {
  for (const int numWorkers : {0, 2}) {
    Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(numWorkers));
    const Scheduler::Binding bound(scheduler);
    struct sigaction before = {};
    ASSERT_EQ(sigaction(SIGHUP, nullptr, &before), 0);
    reloadOnSignal();
    EXPECT_EQ(sigaction(SIGHUP, &before, nullptr), 0);
  }
}

}  // namespace
}  // namespace weft
