// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include <weft/sanitizers.h>

#include "os/held_registers.h"
#include "os/stack_walk.h"
#include "os/watched_call.h"
#include "test_fiber.h"

// What a switch leaves in registers and on stacks, for the code and for whoever unwinds it.

using weft::detail::OSFiber;
using weft::tests::kStackSize;
using OSFiberFramesTest = weft::tests::WithOSFibers;
using weft::tests::baseOf;
using weft::tests::codeAddress;
using weft::tests::frameHolds;
using weft::tests::functionOf;
using weft::tests::hold;
using weft::tests::kMostBytesBelowTop;
using weft::tests::outermostOf;
using weft::tests::TestFiber;
using weft::tests::Walk;

namespace {

constexpr auto kMagic = static_cast<uintptr_t>(0x1111222233334440);
constexpr auto kOtherMagic = static_cast<uintptr_t>(0xaaaabbbbccccddd0);

// Switches while the registers that a callee preserves have values by `magic`.
// Returns: whether they were the same afterwards.
bool switchHolding(uintptr_t magic, OSFiber& from, OSFiber& to) {
  return hold(magic, &OSFiber::switchTo, &from, &to, OSFiber::exceptionGlobals());
}

TEST_F(OSFiberFramesTest, CalleeSavedRegistersSurvive) {
  int same = 0;
  auto body = [&](uintptr_t magic) {
    return [this, &same, magic](TestFiber& f) {
      for (int i = 0; i < 10; i++) {
        same += switchHolding(magic, f.os, self);
      }
    };
  };
  TestFiber one(body(kMagic));
  TestFiber other(body(kOtherMagic));
  for (int i = 0; i < 11; i++) {
    one.resumeFrom(self);
    other.resumeFrom(self);
  }
  EXPECT_TRUE(one.ended());
  EXPECT_TRUE(other.ended());
  EXPECT_EQ(same, 20);
}

TEST_F(OSFiberFramesTest, AStoredPointerLeadsToTheRegisters) {
#if WEFT_ADDRESS_SANITIZER_ENABLED || WEFT_THREAD_SANITIZER_ENABLED
  GTEST_SKIP() << "a sanitizer must be told of a switch";
#else
  constexpr uintptr_t kDistance = 16;
  struct Suspended {
    OSFiber* thread;
    OSFiber* fiber;
    bool isThreadFound;
    bool isSame;
  } suspended{&self, nullptr, false, false};
  auto stack = std::make_unique<char[]>(kStackSize);
  OSFiber fiber;
  suspended.fiber = &fiber;
  auto entry = [](void* p) {
    auto& here = *static_cast<Suspended*>(p);
    here.isThreadFound = frameHolds(here.thread->sp, kMagic);
    here.isSame = hold(kOtherMagic, &weft_fiber_switch, &here.fiber->sp, here.thread->sp, nullptr);
    weft_fiber_switch(&here.fiber->sp, here.thread->sp);
  };
  fiber.init(stack.get(), kStackSize, entry, &suspended);
  EXPECT_TRUE(hold(kMagic, &weft_fiber_switch, &self.sp, fiber.sp, nullptr));
  EXPECT_TRUE(suspended.isThreadFound);
  EXPECT_TRUE(frameHolds(fiber.sp, kOtherMagic));
  EXPECT_FALSE(frameHolds(fiber.sp, kOtherMagic + kDistance));
  EXPECT_TRUE(hold(kMagic + kDistance, &weft_fiber_switch, &self.sp, fiber.sp, nullptr));
  EXPECT_TRUE(suspended.isSame);
#endif
}

// As a signal handler does that runs on this stack.
[[gnu::noinline]] __attribute__((no_sanitize("address", "thread"))) void overwriteBelow(void* sp) {
  auto* bytes = static_cast<volatile char*>(sp);
  for (int i = 1; i <= 4096; i++) {
    bytes[-i] = 0x5a;
  }
}

TEST_F(OSFiberFramesTest, NothingBelowAStoredPointerIsNeeded) {
  if (RUNNING_ON_VALGRIND) {
    GTEST_SKIP() << "Valgrind takes that memory for freed";
  }
  bool isSame = false;
  TestFiber fiber([&](TestFiber& f) { isSame = switchHolding(kMagic, f.os, self); });
  overwriteBelow(fiber.os.sp);
  fiber.resumeFrom(self);
  overwriteBelow(fiber.os.sp);
  fiber.resumeFrom(self);
  EXPECT_TRUE(isSame);
  EXPECT_TRUE(fiber.ended());
}

struct AlignmentProbe : WeftTestEntry {
  explicit AlignmentProbe(OSFiber& resumer) : WeftTestEntry{0, &suspend}, back(resumer) {}

