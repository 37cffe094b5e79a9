// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/stack_overflow.h"

#include <alloca.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <weft/sanitizers.h>
#include "os/stack_pool.h"
#include "scheduler/core/overflow_report.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

// Frames that are larger than the guard are caught only in code that probes them. WEFT_TEST_STACK_CLASH says
// that the compiler makes this file so.
#if defined(WEFT_TEST_STACK_CLASH)
#define CAN_PROBE 1
#else
#define CAN_PROBE 0
#endif

namespace weft::inline v0_1::detail {
namespace {

constexpr size_t kStackSize = size_t{1024} * 1024;
constexpr bool kToolHandlesFaults = WEFT_ADDRESS_SANITIZER_ENABLED || WEFT_THREAD_SANITIZER_ENABLED;

struct Outcome {
  int status = 0;
  std::string text;  // what it wrote to stderr

  bool diedOf(int signal) const { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }
  bool exitedWith(int code) const { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
  bool says(const char* words) const { return text.find(words) != std::string::npos; }
  size_t count(const char* words) const {
    size_t n = 0;
    for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
      ++n;
    }
    return n;
  }
};

// Runs f in a child process, which exits with 0 when f returns.
template <class F>
Outcome inChild(F&& f) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    f();
    _exit(0);
  }
  close(ends[1]);
  Outcome outcome;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    outcome.text.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  EXPECT_EQ(waitpid(child, &outcome.status, 0), child);
  return outcome;
}

// The simplest of fibers: runs a function on a stack of the pool, with stacks below and above that must stay
// whole.
struct MiniFiber {
  Stack stacks[3];
  const Stack* own = nullptr;
  void (*function)() = nullptr;
};
thread_local MiniFiber* current = nullptr;

void fill(const Stack& stack) {
  for (uintptr_t place = stack.bottom(); place < stack.top(); place += 8) {
    *reinterpret_cast<volatile uint64_t*>(place) = place;
  }
}

bool isWhole(const Stack& stack) {
  for (uintptr_t place = stack.bottom(); place < stack.top(); place += 8) {
    if (*reinterpret_cast<volatile uint64_t*>(place) != place) {
      return false;
    }
  }
  return true;
}

bool reportIfOverflow(const siginfo_t& info, const ucontext_t& context) {
  if (current == nullptr) {
    return false;
  }
  const Stack& own = *current->own;
  for (const Stack& stack : current->stacks) {
    if (&stack != &own && !isWhole(stack)) {
      const char text[] = "a neighbour was touched\n";
      (void)!write(STDERR_FILENO, text, sizeof text - 1);
    }
  }
  return reportOverflow({StackPool::slabBegin(own), own.bottom() - StackPool::guardSize(), own.bottom(),
                         own.top(), 42, reinterpret_cast<const void*>(current->function)},
                        info, context);
}

void enterFiber() {
  current->function();
  asm volatile("" : : : "memory");  // so that its call is no jump, which would leave no frame
}

void runOnFiber(void (*function)()) {
  AlternateStack signalStack;
  StackPool& pool = StackPool::forSize(kStackSize);
  MiniFiber fiber;
  ASSERT_EQ(pool.acquireBatch(fiber.stacks, 3), 3u);
  fiber.own = &fiber.stacks[1];
  fill(fiber.stacks[0]);
  fill(fiber.stacks[2]);
  fiber.function = function;
  ucontext_t back;
  ucontext_t self;
  getcontext(&self);
  self.uc_stack.ss_sp = fiber.own->base;
  self.uc_stack.ss_size = fiber.own->size;
  self.uc_link = &back;
  makecontext(&self, enterFiber, 0);
  current = &fiber;
  swapcontext(&back, &self);
  current = nullptr;
  pool.releaseBatch(fiber.stacks, 3);
}

volatile int depth = 1000000;

__attribute__((noinline)) int recurse(int n) {
  char frame[3 * 1024];
  frame[0] = static_cast<char>(n);
  asm volatile("" : : "r"(frame) : "memory");
  return n == 0 ? 0 : recurse(n - 1) + frame[0];
}

__attribute__((noinline)) void overflowByRecursion() { depth = recurse(depth); }

__attribute__((noinline)) void overflowByOneFrame() {
  char frame[1100 * 1024];
  frame[0] = 1;
  asm volatile("" : : "r"(frame) : "memory");  // the compiler must make the whole frame
}

