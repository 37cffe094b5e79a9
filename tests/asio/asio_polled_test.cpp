// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/asio.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/event.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "asio_tools.h"
#include "in_task.h"
#include "waiting.h"
#include "with_scheduler.h"
#include "workers.h"

// Contexts that a worker polls itself.
namespace weft {
namespace {

using asio::ip::tcp;
using std::chrono::milliseconds;
using tests::ErrorCode;
using tests::inTask;
using tests::operation;
using tests::scaled;

class AsioPolledTest : public tests::WithScheduler {
 protected:
  int lastWorker() const { return numWorkers() - 1; }
};
INSTANTIATE_TEST_SUITE_P(Workers, AsioPolledTest, ::testing::Values(1, 2, 4, 8, 64),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

// A fiber of each of two contexts, which may be the same, send a byte to and fro.
void pingPong(AsioContext& server, int serversWorker, AsioContext& client, int clientsWorker, int rounds) {
  tcp::acceptor acceptor(server, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  WaitGroup done(2);
  const auto pass = [rounds](tcp::socket& socket, bool isFirst, int worker) {
    char byte = 0;
    for (int i = 0; i < 2 * rounds; ++i) {
      if ((i % 2 == 0) == isFirst) {
        asio::async_write(socket, asio::buffer(&byte, 1), useFiber);
      } else {
        EXPECT_EQ(asio::async_read(socket, asio::buffer(&byte, 1), useFiber), 1u);
      }
      EXPECT_EQ(Scheduler::workerId(), worker);
    }
  };
  asio::post(server, [&, done] {
    tcp::socket socket = acceptor.async_accept(useFiber);
    pass(socket, false, serversWorker);
    done.done();
  });
  asio::post(client, [&, done] {
    tcp::socket socket(client);
    socket.async_connect(acceptor.local_endpoint(), useFiber);
    pass(socket, true, clientsWorker);
    done.done();
  });
  done.wait();
}

TEST_P(AsioPolledTest, FibersOfOneContextTalk) {
  AsioContext context(scheduler(), lastWorker());
  pingPong(context, lastWorker(), context, lastWorker(), scaled(1'000, 100));
}

TEST_P(AsioPolledTest, FibersOfEachWorkersContextTalk) {
  std::vector<std::unique_ptr<AsioContext>> contexts;
  for (int worker = 0; worker < numWorkers(); ++worker) {
    contexts.push_back(std::make_unique<AsioContext>(scheduler(), worker));
  }
  for (int worker = 0; worker < numWorkers(); ++worker) {
    const int next = (worker + 1) % numWorkers();
    pingPong(*contexts[static_cast<size_t>(worker)], worker, *contexts[static_cast<size_t>(next)], next, 20);
  }
}

TEST_P(AsioPolledTest, AContextThatAThreadRunsTalksToIt) {
  AsioContext polled(scheduler(), 0);
  Scheduler other(tests::smallConfig(1));
  AsioContext context(other);
  pingPong(polled, 0, context, 0, 100);
}

TEST_P(AsioPolledTest, ItStartsNoThread) {
  const auto numThreads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  inTask([] {});  // a sanitizer may start its own
  const auto before = numThreads();
  const AsioContext context(scheduler(), 0);
  EXPECT_EQ(numThreads(), before);
}

TEST_P(AsioPolledTest, HandlersAreTasksOfTheWorkerAndMayWait) {
  AsioContext context(scheduler(), lastWorker());
  const Event event;
  WaitGroup done(2);
  asio::steady_timer timer(context, milliseconds(1)), another(context, milliseconds(1));
  timer.async_wait([&, done](ErrorCode) {
    EXPECT_EQ(Scheduler::workerId(), lastWorker());
    event.wait();
    asio::steady_timer inner(context, milliseconds(1));
    inner.async_wait(useFiber);
    EXPECT_EQ(Scheduler::workerId(), lastWorker());
    done.done();
  });
  another.async_wait([=](ErrorCode) {
    event.signal();
    done.done();
  });
  done.wait();
}

// A handler of useFiber wakes its fiber at once. A task that does so would cost more than all else.
TEST_P(AsioPolledTest, AWaitByUseFiberMakesNoTask) {
  const auto numTasksRun = [this] {
    return tests::sum(scheduler().stats(), &Scheduler::WorkerStats::numTasksRun);
  };
  for (const bool isPolled : {false, true}) {
    const uint64_t numBefore = numTasksRun();
    std::optional<AsioContext> context;
    isPolled ? context.emplace(scheduler(), lastWorker()) : context.emplace(scheduler());
    WaitGroup done(1);
    asio::post(*context, [&, done] {
      asio::steady_timer timer(*context);
      asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>,
                                 AsioExecutor>
          timerOfExecutor(context->get_executor());
      const auto composed = [&] {
        return operation<int>(
            [&](auto handler) {
              const auto executor =
                  asio::get_associated_executor(handler, asio::any_io_executor(context->get_executor()));
              timer.async_wait(asio::bind_executor(
                  executor, [handler = std::move(handler)](ErrorCode) mutable { handler(7); }));
            },
            useFiber);
      };
      const uint64_t before = numTasksRun();
      for (int i = 0; i < 10; ++i) {
        timer.expires_after(milliseconds(0));
        timer.async_wait(useFiber);
        timerOfExecutor.expires_after(milliseconds(0));
        timerOfExecutor.async_wait(useFiber);
        timer.expires_after(milliseconds(0));
        EXPECT_EQ(composed(), 7);
      }
      EXPECT_EQ(numTasksRun(), before);
      done.done();
    });
    done.wait();
    tests::awaitThat([&] { return numTasksRun() > numBefore; });  // the next round does not count this task
  }
}

// Libraries over Asio hold the executor of a handler as any_io_executor, track work by it, and post to it.
TEST_P(AsioPolledTest, TheExecutorOfAHandlerIsOneByAsiosRequirements) {
  AsioContext context(scheduler(), lastWorker());
  asio::io_context unlike;
  inTask([&] {
    operation<>(
        [&](auto handler) {
          const auto executor =
              asio::get_associated_executor(handler, asio::any_io_executor(context.get_executor()));
          const auto other =
              asio::get_associated_executor(handler, asio::any_io_executor(unlike.get_executor()));
          EXPECT_TRUE(executor == executor);
          EXPECT_FALSE(executor == other);
          EXPECT_EQ(&asio::query(executor, asio::execution::context),
                    &static_cast<asio::execution_context&>(context));
          const asio::any_io_executor any = asio::prefer(executor, asio::execution::outstanding_work.tracked);
          asio::post(any, [&, any, handler = std::move(handler)]() mutable {
            EXPECT_EQ(Scheduler::workerId(), lastWorker());
            handler();
          });
          bool isCalled = false;
          asio::dispatch(other, [&] { isCalled = true; });
          EXPECT_FALSE(isCalled);
          unlike.run();
          EXPECT_TRUE(isCalled);
        },
        useFiber);
  });
}

// What is none of the executor's is called in the worker's sleep, as a thread without a scheduler would.
TEST_P(AsioPolledTest, AHandlerOfAnotherExecutorHasNoFiber) {
  AsioContext context(scheduler(), lastWorker());
  mutex guard;
  Event event;
  asio::steady_timer timer(context, milliseconds(1));
  timer.async_wait(asio::bind_executor(asio::system_executor(), [&](ErrorCode) {
    EXPECT_EQ(Scheduler::get(), nullptr);
    EXPECT_EQ(Fiber::current(), nullptr);
    const lock held(guard);
    scheduler().enqueueOn(lastWorker(), Task([event] { event.signal(); }));
  }));
  event.wait();
}

TEST_P(AsioPolledTest, DispatchCallsAtOnceOnItsWorkerOnly) {
  AsioContext context(scheduler(), lastWorker());
  WaitGroup done(1);
  for (int worker = 0; worker < numWorkers(); ++worker) {
    done.add();
    scheduler().enqueueOn(worker, Task([&, worker, done] {
                            Fiber* const before = Fiber::current();
                            asio::dispatch(context, [&, worker, before, done] {
                              EXPECT_EQ(Scheduler::workerId(), lastWorker());
                              EXPECT_EQ(Fiber::current() == before, worker == lastWorker());
                              done.done();
                            });
                          }));
  }
  asio::dispatch(context, [&, done] {
    EXPECT_EQ(Scheduler::workerId(), lastWorker());
    done.done();
  });
  done.wait();
}

// It sleeps in the context, and must see what comes by other ways.
TEST_P(AsioPolledTest, ItsWorkerWakesForAllElse) {
  AsioContext context(scheduler(), lastWorker());
  // A worker that has a timer at all sleeps until the nearest.
  asio::steady_timer far(context, std::chrono::hours(1));
  far.async_wait([](ErrorCode) {});
  for (int round = 0; round < scaled(100, 20); ++round) {
    const Event event;
    WaitGroup done(3);
    asio::post(context, [=] {
      event.wait();
      done.done();
    });
    scheduler().enqueueOn(lastWorker(), Task([=] {
                            sleep_for(std::chrono::microseconds(100));
                            done.done();
                            EXPECT_FALSE(Event().wait_for(milliseconds(1)));
                            done.done();
                          }));
    std::thread([event] { event.signal(); }).join();
    done.wait();
  }
  far.cancel();
}

TEST_P(AsioPolledTest, OneAfterTheOtherHasTheWorker) {
  for (int round = 0; round < scaled(100, 20); ++round) {
    std::atomic<int> numEnded{0};
    {
      AsioContext context(scheduler(), lastWorker());
      auto timer = std::make_shared<asio::steady_timer>(context, milliseconds(1));
      timer->async_wait([&, timer](ErrorCode) { ++numEnded; });
      asio::post(context, [&] {
        asio::steady_timer another(context, milliseconds(1));
        another.async_wait(useFiber);
        ++numEnded;
      });
    }
    EXPECT_EQ(numEnded, 2);
  }
}

TEST_P(AsioPolledTest, ATaskOfTheWorkerMakesAndDestroysIt) {
  WaitGroup done(1);
  scheduler().enqueueOn(lastWorker(), Task([&, done] {
                          AsioContext context(scheduler(), lastWorker());
                          asio::steady_timer timer(context, milliseconds(1));
                          timer.async_wait(useFiber);
                          asio::post(context, [] { yield(); });
                          done.done();
                        }));
  done.wait();
}

#if WEFT_ASIO_CAN_CANCEL
TEST_P(AsioPolledTest, AStopEndsAWait) {
  AsioContext context(scheduler(), lastWorker());
  for (int round = 0; round < scaled(100, 20); ++round) {
    std::stop_source stop;
    WaitGroup done(1);
    asio::post(context, [&, done] {
      asio::steady_timer timer(context, std::chrono::hours(1));
      ErrorCode error;
      timer.async_wait(useFiber(stop.get_token())[error]);
      EXPECT_EQ(error, tests::aborted());
      done.done();
    });
    stop.request_stop();
    done.wait();
  }
}
#endif

// Two fibers that are always ready, and operations of Asio that always are: each lets the other go on.
TEST_P(AsioPolledTest, NeitherItNorOthersStarve) {
  AsioContext context(scheduler(), 0);
  std::atomic<bool> isOver{false};
  WaitGroup done(3);
  for (int i = 0; i < 2; ++i) {
    scheduler().enqueueOn(0, Task([&, done] {
                            while (!isOver) {
                              yield();
                            }
                            done.done();
                          }));
  }
  asio::post(context, [&, done] {
    tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp::socket client(context), server(context);
    client.async_connect(acceptor.local_endpoint(), useFiber);
    acceptor.async_accept(server, useFiber);
    char byte = 0;
    while (!isOver) {
      asio::async_write(client, asio::buffer(&byte, 1), useFiber);
      asio::async_read(server, asio::buffer(&byte, 1), useFiber);
    }
    done.done();
  });
  for (int i = 0; i < 20; ++i) {
    WaitGroup hasRun(2);
    scheduler().enqueueOn(0, Task([hasRun] { hasRun.done(); }));
    asio::steady_timer timer(context, milliseconds(1));
    timer.async_wait([hasRun](ErrorCode) { hasRun.done(); });
    hasRun.wait();
  }
  isOver = true;
  done.wait();
}

class AsioPolledDeathTest : public tests::DeathTest {};

TEST_F(AsioPolledDeathTest, AWorkerPollsOneContext) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(1));
        const AsioContext context(scheduler, 0);
        const AsioContext another(scheduler, 0);
      },
      "weft::AsioContext: worker 0 sleeps in something else already.*Take a worker of its own for each");
}

TEST_F(AsioPolledDeathTest, ThereMustBeSuchAWorker) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(1));
        const AsioContext context(scheduler, 1);
      },
      "there is no worker 1");
}

