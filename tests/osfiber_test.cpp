// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "osfiber.h"

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include <weft/sanitizers.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(start, end) 0
#define VALGRIND_STACK_DEREGISTER(id) static_cast<void>(id)
#define RUNNING_ON_VALGRIND 0
#endif

using weft::detail::OSFiber;

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

constexpr size_t kStackSize = 256 * 1024;

// A fiber that runs a function and then switches for good to the fiber that resumed it last.
class TestFiber {
 public:
  explicit TestFiber(std::function<void(TestFiber&)> body)
      : body_(std::move(body)), stack_(std::make_unique<char[]>(kStackSize)) {
    valgrindStack_ = VALGRIND_STACK_REGISTER(stack_.get(), stack_.get() + kStackSize - 1);
    start(kStackSize);
  }
  ~TestFiber() {
    os.destroy();
    VALGRIND_STACK_DEREGISTER(valgrindStack_);
  }
  TestFiber(const TestFiber&) = delete;
  TestFiber& operator=(const TestFiber&) = delete;

  void start(size_t stackSize) {
    ended_ = false;
    os.init(stack_.get(), stackSize, &TestFiber::main, this);
  }

  void setResumer(OSFiber& resumer) { resumer_ = &resumer; }

  void resumeFrom(OSFiber& from) {
    setResumer(from);
    OSFiber::switchTo(from, os, OSFiber::exceptionGlobals());
  }

  void suspend() { OSFiber::switchTo(os, *resumer_, OSFiber::exceptionGlobals()); }

  bool ended() const { return ended_; }
  bool isOnStack(const void* p) const { return p >= stack_.get() && p < stack_.get() + kStackSize; }

  OSFiber os;

 private:
  static void main(void* self) {
    auto* fiber = static_cast<TestFiber*>(self);
    fiber->body_(*fiber);
    fiber->ended_ = true;
    OSFiber::switchToFinal(fiber->os, *fiber->resumer_, OSFiber::exceptionGlobals());
  }

  std::function<void(TestFiber&)> body_;
  std::unique_ptr<char[]> stack_;
  OSFiber* resumer_ = nullptr;
  unsigned valgrindStack_ = 0;
  bool ended_ = false;
};

class OSFiberTest : public testing::Test {
 protected:
  void SetUp() override { self.initThread(); }

  void finish(TestFiber& fiber) {
    while (!fiber.ended()) {
      fiber.resumeFrom(self);
    }
  }

  OSFiber self;
};

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

// --- Registers and the stack pointer ---

