// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/asio.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "asio_tools.h"
#include "in_task.h"
#include "waiting.h"

namespace weft {
namespace {

using tests::ErrorCode;
using tests::inTask;

class AsioContextTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, AsioContextTest, ::testing::Values(0, 1, 4));

// Only with worker threads may any thread use the context.
class AsioContextWithWorkersTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, AsioContextWithWorkersTest, ::testing::Values(1, 4));

TEST_P(AsioContextTest, RunsWhatIsPostedAsATask) {
  AsioContext context(scheduler());
  Event event;
  std::atomic<int> numRun{0};
  WaitGroup done(3);
  const auto run = [&] {
    EXPECT_NE(Fiber::current(), nullptr);
    EXPECT_EQ(Scheduler::get(), &scheduler());
    event.wait();
    event.signal();
    ++numRun;
    done.done();
  };
  asio::post(context, run);
  asio::post(context.get_executor(), [run, move = std::make_unique<int>(1)] { run(); });
  asio::defer(context.get_executor(), run);
  EXPECT_EQ(numRun, 0);
  event.signal();
  done.wait();
  EXPECT_EQ(numRun, 3);
}

TEST_P(AsioContextTest, DispatchCallsAtOnceWhereTheSchedulerIsBound) {
  AsioContext context(scheduler());
  std::thread::id ran;
  asio::dispatch(context, [&] { ran = std::this_thread::get_id(); });
  EXPECT_EQ(ran, std::this_thread::get_id());
  inTask([&] {
    Fiber* const before = Fiber::current();
    Fiber* within = nullptr;
    asio::dispatch(context.get_executor(), [&] { within = Fiber::current(); });
    EXPECT_EQ(within, before);
  });
  if (numWorkers() != 0) {
    std::thread([&] {
      Event done;
      asio::dispatch(context, [&, done] {
        EXPECT_NE(Fiber::current(), nullptr);
        done.signal();
      });
      done.wait();
    }).join();
  }
}

TEST_P(AsioContextTest, HasAnExecutorByAsiosRequirements) {
  AsioContext context(scheduler()), another(scheduler());
  const AsioExecutor executor = context.get_executor();
  static_assert(asio::execution::is_executor<AsioExecutor>::value);
  namespace execution = asio::execution;
  EXPECT_EQ(&asio::query(executor, execution::context), &static_cast<asio::execution_context&>(context));

  EXPECT_EQ(asio::query(executor, execution::blocking), execution::blocking.possibly);
  EXPECT_EQ(asio::query(executor, execution::relationship), execution::relationship.fork);
  EXPECT_EQ(asio::query(executor, execution::outstanding_work), execution::outstanding_work.untracked);
  const auto never = asio::require(executor, execution::blocking.never);
  EXPECT_EQ(asio::query(never, execution::blocking), execution::blocking.never);
  const auto continuation = asio::prefer(executor, execution::relationship.continuation);
  EXPECT_EQ(asio::query(continuation, execution::relationship), execution::relationship.continuation);
  const auto tracked = asio::prefer(executor, execution::outstanding_work.tracked);
  EXPECT_EQ(asio::query(tracked, execution::outstanding_work), execution::outstanding_work.tracked);

  EXPECT_EQ(executor, context.get_executor());
  EXPECT_NE(executor, another.get_executor());
  EXPECT_NE(executor, never);
  EXPECT_EQ(executor, asio::require(never, execution::blocking.possibly));
  EXPECT_EQ(executor, asio::require(continuation, execution::relationship.fork));
  AsioExecutor copy = tracked;
  EXPECT_NE(copy, executor);
  copy = executor;
  EXPECT_EQ(copy, executor);
}