// weft_test_step_below(bytes, function) calls function() below a frame of so many bytes, none of which it
// touches: what a compiler makes of a large frame without -fstack-clash-protection.
#if defined(__x86_64__)
asm(R"(
    .text
    .type weft_test_step_below, @function
weft_test_step_below:
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub %rdi, %rsp
    call *%rsi
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size weft_test_step_below, . - weft_test_step_below
)");
extern "C" void weft_test_step_below(size_t bytes, void (*function)());
#define CAN_STEP (!kToolHandlesFaults)
#else
void weft_test_step_below(size_t, void (*)()) {}
#define CAN_STEP 0
#endif

// From a fresh stack to the middle of the one below.
size_t stepIntoNeighbour() { return kStackSize + kStackSize / 2; }
constexpr size_t kStepOutOfSlab = size_t{1} << 30;

const volatile uintptr_t nowhere = 16;

void readNowhere() { depth = *reinterpret_cast<volatile int*>(nowhere); }

void install() { installOverflowHandler(reportIfOverflow); }

void expectReport(const Outcome& outcome) {
  EXPECT_TRUE(outcome.diedOf(SIGSEGV)) << outcome.status;
  EXPECT_EQ(outcome.count("weft: fatal: stack overflow in fiber 42: its stack of 1048576 bytes"), 1u)
      << outcome.text;
  EXPECT_TRUE(outcome.says("setFiberStackSize()")) << outcome.text;
  EXPECT_TRUE(outcome.says("-fstack-clash-protection")) << outcome.text;
  EXPECT_TRUE(outcome.says("  task: ")) << outcome.text;
  EXPECT_TRUE(outcome.says("    #0 0x")) << outcome.text;
  EXPECT_FALSE(outcome.says("neighbour")) << outcome.text;
}

TEST(OverflowDeathTest, ADeepRecursionIsReportedWithItsFiber) {
  const Outcome outcome = inChild([] {
    install();
    runOnFiber(overflowByRecursion);
  });
  expectReport(outcome);
  // The recursion's many frames are one line; both ends are there.
  EXPECT_TRUE(outcome.says("    ... the last call repeats ")) << outcome.text;
  EXPECT_TRUE(outcome.says("::recurse+0x")) << outcome.text;
  EXPECT_TRUE(outcome.says("::enterFiber+0x")) << outcome.text;
  EXPECT_LT(outcome.count("\n    #"), 10u) << outcome.text;
}

int visit(int n);

__attribute__((noinline)) int visitChild(int n) {
  char frame[1024];
  frame[0] = static_cast<char>(n);
  asm volatile("" : : "r"(frame) : "memory");
  return visit(n - 1) + frame[0];
}

__attribute__((noinline)) int visit(int n) {
  volatile int result = n == 0 ? 0 : visitChild(n);
  return result;
}

TEST(OverflowDeathTest, ACycleOfCallsIsOneLine) {
  const Outcome outcome = inChild([] {
    install();
    runOnFiber([] { depth = visit(depth); });
  });
  expectReport(outcome);
  EXPECT_TRUE(outcome.says("    ... the last 2 calls repeat ")) << outcome.text;
  EXPECT_LT(outcome.count("::visitChild+0x"), 4u) << outcome.text;
}

// The small frames are in one window, the large one is larger than that.
TEST(OverflowDeathTest, CallsAroundALargeFrameAreTold) {
  const Outcome outcome = inChild([] {
    install();
    runOnFiber([] {
      volatile char frame[400 * 1024];
      frame[0] = 1;
      overflowByRecursion();
      frame[1] = frame[0];
    });
  });
  expectReport(outcome);
  EXPECT_TRUE(outcome.says("::overflowByRecursion+0x")) << outcome.text;
  EXPECT_TRUE(outcome.says("::enterFiber+0x")) << outcome.text;
}

// Aligned, and of a size that is not known at compile time: gcc notes where the frame begins at its far end.
__attribute__((noinline)) void overflowBelowAlignedFrame(size_t size) {
  alignas(64) volatile char local[64];
  auto* memory = static_cast<volatile char*>(alloca(size));
  local[0] = 1;
  memory[0] = 1;
  overflowByRecursion();
  local[1] = local[0];
  memory[size - 1] = 2;
}

TEST(OverflowDeathTest, CallsAroundALargeAlignedFrameAreTold) {
  const Outcome outcome = inChild([] {
    install();
    runOnFiber([] { overflowBelowAlignedFrame(static_cast<size_t>(depth) * 4 / 10); });
  });
  expectReport(outcome);
  EXPECT_TRUE(outcome.says("::overflowBelowAlignedFrame+0x")) << outcome.text;
  EXPECT_TRUE(outcome.says("::enterFiber+0x")) << outcome.text;
}

