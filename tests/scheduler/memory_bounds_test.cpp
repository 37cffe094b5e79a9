// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <latch>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <weft/conditionvariable.h>
#include <weft/detail/base/node_pool.h>
#include <weft/dump.h>
#include <weft/event.h>
#include <weft/future.h>
#include <weft/mutex.h>
#include <weft/parallel.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>
#include "os/stack_pool.h"

#include "count_mallocs.h"
#include "waiting.h"
#include "with_scheduler.h"
#include "workloads.h"

// How much memory things take, and that the steady state takes no more.

namespace weft {
namespace {

using tests::kMaxTsanFibers;
using tests::scaled;
using tests::smallConfig;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// What may be used where most of it is stacks. The frames of code that is not optimised are larger.
constexpr uint64_t boundOnStacks(uint64_t bytes) {
#if defined(__OPTIMIZE__)
  return bytes;
#else
  return bytes + bytes / 4;
#endif
}

// Runs with few workers: memory depends on them little, and time a lot.
class MemoryBoundsTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, MemoryBoundsTest, ::testing::Values(0, 1, 2),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

// Bytes, from a line of /proc/self/status.
uint64_t statusBytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == key + ":") {
      uint64_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes * 1024;
    }
  }
  return 0;
}

// Calls f(), and expects that no more than so many bytes are resident meanwhile, beyond those that were
// before. The test counts as skipped where that cannot be told.
template <class F>
void expectPeakAtMost(uint64_t bytes, F f) {
  // What earlier tests have left.
  detail::StackPool::forSize(smallConfig(0).fiberStackSize).trim(0);
  malloc_trim(0);
  const bool isReset = static_cast<bool>(std::ofstream("/proc/self/clear_refs") << 5 << std::flush);
  const uint64_t before = statusBytes("VmRSS");
  f();
  const uint64_t peak = statusBytes("VmHWM");
  if (!tests::kCountsMallocs) {
    GTEST_SKIP() << "the sanitizer's memory is most of it";
  }
  if (!isReset || before == 0 || peak == 0) {
    GTEST_SKIP() << "/proc/self/clear_refs cannot be written, or /proc/self/status lacks a line";
  }
  const uint64_t used = std::max(peak, before) - before;
  ::testing::Test::RecordProperty("peakKiB", static_cast<int>(used / 1024));
  EXPECT_LE(used, bytes);
}