TEST_P(AsioContextTest, IsHeldByAnyIoExecutorAndStrands) {
  AsioContext context(scheduler());
  const asio::any_io_executor any = context.get_executor();
  EXPECT_EQ(any, asio::any_io_executor(context.get_executor()));
  EXPECT_EQ(&asio::query(any, asio::execution::context), &static_cast<asio::execution_context&>(context));
  EXPECT_NE(any.target<AsioExecutor>(), nullptr);

  const auto strand = asio::make_strand(any);
  int number = 0;  // the strand guards it
  constexpr int kTasks = 1000;
  WaitGroup done(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    asio::post(any, asio::bind_executor(strand, [&] {
                 ++number;
                 done.done();
               }));
  }
  done.wait();
  EXPECT_EQ(number, kTasks);
}

TEST_P(AsioContextTest, IsDestroyedOnceItsTasksHaveEnded) {
  std::atomic<bool> isReady{false};
  Event event;
  {
    AsioContext context(scheduler());
    asio::post(context, [&] {
      schedule([&] { event.signal(); });
      event.wait();
      isReady = true;
    });
  }
  EXPECT_TRUE(isReady);
}

TEST_P(AsioContextTest, IsDestroyedOnceNoExecutorTracksWork) {
  std::optional<AsioContext> context(std::in_place, scheduler());
  std::atomic<bool> isReleased{false};
  schedule([&, guard = std::make_unique<asio::executor_work_guard<AsioExecutor>>(
                   asio::make_work_guard(*context))]() mutable {
    yield();
    isReleased = true;
    guard.reset();
  });
  context.reset();
  EXPECT_TRUE(isReleased);
}

TEST_P(AsioContextWithWorkersTest, TakesTasksFromManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kTasks = tests::scaled(10'000, 1'000);
  std::atomic<int> numRun{0};
  {
    AsioContext context(scheduler());
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        const asio::any_io_executor executor = context.get_executor();
        for (int task = 0; task < kTasks; ++task) {
          asio::post(executor, [&] { ++numRun; });
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  EXPECT_EQ(numRun, kThreads * kTasks);
}

TEST_P(AsioContextWithWorkersTest, HasSocketsAndTimersWithoutAThreadThatRunsIt) {
  using asio::ip::tcp;
  AsioContext context(scheduler());
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  WaitGroup done(2);
  asio::post(context, [&] {
    tcp::socket socket = acceptor.async_accept(useFiber);
    char byte = 0;
    EXPECT_EQ(asio::async_read(socket, asio::buffer(&byte, 1), useFiber), 1u);
    EXPECT_EQ(byte, 'x');
    done.done();
  });
  asio::post(context, [&] {
    asio::steady_timer timer(context, std::chrono::milliseconds(1));
    timer.async_wait(useFiber);
    tcp::socket socket(context);
    socket.async_connect(acceptor.local_endpoint(), useFiber);
    asio::async_write(socket, asio::buffer("x", 1), useFiber);
    done.done();
  });
  done.wait();
}

TEST_P(AsioContextWithWorkersTest, IsDestroyedOnceItsOperationsHaveEnded) {
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> numEnded{0};
    {
      AsioContext context(scheduler());
      auto timer = std::make_shared<asio::steady_timer>(context, std::chrono::milliseconds(1));
      timer->async_wait([&, timer](ErrorCode) {
        EXPECT_EQ(Scheduler::get(), &scheduler());
        ++numEnded;
      });
      asio::post(context, [&] {
        asio::steady_timer another(context, std::chrono::milliseconds(1));
        another.async_wait(useFiber);
        ++numEnded;
      });
    }
    EXPECT_EQ(numEnded, 2);
  }
}

// The example of AsioContext's comment, word for word: docs_examples_test compares.
TEST(AsioContextExampleTest, ATaskConnectsASocket) {
  using asio::ip::tcp;
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1));
  asio::io_context listening;
  tcp::acceptor acceptor(listening, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  const tcp::endpoint endpoint = acceptor.local_endpoint();
  weft::AsioContext context(scheduler);
  asio::post(context, [&] {
    asio::ip::tcp::socket socket(context);
    socket.async_connect(endpoint, weft::useFiber);
  });
  acceptor.accept();
}

}  // namespace
}  // namespace weft
