// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>

#include <weft/sanitizers.h>

#include "os/held_registers.h"
#include "os/stack_walk.h"
#include "test_fiber.h"

// Call frame information at each instruction of a switch, on x86-64, where a program can step through itself.

using weft::detail::OSFiber;
using weft::tests::baseOf;
using weft::tests::Frame;
using weft::tests::TestFiber;
using weft::tests::Walk;
using weft::tests::WithOSFibers;

namespace {

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
  if (!held->holds(magic)) {
    return false;
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

class OSFiberStepTest : public WithOSFibers {
 protected:
  static constexpr uint64_t kThreadMagic = 0x1111222233334440;
  static constexpr uint64_t kFiberMagic = 0xaaaabbbbccccddd0;

  void SetUp() override {
    WithOSFibers::SetUp();
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
    return weft::tests::hold(magic, &OSFiber::switchTo, &from, &to, OSFiber::exceptionGlobals(), true);
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