TEST(OverflowDeathTest, ASmallSignalStackIsEnough) {
  expectReport(inChild([] {
    install();
    static char memory[16 * 1024];
    stack_t small{};
    small.ss_sp = memory;
    small.ss_size = sizeof memory;
    sigaltstack(&small, nullptr);
    runOnFiber(overflowByRecursion);
  }));
}

TEST(OverflowDeathTest, WithoutMemoryTheMostImportantIsTold) {
  if (kToolHandlesFaults) {
    GTEST_SKIP() << "the sanitizers need memory";
  }
  const Outcome outcome = inChild([] {
    install();
    runOnFiber([] {
      const rlimit none{0, RLIM_INFINITY};
      setrlimit(RLIMIT_AS, &none);
      if (mmap(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
        _exit(12);
      }
      overflowByRecursion();
    });
  });
  if (outcome.exitedWith(12)) {
    GTEST_SKIP() << "the system does not limit memory";
  }
  EXPECT_TRUE(outcome.diedOf(SIGSEGV)) << outcome.status;
  EXPECT_TRUE(outcome.says("stack overflow in fiber 42: its stack of 1048576 bytes")) << outcome.text;
  EXPECT_TRUE(outcome.says("The system gives no memory to read the calls.")) << outcome.text;
}

TEST(OverflowDeathTest, AFrameLargerThanTheStackIsReportedWhereItIsProbed) {
  if (!CAN_PROBE) {
    GTEST_SKIP() << "the system has no compiler that probes frames";
  }
  expectReport(inChild([] {
    install();
    runOnFiber(overflowByOneFrame);
  }));
}

TEST(OverflowDeathTest, AnOverflowOnAnotherThreadIsReported) {
  expectReport(inChild([] {
    install();
    std::thread(runOnFiber, overflowByRecursion).join();
  }));
}

TEST(OverflowDeathTest, OverflowsOfSeveralThreadsMakeOneReport) {
  expectReport(inChild([] {
    install();
    std::thread other(runOnFiber, overflowByRecursion);
    std::thread third(runOnFiber, overflowByRecursion);
    runOnFiber(overflowByRecursion);
    other.join();
    third.join();
  }));
}

TEST(OverflowDeathTest, OtherFaultsAreLeftToTheActionBefore) {
  const Outcome outcome = inChild([] {
    install();
    runOnFiber(readNowhere);
  });
  EXPECT_FALSE(outcome.says("weft: fatal")) << outcome.text;
  EXPECT_TRUE(kToolHandlesFaults || outcome.diedOf(SIGSEGV)) << outcome.status;
}

void expectStepReport(const Outcome& outcome, const char* frame) {
  EXPECT_TRUE(outcome.diedOf(SIGSEGV)) << outcome.status;
  EXPECT_EQ(outcome.count("weft: fatal: stack overflow in fiber 42: a frame has stepped below its stack of "
                          "1048576 bytes.\n  The stack pointer lies "),
            1u)
      << outcome.text;
  EXPECT_TRUE(outcome.says("with -fstack-clash-protection: then it stops at the guard")) << outcome.text;
  EXPECT_TRUE(outcome.says(frame)) << outcome.text;
  EXPECT_TRUE(outcome.says("  task: ")) << outcome.text;
  EXPECT_TRUE(outcome.says("    #0 0x")) << outcome.text;
}

class StepBelowDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!CAN_STEP) {
      GTEST_SKIP() << "the sanitizers' frames are others";
    }
  }
};

TEST_F(StepBelowDeathTest, AFrameThatEndsInNoMemoryIsReported) {
  expectStepReport(inChild([] {
                     install();
                     runOnFiber([] { weft_test_step_below(kStepOutOfSlab, readNowhere); });
                   }),
                   "It is frame #0 below, of 10737418");
}

TEST_F(StepBelowDeathTest, AFaultOfWhatAFrameInAnotherStackCallsIsReported) {
  expectStepReport(inChild([] {
                     install();
                     runOnFiber([] { weft_test_step_below(stepIntoNeighbour(), readNowhere); });
                   }),
                   "It is frame #1 below, of 15728");
}

// This is the guard of another stack.
TEST_F(StepBelowDeathTest, AnOverflowOfAnotherStackIsReported) {
  expectStepReport(inChild([] {
                     install();
                     runOnFiber([] { weft_test_step_below(stepIntoNeighbour(), overflowByRecursion); });
                   }),
                   " below, of 15728");
}

