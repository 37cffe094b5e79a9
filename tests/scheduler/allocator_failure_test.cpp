// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#include <weft/dag.h>
#include <weft/event.h>
#include <weft/fair/task_scheduler.h>
#include <weft/memory.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "children.h"
#include "with_scheduler.h"

// What comes of an allocator that fails: a message where it is a scheduler's, else an exception that leaves
// nothing behind.
namespace weft {
namespace {

// Fails from the n-th call on: throws, or returns null.
class FailingAllocator final : public Allocator {
 public:
  FailingAllocator(int failFrom, bool throws) : left_(failFrom), throws_(throws) {}

  Allocation allocate(const Allocation::Request& request) override {
    if (left_.fetch_sub(1) > 0) {
      return inner_.allocate(request);
    }
    if (throws_) {
      throw std::bad_alloc();
    }
    return {};
  }
  void free(const Allocation& allocation) override { inner_.free(allocation); }

  bool hasFailed() const { return left_.load() < 0; }
  TrackedAllocator& inner() { return inner_; }

 private:
  TrackedAllocator inner_{Allocator::Default};
  std::atomic<int> left_;
  const bool throws_;
};

// Needs each of a scheduler's queues and heaps, in sizes that make them grow.
void useScheduler(Allocator* allocator, int numWorkers) {
  constexpr unsigned kTasks = 6000, kSleepers = 100;
  Scheduler scheduler(tests::smallConfig(numWorkers, allocator));
  Scheduler::Binding bound(scheduler);
  WaitGroup done(2 * kTasks + kSleepers);
  const auto many = [=] {
    for (unsigned i = 0; i < kTasks; ++i) {
      schedule([=] { done.done(); });
    }
  };
  schedule(many);
  many();
  for (unsigned i = 0; i < kSleepers; ++i) {
    schedule([=] {
      sleep_for(std::chrono::microseconds(100));
      done.done();
    });
  }
  done.wait();
}

void useFair(Allocator* allocator) {
  fair::TaskScheduler scheduler("fair", 2, fair::TaskScheduler::Config().setAllocator(allocator));
  for (int i = 0; i < 1000; ++i) {
    scheduler.postOneShot([] {});
  }
  scheduler.waitEmpty();
}

// Prints how it went. Ends the process.
template <class F>
[[noreturn]] void useAndReport(F use, int failFrom, bool throws) {
  tests::endWithTheTest();
  FailingAllocator allocator(failFrom, throws);
  use(&allocator);
  std::fprintf(stderr, allocator.hasFailed() ? "a failure was ignored\n" : "all went well\n");
  std::_Exit(0);
}

using AllocatorFailureDeathTest = tests::DeathTest;

// At the first calls, then at fewer and fewer of the later ones.
int next(int call) { return call < 12 ? call + 1 : call + call / 3; }

TEST_F(AllocatorFailureDeathTest, OfASchedulerEndsTheProgramWithAMessageWhereverItComes) {
  for (const bool throws : {true, false}) {
    for (const int numWorkers : {0, 2}) {
      for (int call = 0; call < 250; call = next(call)) {
        EXPECT_EXIT(
            useAndReport([=](Allocator* allocator) { useScheduler(allocator, numWorkers); }, call, throws),
            tests::endedInOrder,
            "all went well|weft: fatal: Scheduler::Config::allocator (threw|returned null) when it was asked "
            "for ")
            << "at call " << call << " with " << numWorkers << " workers";
      }
    }
  }
}

TEST_F(AllocatorFailureDeathTest, OfAFairSchedulerDoesToo) {
  for (const bool throws : {true, false}) {
    for (int call = 0; call < 40; call = next(call)) {
      EXPECT_EXIT(useAndReport(&useFair, call, throws), tests::endedInOrder,
                  "all went well|weft: fatal: fair::TaskScheduler::Config::allocator (threw|returned null) "
                  "when it was asked for ")
          << "at call " << call;
    }
  }
}

class AllocatorThatFreesNothing final : public Allocator {
 public:
  Allocation allocate(const Allocation::Request& request) override { return inner_->allocate(request); }
  void free(const Allocation&) override { throw std::runtime_error("no room for what is free"); }

 private:
  Allocator* const inner_ = Allocator::Default;
};

TEST_F(AllocatorFailureDeathTest, OfMemoryThatIsGivenBackEndsTheProgramWithAMessage) {
  EXPECT_DEATH(
      {
        AllocatorThatFreesNothing allocator;
        useScheduler(&allocator, 0);
      },
      "weft: fatal: Scheduler::Config::allocator threw when it was given memory back: "
      "std::runtime_error: no room for what is free, thrown at .+. Catch it inside free\\(\\)");
  EXPECT_DEATH(
      {
        AllocatorThatFreesNothing allocator;
        useFair(&allocator);
      },
      "weft: fatal: fair::TaskScheduler::Config::allocator threw when it was given memory back: ");
}

TEST(AllocatorFailureTest, OfADagsRunLeavesNothingBehind) {
  Scheduler scheduler(tests::smallConfig(0));
  Scheduler::Binding bound(scheduler);
  DAGBuilder<void> builder;
  int numRun = 0;
  builder.root().then([&] { ++numRun; });
  const auto dag = builder.build();
  for (int call = 0; call == 0 || numRun == 0; ++call) {
    FailingAllocator allocator(call, true);
    try {
      dag->run(&allocator);
    } catch (const std::bad_alloc&) {
    }
    tests::expectNothingAllocated(allocator.inner());
  }
}

}  // namespace
}  // namespace weft
