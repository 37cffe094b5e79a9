// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.h>

#include "with_scheduler.h"

// The right lines of the mistakes in docs/llms.txt, word for word. The program of that page is the first step
// of the tutorial. docs_examples_test compares, and docs_facts.py looks for the names of the list of headers.

namespace {

class LlmsTest : public weft::tests::WithScheduler {};
INSTANTIATE_TEST_SUITE_P(Workers, LlmsTest, ::testing::Values(0, 2));

TEST(LlmsOwnThreadTest, AThreadOfOnesOwnSchedulesByTheScheduler) {
  weft::Scheduler scheduler(weft::tests::smallConfig(2));
  weft::Event ran(weft::Event::Mode::Manual);
  const auto work = [=] { ran.signal(); };
  // 1. A thread of your own has no scheduler bound.
  std::thread thread([&] { scheduler.enqueue(work); });  // or a Scheduler::Binding in that thread
  thread.join();
  ran.wait();
}

TEST(LlmsOwnThreadTest, ABindingThatHasANameLastsAsLongAsItsScope) {
  weft::Scheduler scheduler(weft::tests::smallConfig(0));
  {
    // 2. The binding ends too early.
    weft::Scheduler::Binding bound(scheduler);
    EXPECT_EQ(weft::Scheduler::get(), &scheduler);
  }
  EXPECT_EQ(weft::Scheduler::get(), nullptr);
}

TEST_P(LlmsTest, AMutexIsHeldOverAWait) {
  // 3. A std::mutex is held over a wait.
  weft::mutex mutex;
  const std::lock_guard guard(mutex);
  weft::sleep_for(std::chrono::milliseconds(1));
}

TEST_P(LlmsTest, ASystemCallBlocksAnotherThread) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int fd = ends[0];
  char buffer[8];
  const size_t size = sizeof(buffer);
  ASSERT_EQ(::write(ends[1], "abc", 3), 3);
  // 4. A system call blocks in a task.
  const ssize_t count = weft::blocking_call([&] { return ::read(fd, buffer, size); });
  EXPECT_EQ(count, 3);
  EXPECT_EQ(std::memcmp(buffer, "abc", 3), 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(LlmsTest, ASleepSuspends) {
  // 5. A call of std blocks the thread; so do std::future::get(), std::latch and std::condition_variable.
  weft::sleep_for(std::chrono::milliseconds(1));
}

namespace llms_test {

std::atomic<int> sumOfUsed = 0;
void use(int number) { sumOfUsed += number; }

}  // namespace llms_test

TEST_P(LlmsTest, ALoopsVariableIsCopied) {
  using llms_test::use;
  llms_test::sumOfUsed = 0;
  const weft::WaitGroup done(3);
  // 6. A reference outlives its variable.
  for (int i = 0; i < 3; ++i) {
    weft::schedule([i, done] {
      use(i);
      done.done();
    });
  }
  done.wait();
  EXPECT_EQ(llms_test::sumOfUsed, 3);
}

weft::WaitGroup startOneTask() {
  // 7. A handle is captured by reference, although a copy is the same object.
  weft::WaitGroup done(1);
  weft::schedule([done] { done.done(); });
  return done;
}

TEST_P(LlmsTest, AHandleIsCopied) { startOneTask().wait(); }

TEST_P(LlmsTest, ALargeVariableLiesOnTheHeap) {
  const weft::Future<double> last = weft::async([] {
    // 8. A local variable is as large as the stack.
    std::vector<double> grid(1'000'000);
    return grid.back();
  });
  last.wait();
}

TEST_P(LlmsTest, ATaskIsWaitedForWithoutALoop) {
  const weft::WaitGroup done(1);
  weft::schedule([done] { done.done(); });
  // 9. A loop waits, and keeps its thread from the task that it waits for.
  done.wait();
}

TEST_P(LlmsTest, ATaskWaitsForAGroupOfItsOwn) {
  std::atomic<int> numParts = 0;
  const auto part = [&numParts] { ++numParts; };
  weft::TaskGroup group;
  // 10. A task waits for its own group.
  group.run([&] {
    weft::TaskGroup parts;
    parts.run(part);
    parts.wait();
  });
  group.wait();
  EXPECT_EQ(numParts, 1);
}

}  // namespace