TEST_F(StepBelowDeathTest, AWildPointerBelowTheGuardIsPassedOn) {
  const Outcome outcome = inChild([] {
    install();
    runOnFiber([] { *reinterpret_cast<volatile char*>(current->stacks[0].bottom() - 8) = 1; });
  });
  EXPECT_FALSE(outcome.says("weft: fatal")) << outcome.text;
  EXPECT_TRUE(outcome.diedOf(SIGSEGV)) << outcome.status;
}

// The unwinder finds the frames of the fiber behind those of a signal handler.
TEST_F(StepBelowDeathTest, AFaultOfAHandlerOnTheSignalStackIsPassedOn) {
  const Outcome outcome = inChild([] {
    install();
    struct sigaction action{};
    action.sa_flags = SA_ONSTACK;
    action.sa_handler = [](int) { readNowhere(); };
    sigaction(SIGUSR1, &action, nullptr);
    runOnFiber([] {
      stack_t below{};
      below.ss_sp = current->stacks[0].base;
      below.ss_size = current->stacks[0].size;
      sigaltstack(&below, nullptr);
      raise(SIGUSR1);
    });
  });
  EXPECT_FALSE(outcome.says("weft: fatal")) << outcome.text;
  EXPECT_TRUE(outcome.diedOf(SIGSEGV)) << outcome.status;
}

TEST_F(StepBelowDeathTest, AFaultOnAStackOfTheTasksOwnIsPassedOn) {
  const Outcome outcome = inChild([] {
    install();
    runOnFiber([] {
      void* memory = mmap(reinterpret_cast<void*>(current->stacks[0].bottom() - kStepOutOfSlab), kStackSize,
                          PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (reinterpret_cast<uintptr_t>(memory) >= current->own->bottom()) {
        _exit(11);
      }
      static ucontext_t coroutine, caller;
      getcontext(&coroutine);
      coroutine.uc_stack.ss_sp = memory;
      coroutine.uc_stack.ss_size = kStackSize;
      coroutine.uc_link = &caller;
      makecontext(&coroutine, readNowhere, 0);
      swapcontext(&caller, &coroutine);
    });
  });
  EXPECT_FALSE(outcome.says("weft: fatal")) << outcome.text;
  EXPECT_TRUE(outcome.diedOf(SIGSEGV)) << outcome.status;
}

TEST(OverflowDeathTest, ASignalSentByHandEndsTheProcessAsBefore) {
  const Outcome outcome = inChild([] {
    signal(SIGSEGV, SIG_DFL);
    install();
    raise(SIGSEGV);
    _exit(7);
  });
  EXPECT_FALSE(outcome.says("weft: fatal")) << outcome.text;
  EXPECT_TRUE(outcome.diedOf(SIGSEGV)) << outcome.status;
}

TEST(OverflowDeathTest, ASignalSentByHandIsIgnoredWhereItWasBefore) {
  const Outcome outcome = inChild([] {
    signal(SIGSEGV, SIG_IGN);
    install();
    raise(SIGSEGV);
    _exit(7);
  });
  EXPECT_TRUE(outcome.exitedWith(7)) << outcome.status;
}

TEST(OverflowDeathTest, AFaultIsFatalEvenWhereTheSignalWasIgnored) {
  const Outcome outcome = inChild([] {
    signal(SIGSEGV, SIG_IGN);
    install();
    readNowhere();
    _exit(7);
  });
  EXPECT_TRUE(outcome.diedOf(SIGSEGV)) << outcome.status;
}

TEST(OverflowDeathTest, AnEarlierHandlerSeesOtherFaultsAndMayMendThem) {
  static char* page;
  const Outcome outcome = inChild([] {
    const auto size = static_cast<size_t>(getpagesize());
    page = static_cast<char*>(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    struct sigaction action{};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      const auto offset = reinterpret_cast<uintptr_t>(info->si_addr) - reinterpret_cast<uintptr_t>(page);
      if (offset == 8 || offset == 0) {  // some processors tell the page alone
        mprotect(page, static_cast<size_t>(getpagesize()), PROT_READ | PROT_WRITE);
      } else {
        _exit(8);
      }
    };
    sigaction(SIGSEGV, &action, nullptr);
    install();
    runOnFiber([] { *static_cast<volatile char*>(page + 8) = 1; });
    _exit(7);
  });
  EXPECT_TRUE(outcome.exitedWith(7)) << outcome.status << outcome.text;
}

TEST(OverflowDeathTest, AnEarlierHandlerOfTheOldKindIsCalled) {
  const Outcome outcome = inChild([] {
    signal(SIGSEGV, [](int) { _exit(9); });
    install();
    readNowhere();
  });
  EXPECT_TRUE(outcome.exitedWith(9)) << outcome.status;
}

TEST(OverflowDeathTest, AnEarlierHandlerDoesNotSeeOverflows) {
  expectReport(inChild([] {
    signal(SIGSEGV, [](int) { _exit(9); });
    install();
    runOnFiber(overflowByRecursion);
  }));
}

TEST(OverflowDeathTest, AnEarlierHandlerForOneSignalIsCalledOnce) {
  const Outcome outcome = inChild([] {
    struct sigaction action{};
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    action.sa_handler = [](int) {
      (void)!write(STDERR_FILENO, "once ", 5);
      readNowhere();
    };
    sigaction(SIGSEGV, &action, nullptr);
    install();
    readNowhere();
  });
  EXPECT_EQ(outcome.count("once"), 1u) << outcome.text;
  EXPECT_TRUE(outcome.diedOf(SIGSEGV)) << outcome.status;
}

TEST(OverflowDeathTest, TheEnvironmentCanTurnTheHandlerOff) {
  const Outcome outcome = inChild([] {
    setenv("WEFT_OVERFLOW_HANDLER", "0", 1);
    signal(SIGSEGV, SIG_DFL);
    install();
    runOnFiber(overflowByRecursion);
  });
  EXPECT_FALSE(outcome.says("weft: fatal")) << outcome.text;
  EXPECT_TRUE(outcome.diedOf(SIGSEGV)) << outcome.status;
}

TEST(OverflowDeathTest, TheHandlerCanBeDisabledForGood) {
  for (const bool before : {false, true}) {
    const Outcome outcome = inChild([before] {
      signal(SIGSEGV, [](int) { _exit(9); });
      if (!before) {
        install();
      }
      disableOverflowHandler();
      install();
      struct sigaction action{};
      sigaction(SIGSEGV, nullptr, &action);
      if ((action.sa_flags & SA_SIGINFO) != 0) {
        _exit(10);
      }
      readNowhere();
    });
    EXPECT_TRUE(outcome.exitedWith(9)) << outcome.status;
  }
}

TEST(OverflowDeathTest, ALaterHandlerMayPassOnToWefts) {
  static struct sigaction wefts;
  expectReport(inChild([] {
    install();
    struct sigaction action{};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = [](int s, siginfo_t* info, void* context) { wefts.sa_sigaction(s, info, context); };
    sigaction(SIGSEGV, &action, &wefts);
    runOnFiber(overflowByRecursion);
  }));
}

// The signal stack of a thread that has none, and the state after.
stack_t signalStackNow() {
  stack_t now{};
  EXPECT_EQ(sigaltstack(nullptr, &now), 0);
  return now;
}

struct NoSignalStack {
  stack_t before = signalStackNow();
  NoSignalStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    EXPECT_EQ(sigaltstack(&none, nullptr), 0);
  }
  ~NoSignalStack() { EXPECT_EQ(sigaltstack(&before, nullptr), 0); }
};

