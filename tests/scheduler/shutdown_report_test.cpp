// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <alloca.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/scheduler.h>

#include "scheduler/core/scheduler_core.h"
#include "waiting.h"
#include "workers.h"

// ~Scheduler, and what it says for what it waits.

namespace weft {
namespace {

class ShutdownReportTest : public tests::WithAllocator {
 protected:
  void SetUp() override { detail::shutdownPatience = 1'000'000; }
  void TearDown() override {
    detail::shutdownPatience = patience_;
    tests::WithAllocator::TearDown();
  }

  // Destroys `scheduler` on a thread of its own, and calls `letGo` once stderr has got `expected`. Returns:
  // stderr.
  static std::string endedAfter(std::unique_ptr<Scheduler> scheduler, const std::string& expected,
                                const std::function<void()>& letGo) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const int saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    std::thread ending([&] { scheduler.reset(); });
    std::string text;
    bool hasLetGo = false;
    // The pipe is read until nobody has it open for writing, lest ~Scheduler waits for its reader.
    std::thread closer;
    char buffer[4096];
    for (ssize_t length = 0; (length = read(ends[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<size_t>(length));
      if (!hasLetGo && text.find(expected) != std::string::npos) {
        hasLetGo = true;
        letGo();
        closer = std::thread([&] {
          ending.join();
          dup2(saved, STDERR_FILENO);
        });
      }
    }
    closer.join();
    close(saved);
    close(ends[0]);
    return text;
  }

 private:
  const int64_t patience_ = detail::shutdownPatience;
};

void awaitOneBlockedFiber(const Scheduler& scheduler) {
  tests::awaitThat([&] {
    uint64_t numBlocked = 0;
    for (const Scheduler::WorkerStats& worker : scheduler.stats().workers) {
      numBlocked += worker.numBlockedFibers;
    }
    return numBlocked == 1;
  });
}

TEST_F(ShutdownReportTest, NamesFibersThatWait) {
  auto scheduler = std::make_unique<Scheduler>(tests::smallConfig(2, allocator()));
  const Event event(Event::Mode::Manual);
  scheduler->enqueue(Task([=] { event.wait(); }));
  awaitOneBlockedFiber(*scheduler);
  const std::string text = endedAfter(std::move(scheduler), " waits for Event 0x", [&] { event.signal(); });
  EXPECT_NE(text.find("weft: warning: ~Scheduler has waited for "), std::string::npos) << text;
  EXPECT_NE(text.find("Threads still bound: 0. Fibers that wait: 1. Tasks and fibers that are ready: 0. "
                      "Tasks that run: 0."),
            std::string::npos)
      << text;
}

// The worker sleeps on the stack of the fiber that waits.
TEST_F(ShutdownReportTest, NeedsNoStackOfTheFiberThatWaits) {
#if !defined(__OPTIMIZE__)
  GTEST_SKIP() << "frames are larger than those of a user";
#endif
  if (tests::kUnderAsan || tests::kUnderTsan) {
    GTEST_SKIP() << "frames are larger than those of a user";
  }
  constexpr size_t kLeft = 4096;
  auto scheduler = std::make_unique<Scheduler>(tests::smallConfig(1, allocator()));
  const Event event(Event::Mode::Manual);
  scheduler->enqueue(Task([event] {
    const detail::Stack& stack = static_cast<detail::FiberControlBlock*>(Fiber::current())->stack();
    const char here = 0;
    volatile char* used =
        static_cast<char*>(alloca(reinterpret_cast<uintptr_t>(&here) - stack.bottom() - kLeft));
    used[0] = 1;
    event.wait();
  }));
  awaitOneBlockedFiber(*scheduler);
  endedAfter(std::move(scheduler), " waits for Event 0x", [&] { event.signal(); });
}

TEST_F(ShutdownReportTest, NamesAndCountsTasksThatRun) {
  auto scheduler = std::make_unique<Scheduler>(tests::smallConfig(2, allocator()));
  tests::BusyTask busy;
  scheduler->enqueue(busy.task());
  busy.awaitBegin();
  const std::string text = endedAfter(std::move(scheduler), ": runs task ", [&] { busy.end(); });
  EXPECT_NE(text.find("Fibers that wait: 0."), std::string::npos) << text;
  EXPECT_NE(text.find("Tasks that run: 1."), std::string::npos) << text;
}

TEST_F(ShutdownReportTest, NamesThreadsThatAreBound) {
  auto scheduler = std::make_unique<Scheduler>(tests::smallConfig(1, allocator()));
  const Event mayUnbind(Event::Mode::Manual);
  const Event isBound(Event::Mode::Manual);
  std::thread bound([&, target = scheduler.get()] {
    Scheduler::Binding binding(*target);
    isBound.signal();
    mayUnbind.wait();
  });
  isBound.wait();
  awaitOneBlockedFiber(*scheduler);
  const std::string text =
      endedAfter(std::move(scheduler), "the code of bound thread ", [&] { mayUnbind.signal(); });
  bound.join();
  EXPECT_NE(text.find("Threads still bound: 1. Fibers that wait: 1."), std::string::npos) << text;
}

}  // namespace
}  // namespace weft