TEST_F(OSFiberTest, CalleeSavedRegistersSurvive) {
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

TEST_F(OSFiberTest, StackIsAlignedAtEntryForAnyStackTop) {
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

TEST_F(OSFiberTest, NothingIsWrittenOutsideTheStack) {
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

uint32_t readMxcsr() {
  uint32_t value;
  asm volatile("stmxcsr %0" : "=m"(value));
  return value;
}

uint16_t readX87Control() {
  uint16_t value;
  asm volatile("fnstcw %0" : "=m"(value));
  return value;
}

TEST_F(OSFiberTest, FloatingPointEnvironmentIsTheThreads) {
  uint32_t mxcsr = 0;
  uint16_t x87 = 0;
  TestFiber fiber([&](TestFiber& f) {
    mxcsr = readMxcsr();
    x87 = readX87Control();
    std::fesetround(FE_DOWNWARD);
    f.suspend();
  });
  std::fesetround(FE_UPWARD);
  std::feraiseexcept(FE_INEXACT);
  const uint32_t mxcsrBefore = readMxcsr();
  const uint16_t x87Before = readX87Control();
  fiber.resumeFrom(self);
  EXPECT_EQ(mxcsr, mxcsrBefore);
  EXPECT_EQ(x87, x87Before);
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  std::fesetround(FE_TONEAREST);
  std::feclearexcept(FE_ALL_EXCEPT);
  finish(fiber);
}

// --- Exceptions ---

std::string messageOf(std::exception_ptr e) {
  try {
    std::rethrow_exception(std::move(e));
  } catch (const std::exception& caught) {
    return caught.what();
  }
}

TEST_F(OSFiberTest, ExceptionIsThrownAndCaughtWithinAFiber) {
  std::string caught;
  TestFiber fiber([&](TestFiber& f) {
    try {
      f.suspend();
      throw std::runtime_error("inside");
    } catch (const std::exception& e) {
      caught = e.what();
    }
  });
  finish(fiber);
  EXPECT_EQ(caught, "inside");
}

TEST_F(OSFiberTest, CatchBlocksInterleave) {
  std::string caught[2];
  auto body = [&](int i) {
    return [&caught, i](TestFiber& f) {
      try {
        try {
          throw std::runtime_error(i == 0 ? "one" : "other");
        } catch (...) {
          f.suspend();
          caught[i] = messageOf(std::current_exception());
          f.suspend();
          throw;
        }
      } catch (const std::exception& e) {
        f.suspend();
        caught[i] += std::string(" ") + e.what();
      }
    };
  };
  TestFiber one(body(0));
  TestFiber other(body(1));
  while (!one.ended()) {
    one.resumeFrom(self);
    EXPECT_EQ(std::current_exception(), nullptr);
    other.resumeFrom(self);
    EXPECT_EQ(std::current_exception(), nullptr);
  }
  EXPECT_TRUE(other.ended());
  EXPECT_EQ(caught[0], "one one");
  EXPECT_EQ(caught[1], "other other");
}

// Shows that the test above would notice: the words that are swapped here are not the runtime's.
TEST_F(OSFiberTest, CatchBlocksDoNotInterleaveWithoutTheSwap) {
  void* elsewhere[2] = {};
  std::string seen;
  TestFiber fiber([&](TestFiber& f) {
    try {
      throw std::runtime_error("fiber");
    } catch (...) {
      OSFiber::switchTo(f.os, self, elsewhere);
    }
    OSFiber::switchTo(f.os, self, elsewhere);
  });
  try {
    throw std::runtime_error("thread");
  } catch (...) {
    OSFiber::switchTo(self, fiber.os, elsewhere);
    seen = messageOf(std::current_exception());
    OSFiber::switchTo(self, fiber.os, elsewhere);
  }
  EXPECT_EQ(seen, "fiber");
  fiber.resumeFrom(self);
}

struct SuspendsWhenDestroyed {
  ~SuspendsWhenDestroyed() {
    before = std::uncaught_exceptions();
    fiber.suspend();
    after = std::uncaught_exceptions();
  }
  TestFiber& fiber;
  int& before;
  int& after;
};

TEST_F(OSFiberTest, DestructorSuspendsDuringUnwinding) {
  int before = -1;
  int after = -1;
  std::string caught;
  TestFiber unwinding([&](TestFiber& f) {
    try {
      SuspendsWhenDestroyed guard{f, before, after};
      throw std::runtime_error("unwinding");
    } catch (const std::exception& e) {
      caught = e.what();
    }
  });
  TestFiber other([&](TestFiber& f) {
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_THROW(throw 1, int);
    f.suspend();
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
  unwinding.resumeFrom(self);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  other.resumeFrom(self);
  unwinding.resumeFrom(self);
  other.resumeFrom(self);
  EXPECT_TRUE(unwinding.ended());
  EXPECT_TRUE(other.ended());
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 1);
  EXPECT_EQ(caught, "unwinding");
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST_F(OSFiberTest, FreshFiberStartsWithoutExceptions) {
  bool ran = false;
  TestFiber fiber([&](TestFiber&) {
    EXPECT_EQ(std::current_exception(), nullptr);
    ran = true;
  });
  try {
    throw std::runtime_error("outside");
  } catch (...) {
    fiber.resumeFrom(self);
    EXPECT_EQ(messageOf(std::current_exception()), "outside");
  }
  EXPECT_TRUE(ran);
}

TEST_F(OSFiberTest, ExceptionThatEscapesAFiberTerminates) {
  auto run = [&] {
    auto entry = [](void*) { throw std::runtime_error("escaped"); };
    auto stack = std::make_unique<char[]>(kStackSize);
    OSFiber fiber;
    fiber.init(stack.get(), kStackSize, entry, nullptr);
    OSFiber::switchTo(self, fiber, OSFiber::exceptionGlobals());
  };
  EXPECT_DEATH(run(), "escaped");
}

// --- Unwinding ---

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

TEST_F(OSFiberTest, BacktraceEndsAtTheBase) {
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

class OSFiberStepTest : public OSFiberTest {
 protected:
  static constexpr uint64_t kThreadMagic = 0x1111222233334440;
  static constexpr uint64_t kFiberMagic = 0xaaaabbbbccccddd0;

  void SetUp() override {
    OSFiberTest::SetUp();
#if WEFT_ADDRESS_SANITIZER_ENABLED || WEFT_THREAD_SANITIZER_ENABLED
    GTEST_SKIP() << "it would step through the sanitizers' own code, too";
#endif
    if (RUNNING_ON_VALGRIND) {
      GTEST_SKIP() << "Valgrind does not step";
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

// --- The program ---

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

void weft_test_entered(void* arg) {
  auto* probe = static_cast<AlignmentProbe*>(arg);
  OSFiber::switchToFinal(probe->fiber, *probe->back, OSFiber::exceptionGlobals());
}
