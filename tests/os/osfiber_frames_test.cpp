// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include <weft/sanitizers.h>

#include "test_fiber.h"

// What a switch leaves in registers and on stacks, for the code and for whoever unwinds it.

using weft::detail::OSFiber;
using weft::tests::kStackSize;
using OSFiberFramesTest = weft::tests::WithOSFibers;
using weft::tests::TestFiber;

extern "C" {
void weft_fiber_switch(void** saveSp, void* targetSp);

using SwitchFunction = void (*)(OSFiber& from, OSFiber& to, void** globals);

// Calls switchTo(from, to, globals) with rbx, rbp, r12, r13, r14, r15 set to magic, magic + 1, ..., magic +
// 5; if `steps`, asks the Stepper below to start before the call and to stop after it.
// Returns: whether the registers were the same afterwards.
bool weft_test_hold(OSFiber& from, OSFiber& to, void** globals, uint64_t magic, SwitchFunction switchTo,
                    bool steps);

// Stores rsp as it is at a function's entry, then calls weft_test_entered(arg).
void weft_test_entry(void* arg);
uintptr_t weft_test_entry_sp;
[[gnu::used]] void weft_test_entered(void* arg);
}

asm(R"(
  .text
  .type weft_test_hold, @function
weft_test_hold:
  .cfi_startproc
  push %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbx, 0
  push %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  push %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r12, 0
  push %r13
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r13, 0
  push %r14
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r14, 0
  push %r15
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset r15, 0
  sub $24, %rsp
  .cfi_adjust_cfa_offset 24
  mov %rcx, (%rsp)
  mov %r9, 8(%rsp)
  mov %rcx, %rbx
  lea 1(%rcx), %rbp
  lea 2(%rcx), %r12
  lea 3(%rcx), %r13
  lea 4(%rcx), %r14
  lea 5(%rcx), %r15
  testb $1, 8(%rsp)
  jz 1f
  mov $1, %eax
  int3
1:
  call *%r8
  testb $1, 8(%rsp)
  jz 2f
  xor %eax, %eax
  int3
2:
  mov (%rsp), %rcx
  sub %rcx, %rbx
  sub $1, %rbp
  sub %rcx, %rbp
  or %rbp, %rbx
  sub $2, %r12
  sub %rcx, %r12
  or %r12, %rbx
  sub $3, %r13
  sub %rcx, %r13
  or %r13, %rbx
  sub $4, %r14
  sub %rcx, %r14
  or %r14, %rbx
  sub $5, %r15
  sub %rcx, %r15
  or %r15, %rbx
  sete %al
  add $24, %rsp
  .cfi_adjust_cfa_offset -24
  pop %r15
  .cfi_adjust_cfa_offset -8
  .cfi_restore r15
  pop %r14
  .cfi_adjust_cfa_offset -8
  .cfi_restore r14
  pop %r13
  .cfi_adjust_cfa_offset -8
  .cfi_restore r13
  pop %r12
  .cfi_adjust_cfa_offset -8
  .cfi_restore r12
  pop %rbp
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbp
  pop %rbx
  .cfi_adjust_cfa_offset -8
  .cfi_restore rbx
  ret
  .cfi_endproc
  .size weft_test_hold, . - weft_test_hold

  .type weft_test_entry, @function
weft_test_entry:
  .cfi_startproc
  mov %rsp, weft_test_entry_sp(%rip)
  jmp weft_test_entered
  .cfi_endproc
  .size weft_test_entry, . - weft_test_entry
)");

