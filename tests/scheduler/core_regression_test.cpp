// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/conditionvariable.h>
#include <weft/event.h>
#include <weft/join.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/waitgroup.h>
#include "os/stack_pool.h"

#include "with_scheduler.h"

// Faults of the core that a review has found, each by the shortest way to it.
namespace weft {
namespace {

using tests::smallConfig;

constexpr bool kSanitized = tests::kUnderTsan || tests::kUnderAsan;

class CoreRegressionTest : public tests::WithAllocator {};

// A monitor: whoever leaves it tells those who wait that something may have changed.
struct Monitor {
  mutex guard;
  ConditionVariable changed;
  void lock() WEFT_NO_THREAD_SAFETY_ANALYSIS { guard.lock(); }
  void unlock() WEFT_NO_THREAD_SAFETY_ANALYSIS {
    guard.unlock();
    changed.notify_all();
  }
};

// wait() links the fiber, then unlocks, and so is woken by itself before it blocks. It must not stay among
// the ready fibers.
TEST_F(CoreRegressionTest, AFiberWokenBeforeItBlocksIsReadyOnce) {
  Scheduler scheduler(smallConfig(0, allocator()));
  scheduler.bind();
  Monitor monitor;
  WaitGroup done(3);
  int turn = 0;
  for (int i = 0; i < 3; ++i) {
    schedule([&, done, i] {
      monitor.lock();
      while (turn != 2 - i) {
        monitor.changed.wait(monitor);
      }
      ++turn;
      monitor.unlock();
      done.done();
    });
  }
  done.wait();
  Event event;
  schedule([event] { event.signal(); });
  event.wait();
  EXPECT_EQ(turn, 3);
  Scheduler::unbind();
}

// The same where unlock() notifies once: the fiber goes on at once, and ends while it is listed.
TEST_F(CoreRegressionTest, AFiberWokenBeforeItBlocksMayEndItsTask) {
  struct NotifyingLock {
    ConditionVariable* changed;
    void lock() {}
    void unlock() { changed->notify_one(); }
  };
  Scheduler scheduler(smallConfig(0, allocator()));
  scheduler.bind();
  for (const auto timeout : {std::chrono::hours(1), std::chrono::hours::max()}) {
    ConditionVariable changed;
    NotifyingLock lock{&changed};
    WaitGroup done(2);
    schedule([&, done] {
      int looks = 0;
      changed.wait_for(lock, timeout, [&] { return looks++ > 0; });
      done.done();
    });
    schedule([done] { done.done(); });
    done.wait();
    Event event;
    schedule([event] { event.signal(); });
    event.wait();
  }
  Scheduler::unbind();
}

// A worker with a little to do all the time must give back what a burst has left, as one that sleeps does.
TEST_F(CoreRegressionTest, IdleFibersAreGivenBackBySparselyUsedWorkers) {
  constexpr int kBurst = 1000;
  Scheduler scheduler(smallConfig(1, allocator()));
  scheduler.bind();
  for (int round = 0; round < 2; ++round) {
    Event go(Event::Mode::Manual);
    WaitGroup done(kBurst);
    for (int i = 0; i < kBurst; ++i) {
      schedule([go, done] {
        go.wait();
        done.done();
      });
    }
    schedule([go] { go.signal(); });
    done.wait();
    const auto numIdle = [&] { return scheduler.stats().workers[0].numIdleFibers; };
    while (numIdle() > 100) {
      sleep_for(std::chrono::milliseconds(2));
      WaitGroup ran(1);
      schedule([ran] { ran.done(); });
      ran.wait();
    }
  }
  Scheduler::unbind();
}

// A worker that gives stacks back before it sleeps cannot be woken meanwhile, so it must not do very much at
// once.
TEST_F(CoreRegressionTest, StacksOfABurstAreGivenBackInSteps) {
  using detail::StackPool;
  StackPool& pool = StackPool::forSize(size_t{20} * 1024);
  std::vector<detail::Stack> stacks;
  for (detail::Stack batch[64]; stacks.size() < 10000;) {
    const uint32_t taken = pool.acquireBatch(batch, 64);
    ASSERT_GT(taken, 0u);
    stacks.insert(stacks.end(), batch, batch + taken);
  }
  const size_t count = stacks.size();
  pool.releaseBatch(stacks.data(), static_cast<uint32_t>(count));
  detail::TimePoint now{std::chrono::hours(1)};
  detail::TimePoint next = pool.giveBackSurplus(now);
  EXPECT_EQ(next, now + StackPool::kPeriod);
  size_t numSteps = 0;
  for (size_t left = count; next != detail::TimePoint::max() && numSteps < 100; ++numSteps) {
    now = next;
    next = pool.giveBackSurplus(now);
    const size_t leftNow = pool.stats().numWarm;
    EXPECT_LE(left, leftNow + StackPool::kTrimmedAtOnce + StackPool::kStacksPerSlab);
    left = leftNow;
  }
  EXPECT_GE(numSteps, count / (StackPool::kTrimmedAtOnce + StackPool::kStacksPerSlab));
  EXPECT_EQ(pool.stats().numWarm, 0u);
  EXPECT_EQ(pool.stats().numSlabs, 0u);
}

// What a child of fork() that calls `function` writes to stderr before it is aborted; "" where it ends
// otherwise.
template <class F>
std::string lastWordsOfChild(F&& function) {
  int ends[2];
  if (pipe(ends) != 0) {
    return "";
  }
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    alarm(20);
    function();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t length = 0; (length = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(length));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? text : "";
}

// The child lacks the workers: without a check it would wait for them for ever.
TEST_F(CoreRegressionTest, CallsInAChildOfForkAreRefused) {
  constexpr auto kWords = "was called in a child of fork()";
  for (const int numWorkers : {0, 2}) {
    auto scheduler = std::make_unique<Scheduler>(smallConfig(numWorkers, allocator()));
    scheduler->bind();
    const auto expectRefused = [&](const char* what, auto&& function) {
      EXPECT_NE(lastWordsOfChild(function).find(kWords), std::string::npos) << what;
    };
    expectRefused("schedule", [] { schedule([] {}); });
    expectRefused("wait", [] { Event().wait(); });
    expectRefused("unbind", [] { Scheduler::unbind(); });
    expectRefused("bind", [&] { scheduler->bind(); });
    expectRefused("enqueue", [&] { scheduler->enqueue(Task([] {})); });
    expectRefused("new scheduler", [] { Scheduler another(smallConfig(0)); });
    expectRefused("end of the scheduler", [&] { scheduler.reset(); });
    // The parent goes on, and a child of one of its tasks may call exec().
    WaitGroup done(1);
    int status = -1;
    schedule([&, done] {
      const pid_t child = fork();
      if (child == 0) {
        execl("/bin/true", "true", static_cast<char*>(nullptr));
        _exit(9);
      }
      waitpid(child, &status, 0);
      done.done();
    });
    done.wait();
    EXPECT_EQ(status, 0);
    Scheduler::unbind();
  }
}

// Who had nothing bound is told so in a child as well: to fork was not the first mistake.
TEST_F(CoreRegressionTest, AChildWhoseThreadWasNeverBoundIsToldThatFirst) {
  Scheduler scheduler(smallConfig(0, allocator()));
  const auto expectTold = [](const char* words, auto&& function) {
    const std::string text = lastWordsOfChild(function);
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_EQ(text.find("fork()"), std::string::npos) << text;
  };
  expectTold("to which no scheduler is bound", [] { schedule([] {}); });
  expectTold("has no worker threads", [&] { scheduler.enqueue(Task([] {})); });
}

// Where nothing is bound, forked tasks are plain calls, which need nothing that the child lacks.
TEST_F(CoreRegressionTest, TasksThatAChildForksArePlainCalls) {
  Scheduler scheduler(smallConfig(2, allocator()));
  Scheduler::Binding bound(scheduler);
  join([] {}, [] {});  // from now on the thread has a deque
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int numCalls = 0;
    TaskGroup group;
    for (int i = 0; i < 1'000; ++i) {
      group.run([&] { ++numCalls; });
    }
    group.wait();
    _exit(numCalls == 1'000 ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

// With no scheduler at the time of the fork, a child may make its own.
TEST_F(CoreRegressionTest, AChildMayMakeTheFirstScheduler) {
  {
    Scheduler before(smallConfig(1, allocator()));
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    {
      Scheduler scheduler(smallConfig(kSanitized ? 0 : 2));
      Scheduler::Binding bound(scheduler);
      WaitGroup done(1);
      schedule([done] { done.done(); });
      done.wait();
    }
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

// The thread that wakes the last fiber ends between the worker's last look at its inbox and its look at the
// process's threads. Several processes at once, since it takes a busy machine.
TEST_F(CoreRegressionTest, AThreadThatEndsRightAfterItsWakeIsNoDeadlock) {
  constexpr int kProcesses = 4, kRounds = kSanitized || tests::kUnderStress ? 500 : 10'000;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      alarm(60);
      {
        Scheduler scheduler(smallConfig(0));
        Scheduler::Binding bound(scheduler);
        for (int round = 0; round < kRounds; ++round) {
          const Event event;
          std::thread([event] { event.signal(); }).detach();
          event.wait();
        }
      }
      _exit(7);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  }
}

TEST_F(CoreRegressionTest, AConfigWithoutAllocatorIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(Scheduler(Scheduler::Config().setAllocator(nullptr)), "Config::allocator is null");
}

#if defined(__cpp_exceptions)
TEST_F(CoreRegressionTest, WorkersEndWhereTheAffinityPolicyThrows) {
  struct ThrowsForTheThird : Thread::Affinity::Policy {
    Thread::Affinity get(uint32_t thread, Allocator* allocator) const override {
      if (thread == 2) {
        throw std::runtime_error("no processor for the third");
      }
      return Thread::Affinity(allocator);
    }
  };
  const auto config =
      smallConfig(3, allocator()).setWorkerThreadAffinityPolicy(std::make_shared<ThrowsForTheThird>());
  EXPECT_THROW(Scheduler scheduler(config), std::runtime_error);
}
#endif

}  // namespace
}  // namespace weft