  OSFiber& back;
  OSFiber own;

  static void suspend(WeftTestEntry* self) {
    auto& probe = *static_cast<AlignmentProbe*>(self);
    OSFiber::switchTo(probe.own, probe.back, OSFiber::exceptionGlobals());
  }
};

TEST_F(OSFiberFramesTest, StackIsAlignedAtEntryForAnyStackTop) {
  auto stack = std::make_unique<char[]>(kStackSize);
  for (size_t less = 0; less < 64; less++) {
    AlignmentProbe probe(self);
    probe.own.init(stack.get(), kStackSize - less, &weft_test_entry, static_cast<WeftTestEntry*>(&probe));
    OSFiber::switchTo(self, probe.own, OSFiber::exceptionGlobals());
    EXPECT_EQ(probe.sp % 16, weft::tests::kMisalignmentAtEntry);
    auto top = reinterpret_cast<uintptr_t>(stack.get()) + kStackSize - less;
    EXPECT_LT(probe.sp, top);
    EXPECT_TRUE(top - probe.sp <= kMostBytesBelowTop || WEFT_ADDRESS_SANITIZER_ENABLED);
    probe.own.destroy();
  }
}

TEST_F(OSFiberFramesTest, NothingIsWrittenOutsideTheStack) {
  alignas(16) char memory[4096 + 32];
  for (size_t less = 0; less < 16; less++) {
    std::memset(memory, 0x5a, sizeof(memory));
    OSFiber fiber;
    fiber.init(memory + 16, 4096 - less, &weft_test_entry, nullptr);
    for (size_t i = 16 + 4096 - less; i < sizeof(memory); i++) {
      ASSERT_EQ(memory[i], 0x5a) << less;
    }
    for (size_t i = 0; i < 16 + 4096 - OSFiber::kMinStackSize; i++) {
      ASSERT_EQ(memory[i], 0x5a) << less;
    }
    fiber.destroy();
  }
}

[[gnu::noinline]] void recordAtDepth(int depth, Walk& walk) {
  volatile int here = depth;
  if (depth == 0) {
    walk.record();
  } else {
    recordAtDepth(depth - 1, walk);
  }
  here = here + 1;
}

TEST_F(OSFiberFramesTest, BacktraceEndsAtTheBase) {
  Walk walk;
  TestFiber fiber([&](TestFiber&) { recordAtDepth(20, walk); });
  void* const outermost = outermostOf(fiber.os);
  ASSERT_NE(outermost, nullptr);
  finish(fiber);
  EXPECT_TRUE(walk.isComplete);
  EXPECT_GT(walk.numFrames, 20);
  ASSERT_LT(walk.numFrames, Walk::kMaxFrames);
  EXPECT_EQ(walk.frames[walk.numFrames - 1].function, outermost);
}

// What is seen during a call that is made with kMagic in the registers.
struct CallProbe {
  explicit CallProbe(OSFiber& caller) : fiber(caller) { outside.record(); }

  OSFiber& fiber;
  int numCalls = 0;
  bool isFrameRight = false;  // of the caller, which looks as if it were suspended
  Walk outside;               // from the test itself
  Walk walk;

  static void look(void* p) {
    auto& self = *static_cast<CallProbe*>(p);
    self.numCalls++;
    self.isFrameRight = self.fiber.sp != nullptr && frameHolds(self.fiber.sp, kMagic);
    self.walk.record();
  }

