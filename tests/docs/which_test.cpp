// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include <weft/weft.h>

// The example of docs/which.md, word for word, and the cells of its tables that no other test shows.

namespace {

int leastOf(const std::vector<int>& values) { return *std::min_element(values.begin(), values.end()); }
int greatestOf(const std::vector<int>& values) { return *std::max_element(values.begin(), values.end()); }

TEST(WhichTest, TheExampleOfThePage) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  const weft::Scheduler::Binding bound(scheduler);
  const std::vector<std::string> names = {"a", "b", "c"};
  std::atomic<int> numSaved = 0;
  const auto save = [&](const std::string& name, const std::vector<int>& values) {
    EXPECT_EQ(name.size(), 1u);
    EXPECT_EQ(values.front(), 4);
    ++numSaved;
  };
  const auto print = [](int least, int greatest, int sum) {
    EXPECT_EQ(least, 4);
    EXPECT_EQ(greatest, 4);
    EXPECT_EQ(sum, 4000);
  };

  std::vector<int> values(1000, 2);
  weft::parallelFor(values, [](int& value) { value *= value; });  // a range
  auto [least, greatest] = weft::join([&] { return leastOf(values); }, [&] { return greatestOf(values); });
  weft::Future<int> sum = weft::async([&] { return weft::parallelReduce(values, 0); });  // a result, later
  weft::TaskGroup group;  // any number of tasks
  for (const std::string& name : names) {
    group.run([&] { save(name, values); });
  }
  group.wait();  // throws what a task has thrown
  print(least, greatest, sum.get());

  EXPECT_EQ(numSaved, 3);
}

// The column "binding".
TEST(WhichTest, MuchNeedsNoBoundScheduler) {
  ASSERT_EQ(weft::Scheduler::get(), nullptr);
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  const weft::WaitGroup done(3);
  std::vector<weft::Task> tasks;
  tasks.emplace_back([done] { done.done(); });
  scheduler.enqueueMany(std::move(tasks));
  scheduler.enqueue(weft::Task([done] { done.done(); }));
  scheduler.enqueueOn(0, weft::Task([done] { done.done(); }));
  done.wait();

  EXPECT_EQ(weft::join([] { return 1; }, [] { return 2; }), std::tuple(1, 2));
  int calls = 0;
  weft::parallelInvoke([&] { ++calls; }, [&] { ++calls; });
  weft::TaskGroup group;
  group.run([&] { ++calls; });
  group.wait();
  weft::parallelFor(0, 3, [&](int) { ++calls; });
  weft::parallelPipeline(2, weft::serialStage([&] { return calls++ < 8 ? std::optional(1) : std::nullopt; }),
                         weft::parallelStage([](int item) { EXPECT_EQ(item, 1); }));
  weft::parallelize([&] { ++calls; });
  EXPECT_EQ(calls, 10);

  EXPECT_EQ(weft::async([] { return 1; }).then([](int one) { return one + 1; }).get(), 2);
  EXPECT_EQ(weft::blocking_call([] { return 1; }), 1);
  weft::Ticket::Queue queue;
  queue.take().done();
  queue.take().wait();
  weft::MainLoopExecutor mainLoop;
  auto one = weft::async(mainLoop, [] { return 1; });
  mainLoop.runAll();
  EXPECT_EQ(one.get(), 1);
}

// The columns `std::stop_token` and "deadline", on a thread to which no scheduler is bound.
TEST(WhichTest, WaitsEndByAStopAndATimeOnPlainThreads) {
  using std::chrono::nanoseconds;
  std::stop_source source;
  source.request_stop();
  const std::stop_token stop = source.get_token();

  EXPECT_FALSE(weft::Event().wait(stop) || weft::Event().wait_for(nanoseconds(1)));
  EXPECT_FALSE(weft::WaitGroup(1).wait(stop) || weft::WaitGroup(1).wait_for(nanoseconds(1)));
  EXPECT_FALSE(weft::Semaphore().acquire(stop) || weft::Semaphore().try_acquire_for(nanoseconds(1)));
  weft::Latch latch(1);
  EXPECT_FALSE(latch.wait(stop) || latch.wait_for(nanoseconds(1)));
  weft::Barrier barrier(2);
  const auto arrival = barrier.arrive();
  EXPECT_FALSE(barrier.wait(arrival, stop) || barrier.wait_for(arrival, nanoseconds(1)));
  std::mutex mutex;
  std::unique_lock lock(mutex);
  weft::ConditionVariable condition;
  const auto never = [] { return false; };
  EXPECT_FALSE(condition.wait(lock, stop, never) || condition.wait_for(lock, nanoseconds(1), never));
  weft::Channel<int> channel;
  EXPECT_FALSE(channel.receive(stop) || channel.receive_for(nanoseconds(1)));
  EXPECT_EQ(weft::select(weft::onReceive(channel, [](std::optional<int>) {}), weft::onStop(stop)), 1u);
  EXPECT_EQ(
      weft::select(weft::onReceive(channel, [](std::optional<int>) {}), weft::onTimeout(nanoseconds(1))), 1u);
  weft::Promise<int> promise;
  weft::Future<int> future = promise.get_future();
  EXPECT_FALSE(future.wait(stop) || future.wait_for(nanoseconds(1)));
  EXPECT_FALSE(weft::sleep_for(std::chrono::hours(1), stop));
  EXPECT_FALSE(weft::Signal().receiveTimed(nanoseconds(1)));
  weft::FiberLocal<int> local([] { return 7; });
  EXPECT_EQ(*local, 7);
}

// Locks are held by a task, so that their holder is not the thread that waits.
template <class Mutex>
void expectLockEnds() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  Mutex mutex;
  const weft::Event held, over;
  const weft::WaitGroup done(1);
  scheduler.enqueue(weft::Task([&mutex, held, over, done] {
    mutex.lock();
    held.signal();
    over.wait();
    mutex.unlock();
    done.done();
  }));
  held.wait();
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(mutex.lock(source.get_token()));
  EXPECT_FALSE(mutex.try_lock_for(std::chrono::nanoseconds(1)));
  over.signal();
  done.wait();
}

TEST(WhichTest, LocksEndByAStopAndATimeOnPlainThreads) {
  expectLockEnds<weft::mutex>();
  expectLockEnds<weft::SharedMutex>();
  expectLockEnds<weft::RecursiveMutex>();
}

}  // namespace