TEST_P(MemoryBoundsTest, FibThroughTasksStaysWithinSixteenMebibytes) {
  const unsigned n = scaled(30u, 16u);
  uint64_t result = 0;
  expectPeakAtMost(boundOnStacks(16 * kMiB), [&] { result = tests::fibInTask(n); });
  EXPECT_EQ(result, scaled(832'040u, 987u));
}

// Each level waits for the next.
void nest(int depth, int* deepest) {
  ++*deepest;
  if (depth > 1) {
    Event done;
    schedule([=] {
      nest(depth - 1, deepest);
      done.signal();
    });
    done.wait();
  }
}

TEST_P(MemoryBoundsTest, AHundredThousandFibersWaitForEachOther) {
  const int kDepth = scaled(100'000, tests::kUnderTsan ? kMaxTsanFibers / 2 : 8'000);
  int deepest = 0;
  // A page of stack, its share of the page table, the control block.
  const uint64_t bound = boundOnStacks(static_cast<uint64_t>(kDepth) * 8192 + kMiB);
  expectPeakAtMost(bound, [&] {
    Event done;
    schedule([&, done] {
      nest(kDepth, &deepest);
      done.signal();
    });
    done.wait();
  });
  EXPECT_EQ(deepest, kDepth);
}

TEST_P(MemoryBoundsTest, AMillionTasksThatEachWaitForTheOneBeforeNeedFewStacks) {
  const int kTasks = scaled(1'000'000, 20'000);
  // A node for each task, one for each event, and where it is queued: in a ring that doubles, or in the
  // injector's blocks.
  const uint64_t queued = static_cast<uint64_t>(kTasks) * (64 + 64) + 32 * kMiB;
  // Two workers would run ahead of each other: how far is up to the system.
  std::latch isHeld(1), isOver(1);
  WaitGroup released(1);
  if (numWorkers() == 2) {
    schedule([&, released] {
      isHeld.count_down();
      isOver.wait();
      released.done();
    });
    isHeld.wait();
  } else {
    released.done();
  }
  expectPeakAtMost(queued + 64 * kMiB, [&] { tests::runRowOfTasks(kTasks); });
  // A turn of the oldest begins a task out of order.
  EXPECT_LT(tests::numFibers(scheduler()), 100u + static_cast<unsigned>(kTasks) / 1000);
  isOver.count_down();
  released.wait();
}

// Calls itself for ten children each. Returns: the sum of its leaves' numbers.
int64_t sumOfLeaves(int64_t first, int64_t leaves) {
  if (leaves == 1) {
    return first;
  }
  const int64_t share = leaves / 10;
  std::array<int64_t, 10> sums{};
  WaitGroup done(10);
  for (int64_t i = 0; i < 10; ++i) {
    schedule([&sums, i, first, share, done] {
      sums[static_cast<size_t>(i)] = sumOfLeaves(first + i * share, share);
      done.done();
    });
  }
  done.wait();
  return std::accumulate(sums.begin(), sums.end(), int64_t{0});
}

// In proportion to its depth, though the oldest tasks wait for long.
TEST_P(MemoryBoundsTest, ARecursionOfAMillionTasksNeedsFewStacks) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "where one worker is off its processor, others open its subtrees";
  }
  const int64_t leaves = scaled(1'000'000, 100'000);
  int64_t sum = 0;
  WaitGroup done(1);
  schedule([&, done] {
    sum = sumOfLeaves(0, leaves);
    done.done();
  });
  done.wait();
  EXPECT_EQ(sum, leaves * (leaves - 1) / 2);
  // With a turn of the oldest after each 1,037 dequeues it would be 2,500, or 250.
  EXPECT_LT(tests::numFibers(scheduler()), 150u);
}

// A deque has no room for all the tasks of one task.
TEST_P(MemoryBoundsTest, ThousandsOfRecursionsOfOneTaskNeedFewStacks) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "where one worker is off its processor, others open its subtrees";
  }
  constexpr int64_t kTasks = 5000, kLeaves = 100;
  int64_t sum = 0;
  WaitGroup done(kTasks);
  schedule([&, done] {
    for (int64_t i = 0; i < kTasks; ++i) {
      schedule([&, i, done] {
        sum += sumOfLeaves(i * kLeaves, kLeaves);
        done.done();
      });
    }
  });
  done.wait();
  EXPECT_EQ(sum, kTasks * kLeaves * (kTasks * kLeaves - 1) / 2);
  // If those for which there was no room had turns as tasks from outside, it would be thousands.
  EXPECT_LT(tests::numFibers(scheduler()), 150u);
}

