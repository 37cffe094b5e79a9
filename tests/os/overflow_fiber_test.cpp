// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "scheduler/fibers/fiber_control_block.h"
#include "with_scheduler.h"

// Stack overflows of the tasks of a scheduler. This file is built with -fstack-clash-protection, as the
// documents tell users to build code with large frames; gcc can be told otherwise per function.
#if defined(__GNUC__) && !defined(__clang__)
#define UNPROBED __attribute__((noinline, optimize("no-stack-clash-protection")))
#else
#define UNPROBED __attribute__((noinline))
#endif

namespace weft {
namespace {

constexpr size_t kStackSize = Scheduler::Config::DefaultFiberStackSize;

// Read where the compiler must not know how deep a recursion goes; written by nobody.
const volatile int kTooDeep = 1'000'000;

template <size_t kFrame>
UNPROBED int recurse(int n) {
  char frame[kFrame];
  frame[0] = static_cast<char>(n);
  asm volatile("" : : "r"(frame) : "memory");
  return n == 0 ? 0 : recurse<kFrame>(n - 1) + frame[0];
}

template <size_t kFrame>
void overflowByRecursion() {
  volatile int result = recurse<kFrame>(kTooDeep);
  static_cast<void>(result);
}

__attribute__((noinline)) void overflowByOneFrame() {
  char frame[1100 * 1024];
  frame[0] = 1;
  asm volatile("" : : "r"(frame) : "memory");
}

// Fibers that wait while another overflows its stack, and what their stacks hold.
struct Neighbour {
  uintptr_t bottom;
  uintptr_t top;
  uint64_t sum;
};
std::vector<Neighbour> neighbours;
struct sigaction actionOfWeft;

__attribute__((no_sanitize("address", "thread"))) uint64_t sumOf(const Neighbour& neighbour) {
  uint64_t sum = 0;
  for (uintptr_t place = neighbour.bottom; place < neighbour.top; place += sizeof(uint64_t)) {
    sum = sum * 31 + *reinterpret_cast<const volatile uint64_t*>(place);
  }
  return sum;
}

void say(const char* text) { (void)!write(STDERR_FILENO, text, std::char_traits<char>::length(text)); }

void lookAtNeighbours(int signal, siginfo_t* info, void* context) {
  size_t touched = 0;
  for (const Neighbour& neighbour : neighbours) {
    touched += sumOf(neighbour) != neighbour.sum;
  }
  say(neighbours.empty() ? "" : touched == 0 ? "the neighbours are whole\n" : "a neighbour was touched\n");
  actionOfWeft.sa_sigaction(signal, info, context);
}

void watchNeighbours() {
  struct sigaction action{};
  action.sa_sigaction = &lookAtNeighbours;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &actionOfWeft);
}

// Runs `overflow` in a task among others that wait.
void overflowAmongOthers(int numWorkers, void (*overflow)()) {
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(numWorkers));
  watchNeighbours();
  Scheduler::Binding binding(scheduler);
  Event go(Event::Mode::Manual);
  constexpr unsigned kBefore = 10, kAfter = 10;
  WaitGroup done(1);
  schedule([=] {
    const auto startNeighbours = [go](unsigned count) {
      WaitGroup waiting(count);
      for (unsigned i = 0; i < count; ++i) {
        schedule(Task(
            [go, waiting] {
              const detail::Stack& stack = static_cast<detail::FiberControlBlock*>(Fiber::current())->stack();
              if (stack.base != nullptr) {
                neighbours.push_back({stack.bottom(), stack.top(), 0});
              }
              waiting.done();
              go.wait();
            },
            Task::Flags::SameThread));
      }
      waiting.wait();
    };
    startNeighbours(kBefore);
    Event overflown;
    // On a fiber that is made between theirs.
    schedule(Task(
        [startNeighbours, overflow] {
          startNeighbours(kAfter);
          for (Neighbour& neighbour : neighbours) {
            neighbour.sum = sumOf(neighbour);
          }
          overflow();
        },
        Task::Flags::SameThread));
    overflown.wait();
    done.done();
  });
  done.wait();
}

class OverflowFiberDeathTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
INSTANTIATE_TEST_SUITE_P(Workers, OverflowFiberDeathTest, ::testing::Values(0, 1, 4),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

const std::string kReport = "weft: fatal: stack overflow in fiber [0-9]+: its stack of " +
                            std::to_string(kStackSize) +
                            " bytes.*setFiberStackSize.*-fstack-clash-protection.*task: ";

TEST_P(OverflowFiberDeathTest, ARecursionIsReportedAndTouchesNoNeighbour) {
  for (const auto overflow : {&overflowByRecursion<3 * 1024>, &overflowByRecursion<60 * 1024>}) {
    EXPECT_EXIT(overflowAmongOthers(GetParam(), overflow), ::testing::KilledBySignal(SIGSEGV),
                "the neighbours are whole\n" + kReport);
  }
}

TEST_P(OverflowFiberDeathTest, AFrameLargerThanTheStackIsReportedAndTouchesNoNeighbour) {
#if !defined(WEFT_TEST_STACK_CLASH)
  GTEST_SKIP() << "the system has no compiler that probes frames";
#endif
  EXPECT_EXIT(overflowAmongOthers(GetParam(), &overflowByOneFrame), ::testing::KilledBySignal(SIGSEGV),
              "the neighbours are whole\n" + kReport);
}

TEST_P(OverflowFiberDeathTest, TheReportNamesTheFiber) {
  // Its id is printed before, and has to be that of the report. The expression language has no way to say so
  // in general.
  std::string sameId = "(this is fiber 1\nweft: fatal: stack overflow in fiber 1:)";
  for (int id = 2; id < 20; ++id) {
    const std::string number = std::to_string(id);
    sameId += "|(this is fiber " + number + "\nweft: fatal: stack overflow in fiber " + number + ":)";
  }
  EXPECT_EXIT(
      {
        Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(GetParam()));
        Scheduler::Binding binding(scheduler);
        Event never;
        schedule([] {
          // On a worker the first fiber may be the thread's own: this one is not.
          schedule(Task(
              [] {
                say(("this is fiber " + std::to_string(Fiber::current()->id) + "\n").c_str());
                overflowByRecursion<3 * 1024>();
              },
              Task::Flags::SameThread));
          Event().wait();
        });
        never.wait();
      },
      ::testing::KilledBySignal(SIGSEGV), sameId);
}

TEST_P(OverflowFiberDeathTest, OtherFaultsOfATaskAreNotTakenForOverflows) {
  if (tests::kUnderAsan || tests::kUnderTsan) {
    GTEST_SKIP() << "the sanitizer reports these";
  }
  const auto fault = [] {
    Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(GetParam()));
    Scheduler::Binding binding(scheduler);
    Event never;
    schedule([] { *reinterpret_cast<volatile int*>(kTooDeep) = 1; });
    never.wait();
  };
  EXPECT_EXIT(fault(), ::testing::KilledBySignal(SIGSEGV), tests::kSilence);
}

TEST_P(OverflowFiberDeathTest, DeepRecursionWithinTheStackIsFine) {
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(GetParam()).setFiberStackSize(4 * kStackSize));
  Scheduler::Binding binding(scheduler);
  WaitGroup done(4);
  for (int i = 0; i < 4; ++i) {
    schedule([done] {
      volatile int result = recurse<3 * 1024>(tests::kUnderAsan ? 200 : 1000);
      static_cast<void>(result);
      done.done();
    });
  }
  done.wait();
}

TEST_P(OverflowFiberDeathTest, AFrameOfHalfTheStackIsFine) {
  if (tests::kUnderAsan || tests::kUnderTsan) {
    GTEST_SKIP() << "the sanitizers' frames are others";
  }
  Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(GetParam()));
  Scheduler::Binding binding(scheduler);
  int sum = 0;
  WaitGroup done(1);
  schedule([&sum, done] {
    char frame[kStackSize / 2];
    frame[0] = 1;
    asm volatile("" : : "r"(frame) : "memory");
    sum += frame[0];
    done.done();
  });
  done.wait();
  EXPECT_EQ(sum, 1);
}

}  // namespace
}  // namespace weft
