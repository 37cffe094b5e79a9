// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/stack_overflow.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "os/keep_loaded.h"
#include "weft/debug.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/memory.h"

// The handler uses no malloc, no stdio and no lock of weft's. Unwinding and the naming of symbols are not
// promised to be async-signal-safe, so they come after the most important text.
//
// Which faults are overflows:
// - A fault in the guard of the fiber that runs.
// - Any fault while the stack pointer lies below the stack, if a frame of the fiber has moved it there: a
//   large frame in code without -fstack-clash-protection. That is certain where the stack pointer lies in
//   another stack of the slab: no other code has reason to be there. Elsewhere it may be a stack of the
//   program's own, such as a coroutine's. There the unwinder must find a frame that begins below the stack
//   and ends in it.
// - No other. A fault below the guard while the stack pointer lies in the stack may be any wild pointer:
//   compiled code moves the stack pointer before it touches a frame. A signal handler on the thread's signal
//   stack is no part of the fiber, though the unwinder finds the fiber's frames behind it.
// A large frame may also come to lie in other memory and never fault. Nothing here can notice that.
namespace weft::inline v0_1::detail {
namespace {

constexpr size_t kSignalStackSize = size_t{64} * 1024;  // unwinding and dladdr() need some 10 KiB
constexpr uint32_t kInnermost = 24;                     // frames of a backtrace that are shown
constexpr uint32_t kOutermost = 8;
constexpr uint32_t kMaxFrames = 1000000;

std::mutex installMutex;
bool isInstalled = false;  // guarded by installMutex, as is isDisabled
bool isDisabled = false;

// The action before weft's. It is written before weft's is installed, and constant from then on.
struct sigaction previous;

// Null: claim no fault. Stored by install and disable, loaded by the handler.
constinit std::atomic<CurrentStackHook> currentStackHook{nullptr};
constinit std::atomic<bool> isReporting{false};  // becomes true once, by the thread that reports

// Collects text and writes it to stderr.
class Writer {
 public:
  ~Writer() { flush(); }

  Writer& text(const char* s) {
    for (; *s != '\0'; ++s) {
      put(*s);
    }
    return *this;
  }

  Writer& decimal(uint64_t value) { return digits(value, 10); }
  Writer& hex(uint64_t value) { return text("0x").digits(value, 16); }

  void flush() {
    writeStderr(buffer_, used_);
    used_ = 0;
  }

