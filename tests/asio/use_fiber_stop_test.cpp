// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/asio.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <weft/event.h>
#include <weft/scheduler.h>

#include "asio_tools.h"
#include "in_task.h"
#include "waiting.h"

namespace weft {
namespace {

using tests::aborted;
using tests::Crew;
using tests::ErrorCode;
using tests::inTask;
using tests::Kind;
using tests::kKinds;
using tests::operation;
using tests::Running;
using tests::SystemError;

constexpr auto kNever = std::chrono::steady_clock::time_point::max();

class UseFiberStopTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, UseFiberStopTest, ::testing::Values(0, 1, 4));

TEST_P(UseFiberStopTest, AStopCancelsTheOperation) {
  Running running;
  for (Kind kind : kKinds) {
    for (bool isStoppedBefore : {false, true}) {
      std::stop_source source;
      Event begun(Event::Mode::Manual);
      if (isStoppedBefore) {
        source.request_stop();
      }
      Crew crew(scheduler());
      crew.start(kind, [&] {
        asio::steady_timer timer(running.context, kNever);
        begun.signal();
        EXPECT_THROW(timer.async_wait(useFiber(source.get_token())), SystemError);
        ErrorCode error;
        timer.async_wait(useFiber(source.get_token())[error]);
        EXPECT_EQ(error, aborted());
        timer.async_wait(useFiber[error](source.get_token()));
        EXPECT_EQ(error, aborted());
      });
      begun.wait();
      source.request_stop();
    }
  }
}

TEST_P(UseFiberStopTest, AnOperationThatNobodyStopsGivesItsResult) {
  Running running;
  inTask([&] {
    std::stop_source source;
    for (const std::stop_token& token : {source.get_token(), std::stop_token()}) {
      asio::steady_timer timer(running.context, std::chrono::milliseconds(0));
      timer.async_wait(useFiber(token));
      asio::post(running.context, useFiber(token));
      EXPECT_EQ(operation<int>([](auto handler) { handler(7); }, useFiber(token)), 7);
    }
    source.request_stop();
    // What cannot be cancelled goes on.
    asio::post(running.context, useFiber(source.get_token()));
    EXPECT_EQ(operation<int>([](auto handler) { handler(7); }, useFiber(source.get_token())), 7);
  });
}

TEST_P(UseFiberStopTest, AStopOfAnOperationWithoutAnExecutorComesAtOnce) {
  std::stop_source source;
  Event begun;
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    const auto begin = [&](auto handler) {
      auto slot = asio::get_associated_cancellation_slot(handler);
      auto shared = std::make_shared<decltype(handler)>(std::move(handler));
      slot.assign([shared](asio::cancellation_type type) mutable {
        EXPECT_EQ(type, asio::cancellation_type::all);
        auto call = std::exchange(shared, nullptr);
        (*call)(aborted(), 3);
      });
      begun.signal();
    };
    ErrorCode error;
    EXPECT_EQ((operation<ErrorCode, int>(begin, useFiber(source.get_token())[error])), 3);
    EXPECT_EQ(error, aborted());
  });
  begun.wait();
  source.request_stop();
}

TEST_P(UseFiberStopTest, AnExecutorThatIsBoundToTheTokenRunsTheHandlers) {
  Running running, other;
  inTask([&] {
    std::stop_source source;
    source.request_stop();
    const auto strand = asio::make_strand(other.context);
    asio::steady_timer timer(running.context, kNever);
    ErrorCode error;
    timer.async_wait(asio::bind_executor(strand, useFiber(source.get_token())[error]));
    EXPECT_EQ(error, aborted());
    const auto begin = [&](auto handler) {
      const auto executor = asio::get_associated_executor(handler, running.context.get_executor());
      asio::post(executor, [&strand, handler = std::move(handler)]() mutable {
        handler(strand.running_in_this_thread());
      });
    };
    EXPECT_TRUE(operation<bool>(begin, asio::bind_executor(strand, useFiber(source.get_token()))));
  });
}

TEST_P(UseFiberStopTest, AContextMayGoWithAnOperationThatWasToBeStopped) {
  for (int i = 0; i < 100; ++i) {
    auto context = std::make_unique<asio::io_context>();
    std::stop_source source;
    Event begun;
    Crew crew(scheduler());
    crew.start(i % 2 == 0 ? Kind::BoundThread : Kind::FreeThread, [&] {
      ErrorCode error;
      const auto begin = [&](auto handler) {
        {
          const auto executor = asio::get_associated_executor(handler, context->get_executor());
          asio::post(executor, [handler = std::move(handler)]() mutable { handler(); });
        }
        begun.signal();  // nothing here refers to the context any more
      };
      operation<>(begin, useFiber(source.get_token())[error]);
      EXPECT_EQ(error, aborted());
    });
    begun.wait();
    context.reset();
  }
}

// The executor of an io_context, which calls a function each time that something is given to it.
struct HookedExecutor {
  static constexpr auto query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  asio::execution_context& query(asio::execution::context_t) const noexcept { return inner.context(); }
  template <class Function>
  void execute(Function&& function) const {
    (*hook)();
    asio::post(inner, std::forward<Function>(function));
  }
  bool operator==(const HookedExecutor&) const noexcept = default;

  asio::io_context::executor_type inner;
  std::function<void()>* hook;
};

