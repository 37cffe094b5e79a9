// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include <weft/defer.h>
#include <weft/weft.h>

#include "with_scheduler.h"

// The calls of the middle columns of docs/coming_from.md, each once. Those of the table for Asio have their
// tests in tests/asio and tests/io.

namespace {

class ComingFromTest : public weft::tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, ComingFromTest, ::testing::Values(0, 2));

using std::chrono::milliseconds;

TEST_P(ComingFromTest, Marl) {
  weft::WaitGroup wg(2);
  weft::Event e(weft::Event::Mode::Manual);
  weft::schedule([=, owned = std::make_unique<int>(1)] {
    defer(wg.done());
    e.wait();
  });
  weft::schedule(weft::Task([=] { wg.done(); }, weft::Task::Flags::SameThread));
  EXPECT_FALSE(wg.test());
  EXPECT_FALSE(wg.wait_for(milliseconds(0)));
  e.signal();
  wg.wait();
  {
    WEFT_DEFER(e.clear());
    EXPECT_EQ(weft::blocking_call([] { return 7; }), 7);
  }
  EXPECT_FALSE(e.test());

  weft::Ticket::Queue q;
  auto t = q.take();
  t.wait();
  t.done();

  weft::DAG<int>::Builder b;
  b.root().then([](int& n) { ++n; });
  int data = 1;
  b.build()->run(data);
  EXPECT_EQ(data, 2);

  weft::BoundedPool<int, 2> pool;
  auto [loan, isThere] = pool.tryBorrow();
  EXPECT_TRUE(isThere);
}

TEST_P(ComingFromTest, BoostFiber) {
  EXPECT_EQ(weft::async([] { return 1; }).then([](int n) { return n + 1; }).get(), 2);
  weft::Promise<int> promise;
  weft::Future<int> future = promise.get_future();
  EXPECT_FALSE(future.wait_for(milliseconds(0)));
  EXPECT_TRUE(promise.set_value(1));
  EXPECT_FALSE(promise.set_value(2));
  EXPECT_EQ(future.get(), 1);
  weft::yield();
  weft::sleep_for(milliseconds(0));

  weft::mutex mutex;
  weft::ConditionVariable condition;
  bool isSet = false;
  weft::Barrier b(2);
  weft::Channel<int> c(7), unbuffered;
  weft::WaitGroup done(1);
  weft::schedule([&, done] {
    {
      weft::lock lock(mutex);
      isSet = true;
    }
    condition.notify_one();
    b.arrive_and_wait();
    c.send(1);
    c.close();
    unbuffered.send(2);
    done.done();
  });
  {
    weft::lock lock(mutex);
    condition.wait(lock, [&] { return isSet; });
  }
  b.arrive_and_wait();
  EXPECT_EQ(c.receive(), 1);
  EXPECT_EQ(c.receive(), std::nullopt);
  EXPECT_EQ(unbuffered.receive(), 2);
  done.wait();
  EXPECT_THROW(c.send(3), weft::ChannelClosed);
  weft::FiberLocal<std::string> local;
  EXPECT_TRUE(local->empty());
}

