// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/signal.h>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "next_function.h"
#include "with_scheduler.h"

namespace {

thread_local int numSystemCalls = 0;
std::atomic<int> numSystemCallsOfAll{0};

}  // namespace

// What weft calls to wait for a futex and to wake those that do; here it counts.
extern "C" long syscall(long number, ...) noexcept {
  ++numSystemCalls;
  ++numSystemCallsOfAll;
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (long& argument : arguments) {
    argument = va_arg(list, long);
  }
  va_end(list);
  const auto real = weft::tests::nextFunction<decltype(syscall)>("syscall");
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

namespace weft {
namespace {

using namespace std::chrono_literals;
using tests::scaled;

TEST(SignalTest, TheExampleOfItsComment) {
  int result = 0;
  const auto work = [&] { result = 7; };
  Signal finished;
  std::thread worker([&] {
    work();
    finished.send();
  });
  finished.receiveBlocking();
  EXPECT_EQ(result, 7);
  worker.join();
}

TEST(SignalTest, SendsDoNotCount) {
  Signal signal;
  EXPECT_FALSE(signal.receive());
  signal.send();
  signal.send();
  EXPECT_TRUE(signal.receive());
  EXPECT_FALSE(signal.receive());
}

TEST(SignalTest, ReceiveTimedIsNeverEarlyAndLeavesNothingBehind) {
  Signal signal;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(signal.receiveTimed(5ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 5ms);
  EXPECT_FALSE(signal.receiveTimed(-1s));
  signal.send();
  EXPECT_TRUE(signal.receiveTimed(-1s));
  EXPECT_FALSE(signal.receiveTimed(0s));
  signal.send();
  EXPECT_TRUE(signal.receiveTimed(std::chrono::hours(24 * 365 * 300)));
}

// A signal handler may send while its thread is about to look at errno. The system does not look at the word.
TEST(SignalTest, AWakeOfAReceiverThatIsGoneKeepsErrno) {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* const word = new (page) std::atomic<uint32_t>{0};
  ASSERT_EQ(munmap(page, 4096), 0);
  errno = ERANGE;
  detail::StdSync::futexWake(*word, 1);
  EXPECT_EQ(errno, ERANGE);
}

// There is no room for a lock.
static_assert(sizeof(Signal) == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);

TEST(SignalTest, CallsTheSystemOnlyToSleepAndToWakeASleeper) {
  Signal signal;
  const int before = numSystemCalls;
  signal.send();
  signal.send();
  EXPECT_TRUE(signal.receive());
  EXPECT_FALSE(signal.receive());
  signal.send();
  signal.receiveBlocking();
  signal.send();
  EXPECT_TRUE(signal.receiveTimed(1h));
  EXPECT_EQ(numSystemCalls, before);

  const int beforeOfAll = numSystemCallsOfAll;
  std::thread receiver([&] {
    const int beforeOfThread = numSystemCalls;
    signal.receiveBlocking();
    EXPECT_GT(numSystemCalls, beforeOfThread);
  });
  while (numSystemCallsOfAll == beforeOfAll) {
    std::this_thread::yield();
  }
  signal.send();
  EXPECT_EQ(numSystemCalls, before + 1);
  receiver.join();
}

TEST(SignalTest, ReceivesWhateverTheTimeOfTheSend) {
  Signal there, back;
  int ball = 0;  // handed over by the signals alone
  const int rounds = scaled(3'000, 500);
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) {
      there.receiveBlocking();
      ++ball;
      back.send();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    there.send();
    while (!back.receiveTimed(1us)) {
    }
    EXPECT_EQ(ball, i + 1);
  }
  other.join();
}

TEST(SignalTest, MayBeDestroyedAsSoonAsItWasReceived) {
  for (int i = 0; i < scaled(2'000, 300); ++i) {
    auto signal = std::make_unique<Signal>();
    std::thread sender([signal = signal.get()] { signal->send(); });
    if (i % 2 == 0) {
      signal->receiveBlocking();
    } else {
      while (!signal->receive()) {
        std::this_thread::yield();
      }
    }
    signal.reset();
    sender.join();
  }
}

}  // namespace
}  // namespace weft
