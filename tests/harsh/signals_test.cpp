// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Signals that interrupt what threads do: waits go on, and results are as without them.

#include <gtest/gtest.h>

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include <weft/event.h>
#include <weft/scheduler.h>

#include "../with_scheduler.h"
#include "exact_results.h"

namespace weft {
namespace {

using tests::scaled;
using tests::smallConfig;

constinit std::atomic<uint64_t> numHandled{0};

// Sends SIGUSR1 to all threads of the process, again and again, until it ends.
class Rain {
 public:
  explicit Rain(int flags) {
    struct sigaction action = {};
    action.sa_handler = [](int) { numHandled.fetch_add(1, std::memory_order_relaxed); };
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, &before_);
    numHandled = 0;
    thread_ = std::thread([this] {
      const auto self = static_cast<pid_t>(syscall(SYS_gettid));
      while (!isOver_) {
        sendToAllBut(self);
        const timespec pause{0, 50'000};
        nanosleep(&pause, nullptr);
      }
    });
  }
  // The handler stays: a signal may still be on its way to a thread.
  ~Rain() {
    isOver_ = true;
    thread_.join();
  }
  Rain(const Rain&) = delete;
  Rain& operator=(const Rain&) = delete;

 private:
  static void sendToAllBut(pid_t self) {
    DIR* const threads = opendir("/proc/self/task");
    while (const dirent* entry = readdir(threads)) {
      const auto thread = static_cast<pid_t>(std::atoi(entry->d_name));
      if (thread > 0 && thread != self) {
        syscall(SYS_tgkill, getpid(), thread, SIGUSR1);  // the thread may have ended
      }
    }
    closedir(threads);
  }

  struct sigaction before_ = {};
  std::atomic<bool> isOver_{false};
  std::thread thread_;
};

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
    for (int round = 0; round < scaled(10, 2); ++round) {
      tests::expectExactResults(scheduler);
    }
  }
  EXPECT_GT(numHandled, 0u) << "nothing was tested";
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

}  // namespace
}  // namespace weft
