// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/blockingcall.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <latch>
#include <limits>
#include <memory>
#include <mutex>
#include <semaphore>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "children.h"
#include "waiting.h"

namespace weft {
namespace {

using std::chrono::milliseconds;
using tests::awaitThat;
using tests::Crew;
using tests::kindOf;
using tests::scaled;

class BlockingCallTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(BlockingCallTest);

constexpr unsigned int kNoBound = std::numeric_limits<unsigned int>::max();

// Waits for all threads of the pool to end. Those that are idle already may have a long time to go: each gets
// a call first.
void endIdleThreads() {
  BlockingThreads::setIdleTime(milliseconds(1));
  const auto count = static_cast<int>(BlockingThreads::count());
  {
    std::latch all(count);
    std::vector<std::thread> callers;
    for (int i = 0; i < count; ++i) {
      callers.emplace_back([&] { blocking_call([&] { all.arrive_and_wait(); }); });
    }
    for (std::thread& caller : callers) {
      caller.join();
    }
  }
  awaitThat([] { return BlockingThreads::count() == 0; });
  BlockingThreads::setIdleTime(milliseconds(10'000));
}

struct NoDefault {
  explicit NoDefault(int n) : number(n) {}
  int number;
};

struct Account {
  int add(int amount) { return balance += amount; }
  int balance = 0;
};

TEST(UnboundBlockingCallTest, ReturnsWhatTheFunctionReturns) {
  EXPECT_EQ(blocking_call([] { return 7; }), 7);
  EXPECT_EQ(
      blocking_call([](int a, const std::string& b) { return a + static_cast<int>(b.size()); }, 3, "four"),
      7);
  EXPECT_EQ(*blocking_call([] { return std::make_unique<int>(7); }), 7);
  EXPECT_EQ(blocking_call([] { return NoDefault(7); }).number, 7);
  EXPECT_EQ(blocking_call([]() -> const std::string { return "seven"; }), "seven");
  static_assert(std::is_void_v<decltype(blocking_call([] {}))>);
  blocking_call([] {});
}

TEST(UnboundBlockingCallTest, ReturnsReferences) {
  int number = 0;
  int& result = blocking_call([&]() -> int& { return number; });
  EXPECT_EQ(&result, &number);
  EXPECT_EQ(&blocking_call([](const int& n) -> const int& { return n; }, number), &number);
  auto pointer = std::make_unique<int>(7);
  const std::unique_ptr<int> moved =
      blocking_call([&]() -> std::unique_ptr<int>&& { return std::move(pointer); });
  EXPECT_EQ(*moved, 7);
  EXPECT_EQ(pointer, nullptr);
}

TEST(UnboundBlockingCallTest, TakesFunctionsAndArgumentsOfEveryKind) {
  auto pointer = std::make_unique<int>(7);
  EXPECT_EQ(blocking_call([](std::unique_ptr<int> own) { return *own; }, std::move(pointer)), 7);
  int number = 1;
  blocking_call([](int& n) { n = 7; }, number);
  EXPECT_EQ(number, 7);
  Account account;
  EXPECT_EQ(blocking_call(&Account::add, account, 5), 5);
  EXPECT_EQ(blocking_call(&Account::add, &account, 2), 7);
  EXPECT_EQ(blocking_call(std::function<int()>([] { return 7; })), 7);
  EXPECT_EQ(blocking_call([own = std::make_unique<int>(6)]() mutable { return ++*own; }), 7);
}

TEST(UnboundBlockingCallTest, ThrowsWhatTheFunctionThrows) {
  try {
    blocking_call([]() -> int { throw std::runtime_error("seven"); });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "seven");
  }
  EXPECT_THROW(blocking_call([] { throw 7; }), int);
  EXPECT_THROW(blocking_call([]() -> int& { throw 7; }), int);
}

TEST(UnboundBlockingCallTest, RunsOnAnotherThreadWithNothingBound) {
  EXPECT_NE(blocking_call([] { return std::this_thread::get_id(); }), std::this_thread::get_id());
  EXPECT_EQ(blocking_call([] { return Scheduler::get(); }), nullptr);
}

TEST(UnboundBlockingCallTest, ReusesItsThreads) {
  std::set<std::thread::id> threads;
  for (int i = 0; i < scaled(2'000, 300); ++i) {
    threads.insert(blocking_call([] { return std::this_thread::get_id(); }));
  }
  EXPECT_EQ(threads.size(), 1u);
}

TEST(UnboundBlockingCallTest, IdleThreadsEnd) {
  blocking_call([] { blocking_call([] { EXPECT_GE(BlockingThreads::count(), 2u); }); });
  endIdleThreads();
  EXPECT_EQ(blocking_call([] { return 7; }), 7);
}

// A thread may be given a call at the very moment at which its time is up.
TEST(UnboundBlockingCallTest, ThreadsMayEndWhileCallsCome) {
  BlockingThreads::setIdleTime(milliseconds(0));
  std::atomic<int> numCalls{0};
  std::vector<std::thread> callers;
  const int calls = scaled(2'000, 200);
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int j = 0; j < calls; ++j) {
        blocking_call([&] { ++numCalls; });
        for (int pauses = 0; pauses < j % 128; ++pauses) {
          detail::StdSync::pause();
        }
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(numCalls, 4 * calls);
  endIdleThreads();
}

TEST_P(BlockingCallTest, OtherFibersRunMeanwhile) {
  std::mutex guard;
  std::condition_variable changed;
  bool isReleased = false;
  const WaitGroup done(2);
  schedule([&, done] {
    blocking_call([&] {
      std::unique_lock lock(guard);
      changed.wait(lock, [&] { return isReleased; });
    });
    done.done();
  });
  schedule([&, done] {
    {
      std::scoped_lock lock(guard);
      isReleased = true;
    }
    changed.notify_all();
    done.done();
  });
  done.wait();
}

TEST_P(BlockingCallTest, BringsResultsAndExceptionsToTasks) {
  const int numTasks = scaled(200, 40);
  const WaitGroup done(static_cast<unsigned>(numTasks));
  std::atomic<int> sum{0};
  for (int i = 0; i < numTasks; ++i) {
    schedule([&sum, done, i] {
      try {
        sum += blocking_call([i] { return i % 2 == 0 ? 1 : throw std::runtime_error("odd"); });
      } catch (const std::runtime_error&) {
        sum += 1'000;
      }
      done.done();
    });
  }
  done.wait();
  EXPECT_EQ(sum, numTasks / 2 * 1'001);
}

TEST_P(BlockingCallTest, HasTheSchedulerOfItsCallerBound) {
  EXPECT_EQ(blocking_call([] { return Scheduler::get(); }), &scheduler());
  const Event done;
  schedule([&, done] {
    EXPECT_EQ(blocking_call([] { return Scheduler::get(); }), &scheduler());
    done.signal();
  });
  done.wait();
  EXPECT_EQ(Scheduler::get(), &scheduler());
}

TEST_P(BlockingCallTest, TheFunctionMayScheduleAndWait) {
  for (int i = 0; i < scaled(50, 10); ++i) {
    const int result = blocking_call([] {
      int sum = 0;
      const WaitGroup done(3);
      std::mutex guard;
      for (int j = 1; j <= 3; ++j) {
        schedule([&, j, done] {
          {
            std::scoped_lock lock(guard);
            sum += j;
          }
          done.done();
        });
      }
      done.wait();
      return sum;
    });
    EXPECT_EQ(result, 6);
  }
}

// Those for its own thread only; without workers, all.
TEST_P(BlockingCallTest, TasksForItsThreadAreDoneWhenTheCallReturns) {
  std::atomic<int> numRun{0};
  blocking_call([&] {
    for (int i = 0; i < 10; ++i) {
      schedule(Task([&] { ++numRun; }, Task::Flags::SameThread));
    }
  });
  EXPECT_EQ(numRun, 10);
}

TEST_P(BlockingCallTest, MayBeNested) {
  struct Nest {
    static int depth(int n) {
      return n == 0 ? 0 : 1 + blocking_call([n] { return depth(n - 1); });
    }
  };
  EXPECT_EQ(Nest::depth(10), 10);
  const Event done;
  schedule([=] {
    EXPECT_EQ(Nest::depth(10), 10);
    done.signal();
  });
  done.wait();
}

TEST_P(BlockingCallTest, AsManyRunAtOnceAsAreAskedFor) {
  const int numCalls = 60;
  std::latch all(numCalls);
  Crew crew(scheduler());
  for (int i = 0; i < numCalls; ++i) {
    crew.start(kindOf(i), [&] { blocking_call([&] { all.arrive_and_wait(); }); });
  }
}

TEST_P(BlockingCallTest, MayBeBounded) {
  endIdleThreads();
  BlockingThreads::setMaxCount(2);
  std::atomic<int> numInside{0}, most{0}, numCalls{0};
  {
    Crew crew(scheduler());
    for (int i = 0; i < 30; ++i) {
      crew.start(kindOf(i), [&] {
        blocking_call([&] {
          const int inside = ++numInside;
          for (int seen = most; seen < inside && !most.compare_exchange_weak(seen, inside);) {
          }
          std::this_thread::yield();
          ++numCalls;
          --numInside;
        });
      });
    }
  }
  EXPECT_EQ(numCalls, 30);
  EXPECT_LE(most, 2);
  EXPECT_LE(BlockingThreads::count(), 2u);
  BlockingThreads::setMaxCount(kNoBound);
}

TEST_P(BlockingCallTest, NestedCallsDoNotWaitForEachOtherAtTheBound) {
  endIdleThreads();
  BlockingThreads::setMaxCount(1);
  {
    Crew crew(scheduler());
    for (int i = 0; i < 12; ++i) {
      crew.start(kindOf(i),
                 [] { EXPECT_EQ(blocking_call([] { return 1 + blocking_call([] { return 1; }); }), 2); });
    }
  }
  EXPECT_EQ(BlockingThreads::count(), 1u);
  BlockingThreads::setMaxCount(kNoBound);
}

// It runs on another thread, or, at the bound, on that of the call that it is made in.
TEST_P(BlockingCallTest, NoSchedulerIsBoundDuringACallForWhichNobodyWaits) {
  for (const unsigned int bound : {kNoBound, 1u}) {
    endIdleThreads();
    BlockingThreads::setMaxCount(bound);
    blocking_call([&] {
      struct Call {
        bool isBound = true;
        std::thread::id thread;
        std::binary_semaphore isMade{0};
      } call;
      detail::startOnBlockingThread(
          [](void* argument) {
            auto& made = *static_cast<Call*>(argument);
            made.isBound = Scheduler::get() != nullptr;
            made.thread = std::this_thread::get_id();
            made.isMade.release();
          },
          [](void*, int) { ADD_FAILURE() << "no thread"; }, &call);
      call.isMade.acquire();
      EXPECT_FALSE(call.isBound);
      EXPECT_EQ(call.thread == std::this_thread::get_id(), bound == 1);
      EXPECT_EQ(Scheduler::get(), &scheduler());
    });
  }
  BlockingThreads::setMaxCount(kNoBound);
}

// A bound that is raised lets those in who wait.
TEST_P(BlockingCallTest, TheBoundMayBeRaisedAndLowered) {
  endIdleThreads();
  BlockingThreads::setMaxCount(1);
  {
    std::latch three(3);
    Crew crew(scheduler());
    for (int i = 0; i < 3; ++i) {
      crew.start(kindOf(i), [&] { blocking_call([&] { three.arrive_and_wait(); }); });
    }
    BlockingThreads::setMaxCount(2);
    BlockingThreads::setMaxCount(3);
  }
  BlockingThreads::setMaxCount(1);
  for (int i = 0; i < 3; ++i) {
    blocking_call([] {});
  }
  EXPECT_LE(BlockingThreads::count(), 3u);
  BlockingThreads::setMaxCount(kNoBound);
}

TEST(BlockingCallBoundTest, ACallThatWaitsIsMadeOnceTheBoundIsRaised) {
  endIdleThreads();
  BlockingThreads::setMaxCount(1);
  {
    Scheduler scheduler(tests::smallConfig(0));
    const Scheduler::Binding bound(scheduler);
    const WaitGroup done(2);
    std::binary_semaphore isMade(0);
    schedule([=, &isMade] {
      blocking_call([&] { isMade.acquire(); });
      done.done();
    });
    schedule([=, &isMade] {
      blocking_call([&] { isMade.release(); });
      done.done();
    });
    schedule([] { BlockingThreads::setMaxCount(2); });  // begins when both wait
    done.wait();
  }
  BlockingThreads::setMaxCount(kNoBound);
}

// While a scheduler shuts down, threads bind that were not bound when that began, and schedule tasks that end
// before they unbind.
TEST_P(BlockingCallTest, ASchedulerThatIsDestroyedWaitsForItsCalls) {
  std::atomic<int> numRun{0};
  constexpr int kTasks = 20;
  for (int i = 0; i < kTasks; ++i) {
    schedule([&] {
      for (int round = 0; round < 3; ++round) {
        blocking_call([&] {
          const WaitGroup done(5);
          for (int j = 0; j < 5; ++j) {
            schedule([&numRun, done] {
              ++numRun;
              done.done();
            });
          }
          done.wait();
          schedule([&] { ++numRun; });
        });
      }
      schedule([&] { ++numRun; });
    });
  }
  destroyScheduler();
  EXPECT_EQ(numRun, kTasks * (3 * 6 + 1));
}

TEST_P(BlockingCallTest, ASchedulerMayBeDestroyedAsSoonAsTheCallReturns) {
  destroyScheduler();
  for (int i = 0; i < scaled(200, 30); ++i) {
    Scheduler scheduler(tests::smallConfig(numWorkers() < 4 ? numWorkers() : 1, allocator()));
    scheduler.bind();
    schedule([] { blocking_call([] {}); });
    Scheduler::unbind();
  }
}

std::string readLine(int) { return "hello"; }

TEST_P(BlockingCallTest, TheExampleOfTheHeaderReads) {
  const int socket = 0;
  std::string reply = weft::blocking_call([&] { return readLine(socket); });
  EXPECT_EQ(reply, "hello");
  weft::BlockingThreads::setMaxCount(64);
  weft::BlockingThreads::setMaxCount(kNoBound);
}

// ThreadSanitizer starts no threads in the child of a fork.
TEST(ForkedBlockingCallTest, TheChildOfAForkHasThreadsOfItsOwn) {
  if (tests::kUnderTsan) {
    GTEST_SKIP() << "not under ThreadSanitizer";
  }
  blocking_call([] {});
  const pid_t child = tests::forkFromNewestThread([] {
    alarm(30);
    return BlockingThreads::count() == 0 && blocking_call([] { return 7; }) == 7 ? 0 : 1;
  });
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(blocking_call([] { return 7; }), 7);
}

class BlockingCallDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(BlockingCallDeathTest, TheProcessExitsWithIdleThreads) {
  EXPECT_EXIT(
      {
        blocking_call([] { blocking_call([] {}); });
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(BlockingCallDeathTest, InTheChildOfAForkWithAScheduler) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(1));
        if (fork() == 0) {
          blocking_call([] {});
          _exit(0);
        }
        int status = 0;
        wait(&status);
        std::abort();
      },
      "blocking_call\\(\\) was called in a child of fork\\(\\)");
}

TEST_F(BlockingCallDeathTest, TheFunctionLeavesASchedulerBound) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        blocking_call([&] { scheduler.bind(); });
      },
      "given to blocking_call\\(\\) has left a scheduler bound");
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        scheduler.bind();
        blocking_call([&] { Scheduler::unbind(); });
      },
      "given to blocking_call\\(\\) has unbound the scheduler of its caller");
}

TEST_F(BlockingCallDeathTest, AFunctionThatIsCalledWithinAnotherLeavesASchedulerBound) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        BlockingThreads::setMaxCount(1);
        blocking_call([&] {
          blocking_call([&] { scheduler.bind(); });
          Scheduler::unbind();
        });
      },
      "given to blocking_call\\(\\) has left a scheduler bound");
}

TEST_F(BlockingCallDeathTest, NoThreadsAllowed) {
  EXPECT_DEATH(BlockingThreads::setMaxCount(0), "setMaxCount\\(0\\): no call could ever be made");
}

}  // namespace
}  // namespace weft