namespace {

TEST_F(OSFiberFramesTest, CalleeSavedRegistersSurvive) {
  int same = 0;
  auto body = [&](uint64_t magic) {
    return [this, &same, magic](TestFiber& f) {
      for (int i = 0; i < 10; i++) {
        same += weft_test_hold(f.os, self, OSFiber::exceptionGlobals(), magic, &OSFiber::switchTo, false);
      }
    };
  };
  TestFiber one(body(0x1111222233334440));
  TestFiber other(body(0xaaaabbbbccccddd0));
  for (int i = 0; i < 11; i++) {
    one.resumeFrom(self);
    other.resumeFrom(self);
  }
  EXPECT_TRUE(one.ended());
  EXPECT_TRUE(other.ended());
  EXPECT_EQ(same, 20);
}

struct AlignmentProbe {
  OSFiber* back;
  OSFiber fiber;
};

TEST_F(OSFiberFramesTest, StackIsAlignedAtEntryForAnyStackTop) {
  auto stack = std::make_unique<char[]>(kStackSize);
  for (size_t less = 0; less < 64; less++) {
    AlignmentProbe probe{&self, {}};
    probe.fiber.init(stack.get(), kStackSize - less, &weft_test_entry, &probe);
    OSFiber::switchTo(self, probe.fiber, OSFiber::exceptionGlobals());
    EXPECT_EQ(weft_test_entry_sp % 16, 8u);
    auto top = reinterpret_cast<uintptr_t>(stack.get()) + kStackSize - less;
    EXPECT_LT(weft_test_entry_sp, top);
    EXPECT_TRUE(top - weft_test_entry_sp <= 128 || WEFT_ADDRESS_SANITIZER_ENABLED);
    probe.fiber.destroy();
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

// One frame of a walk, innermost first.
struct Frame {
  void* function;
  uintptr_t ip;
  uintptr_t cfa;
  uint64_t saved[6];  // rbx rbp r12 r13 r14 r15
};

struct Walk {
  static constexpr int kMaxFrames = 128;
  uintptr_t startIp = 0;  // 0, or where to begin
  int numFrames = 0;
  bool isComplete = false;
  Frame frames[kMaxFrames];

  // Needs no memory but this: it runs in a signal handler.
  void record() { isComplete = _Unwind_Backtrace(&Walk::add, this) == _URC_END_OF_STACK; }

  Frame* find(void* function) {
    for (int i = 0; i < numFrames; i++) {
      if (frames[i].function == function) {
        return &frames[i];
      }
    }
    return nullptr;
  }

 private:
  static _Unwind_Reason_Code add(_Unwind_Context* context, void* p) {
    auto* walk = static_cast<Walk*>(p);
    int beforeInstruction = 0;
    const uintptr_t ip = _Unwind_GetIPInfo(context, &beforeInstruction);
    const bool isBeforeStart = walk->numFrames == 0 && walk->startIp != 0 && ip != walk->startIp;
    if (isBeforeStart || ip == 0) {  // a walk reports its end as a frame at 0
      return _URC_NO_REASON;
    }
    if (walk->numFrames == kMaxFrames) {
      return _URC_NORMAL_STOP;
    }
    Frame& frame = walk->frames[walk->numFrames++];
    frame.ip = ip;
    frame.cfa = _Unwind_GetCFA(context);
    // The look-up takes its argument for a return address.
    frame.function = _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(ip + (beforeInstruction ? 1 : 0)));
    constexpr int kDwarfNumbers[6] = {3, 6, 12, 13, 14, 15};
    for (int i = 0; i < 6; i++) {
      frame.saved[i] = _Unwind_GetGR(context, kDwarfNumbers[i]);
    }
    return _URC_NO_REASON;
  }
};

// The function at the base of a fiber that has not run yet.
void* baseOf(const OSFiber& fresh) {
  const uintptr_t start = static_cast<uintptr_t*>(fresh.sp)[6];
  return _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(start));
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
  void* base = baseOf(fiber.os);
  ASSERT_NE(base, nullptr);
  finish(fiber);
  EXPECT_TRUE(walk.isComplete);
  EXPECT_GT(walk.numFrames, 20);
  ASSERT_LT(walk.numFrames, Walk::kMaxFrames);
  EXPECT_EQ(walk.frames[walk.numFrames - 1].function, base);
}

// What a walk along frame pointers finds, such as that of `perf record -g`. Who asks for the address of its
// frame has a frame pointer, however this file is compiled.
struct FramePointerWalk {
  OSFiber* back;
  OSFiber fiber;
  uintptr_t lastReturn = 0;
  int numFrames = 0;
};

[[gnu::noinline]] void walkFramesAtDepth(int depth, FramePointerWalk& walk) {
  constexpr int kMostFrames = 100;
  auto* frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
  volatile int here = depth;
  if (depth != 0) {
    walkFramesAtDepth(depth - 1, walk);
  } else {
    for (; frame != nullptr && walk.numFrames < kMostFrames; ++walk.numFrames) {
      walk.lastReturn = frame[1];
      frame = reinterpret_cast<const uintptr_t*>(frame[0]);
    }
  }
  here = here + 1;
}

void walkFramesOnFiber(void* p) {
  auto* walk = static_cast<FramePointerWalk*>(p);
  const volatile uintptr_t own = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  (void)own;
  walkFramesAtDepth(20, *walk);
  OSFiber::switchTo(walk->fiber, *walk->back, OSFiber::exceptionGlobals());
}

TEST_F(OSFiberFramesTest, AWalkAlongFramePointersEndsAtTheBase) {
  auto stack = std::make_unique<char[]>(kStackSize);
  FramePointerWalk walk{&self, {}};
  walk.fiber.init(stack.get(), kStackSize, &walkFramesOnFiber, &walk);
  [[maybe_unused]] void* const base = baseOf(walk.fiber);
  OSFiber::switchTo(self, walk.fiber, OSFiber::exceptionGlobals());
  // With AddressSanitizer a function of weft begins the fiber.
  EXPECT_EQ(walk.numFrames, WEFT_ADDRESS_SANITIZER_ENABLED ? 23 : 22);
#if !WEFT_ADDRESS_SANITIZER_ENABLED
  EXPECT_EQ(_Unwind_FindEnclosingFunction(reinterpret_cast<void*>(walk.lastReturn)), base);
#endif
  walk.fiber.destroy();
}

// Steps through a program one instruction at a time and walks the stack before each by the call frame
// information. Each walk must find weft_test_hold, called by one of two fibers, with the registers set there;
// the second fiber from some instruction on.
struct Stepper {
  // One of the fibers.
  struct Side {
    uint64_t magic = 0;       // given to weft_test_hold; 0: the fiber is fresh and not in there
    bool endsAtBase = false;  // unlike a thread
    uintptr_t cfa = 0;        // of weft_test_hold, found at the first step
    int stepsInSwitch = 0;

