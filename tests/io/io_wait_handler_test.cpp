// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/io.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <stop_token>
#include <system_error>
#include <thread>

#include <weft/waithandler.h>

#include "io/io_pairs.h"

// What a thread with a wait handler does while it waits for I/O.
namespace weft {
namespace {

class IoWaitHandlerTest : public ::testing::Test {
 protected:
  void TearDown() override { setThreadWaitHandler(nullptr); }

  // From now on each wait calls f() first.
  template <class F>
  void whileWaiting(F f) {
    setThreadWaitHandler([this, f](WaitHandle wait) {
      ++numCalls_;
      f();
      while (!wait.ready()) {
        std::this_thread::yield();
      }
    });
  }

  size_t readByte(std::error_code& error, const io::Wait& wait) {
    std::byte byte{};
    return io::read(ends_.reader.get(), std::span(&byte, 1), error, wait);
  }

  tests::Ends ends_ = tests::makeEnds();
  int numCalls_ = 0;
};

io::TimePoint after(std::chrono::milliseconds time) { return io::TimePoint::clock::now() + time; }

TEST_F(IoWaitHandlerTest, IsCalledWhileTheThreadWaitsForWhatItBringsItself) {
  const auto write = [this] { EXPECT_EQ(::write(ends_.writer.get(), "x", 1), 1); };
  whileWaiting(write);
  std::error_code error;
  EXPECT_EQ(readByte(error, {.deadline = after(std::chrono::hours(1))}), 1u);
  EXPECT_FALSE(error) << error.message();
  EXPECT_EQ(numCalls_, 1);
  write();
  EXPECT_EQ(readByte(error, {}), 1u);
  EXPECT_EQ(numCalls_, 1) << "there was nothing to wait for";
}

TEST_F(IoWaitHandlerTest, DeadlinesAndStopsEndTheWaitNevertheless) {
  whileWaiting([] {});
  std::error_code error;
  // There is nothing to wait for where the thread comes only after the deadline.
  for (auto time = std::chrono::milliseconds(5); numCalls_ == 0; time *= 2) {
    EXPECT_EQ(readByte(error, {.deadline = after(time)}), 0u);
    EXPECT_EQ(error, std::errc::timed_out);
  }
  std::stop_source stop;
  whileWaiting([&] { stop.request_stop(); });
  EXPECT_EQ(readByte(error, {.stop = stop.get_token()}), 0u);
  EXPECT_EQ(error, std::errc::operation_canceled);
  EXPECT_EQ(numCalls_, 2);
}

}  // namespace
}  // namespace weft
