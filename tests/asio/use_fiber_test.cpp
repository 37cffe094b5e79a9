// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/asio.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/event.h>
#include <weft/executor.h>
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
using tests::kWhens;
using tests::operation;
using tests::operationThatGives;
using tests::Running;
using tests::SystemError;
using tests::When;

class UseFiberTest : public tests::WithScheduler {
 protected:
  // Runs test(when) for each kind of caller and each time at which the handler is called.
  template <class F>
  void forEach(const F& test) {
    for (Kind kind : kKinds) {
      for (When when : kWhens) {
        Crew crew(scheduler());
        crew.start(kind, [&] { test(when); });
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, UseFiberTest, ::testing::Values(0, 1, 4));

// What cannot be copied, nor made out of nothing.
struct Ticket {
  explicit Ticket(int value) : number(std::make_unique<int>(value)) {}
  std::unique_ptr<int> number;
};

struct Immovable {
  Immovable() = default;
  Immovable(Immovable&&) { throw std::runtime_error("not to be moved"); }
};

ErrorCode refused() { return asio::error::connection_refused; }

TEST_P(UseFiberTest, ReturnsNothingForAHandlerWithoutValues) {
  forEach([](When when) {
    operationThatGives(when, std::tuple<>(), useFiber);
    operationThatGives(when, std::tuple<ErrorCode>(), useFiber);
    operationThatGives(when, std::tuple<std::exception_ptr>(), useFiber);
  });
  static_assert(std::is_void_v<decltype(operation<ErrorCode>([](auto) {}, useFiber))>);
}

TEST_P(UseFiberTest, ReturnsTheValue) {
  forEach([](When when) {
    EXPECT_EQ(operationThatGives(when, std::tuple(ErrorCode(), 7), useFiber), 7);
    EXPECT_EQ(operationThatGives(when, std::tuple(std::string("text")), useFiber), "text");
    EXPECT_EQ(operationThatGives(when, std::tuple(std::exception_ptr(), 9L), useFiber), 9);
  });
}

TEST_P(UseFiberTest, ReturnsSeveralValuesAsATuple) {
  forEach([](When when) {
    const auto [number, text] =
        operationThatGives(when, std::tuple(ErrorCode(), 7, std::string("text")), useFiber);
    EXPECT_EQ(number, 7);
    EXPECT_EQ(text, "text");
    // An error that does not come first is a value, and so is a tuple.
    const auto [one, two] = operationThatGives(when, std::tuple(1, refused()), useFiber);
    EXPECT_EQ(one, 1);
    EXPECT_EQ(two, refused());
    EXPECT_EQ(operationThatGives(when, std::tuple(ErrorCode(), std::tuple(5)), useFiber), std::tuple(5));
  });
}

TEST_P(UseFiberTest, MovesValuesThatCannotBeCopied) {
  forEach([](When when) {
    const Ticket ticket = operationThatGives(when, std::tuple(ErrorCode(), Ticket(3)), useFiber);
    EXPECT_EQ(*ticket.number, 3);
    ErrorCode error;
    const auto [first, second] =
        operationThatGives(when, std::tuple(ErrorCode(), Ticket(4), Ticket(5)), useFiber[error]);
    EXPECT_EQ(*first.number * *second.number, 20);
  });
}

TEST_P(UseFiberTest, CopiesWhatAReferenceRefersTo) {
  inTask([] {
    std::string text = "text";
    const std::string copy =
        operation<const std::string&>([&](auto handler) { handler(std::as_const(text)); }, useFiber);
    std::string another = operation<std::string&>([&](auto handler) { handler(text); }, useFiber);
    EXPECT_EQ(copy + another + text, "texttexttext");
  });
}

TEST_P(UseFiberTest, ThrowsTheErrorCode) {
  forEach([](When when) {
    try {
      (void)operationThatGives(when, std::tuple(refused(), 7), useFiber);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const SystemError& error) {
      EXPECT_EQ(error.code(), refused());
    }
  });
}

TEST_P(UseFiberTest, AssignsTheErrorCodeAndReturnsTheValue) {
  forEach([](When when) {
    ErrorCode error;
    EXPECT_EQ(operationThatGives(when, std::tuple(refused(), 7), useFiber[error]), 7);
    EXPECT_EQ(error, refused());
    EXPECT_EQ(operationThatGives(when, std::tuple(ErrorCode(), 8), useFiber[error]), 8);
    EXPECT_EQ(error, ErrorCode());
    error = refused();
    operationThatGives(when, std::tuple<>(), useFiber[error]);
    EXPECT_EQ(error, ErrorCode());
  });
}

TEST_P(UseFiberTest, ThrowsTheException) {
  forEach([](When when) {
    ErrorCode error = refused();
    const auto failure = std::make_exception_ptr(std::out_of_range("far"));
    EXPECT_THROW((void)operationThatGives(when, std::tuple(failure, 7), useFiber), std::out_of_range);
    EXPECT_THROW((void)operationThatGives(when, std::tuple(failure, 7), useFiber[error]), std::out_of_range);
    EXPECT_EQ(error, ErrorCode());
  });
}

TEST_P(UseFiberTest, ThrowsWhatAMoveOfTheValueThrew) {
  inTask([] {
    const auto wait = [] {
      (void)operation<ErrorCode, Immovable&&>([](auto handler) { handler(ErrorCode(), Immovable()); },
                                              useFiber);
    };
    EXPECT_THROW(wait(), std::runtime_error);
  });
}

TEST_P(UseFiberTest, HasTheErrorAbortedIfTheHandlerIsDestroyedUncalled) {
  forEach([](When when) {
    std::thread thread;
    const auto drop = [&](auto handler) {
      if (when != When::AtOnce) {
        thread = std::thread([dropped = std::move(handler)] {});
      }
      if (when == When::ElsewhereAtOnce) {
        thread.join();
      }
    };
    const auto join = [&] {
      if (thread.joinable()) {
        thread.join();
      }
    };
    try {
      (void)operation<int>(drop, useFiber);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const SystemError& error) {
      EXPECT_EQ(error.code(), aborted());
    }
    join();
    ErrorCode error;
    EXPECT_EQ((operation<ErrorCode, int>(drop, useFiber[error])), 0);
    EXPECT_EQ(error, aborted());
    join();
    EXPECT_THROW((void)operation<Ticket>(drop, useFiber[error]), SystemError);
    join();
  });
}

TEST_P(UseFiberTest, WaitsForTheHandlerBeforeItThrowsWhatTheInitiationThrew) {
  forEach([](When when) {
    std::thread thread;
    std::atomic<bool> isCalled{false};
    const auto begin = [&](auto handler) {
      auto call = [&isCalled, handler = std::move(handler)]() mutable {
        isCalled = true;
        handler(7);
      };
      thread = std::thread(std::move(call));
      if (when != When::Elsewhere) {
        thread.join();
      }
      throw std::out_of_range("too late");
    };
    EXPECT_THROW((void)operation<int>(begin, useFiber), std::out_of_range);
    EXPECT_TRUE(isCalled);
    if (thread.joinable()) {
      thread.join();
    }
  });
}

TEST_P(UseFiberTest, SuspendsTheFiberOnly) {
  Running running;
  inTask([&] {
    asio::steady_timer timer(running.context, std::chrono::steady_clock::time_point::max());
    Event cancelled;
    schedule(Task(
        [&, cancelled] {
          timer.cancel();
          cancelled.signal();
        },
        Task::Flags::SameThread));
    ErrorCode error;
    timer.async_wait(useFiber[error]);
    EXPECT_EQ(error, aborted());
    cancelled.wait();
  });
}

TEST_P(UseFiberTest, GoesOnOnItsOwnThread) {
  Running running;
  inTask([&] {
    const std::thread::id before = std::this_thread::get_id();
    asio::post(running.context, useFiber);
    EXPECT_EQ(std::this_thread::get_id(), before);
    asio::dispatch(running.context, useFiber);
    asio::defer(running.context, useFiber);
    EXPECT_EQ(std::this_thread::get_id(), before);
  });
}

// The handler may touch nothing of the frame of the wait once it has ended it: for the sanitizers.
TEST_P(UseFiberTest, MayLeaveTheFrameAtOnce) {
  Running running(2);
  Crew crew(scheduler());
  for (Kind kind : kKinds) {
    crew.start(kind, [&] {
      for (int i = 0; i < tests::scaled(2000, 300); ++i) {
        auto post = [&] { asio::post(running.context, useFiber); };
        std::make_unique<std::function<void()>>(post)->operator()();
      }
    });
  }
}

TEST_P(UseFiberTest, WorksForSocketsAndComposedOperations) {
  using asio::ip::tcp;
  Running running;
  tcp::acceptor acceptor(running.context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  Crew crew(scheduler());
  crew.start(Kind::Task, [&] {
    tcp::socket socket = acceptor.async_accept(useFiber);
    std::string line;
    EXPECT_EQ(asio::async_read_until(socket, asio::dynamic_buffer(line), '\n', useFiber), 6u);
    EXPECT_EQ(asio::async_write(socket, asio::buffer(line), useFiber), 6u);
  });
  for (Kind kind : {Kind::Task, Kind::FreeThread}) {
    if (kind == Kind::FreeThread) {
      crew.join();
      crew.start(Kind::Task, [&] { (void)acceptor.async_accept(useFiber); });
    }
    crew.start(kind, [&, kind] {
      tcp::resolver resolver(running.context);
      const auto port = std::to_string(acceptor.local_endpoint().port());
      const auto found = resolver.async_resolve("127.0.0.1", port, useFiber);
      tcp::socket socket(running.context);
      asio::async_connect(socket, found, useFiber);
      std::array<char, 6> answer{};
      ErrorCode error;
      if (kind == Kind::Task) {
        asio::async_write(socket, asio::buffer(std::string("hello\n")), useFiber);
        EXPECT_EQ(asio::async_read(socket, asio::buffer(answer), useFiber[error]), 6u);
        EXPECT_EQ(std::string(answer.data(), 6), "hello\n");
      }
      EXPECT_EQ(asio::async_read(socket, asio::buffer(answer), useFiber[error]), 0u);
      EXPECT_EQ(error, asio::error::eof);
    });
  }
}

TEST(UseFiber, EndsWhenTheContextIsDestroyedWithItsHandler) {
  auto context = std::make_unique<asio::io_context>();
  Scheduler scheduler(tests::smallConfig(1));
  Scheduler::Binding bound(scheduler);
  Event begun;
  WaitGroup done(1);
  schedule([&] {
    ErrorCode error;
    const auto begin = [&](auto handler) {
      asio::post(*context, std::move(handler));  // nobody runs the context
      begun.signal();
    };
    operation<>(begin, useFiber[error]);
    EXPECT_EQ(error, aborted());
    done.done();
  });
  begun.wait();
  context.reset();
  done.wait();
}

TEST(UseFiberDeathTest, AHandlerThatIsCalledTwiceIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto callTwice = [](auto handler) {
    handler(1);
    handler(2);
  };
  EXPECT_DEATH((void)operation<int>(callTwice, useFiber),
               "weft: fatal: an operation of Asio called the handler of weft::useFiber twice");
}

// A program of one thread: the thread runs the context itself while it waits.
TEST(UseFiber, CallsTheWaitHandlerOfAThread) {
  asio::io_context context;
  setThreadWaitHandler([&](WaitHandle wait) {
    while (!wait.ready()) {
      context.run_one();
    }
  });
  asio::steady_timer timer(context, std::chrono::milliseconds(1));
  timer.async_wait(useFiber);
  setThreadWaitHandler(nullptr);
  EXPECT_LE(timer.expiry(), std::chrono::steady_clock::now());
}

#if WEFT_ASIO_CAN_CANCEL
TEST_P(UseFiberTest, CallsTheHandlerOnTheExecutorThatIsBoundToTheToken) {
  Running running, other;
  inTask([&] {
    const auto strand = asio::make_strand(other.context);
    asio::steady_timer timer(running.context, std::chrono::milliseconds(0));
    const bool isThere = operation<bool>(
        [&](auto handler) {
          const auto executor = asio::get_associated_executor(handler, running.context.get_executor());
          asio::post(executor, [&, handler = std::move(handler)]() mutable {
            handler(strand.running_in_this_thread());
          });
        },
        asio::bind_executor(strand, useFiber));
    EXPECT_TRUE(isThere);
  });
}
#endif

}  // namespace
}  // namespace weft