    bool agrees(Walk& stack, void* fiberBase);
  };

  Side sides[2];
  int side = 0;
  int numSteps = 0;
  bool isStepping = false;
  bool isFaulty = false;
  bool sawBase = false;  // as the innermost frame
  void* base = nullptr;  // the function at the base of fibers
  Walk walk;

  static Stepper* current;  // null: requests to start are ignored
  static void onTrap(int, siginfo_t* info, void* context);
  static void stop() { asm volatile("xorl %%eax, %%eax; int3" ::: "eax", "memory"); }
  void step(uintptr_t pc);
};

Stepper* Stepper::current = nullptr;

// The kernel clears the trap flag for the handler and reloads it afterwards.
void Stepper::onTrap(int, siginfo_t* info, void* context) {
  auto* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  constexpr greg_t kTrapFlag = 0x100;
  if (current == nullptr) {
    return;
  }
  if (info->si_code == TRAP_TRACE) {
    current->step(static_cast<uintptr_t>(registers[REG_RIP]));
    return;
  }
  current->isStepping = registers[REG_RAX] == 1;
  registers[REG_EFL] = current->isStepping ? registers[REG_EFL] | kTrapFlag : registers[REG_EFL] & ~kTrapFlag;
}

bool Stepper::Side::agrees(Walk& stack, void* fiberBase) {
  if ((stack.frames[stack.numFrames - 1].function == fiberBase) != endsAtBase) {
    return false;
  }
  const Frame* held = stack.find(reinterpret_cast<void*>(&weft_test_hold));
  if (held == nullptr || magic == 0) {
    return held == nullptr && magic == 0;
  }
  for (uint64_t i = 0; i < 6; i++) {
    if (held->saved[i] != magic + i) {
      return false;
    }
  }
  cfa = cfa == 0 ? held->cfa : cfa;
  return held->cfa == cfa;
}

void Stepper::step(uintptr_t pc) {
  numSteps++;
  walk.numFrames = 0;
  walk.startIp = pc;
  walk.record();
  if (walk.numFrames == 0 || walk.numFrames == Walk::kMaxFrames || !walk.isComplete) {
    isFaulty = true;
    return;
  }
  if (side == 0 && !sides[0].agrees(walk, base)) {
    side = 1;
  }
  isFaulty |= !sides[side].agrees(walk, base);
  sides[side].stepsInSwitch += walk.frames[0].function == reinterpret_cast<void*>(&weft_fiber_switch);
  sawBase |= walk.frames[0].function == base;
}

class OSFiberStepTest : public OSFiberFramesTest {
 protected:
  static constexpr uint64_t kThreadMagic = 0x1111222233334440;
  static constexpr uint64_t kFiberMagic = 0xaaaabbbbccccddd0;