TEST_P(UseFiberStopTest, AContextMayGoOnceTheHandlerWasCalledAlsoWhileAStopIsOnItsWay) {
  auto context = std::make_unique<asio::io_context>();
  std::function<void()> callHandler;
  std::atomic<bool> isGone{false};
  std::thread other;
  std::function<void()> hook = [&] {
    other = std::thread([&] {
      callHandler();
      context.reset();
      isGone = true;
    });
    for (int i = 0; i < 100 && !isGone; ++i) {
      std::this_thread::yield();
    }
    EXPECT_FALSE(isGone) << "the stop is about to use it";
  };
  std::stop_source source;
  Event begun;
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    const auto begin = [&](auto handler) {
      (void)asio::get_associated_executor(handler, HookedExecutor{context->get_executor(), &hook});
      auto shared = std::make_shared<decltype(handler)>(std::move(handler));
      callHandler = [shared]() mutable { (*std::exchange(shared, nullptr))(); };
      begun.signal();
    };
    operation<>(begin, useFiber(source.get_token()));
  });
  begun.wait();
  source.request_stop();
  crew.join();
  other.join();
}

TEST_P(UseFiberStopTest, AStopMayComeAtAnyMoment) {
  Running running(2);
  for (int i = 0; i < tests::scaled(300, 100); ++i) {
    std::stop_source source;
    std::atomic<bool> hasBegun{false};
    Crew crew(scheduler());
    crew.start(tests::kindOf(i), [&, i] {
      asio::steady_timer timer(running.context, std::chrono::microseconds(i % 50));
      hasBegun = true;
      ErrorCode error;
      timer.async_wait(useFiber(source.get_token())[error]);
      EXPECT_TRUE(!error || error == aborted()) << error.message();
    });
    crew.start(Kind::FreeThread, [&, i] {
      while (!hasBegun) {
        std::this_thread::yield();
      }
      for (std::atomic<int> pauses = 0; pauses < 10 * i; ++pauses) {
      }
      source.request_stop();
    });
  }
}

TEST_P(UseFiberStopTest, AStopMayComeFromTheOperationItself) {
  Running running;
  inTask([&] {
    for (const bool isWhileItBegins : {true, false}) {
      std::stop_source source;
      const auto begin = [&](auto handler) {
        if (isWhileItBegins) {
          source.request_stop();
        }
        const auto executor = asio::get_associated_executor(handler, running.context.get_executor());
        asio::post(executor, [&source, handler = std::move(handler)]() mutable {
          source.request_stop();
          handler(7);
        });
      };
      EXPECT_EQ(operation<int>(begin, useFiber(source.get_token())), 7);
    }
  });
}

// Reads are stopped again and again, beside a context that two threads run. What a stopped read says that it
// has read, and the reads after it, make up all that was written. Now and then the writer waits until another
// read was stopped, since the thread that stops them may not run for as long as the writer does.
TEST_P(UseFiberStopTest, StoppedReadsLoseNoBytes) {
  using asio::local::stream_protocol;
  constexpr size_t kBytes = tests::scaled<size_t>(2'000'000, 200'000), kPauses = 20;
  Running running(2);
  stream_protocol::socket reader(running.context), writer(running.context);
  asio::local::connect_pair(reader, writer);
  std::atomic<bool> isDone{false};
  std::atomic<int> numStopped{0};
  std::mutex guard;
  std::stop_source current;
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    std::array<uint8_t, 61> bytes{};
    size_t nextPause = kBytes / kPauses;
    for (size_t sent = 0; sent < kBytes;) {
      const size_t count = std::min(bytes.size(), kBytes - sent);
      for (size_t i = 0; i < count; ++i) {
        bytes[i] = static_cast<uint8_t>((sent + i) % 251);
      }
      asio::async_write(writer, asio::buffer(bytes.data(), count), useFiber);
      sent += count;
      if (sent >= nextPause) {
        nextPause += kBytes / kPauses;
        tests::awaitThat([&, before = numStopped.load()] { return numStopped > before; });
      }
    }
    writer.close();
  });
  crew.start(Kind::FreeThread, [&] {
    while (!isDone) {
      std::stop_source source;
      {
        std::scoped_lock lock(guard);
        source = current;
      }
      source.request_stop();
      std::this_thread::yield();
    }
  });
  size_t numRead = 0;
  ErrorCode error;
  while (error != asio::error::eof) {
    std::stop_source source;
    {
      std::scoped_lock lock(guard);
      current = source;
    }
    std::array<uint8_t, 509> bytes{};
    const size_t size = asio::async_read(reader, asio::buffer(bytes), useFiber(source.get_token())[error]);
    numStopped += error == aborted() ? 1 : 0;
    for (size_t i = 0; i < size; ++i) {
      ASSERT_EQ(bytes[i], (numRead + i) % 251);
    }
    numRead += size;
  }
  isDone = true;
  crew.join();
  EXPECT_EQ(numRead, kBytes);
}

// The example of UseFiber's comment, word for word: docs_examples_test compares.
TEST(UseFiberExampleTest, ATimerIsAwaitedAndASocketIsRead) {
  Running running;
  asio::io_context& context = running.context;
  asio::local::stream_protocol::socket socket(context), other(context);
  asio::local::connect_pair(socket, other);
  asio::write(other, asio::buffer("abc", 3));
  other.close();
  std::array<char, 2> bytes{};
  ErrorCode error;
  const std::stop_token stopToken;
  asio::steady_timer timer(context, std::chrono::seconds(1));
  timer.async_wait(weft::useFiber);
  size_t size = socket.async_read_some(asio::buffer(bytes), weft::useFiber);  // or throws
  size = socket.async_read_some(asio::buffer(bytes), weft::useFiber[error]);
  size = socket.async_read_some(asio::buffer(bytes), weft::useFiber(stopToken)[error]);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(bytes, (std::array<char, 2>{'c', 'b'}));
  EXPECT_EQ(error, ErrorCode(asio::error::eof));
}

}  // namespace
}  // namespace weft
