// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/blockingcall.h>

#include "in_task.h"
#include "io/io_pairs.h"
#include "waiting.h"
#include "with_scheduler.h"

// Names that are looked up, also where that takes longer than somebody is willing to wait.
namespace weft::io_resolve_test {
namespace {

using tests::awaitThat;

// While an object of this type exists, no lookup comes to its end: the only thread for them is taken.
class NoThread {
 public:
  NoThread() {
    BlockingThreads::setMaxCount(1);
    while (BlockingThreads::count() > 1) {
      blocking_call([] {});  // ends one of them
    }
    holder_ = std::thread([this] {
      blocking_call([this] {
        isTaken_ = true;
        while (!mayEnd_) {
          std::this_thread::yield();
        }
      });
    });
    awaitThat([this] { return isTaken_.load(); });
  }
  // Returns once the lookups that were left behind have ended too.
  ~NoThread() {
    mayEnd_ = true;
    holder_.join();
    blocking_call([] {});
    BlockingThreads::setMaxCount(~0U);
  }
  NoThread(const NoThread&) = delete;
  NoThread& operator=(const NoThread&) = delete;

 private:
  std::atomic<bool> isTaken_{false}, mayEnd_{false};
  std::thread holder_;
};

class ResolveTest : public tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, ResolveTest, ::testing::Values(0, 1, 4));

TEST_P(ResolveTest, NamesAreLookedUp) {
  tests::everywhere(scheduler(), [] {
    std::stop_source nobody;
    const io::Wait wait{.deadline = io::TimePoint::clock::now() + std::chrono::hours(1),
                        .stop = nobody.get_token()};
    for (const io::Wait& each : {io::Wait(), wait}) {
      std::error_code error;
      const std::vector<io::Endpoint> found = io::resolve("127.0.0.1", "80", error, each);
      ASSERT_FALSE(error) << error.message();
      ASSERT_FALSE(found.empty());
      EXPECT_EQ(found[0].toString(), "127.0.0.1:80");
      io::resolve("not a name", "80", error, each);
      EXPECT_TRUE(error);
      EXPECT_STREQ(error.category().name(), "getaddrinfo");
      EXPECT_THROW(io::resolve("not a name", "80", each), std::system_error);
      EXPECT_TRUE(io::resolve(std::string("127.0.0.1\0.org", 14), "80", error, each).empty());
      EXPECT_TRUE(error) << "not all of it is the name";
    }
  });
}

TEST_P(ResolveTest, ADeadlineEndsTheWaitAndTheLookupGoesNowhere) {
  const NoThread taken;
  tests::everywhere(scheduler(), [] {
    for (const io::TimePoint deadline :
         {io::TimePoint::min(), io::TimePoint::clock::now() + std::chrono::milliseconds(2)}) {
      std::error_code error;
      EXPECT_TRUE(io::resolve("127.0.0.1", "80", error, {.deadline = deadline}).empty());
      EXPECT_EQ(error, std::errc::timed_out);
      EXPECT_GE(io::TimePoint::clock::now(), deadline);
    }
  });
}

TEST_P(ResolveTest, AStopEndsTheWait) {
  const NoThread taken;
  std::stop_source stop;
  std::thread stopper([&] { stop.request_stop(); });
  tests::everywhere(scheduler(), [token = stop.get_token()] {
    for (int i = 0; i < 2; ++i) {
      EXPECT_THROW(io::resolve("127.0.0.1", "80", {.stop = token}), std::system_error);
      std::error_code error;
      io::resolve("127.0.0.1", "80", error, {.stop = token});
      EXPECT_EQ(error, std::errc::operation_canceled);
    }
  });
  stopper.join();
}

TEST_P(ResolveTest, CancelAllEndsTheWait) {
  const NoThread taken;
  std::atomic<int> numBegun{0};
  tests::Crew crew(scheduler());
  for (int i = 0; i < 3; ++i) {
    crew.start(tests::Kind::Task, [&] {
      ++numBegun;
      std::error_code error;
      io::resolve("127.0.0.1", "80", error);
      EXPECT_EQ(error, std::errc::operation_canceled);
    });
  }
  awaitThat([&] { return numBegun == 3; });
  io::cancelAll(scheduler());
}

// A lookup that ends at any moment of the wait.
TEST_P(ResolveTest, ALookupAndADeadlineMayComeAtOnce) {
  tests::everywhere(scheduler(), [] {
    for (int i = 0; i < 200; ++i) {
      std::error_code error;
      const auto deadline = io::TimePoint::clock::now() + std::chrono::microseconds(2 * i);
      const std::vector<io::Endpoint> found = io::resolve("127.0.0.1", "80", error, {.deadline = deadline});
      EXPECT_TRUE(error == std::errc::timed_out ? found.empty() : !error && !found.empty())
          << error.message();
    }
  });
}

}  // namespace
}  // namespace weft::io_resolve_test
