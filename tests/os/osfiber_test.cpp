// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/osfiber.h"

#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <elf.h>
#include <link.h>

#include <weft/sanitizers.h>

#include "os/held_registers.h"
#include "test_fiber.h"

using weft::detail::OSFiber;
using weft::tests::FloatingPointWords;
using weft::tests::floatingPointWords;
using weft::tests::kStackSize;
using OSFiberTest = weft::tests::WithOSFibers;
using weft::tests::TestFiber;

namespace {

TEST_F(OSFiberTest, SwitchesBackAndForth) {
  std::string order;
  TestFiber fiber([&](TestFiber& f) {
    int local = 0;
    EXPECT_TRUE(f.isOnStack(&local) || WEFT_ADDRESS_SANITIZER_ENABLED);
    order += "a";
    f.suspend();
    order += "b";
    f.suspend();
    order += "c";
  });
  order += "1";
  fiber.resumeFrom(self);
  order += "2";
  fiber.resumeFrom(self);
  order += "3";
  EXPECT_FALSE(fiber.ended());
  fiber.resumeFrom(self);
  EXPECT_TRUE(fiber.ended());
  EXPECT_EQ(order, "1a2b3c");
}

TEST_F(OSFiberTest, DestroyAcceptsWhatNeverRan) {
  TestFiber neverRun([](TestFiber&) { FAIL(); });
  OSFiber neverPrepared;
  neverPrepared.destroy();
  OSFiber thread;
  thread.initThread();
  thread.destroy();
}

TEST_F(OSFiberTest, DestroyAcceptsASuspendedFiber) {
  for (int i = 0; i < 100; i++) {
    TestFiber fiber([](TestFiber& f) {
      volatile char local[64];
      local[0] = 1;
      f.suspend();
      local[1] = local[0];
    });
    fiber.resumeFrom(self);
    std::string onThisStack = "this fiber's own stack is as before";
    fiber.os.destroy();
    EXPECT_THROW(throw onThisStack, std::string);
  }
}

TEST_F(OSFiberTest, AStackIsUsedAgainAfterItsFiberEnded) {
  int runs = 0;
  TestFiber fiber([&](TestFiber& f) {
    volatile char large[4096];
    large[0] = 1;
    large[4095] = 1;
    f.suspend();
    runs += large[0] + large[4095];
  });
  for (size_t i = 0; i < 1000; i++) {
    if (i > 0) {
      fiber.start(kStackSize - 64 * (i % 16));
    }
    fiber.resumeFrom(self);
    fiber.resumeFrom(self);
    ASSERT_TRUE(fiber.ended());
  }
  EXPECT_EQ(runs, 2000);
}

int sumDownFrom(TestFiber& fiber, int depth) {
  volatile int here = depth;
  if (depth == 0) {
    return 0;
  }
  fiber.suspend();
  int below = sumDownFrom(fiber, depth - 1);
  fiber.suspend();
  return below + here;
}

TEST_F(OSFiberTest, DeepFramesSurviveSwitchesAtEachLevel) {
  int sums[2] = {};
  TestFiber one([&](TestFiber& f) { sums[0] = sumDownFrom(f, 300); });
  TestFiber other([&](TestFiber& f) { sums[1] = sumDownFrom(f, 200); });
  while (!one.ended() || !other.ended()) {
    for (TestFiber* fiber : {&one, &other}) {
      if (!fiber->ended()) {
        fiber->resumeFrom(self);
      }
    }
  }
  EXPECT_EQ(sums[0], 300 * 301 / 2);
  EXPECT_EQ(sums[1], 200 * 201 / 2);
}

TEST_F(OSFiberTest, FibersResumeEachOtherInARing) {
  constexpr size_t kFibers = 100;
  std::vector<std::unique_ptr<TestFiber>> fibers;
  size_t hops = 0;
  for (size_t i = 0; i < kFibers; i++) {
    fibers.push_back(std::make_unique<TestFiber>([&, i](TestFiber& f) {
      for (int round = 0; round < 20; round++) {
        hops++;
        OSFiber& next = i + 1 < kFibers ? fibers[i + 1]->os : self;
        OSFiber::switchTo(f.os, next, OSFiber::exceptionGlobals());
      }
    }));
  }
  for (int round = 0; round < 20; round++) {
    OSFiber::switchTo(self, fibers[0]->os, OSFiber::exceptionGlobals());
  }
  EXPECT_EQ(hops, 20 * kFibers);
  for (auto& fiber : fibers) {
    finish(*fiber);
  }
}

// Each fiber of a chain resumes the next one, and is suspended until that has ended.
struct Link {
  OSFiber* resumer;
  OSFiber fiber;
  Link* next;
  size_t* numEnded;
  std::unique_ptr<char[]> stack;