 private:
  Writer& digits(uint64_t value, unsigned base) {
    char reversed[20];
    uint32_t count = 0;
    do {
      reversed[count++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (count != 0) {
      put(reversed[--count]);
    }
    return *this;
  }

  void put(char c) {
    if (used_ == sizeof(buffer_)) {
      flush();
    }
    buffer_[used_++] = c;
  }

  char buffer_[1024];
  size_t used_ = 0;
};

struct Registers {
  uintptr_t pc;
  uintptr_t sp;
};

Registers registersOf(const void* context) {
  [[maybe_unused]] const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {static_cast<uintptr_t>(machine.gregs[REG_RIP]), static_cast<uintptr_t>(machine.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {machine.pc, machine.sp};
#elif defined(__riscv)
  return {machine.__gregs[REG_PC], machine.__gregs[REG_SP]};
#else
  return {};
#endif
}

// The frames from the faulting one outwards: the innermost frames, and the outermost in a ring.
struct Trace {
  uintptr_t faultPc;
  bool sawFault;  // until then the frames are those of the handler
  uint32_t count;
  uintptr_t inner[kInnermost];
  uintptr_t outer[kOutermost];
};

_Unwind_Reason_Code collectFrame(_Unwind_Context* context, void* argument) {
  auto& trace = *static_cast<Trace*>(argument);
  int isExact = 0;  // else the address is a call's return address
  uintptr_t pc = _Unwind_GetIPInfo(context, &isExact);
  if (!trace.sawFault && pc == trace.faultPc) {
    trace.sawFault = true;
    trace.count = 0;
    isExact = 1;
  }
  if (pc == 0 || trace.count == kMaxFrames) {
    return _URC_END_OF_STACK;
  }
  pc -= isExact != 0 ? 0 : 1;
  if (trace.count < kInnermost) {
    trace.inner[trace.count] = pc;
  } else {
    trace.outer[trace.count % kOutermost] = pc;
  }
  ++trace.count;
  return _URC_NO_REASON;
}

void writeSymbol(Writer& out, uintptr_t address) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) {
    return;
  }
  if (info.dli_sname != nullptr) {
    out.text(" ").text(info.dli_sname).text("+").hex(address - reinterpret_cast<uintptr_t>(info.dli_saddr));
  }
  const char* slash = strrchr(info.dli_fname, '/');
  out.text(" (").text(slash != nullptr ? slash + 1 : info.dli_fname).text("+");
  out.hex(address - reinterpret_cast<uintptr_t>(info.dli_fbase)).text(")");
}

void writeFrame(Writer& out, uint32_t number, uintptr_t pc) {
  out.text("    #").decimal(number).text(" ").hex(pc);
  writeSymbol(out, pc);
  out.text("\n");
}

void writeBacktrace(Writer& out, uintptr_t faultPc) {
  Trace trace{};
  trace.faultPc = faultPc;
  _Unwind_Backtrace(collectFrame, &trace);
  out.text("  backtrace, innermost frame first; `addr2line -Cife` explains the offsets in parentheses:\n");
  for (uint32_t i = 0; i < std::min(trace.count, kInnermost); ++i) {
    writeFrame(out, i, trace.inner[i]);
  }
  if (trace.count > kInnermost + kOutermost) {
    out.text("    ... ").decimal(trace.count - kInnermost - kOutermost).text(" more ...\n");
  }
  for (uint32_t i = std::max(kInnermost, trace.count - std::min(trace.count, kOutermost)); i < trace.count;
       ++i) {
    writeFrame(out, i, trace.outer[i % kOutermost]);
  }
}

// The frame that begins below a fiber's stack and ends in it.
struct Step {
  const CurrentStack* stack;
  Registers fault;
  bool sawFault;
  bool isFound;
  uint32_t number;  // of the frame in the backtrace
  uintptr_t sp;     // the stack pointer in the frame
  size_t frameSize;
};

_Unwind_Reason_Code findStepInFrame(_Unwind_Context* context, void* argument) {
  auto& step = *static_cast<Step*>(argument);
  if (!step.sawFault) {
    step.sawFault = _Unwind_GetIP(context) == step.fault.pc;
    return _URC_NO_REASON;
  }
  // The stack pointer in this frame, where the frame before it ends.
  const uintptr_t sp = _Unwind_GetCFA(context);
  if (sp < step.stack->base && step.number < kMaxFrames) {
    ++step.number;
    step.sp = sp;
    return _URC_NO_REASON;
  }
  step.isFound = sp >= step.stack->base && sp < step.stack->top;
  step.frameSize = sp - step.sp;
  return _URC_END_OF_STACK;
}

Step findStep(const CurrentStack& stack, const Registers& fault) {
  Step step{};
  step.stack = &stack;
  step.fault = fault;
  step.sp = fault.sp;
  _Unwind_Backtrace(findStepInFrame, &step);
  return step;
}

// Returns: whether code of the fiber has moved the stack pointer below its stack.
bool hasSteppedOver(const CurrentStack& stack, const Registers& fault) {
  stack_t signalStack{};
  if (fault.sp >= stack.base || sigaltstack(nullptr, &signalStack) != 0) {
    return false;
  }
  // Where there is no signal stack, its size is 0.
  if (fault.sp - reinterpret_cast<uintptr_t>(signalStack.ss_sp) < signalStack.ss_size) {
    return false;
  }
  return fault.sp >= stack.slabLow || findStep(stack, fault).isFound;
}

void writeUsedUp(Writer& out, const CurrentStack& stack) {
  out.text("its stack of ").decimal(stack.top - stack.base).text(" bytes is used up.\n");
}

void writeSteppedOver(Writer& out, const CurrentStack& stack, const Registers& fault) {
  out.text("a frame has stepped below its stack of ").decimal(stack.top - stack.base);
  out.text(" bytes.\n  The stack pointer lies ").decimal(stack.base - fault.sp);
  out.text(" bytes below the stack. The guard has ").decimal(stack.base - stack.guardLow).text(" bytes.\n");
}

void writePlaces(Writer& out, const CurrentStack& stack, uintptr_t address, const Registers& fault) {
  out.text("  stack ").hex(stack.base).text(" to ").hex(stack.top);
  out.text(", fault at ").hex(address).text(", stack pointer ").hex(fault.sp).text("\n");
}

void writeTask(Writer& out, const CurrentStack& stack) {
  if (stack.task != nullptr) {
    out.text("  task: ").hex(reinterpret_cast<uintptr_t>(stack.task));
    writeSymbol(out, reinterpret_cast<uintptr_t>(stack.task));
    out.text("\n");
    out.flush();
  }
}

void writeStep(Writer& out, const Step& step) {
  if (step.isFound) {
    out.text("  It is frame #").decimal(step.number).text(" below, of ").decimal(step.frameSize);
    out.text(" bytes.\n");
    out.flush();
  }
}

void report(const CurrentStack& stack, uintptr_t address, const Registers& fault, bool isStep) {
  Writer out;
  out.text("weft: fatal: stack overflow in fiber ").decimal(stack.fiberId).text(": ");
  if (isStep) {
    writeSteppedOver(out, stack, fault);
  } else {
    writeUsedUp(out, stack);
  }
  writePlaces(out, stack, address, fault);
  out.text(isStep ? "  Memory below, of another fiber perhaps, may have been overwritten before the fault.\n"
                    "  Build the code of that frame with -fstack-clash-protection: then it stops at the "
                    "guard. Put large\n"
                    "  local variables on the heap, or choose a larger stack with\n"
                    "  Scheduler::Config::setFiberStackSize().\n"
                  : "  Look below for endless recursion, and for large local variables. If the need is real, "
                    "choose a\n"
                    "  larger stack with Scheduler::Config::setFiberStackSize(). Build code that has frames "
                    "of 64 KiB\n"
                    "  or more with -fstack-clash-protection: else such a frame may step over the guard "
                    "unnoticed.\n");
  out.flush();
  writeTask(out, stack);
  if (isStep) {
    writeStep(out, findStep(stack, fault));
  }
  writeBacktrace(out, fault.pc);
}

void restoreDefaultAction(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

// Does what would have happened without weft.
void passOn(int signal, siginfo_t* info, void* context) {
  const bool isFault = info->si_code > 0;  // else the signal was sent
  const bool isSimple = (previous.sa_flags & SA_SIGINFO) == 0;
  if (isSimple && previous.sa_handler == SIG_IGN && !isFault) {
    return;
  }
  if (isSimple && (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN)) {
    // A faulting instruction faults again after the return. A signal that was sent has to be sent again.
    restoreDefaultAction(signal);
    if (!isFault) {
      raise(signal);
    }
    return;
  }
  if ((previous.sa_flags & SA_NODEFER) != 0) {
    sigset_t self;
    sigemptyset(&self);
    sigaddset(&self, signal);
    pthread_sigmask(SIG_UNBLOCK, &self, nullptr);
  }
  if ((previous.sa_flags & SA_RESETHAND) != 0) {
    restoreDefaultAction(signal);
  }
  if (isSimple) {
    previous.sa_handler(signal);
  } else {
    previous.sa_sigaction(signal, info, context);
  }
}

void handleFault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  // (1) acquire: sees what the hook's own state was before install; pairs with (2).
  const CurrentStackHook hook = currentStackHook.load(std::memory_order_acquire);
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const Registers registers = registersOf(context);
  CurrentStack stack{};
  const bool isOfFiber = hook != nullptr && info->si_code > 0 && hook(&stack);
  const bool isInGuard = isOfFiber && address >= stack.guardLow && address < stack.base;
  if (isInGuard || (isOfFiber && hasSteppedOver(stack, registers))) {
    // relaxed: it only elects one thread. The others wait until the elected thread ends the process.
    while (isReporting.exchange(true, std::memory_order_relaxed)) {
      pause();
    }
    report(stack, address, registers, !isInGuard);
    restoreDefaultAction(signal);
  } else {
    passOn(signal, info, context);
  }
  errno = error;
}

// The first use of these functions may load libraries and allocate memory.
void warmUp() {
  Trace trace{};
  trace.count = kMaxFrames;
  _Unwind_Backtrace(collectFrame, &trace);
  Dl_info info;
  dladdr(reinterpret_cast<void*>(&warmUp), &info);
}

}  // namespace

void installOverflowHandler(CurrentStackHook hook) noexcept {
  keepLoaded();
  std::scoped_lock hold(installMutex);
  const char* wish = std::getenv("WEFT_OVERFLOW_HANDLER");
  if (isInstalled || isDisabled || (wish != nullptr && std::strcmp(wish, "0") == 0)) {
    return;
  }
  if (sigaction(SIGSEGV, nullptr, &previous) != 0) {
    return;
  }
  warmUp();
  // (2) release: what the caller has set up for its hook; pairs with (1).
  currentStackHook.store(hook, std::memory_order_release);
  struct sigaction action{};
  action.sa_sigaction = handleFault;
  action.sa_mask = previous.sa_mask;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous.sa_flags & SA_RESTART);
  isInstalled = sigaction(SIGSEGV, &action, nullptr) == 0;
}

void disableOverflowHandler() noexcept {
  std::scoped_lock hold(installMutex);
  isDisabled = true;
  // relaxed: a thread that still sees the hook faulted before the call, as far as anybody can tell.
  currentStackHook.store(nullptr, std::memory_order_relaxed);
  struct sigaction current{};
  if (isInstalled && sigaction(SIGSEGV, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) != 0 &&
      current.sa_sigaction == handleFault) {
    sigaction(SIGSEGV, &previous, nullptr);
  }
}

namespace {

size_t signalStackSize() {
  const long minimum = sysconf(_SC_SIGSTKSZ);  // grows with the processor's registers
  return alignUp(std::max(kSignalStackSize, minimum > 0 ? static_cast<size_t>(minimum) : 0), pageSize());
}

// Mapped signal stacks that no thread uses, kept since unmapping interrupts every processor of the process.
constexpr size_t kSignalStacksKept = 64;
constinit SpinLock keptLock;
constinit size_t numKept = 0;                  // guarded by keptLock
constinit void* kept[kSignalStacksKept] = {};  // guarded by keptLock

// Returns: the guard page with `usable` bytes above it, or null where there is no memory.
void* acquireSignalStack(size_t usable) {
  {
    std::scoped_lock guard(keptLock);
    if (numKept != 0) {
      return kept[--numKept];
    }
  }
  const size_t page = pageSize();
  void* memory = mmap(nullptr, page + usable, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  mprotect(memory, page, PROT_NONE);  // a failure leaves it without guard
  return memory;
}

void releaseSignalStack(void* memory, size_t size) {
  {
    std::scoped_lock guard(keptLock);
    if (numKept < kSignalStacksKept) {
      kept[numKept++] = memory;
      return;
    }
  }
  munmap(memory, size);
}

}  // namespace

AlternateStack::AlternateStack() noexcept {
  stack_t current{};
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  const size_t usable = signalStackSize();
  const size_t page = pageSize();
  void* memory = acquireSignalStack(usable);
  if (memory == nullptr) {
    return;
  }
  stack_t own{};
  own.ss_sp = static_cast<char*>(memory) + page;
  own.ss_size = usable;
  if (sigaltstack(&own, nullptr) != 0) {
    releaseSignalStack(memory, page + usable);
    return;
  }
  memory_ = memory;
  size_ = page + usable;
}

AlternateStack::~AlternateStack() {
  if (memory_ == nullptr) {
    return;
  }
  // Another signal stack may have been set since.
  stack_t current{};
  if (sigaltstack(nullptr, &current) == 0 && current.ss_sp > memory_ &&
      current.ss_sp < static_cast<char*>(memory_) + size_) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  releaseSignalStack(memory_, size_);
}

}  // namespace weft::inline v0_1::detail