// Halves of a loop lie in the deque for thieves. A few become tasks of this worker.
TEST_P(MemoryBoundsTest, ALongLoopBesideAFiberThatYieldsNeedsFewStacks) {
  if (numWorkers() > 0) {
    GTEST_SKIP() << "with workers their number depends on time";
  }
  const int pieces = scaled(1'000'000, 200'000);
  bool isOver = false;
  WaitGroup done(2);
  schedule([&, done] {
    parallelFor(autoPartitioner(irange(0, pieces), 1), [](int) {});
    isOver = true;
    done.done();
  });
  schedule([&, done] {
    while (!isOver) {
      yield();
    }
    done.done();
  });
  done.wait();
  EXPECT_LT(tests::numFibers(scheduler()), 20u);
}

TEST_P(MemoryBoundsTest, AsManyTasksAsWaitForEachOtherAreStarted) {
  // A worker that has many blocked fibers hesitates to start more, but does.
  const int kTasks = std::min(scaled(50'000, 20'000), tests::kUnderTsan ? kMaxTsanFibers / 2 : 50'000);
  WaitGroup started(static_cast<unsigned>(kTasks)), done(static_cast<unsigned>(kTasks));
  schedule([=] {
    for (int i = 0; i < kTasks; ++i) {
      schedule([=] {
        started.done();
        started.wait();
        done.done();
      });
    }
  });
  done.wait();
}

TEST_P(MemoryBoundsTest, StacksAreGivenBackAfterABurst) {
  constexpr int kFibers = 4000;
  detail::StackPool& pool = detail::StackPool::forSize(scheduler().config().fiberStackSize);
  const size_t before = pool.stats().numWarm + pool.stats().numInUse;
  Event go(Event::Mode::Manual);
  WaitGroup waiting(kFibers), done(kFibers);
  for (int i = 0; i < kFibers; ++i) {
    schedule([=] {
      waiting.done();
      go.wait();
      done.done();
    });
  }
  waiting.wait();
  go.signal();
  done.wait();
  // Workers that sleep give back what they have too much of, this thread's own among them: nothing but that
  // wakes them.
  const size_t kept = 100 + 64 * static_cast<size_t>(numWorkers() + 1);
  Event isGivenBack;
  std::thread watcher([&] {
    while (pool.stats().numWarm + pool.stats().numInUse > before + kept) {
      std::this_thread::yield();
    }
    isGivenBack.signal();
  });
  isGivenBack.wait();
  watcher.join();
}

using MemoryBoundsOwnSchedulerTest = tests::WithAllocator;

// A worker with a little to do all the time must give back what a burst has left, as one that sleeps does.
TEST_F(MemoryBoundsOwnSchedulerTest, IdleFibersAreGivenBackBySparselyUsedWorkers) {
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
    // Without a limit: where nothing is given back, the test does not end.
    while (numIdle() > 100) {
      sleep_for(std::chrono::milliseconds(2));
      WaitGroup ran(1);
      schedule([ran] { ran.done(); });
      ran.wait();
    }
  }
  Scheduler::unbind();
}

// Counts what rounds of `work` allocate, after some that find out how much they need.
class SteadyStateTest : public MemoryBoundsTest {
 protected:
  template <class F>
  void expectNoAllocations(F work) {
    if (!tests::kCountsMallocs) {
      work();
      GTEST_SKIP() << "the sanitizer owns malloc";
    }
    // Where threads are involved, how many tasks are in flight at the same time differs from round to round,
    // and with it what has to be there; but soon there is enough.
    // How soon is up to the system: where each round allocates, the test does not end.
    for (int numClean = 0; numClean < 10;) {
      const uint64_t before = tests::numMallocs() + detail::numNodeChunks();
      work();
      numClean = tests::numMallocs() + detail::numNodeChunks() == before ? numClean + 1 : 0;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, SteadyStateTest, ::testing::Values(0, 1, 2),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

TEST_P(SteadyStateTest, TasksFromOutsideAllocateNothing) {
  expectNoAllocations([] {
    WaitGroup done(10'000);
    for (int i = 0; i < 10'000; ++i) {
      schedule([done] { done.done(); });
    }
    done.wait();
  });
}

TEST_P(SteadyStateTest, TasksFromATaskAllocateNothing) {
  expectNoAllocations([] {
    WaitGroup done(10'001);
    schedule([done] {
      for (int i = 0; i < 10'000; ++i) {
        schedule([done] { done.done(); });
      }
      done.done();
    });
    done.wait();
  });
}

TEST_P(SteadyStateTest, TasksWithLargeCapturesAllocateNothing) {
  expectNoAllocations([] {
    WaitGroup done(100);
    Event a, b;
    uint64_t words[8] = {};
    for (int i = 0; i < 100; ++i) {
      schedule([done, a, b, words] {
        (void)words;
        done.done();
      });
    }
    done.wait();
  });
}

TEST_P(SteadyStateTest, TasksThatBlockAllocateNothing) {
  expectNoAllocations([] {
    WaitGroup done(100);
    Event previous(Event::Mode::Manual, true);
    for (int i = 0; i < 100; ++i) {
      Event next(Event::Mode::Manual);
      schedule([=] {
        previous.wait();
        yield();
        next.signal();
        done.done();
      });
      previous = next;
    }
    done.wait();
  });
}

// So a dump works while a thread that has died holds the allocator's locks.
TEST_P(SteadyStateTest, DumpsAllocateNothing) {
  mutex guard;
  std::unique_lock lock(guard);
  const Event event(Event::Mode::Manual);
  WaitGroup done(101);
  for (int i = 0; i < 100; ++i) {
    schedule([=] {
      event.wait();
      done.done();
    });
  }
  schedule([&guard, done] {
    {
      std::scoped_lock inTask(guard);
    }
    done.done();
  });
  tests::awaitThat([&] { return tests::numWaiting(event) == 100 && tests::numWaiting(guard) == 1; });
  const int saved = dup(STDERR_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDERR_FILENO);
  const uint64_t before = tests::numMallocs();
  dump();
  const uint64_t after = tests::numMallocs();
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(nowhere);
  EXPECT_EQ(after, before);
  event.signal();
  lock.unlock();
  done.wait();
}

TEST_P(SteadyStateTest, ForksAndJoinsAllocateNothing) {
  expectNoAllocations([] { EXPECT_EQ(tests::fibInTask(12), 144u); });
}

TEST_P(SteadyStateTest, TimedWaitsAllocateNothing) {
  expectNoAllocations([] {
    WaitGroup done(20);
    Event event;
    for (int i = 0; i < 20; ++i) {
      schedule([=] {
        event.wait_for(std::chrono::microseconds(10));
        Fiber::current()->wait(std::chrono::steady_clock::now() + std::chrono::microseconds(10));
        sleep_for(std::chrono::microseconds(10));
        done.done();
      });
    }
    done.wait();
  });
}

TEST_P(SteadyStateTest, MutexesConditionVariablesAndSemaphoresAllocateNothing) {
  expectNoAllocations([] {
    WaitGroup done(20);
    Semaphore semaphore(1);
    mutex guard;
    ConditionVariable condition;
    int next = 0;
    for (int i = 0; i < 20; ++i) {
      schedule([&, i, semaphore, done] {
        semaphore.acquire();
        semaphore.release();
        {
          std::unique_lock lock(guard);
          condition.wait(lock, [&] { return next == i; });
          ++next;
          condition.notify_all();
        }
        done.done();
      });
    }
    done.wait();
  });
}

TEST_P(MemoryBoundsTest, ManyRoundsOfWhenAnyLeaveNothingOnAFutureThatIsNeverReady) {
  const int kRounds = scaled(100'000, 1'000);
  Promise<void> promise, late;
  const SharedFuture<void> never = promise.get_future();
  const auto lose = [&] { EXPECT_EQ(whenAny(never, makeReadyFuture(1)).get().index, 1u); };
  const auto other = whenAny(never, late.get_future());  // so that two at a time listen
  lose();
  const size_t chunks = detail::numNodeChunks();
  expectPeakAtMost(kMiB, [&] {
    for (int round = 0; round < kRounds; ++round) {
      lose();
    }
  });
  EXPECT_LE(detail::numNodeChunks(), chunks + 1);
}

// Runs before the others, which leave very many free nodes behind.
TEST(NodePoolBoundsTest, EightProducersWithTenThousandTasksInFlightNeedNoMoreNodesThanThose) {
  constexpr int kProducers = 8, kInFlight = 10'000;
  const int kPerProducer = scaled(1'250'000, 2'000);
  expectPeakAtMost(8 * kMiB, [&] {
    const Semaphore slots(kInFlight);
    Scheduler scheduler(smallConfig(1));
    std::vector<std::thread> producers;
    for (int i = 0; i < kProducers; ++i) {
      producers.emplace_back([&] {
        for (int task = 0; task < kPerProducer; ++task) {
          slots.acquire();
          scheduler.enqueue(Task([&slots] { slots.release(); }));
        }
      });
    }
    for (std::thread& producer : producers) {
      producer.join();
    }
  });
  // 4,096 nodes a chunk, of which each thread may have some hundreds at hand.
  EXPECT_LE(detail::numNodeChunks(), size_t{6});
}

}  // namespace
}  // namespace weft