TEST_P(ComingFromTest, OneTbb) {
  std::vector<int> v(100, 1), out(100);
  weft::parallelFor(0, 100, [&](int i) { v[static_cast<size_t>(i)] += 99 - i; });
  weft::parallelFor(weft::autoPartitioner(weft::irange(0, 100), 10),
                    [&](int i) { out[static_cast<size_t>(i)] = i; });
  EXPECT_EQ(weft::parallelMapReduce(v, 0, [](int n) { return 2 * n; }, std::plus<>()), 10'100);
  EXPECT_EQ(weft::parallelReduce(v, 0), 5'050);
  weft::parallelScan(v, out.begin(), std::plus<>());
  EXPECT_EQ(out.back(), 5'050);
  weft::parallelSort(v);
  weft::parallelStableSort(v);
  EXPECT_EQ(v.front(), 1);
  const auto isSmall = [](int n) { return n <= 10; };
  EXPECT_EQ(weft::parallelFind(v, isSmall), v.begin());
  EXPECT_TRUE(weft::parallelAnyOf(v, isSmall));
  EXPECT_EQ(weft::parallelCountIf(v, isSmall), 10u);
  EXPECT_EQ(weft::parallelCopyIf(v, out.begin(), isSmall) - out.begin(), 10);
  EXPECT_EQ(weft::join([] { return 1; }, [] { return 2; }), std::tuple(1, 2));
  weft::TaskGroup g;
  g.run([] {});
  g.cancel();
  g.wait();
  EXPECT_TRUE(g.isCanceled());
  int left = 3, sum = 0;
  weft::parallelPipeline(4,
                         weft::serialStage([&] { return left > 0 ? std::optional(left--) : std::nullopt; }),
                         weft::serialStage([&](int n) { sum += n; }));
  EXPECT_EQ(sum, 6);
  weft::PoolExecutor pool(1);
  EXPECT_EQ(weft::async(pool, [] { return 1; }).get(), 1);
  weft::WaitGroup done(1);
  pool.scheduler().enqueue(weft::Task([done] { done.done(); }));
  done.wait();
}

TEST_P(ComingFromTest, Taskflow) {
  std::atomic<int> calls = 0;
  weft::DAG<std::atomic<int>&>::Builder builder;
  const auto f = [](std::atomic<int>& n) { ++n; };
  auto a = builder.root().then(f);
  auto c = builder.root().then(f);
  auto b = builder.node(f, {a, c});
  auto d = builder.root().then(f);
  builder.addDependency(b, d);
  auto idle = builder.node([](std::atomic<int>&) {}).setName("load");
  builder.choice([](std::atomic<int>&) { return 1; }, {idle, d}, {a});
  auto dag = builder.build();
  EXPECT_NE(dag->dot().find("load"), std::string::npos);
  for (int i = 0; i < 3; ++i) {
    dag->run(calls);
  }
  EXPECT_EQ(calls, 12);
  weft::TaskGroup group;
  group.run([&] { ++calls; });
  group.wait();
  std::vector<int> v = {3, 1, 2};
  EXPECT_EQ(weft::parallelReduce(v.begin(), v.end(), 1, std::plus<>()), 7);
  weft::parallelSort(v.begin(), v.end());
  EXPECT_EQ(v.front(), 1);
  const std::less<int> less;
  auto result = weft::parallelFind(v.begin(), v.end(), [](int n) { return n > 1; });
  EXPECT_GT(*result, 1);
  result = weft::parallelMinElement(v.begin(), v.end(), less);
  EXPECT_EQ(result, v.begin());
  weft::Semaphore s(1);
  s.acquire();
  s.release();
}

TEST_P(ComingFromTest, TheStandardLibrary) {
  std::stop_source source;
  EXPECT_FALSE(weft::async(source.get_token(), [](const std::stop_token& token) {
                 return token.stop_requested();
               }).get());
  auto [one, two] = weft::whenAll(weft::async([] { return 1; }), weft::async([] { return 2; })).get();
  EXPECT_EQ(one.get() + two.get(), 3);
  weft::mutex mutex;
  {
    std::unique_lock lock(mutex);
  }
  weft::SharedMutex shared;
  {
    std::shared_lock lock(shared);
  }
  weft::RecursiveMutex recursive;
  {
    std::scoped_lock lock(recursive);
    std::scoped_lock again(recursive);
  }
  weft::Latch latch(1);
  latch.count_down();
  latch.wait();
  weft::Once once;
  int calls = 0;
  once.call([&] { ++calls; });
  once.call([&] { ++calls; });
  EXPECT_EQ(calls, 1);
  std::vector<int> v(3);
  weft::parallelFor(v.begin(), v.end(), [](int& n) { n = 1; });
  EXPECT_EQ(v.back(), 1);
  const auto isOne = [](int n) { return n == 1; };
  EXPECT_EQ(weft::parallelFind(v.begin(), v.end(), isOne, source.get_token()), v.begin());
  EXPECT_TRUE(weft::parallelAnyOf(v.begin(), v.end(), isOne, source.get_token()));
  EXPECT_EQ(weft::parallelCountIf(v.begin(), v.end(), isOne), 3u);
  std::vector<int> out(6);
  EXPECT_EQ(weft::parallelCopyIf(v.begin(), v.end(), out.begin(), isOne) - out.begin(), 3);
  EXPECT_EQ(weft::parallelMerge(v.begin(), v.end(), v.begin(), v.end(), out.begin()), out.end());
}

TEST_P(ComingFromTest, Go) {
  weft::Channel<int> c(2), d(1);
  c.send(1);
  c.send(2);
  c.close();
  c.close();
  int sum = 0;
  for (int& v : c) {
    sum += v;
  }
  EXPECT_EQ(sum, 3);
  EXPECT_EQ(
      weft::select(weft::onReceive(d, [](std::optional<int>) {}), weft::onTimeout(milliseconds(1), [] {})),
      1u);
  EXPECT_EQ(weft::select(weft::onReceive(d, [](std::optional<int>) {}), weft::otherwise([] {})), 1u);
  EXPECT_EQ(weft::select(weft::onSend(d, 1)), 0u);
  {
    std::vector<weft::AnyCase> cases;
    cases.push_back(weft::onReceive(d, [&](std::optional<int> value) { sum += value.value(); }));
    EXPECT_EQ(weft::select(cases), 0u);
    EXPECT_EQ(sum, 4);
  }
  std::stop_source source;
  const std::stop_token token = source.get_token();
  weft::StopAfter limit(std::chrono::hours(1), token);
  source.request_stop();
  EXPECT_TRUE(limit.token().stop_requested());
  EXPECT_EQ(weft::Channel<int>().receive(source.get_token()), std::nullopt);
  const int n = 2;
  std::atomic<int> numRun = 0;
  weft::TaskGroup group(weft::TaskGroup::Limit{n});
  for (int i = 0; i < 5; ++i) {
    group.run([&] { ++numRun; });
  }
  group.wait();
  EXPECT_EQ(numRun, 5);
  weft::Once once;
  EXPECT_THROW(once.call([] { throw std::runtime_error("first"); }), std::runtime_error);
  once.call([&] { sum = 0; });
  EXPECT_EQ(sum, 0);
}

}  // namespace