  void SetUp() override {
    OSFiberFramesTest::SetUp();
#if WEFT_ADDRESS_SANITIZER_ENABLED || WEFT_THREAD_SANITIZER_ENABLED
    GTEST_SKIP() << "it would step through the sanitizers' own code, too";
#endif
    if (RUNNING_ON_VALGRIND) {
      GTEST_SKIP() << "Valgrind does not step";
    }
    if (dlsym(RTLD_DEFAULT, "unw_step") != nullptr) {
      GTEST_SKIP() << "the system's unwinder, of LLVM, takes an interrupted instruction for a return address";
    }
    stack_t alternate = {};
    alternate.ss_sp = signalStack_;
    alternate.ss_size = sizeof(signalStack_);
    ASSERT_EQ(sigaltstack(&alternate, &oldStack_), 0);
    struct sigaction action = {};
    action.sa_sigaction = &Stepper::onTrap;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ASSERT_EQ(sigaction(SIGTRAP, &action, &oldAction_), 0);
    isInstalled_ = true;
    Walk first;  // the unwinder's own preparations
    first.record();
  }

  void TearDown() override {
    if (isInstalled_) {
      sigaction(SIGTRAP, &oldAction_, nullptr);
      sigaltstack(&oldStack_, nullptr);
      Stepper::current = nullptr;
    }
  }

  static bool hold(OSFiber& from, OSFiber& to, uint64_t magic) {
    return weft_test_hold(from, to, OSFiber::exceptionGlobals(), magic, &OSFiber::switchTo, true);
  }

  static void check(const Stepper& stepper) {
    EXPECT_FALSE(stepper.isStepping);
    EXPECT_FALSE(stepper.isFaulty);
    const bool hasMark = *reinterpret_cast<const uint32_t*>(&weft_fiber_switch) == 0xfa1e0ff3;  // endbr64
    EXPECT_EQ(stepper.sides[0].stepsInSwitch, hasMark ? 9 : 8);  // six pushes; rsp stored and loaded
    EXPECT_EQ(stepper.sides[1].stepsInSwitch, 7);                // six pops and the return
    EXPECT_GT(stepper.numSteps, 15);                             // what is around it, too
  }

 private:
  bool isInstalled_ = false;
  stack_t oldStack_ = {};
  struct sigaction oldAction_ = {};
  char signalStack_[64 * 1024];
};

TEST_F(OSFiberStepTest, UnwindsAtEachInstructionOfASwitch) {
  Stepper there;
  Stepper back;
  int same = 0;
  TestFiber fiber([&](TestFiber& f) {
    same += hold(f.os, self, kFiberMagic);
    Stepper::current = &back;
    same += hold(f.os, self, kFiberMagic);
  });
  there.base = back.base = baseOf(fiber.os);
  there.sides[0].magic = back.sides[1].magic = kThreadMagic;
  there.sides[1].magic = back.sides[0].magic = kFiberMagic;
  there.sides[1].endsAtBase = back.sides[0].endsAtBase = true;
  fiber.resumeFrom(self);
  Stepper::current = &there;
  same += hold(self, fiber.os, kThreadMagic);
  check(there);
  check(back);
  finish(fiber);
  EXPECT_EQ(same, 3);
}

TEST_F(OSFiberStepTest, UnwindsAtEachInstructionIntoAFreshFiber) {
  Stepper stepper;
  TestFiber fiber([&](TestFiber&) { Stepper::stop(); });
  stepper.base = baseOf(fiber.os);
  stepper.sides[0].magic = kThreadMagic;
  stepper.sides[1].endsAtBase = true;
  fiber.setResumer(self);
  Stepper::current = &stepper;
  EXPECT_TRUE(hold(self, fiber.os, kThreadMagic));
  check(stepper);
  EXPECT_TRUE(stepper.sawBase);
}

}  // namespace

void weft_test_entered(void* arg) {
  auto* probe = static_cast<AlignmentProbe*>(arg);
  OSFiber::switchTo(probe->fiber, *probe->back, OSFiber::exceptionGlobals());
}