TEST(AlternateStackTest, IsThereForItsLifetime) {
  NoSignalStack none;
  {
    AlternateStack stack;
    EXPECT_EQ(signalStackNow().ss_flags & SS_DISABLE, 0);
    EXPECT_GE(signalStackNow().ss_size, 64u * 1024);
  }
  EXPECT_NE(signalStackNow().ss_flags & SS_DISABLE, 0);
}

TEST(AlternateStackTest, LeavesAnotherOneAlone) {
  NoSignalStack none;
  static char memory[256 * 1024];
  stack_t theirs{};
  theirs.ss_sp = memory;
  theirs.ss_size = sizeof memory;
  ASSERT_EQ(sigaltstack(&theirs, nullptr), 0);
  {
    AlternateStack stack;
    EXPECT_EQ(signalStackNow().ss_sp, memory);
  }
  EXPECT_EQ(signalStackNow().ss_sp, memory);
}

TEST(AlternateStackTest, LeavesALaterOneAlone) {
  NoSignalStack none;
  static char memory[256 * 1024];
  {
    AlternateStack stack;
    stack_t theirs{};
    theirs.ss_sp = memory;
    theirs.ss_size = sizeof memory;
    ASSERT_EQ(sigaltstack(&theirs, nullptr), 0);
  }
  EXPECT_EQ(signalStackNow().ss_sp, memory);
}

}  // namespace
}  // namespace weft::inline v0_1::detail