// By a thread of its own, and by a worker.
template <class F>
void withContext(bool isPolled, const F& f) {
  Scheduler scheduler(tests::smallConfig(1));
  std::optional<AsioContext> context;
  isPolled ? context.emplace(scheduler, 0) : context.emplace(scheduler);
  f(*context);
  Event().wait();
}

TEST_F(AsioPolledDeathTest, NobodyStopsItsIoContext) {
  for (const bool isPolled : {false, true}) {
    EXPECT_DEATH(withContext(isPolled,
                             [](AsioContext& context) {
                               asio::execution_context& base = context;
                               static_cast<asio::io_context&>(base).stop();
                             }),
                 "the io_context of a weft::AsioContext was stopped.*Cancel them");
  }
}

TEST_F(AsioPolledDeathTest, AnEmptyFunctionHasNoTask) {
  EXPECT_DEATH(
      withContext(false,
                  [](AsioContext& context) { context.get_executor().execute(std::function<void()>()); }),
      "weft: fatal: AsioExecutor::execute\\(\\) was given an empty function");
}

// asio::system_executor ends the program itself.
struct ExecutorInPlace {
  template <class F>
  void execute(F f) const {
    f();
  }
  bool operator==(const ExecutorInPlace&) const noexcept = default;
};

TEST_F(AsioPolledDeathTest, AHandlerThatItCallsInPlaceLetsNoExceptionEscape) {
  for (const bool isPolled : {false, true}) {
    EXPECT_DEATH(withContext(isPolled,
                             [](AsioContext& context) {
                               asio::steady_timer timer(context, milliseconds(1));
                               timer.async_wait(asio::bind_executor(ExecutorInPlace(), [](ErrorCode) {
                                 throw std::runtime_error("a reason");
                               }));
                               Event().wait();
                             }),
                 "an exception escaped from a handler that a weft::AsioContext calls in place.*a reason");
  }
}

// The example of AsioContext's comment, word for word: docs_examples_test compares.
TEST(AsioPolledExampleTest, AWorkerPollsTheContext) {
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1));
  weft::AsioContext context(scheduler, 0);
}

}  // namespace
}  // namespace weft