  static void main(void* p) {
    auto& self = *static_cast<Link*>(p);
    if (self.next != nullptr) {
      self.next->resumer = &self.fiber;
      OSFiber::switchTo(self.fiber, self.next->fiber, OSFiber::exceptionGlobals());
    }
    ++*self.numEnded;
    OSFiber::switchTo(self.fiber, *self.resumer, OSFiber::exceptionGlobals());
  }
};

TEST_F(OSFiberTest, TenThousandFibersResumeEachOtherWithinEachOther) {
  if (RUNNING_ON_VALGRIND) {
    GTEST_SKIP() << "Valgrind takes switches between near stacks for calls and returns";
  }
  const bool isSanitized = WEFT_ADDRESS_SANITIZER_ENABLED || WEFT_THREAD_SANITIZER_ENABLED;
  const size_t numLinks = isSanitized ? 500 : 10000;
  const size_t stackSize = isSanitized ? 32 * 1024 : 4096;
  size_t numEnded = 0;
  std::vector<Link> links(numLinks);
  for (size_t i = 0; i < numLinks; i++) {
    Link* const next = i + 1 < numLinks ? &links[i + 1] : nullptr;
    links[i] = {&self, {}, next, &numEnded, std::make_unique<char[]>(stackSize)};
    links[i].fiber.init(links[i].stack.get(), stackSize, &Link::main, &links[i]);
  }
  OSFiber::switchTo(self, links[0].fiber, OSFiber::exceptionGlobals());
  EXPECT_EQ(numEnded, numLinks);
  for (Link& link : links) {
    link.fiber.destroy();
  }
}

TEST_F(OSFiberTest, AnEntryThatReturnsEndsTheProcess) {
  if (RUNNING_ON_VALGRIND) {
    GTEST_SKIP() << "Valgrind reports what a killed process has not freed";
  }
  auto run = [&] {
    auto stack = std::make_unique<char[]>(kStackSize);
    OSFiber fiber;
    fiber.init(stack.get(), kStackSize, [](void*) {}, nullptr);
    OSFiber::switchTo(self, fiber, OSFiber::exceptionGlobals());
  };
  EXPECT_DEATH(run(), "");
}

TEST_F(OSFiberTest, ThreadsSwitchIndependently) {
  auto work = [] {
    OSFiber thread;
    thread.initThread();
    int caught = 0;
    TestFiber fiber([&](TestFiber& f) {
      for (int i = 0; i < 1000; i++) {
        try {
          throw i;
        } catch (int e) {
          f.suspend();
          caught += e == i;
        }
      }
    });
    while (!fiber.ended()) {
      fiber.resumeFrom(thread);
    }
    EXPECT_EQ(caught, 1000);
  };
  std::thread one(work);
  std::thread other(work);
  one.join();
  other.join();
}

TEST_F(OSFiberTest, FloatingPointEnvironmentIsTheThreads) {
  FloatingPointWords seen = {};
  TestFiber fiber([&](TestFiber& f) {
    seen = floatingPointWords();
    std::fesetround(FE_DOWNWARD);
    f.suspend();
  });
  std::fesetround(FE_UPWARD);
  std::feraiseexcept(FE_INEXACT);
  const FloatingPointWords before = floatingPointWords();
  fiber.resumeFrom(self);
  EXPECT_EQ(seen, before);
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_NE(floatingPointWords(), before);
  std::feclearexcept(FE_ALL_EXCEPT);
  finish(fiber);
}

TEST_F(OSFiberTest, StacksAreNotExecutable) {
  bool found = false;
  auto visit = [](dl_phdr_info* info, size_t, void* p) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
      if (info->dlpi_phdr[i].p_type == PT_GNU_STACK) {
        *static_cast<bool*>(p) = true;
        EXPECT_EQ(info->dlpi_phdr[i].p_flags & PF_X, 0u);
      }
    }
    return 1;  // the program itself comes first
  };
  dl_iterate_phdr(visit, &found);
  EXPECT_TRUE(found);
}

}  // namespace