  // Returns: whether the walk has found the caller, with its registers, and then all that lies above.
  bool foundCaller() {
    const auto* const caller = walk.find(reinterpret_cast<void*>(&weft_test_hold));
    return walk.isComplete && caller != nullptr && caller->holds(kMagic) &&
           walk.frames[walk.numFrames - 1].ip == outside.frames[outside.numFrames - 1].ip;
  }
};

TEST_F(OSFiberFramesTest, FramesOfTheCallerAreVisibleDuringACall) {
  CallProbe probe(self);
  EXPECT_TRUE(hold(kMagic, &weft_fiber_call, &self.sp, reinterpret_cast<void*>(&CallProbe::look), &probe));
  EXPECT_EQ(probe.numCalls, 1);
  EXPECT_TRUE(probe.isFrameRight);
  EXPECT_TRUE(probe.foundCaller());
}

TEST_F(OSFiberFramesTest, AWatchedCallIsUnwound) {
  CallProbe probe(self);
  const weft::detail::Watch watch{nullptr};
  EXPECT_TRUE(hold(kMagic, &weft::detail::weft_call_watched, &probe,
                   reinterpret_cast<void*>(&CallProbe::look), &watch));
  EXPECT_EQ(probe.numCalls, 1);
  EXPECT_TRUE(probe.foundCaller());
}

struct ProbingNode : weft::detail::TaskNode {
  CallProbe* probe;
  weft::detail::TaskOp op;

  static void look(TaskNode* node, weft::detail::TaskOp op) {
    static_cast<ProbingNode*>(node)->op = op;
    CallProbe::look(static_cast<ProbingNode*>(node)->probe);
  }
};

TEST_F(OSFiberFramesTest, ATaskIsCalledWithItsNodeAndUnwound) {
  CallProbe probe(self);
  ProbingNode node{{&ProbingNode::look, nullptr, 0}, &probe, weft::detail::TaskOp::Free};
  const weft::detail::TaskNode* const base = &node;
  EXPECT_TRUE(hold(kMagic, &weft::detail::weft_run_task, base, nullptr, nullptr));
  EXPECT_EQ(probe.numCalls, 1);
  EXPECT_EQ(node.op, weft::detail::TaskOp::Run);
  EXPECT_TRUE(probe.foundCaller());
}

// What a walk along frame pointers finds, such as that of `perf record -g`.
struct FramePointerWalk {
  OSFiber* back;
  OSFiber fiber;
  uintptr_t lastReturn = 0;
  int numFrames = 0;
};

WEFT_TEST_FRAME_CHAIN [[gnu::noinline]] void walkFramesAtDepth(int depth, FramePointerWalk& walk) {
  constexpr int kMostFrames = 100;
  const uintptr_t* frame = weft::tests::ownFrame();
  volatile int here = depth;
  if (depth != 0) {
    walkFramesAtDepth(depth - 1, walk);
  } else {
    for (; frame != nullptr && walk.numFrames < kMostFrames; ++walk.numFrames) {
      walk.lastReturn = weft::tests::returnAddressOf(frame);
      frame = weft::tests::callerOf(frame);
    }
  }
  here = here + 1;
}

WEFT_TEST_FRAME_CHAIN void walkFramesOnFiber(void* p) {
  auto* walk = static_cast<FramePointerWalk*>(p);
  const volatile uintptr_t own = reinterpret_cast<uintptr_t>(weft::tests::ownFrame());
  (void)own;
  walkFramesAtDepth(20, *walk);
  OSFiber::switchTo(walk->fiber, *walk->back, OSFiber::exceptionGlobals());
}

TEST_F(OSFiberFramesTest, AWalkAlongFramePointersEndsAtTheBase) {
  auto stack = std::make_unique<char[]>(kStackSize);
  std::memset(stack.get(), 0x5a, kStackSize);
  FramePointerWalk walk{&self, {}};
  // For gcc the options of a function may be part of its type.
  auto* const entry = reinterpret_cast<void (*)(void*)>(&walkFramesOnFiber);
  walk.fiber.init(stack.get(), kStackSize, entry, &walk);
  [[maybe_unused]] void* const base = baseOf(walk.fiber);
  OSFiber::switchTo(self, walk.fiber, OSFiber::exceptionGlobals());
  // With AddressSanitizer a function of weft begins the fiber.
  EXPECT_EQ(walk.numFrames, WEFT_ADDRESS_SANITIZER_ENABLED ? 23 : 22);
#if !WEFT_ADDRESS_SANITIZER_ENABLED
  EXPECT_EQ(functionOf(codeAddress(walk.lastReturn)), base);
#endif
  walk.fiber.destroy();
}

}  // namespace
