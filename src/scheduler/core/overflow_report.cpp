// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/overflow_report.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory_resource>
#include <new>
#include <vector>

#include "inspect/arena.h"
#include "inspect/image_names.h"
#include "inspect/images.h"
#include "inspect/process_memory.h"
#include "inspect/text.h"
#include "inspect/unwinder.h"
#include "os/registers.h"
#include "scheduler/core/own_process.h"
#include "scheduler/core/trace_triggers.h"
#include "scheduler/fibers/call_aside.h"
#include "scheduler/report/dump.h"

// The report uses no malloc, no stdio and no lock. It runs aside, as the signal stack may be small. Reading
// the calls takes memory, so it comes after the most important text.
//
// Which faults are overflows:
// - A fault in the guard of the fiber that runs.
// - Any fault while the stack pointer lies below the stack, if a frame of the fiber has moved it there: a
//   large frame in code without -fstack-clash-protection. That is certain where the stack pointer lies in
//   another stack of the slab: no other code has reason to be there. Elsewhere it may be a stack of the
//   program's own, such as a coroutine's. There a frame must be found that begins below the stack and ends in
//   it.
// - No other. A fault below the guard while the stack pointer lies in the stack may be any wild pointer:
//   compiled code moves the stack pointer before it touches a frame. A signal handler on the thread's signal
//   stack is no part of the fiber, though the fiber's frames are found behind it.
// A large frame may also come to lie in other memory and never fault. Nothing here can notice that.
namespace weft::inline v0_1::detail {
namespace {

using inspect::Address;

constexpr size_t kMostCalls = size_t{1} << 20;
constexpr size_t kLongestCycle = 16;  // of calls that repeat
constexpr size_t kInnermost = 24;     // lines that are shown
constexpr size_t kOutermost = 8;

constinit std::atomic<bool> isReporting{false};  // becomes true once, by the thread that reports

struct OverflowFault {
  const CurrentStack& stack;
  uintptr_t address;
  inspect::Registers registers;
  int processId;
  bool isOverflow;  // as far as it is known

  uintptr_t stackPointer() const { return registers.values[inspect::Registers::kStackPointer]; }
  bool isInGuard() const { return address >= stack.guardLow && address < stack.base; }
};

inspect::Registers registersOf(const ucontext_t& context) {
  inspect::Registers registers;
  for (size_t i = 0; i < inspect::Registers::kCount; ++i) {
    registers.set(i, processor::ofContext(context, i));
  }
  registers.isInterrupted = true;
  return registers;
}

// A part of the memory in which the frames lie. It may be a stack, a guard or nothing at all.
class Window {
 public:
  Window(int processId, std::pmr::memory_resource* memory) : memory_(processId), bytes_(kSize, memory) {}

  const inspect::StackCopy& copy() const { return copy_; }

  // Makes it begin there. Returns: whether anything can be read.
  bool moveTo(Address address) {
    size_t size = kSize;
    while (size > kPage && !memory_.read(address, bytes_.data(), size)) {
      size /= 2;
    }
    if (size == kPage) {
      size = kPage - address % kPage;
      size = memory_.read(address, bytes_.data(), size) ? size : 0;
    }
    copy_ = {bytes_.data(), size, address};
    return size != 0;
  }

 private:
  static constexpr size_t kSize = size_t{64} << 10;
  static constexpr size_t kPage = 4096;  // or a part of one

  inspect::ProcessMemory memory_;
  std::pmr::vector<char> bytes_;
  inspect::StackCopy copy_;
};

struct StackCall {
  Address pc;            // in the call
  Address stackPointer;  // while it is made: where the frame ends
};

using Calls = std::pmr::vector<StackCall>;

// Reads the calls, innermost first.
void readCalls(const OverflowFault& fault, inspect::Images& images, std::pmr::memory_resource* memory,
               Calls& calls) {
  constexpr size_t kSp = inspect::Registers::kStackPointer;
  inspect::Unwinder unwinder(images, memory);
  Window window(fault.processId, memory);
  inspect::Registers registers = fault.registers;
  while (calls.size() < kMostCalls && registers.pc() != 0) {
    calls.push_back({registers.pc() - (registers.isInterrupted ? 0 : 1), registers.values[kSp]});
    // A frame may be larger than a window, and begin in the stack, and end below it. What it has saved lies
    // at either end. Where it begins may have to be read first.
    constexpr int kMostMoves = 2;
    inspect::Registers caller = registers;
    for (int i = 0; !unwinder.toCaller(caller, window.copy()); ++i) {
      if (i == kMostMoves || !window.moveTo(unwinder.lowestSaved(registers, window.copy()))) {
        return;
      }
      caller = registers;
    }
    registers = caller;
  }
}

// Returns: the number of the call whose frame begins in the stack and ends below it; calls.size() if there is
// none.
size_t findStep(const CurrentStack& stack, const Calls& calls) {
  size_t i = 0;
  while (i + 1 < calls.size() && calls[i + 1].stackPointer < stack.base) {
    ++i;
  }
  const bool isFound =
      i + 1 < calls.size() && calls[i].stackPointer < stack.base && calls[i + 1].stackPointer < stack.top;
  return isFound ? i : calls.size();
}

void writeHead(inspect::Text& out, const OverflowFault& fault) {
  const CurrentStack& stack = fault.stack;
  (out << "weft: fatal: stack overflow in fiber ").decimal(stack.fiberId);
  if (fault.isInGuard()) {
    (out << ": its stack of ").decimal(stack.top - stack.base) << " bytes is used up.\n";
  } else {
    (out << ": a frame has stepped below its stack of ").decimal(stack.top - stack.base) << " bytes.\n";
    (out << "  The stack pointer lies ").decimal(stack.base - fault.stackPointer());
    (out << " bytes below the stack. The guard has ").decimal(stack.base - stack.guardLow) << " bytes.\n";
  }
  char program[1024];
  // `weft symbolize` looks for the program there.
  (out << "  process ").decimal(static_cast<uint32_t>(fault.processId))
      << ", " << ownProgram(program) << '\n';
  ((out << "  stack ").hex(stack.base) << " to ").hex(stack.top);
  ((out << ", fault at ").hex(fault.address) << ", stack pointer ").hex(fault.stackPointer()) << '\n';
  out << (fault.isInGuard()
              ? "  Look below for endless recursion, and for large local variables. If the need is real, "
                "choose a\n"
                "  larger stack with Scheduler::Config::setFiberStackSize(). Build code that has frames of "
                "64 KiB\n"
                "  or more with -fstack-clash-protection: else such a frame may step over the guard "
                "unnoticed.\n"
              : "  Memory below, of another fiber perhaps, may have been overwritten before the fault.\n"
                "  Build the code of that frame with -fstack-clash-protection: then it stops at the guard. "
                "Put large\n"
                "  local variables on the heap, or choose a larger stack with\n"
                "  Scheduler::Config::setFiberStackSize().\n");
  out.flush();
}

void writeCall(inspect::Text& out, inspect::Images& images, size_t number, Address pc) {
  ((out << "    #").decimal(number) << ' ').hex(pc) << ' ';
  inspect::writePlace(out, images.place(pc));
  out << '\n';
}

// Calls that come `times` times one after the other.
struct Cycle {
  size_t length;
  size_t times;
};

// Returns: the shortest cycle that begins at call `first` and is worth a line of its own; or the call alone.
Cycle cycleAt(const Calls& calls, size_t first) {
  for (size_t length = 1; length <= kLongestCycle; ++length) {
    size_t i = first;
    while (i + length < calls.size() && calls[i].pc == calls[i + length].pc) {
      ++i;
    }
    const size_t times = (i - first) / length + 1;
    if (times >= 3) {
      return {length, times};
    }
  }
  return {1, 1};
}

void writeCycle(inspect::Text& out, inspect::Images& images, const Calls& calls, size_t first, Cycle cycle) {
  for (size_t i = first; i < first + cycle.length; ++i) {
    writeCall(out, images, i, calls[i].pc);
  }
  if (cycle.times > 1) {
    out << "    ... the last ";
    if (cycle.length > 1) {
      out.decimal(cycle.length) << " calls repeat ";
    } else {
      out << "call repeats ";
    }
    out.grouped(cycle.times - 1) << " times more\n";
  }
}

// Writes calls from `first` on, about `mostLines` lines. Returns: the first call that is not written.
size_t writeSome(inspect::Text& out, inspect::Images& images, const Calls& calls, size_t first,
                 size_t mostLines) {
  size_t numLines = 0;
  while (first < calls.size() && numLines < mostLines) {
    const Cycle cycle = cycleAt(calls, first);
    writeCycle(out, images, calls, first, cycle);
    first += cycle.length * cycle.times;
    numLines += cycle.length + (cycle.times > 1 ? 1 : 0);
  }
  return first;
}

void writeCalls(inspect::Text& out, inspect::Images& images, const Calls& calls) {
  out << "  calls, innermost first; `weft symbolize` adds lines of the source:\n";
  size_t next = writeSome(out, images, calls, 0, kInnermost);
  const size_t last = calls.size() - std::min(calls.size(), kOutermost);
  if (next < last) {
    (out << "    ... ").grouped(last - next) << " more ...\n";
    next = last;
  }
  writeSome(out, images, calls, next, calls.size());
  if (calls.size() == kMostCalls) {
    out << "    and further ones\n";
  }
}

void elect() {
  // relaxed: it only elects one thread. The others wait until the elected thread ends the process.
  while (isReporting.exchange(true, std::memory_order_relaxed)) {
    pause();
  }
}

void readAndWrite(inspect::Text& out, OverflowFault& fault) {
  inspect::Arena arena;
  inspect::Images images(&arena);
  (void)images.readMaps(fault.processId);  // without, there is only one call, without a name
  Calls calls(&arena);
  readCalls(fault, images, &arena, calls);
  const size_t step = findStep(fault.stack, calls);
  if (!fault.isOverflow) {
    if (step == calls.size()) {
      return;
    }
    fault.isOverflow = true;
    elect();
    writeHead(out, fault);
  }
  if (fault.stack.task != nullptr) {
    inspect::ImageNames names(images, &arena);
    names.writeTask(out << "  task: ", reinterpret_cast<Address>(fault.stack.task));
    out << '\n';
  }
  if (!fault.isInGuard() && step != calls.size()) {
    (out << "  It is frame #").decimal(step) << " below, of ";
    out.decimal(calls[step + 1].stackPointer - calls[step].stackPointer) << " bytes.\n";
  }
  writeCalls(out, images, calls);
}

void reportAside(void* argument) {
  auto& fault = *static_cast<OverflowFault*>(argument);
  inspect::Text out(&toStderr, nullptr);
  if (fault.isOverflow) {
    elect();
    writeHead(out, fault);
  }
  try {
    readAndWrite(out, fault);
  } catch (const std::bad_alloc&) {
    if (fault.isOverflow) {
      out << "  The system gives no memory to read the calls.\n";
    }
  }
  out.flush();
  if (fault.isOverflow) {
    dumpTraceBeforeEnd();
  }
}

}  // namespace

bool reportOverflow(const CurrentStack& stack, const siginfo_t& info, const ucontext_t& context) noexcept {
  OverflowFault fault{stack, reinterpret_cast<uintptr_t>(info.si_addr), registersOf(context), getpid(),
                      false};
  fault.isOverflow = fault.isInGuard();
  if (!fault.isInGuard()) {
    // Where there is no signal stack, its size is 0.
    stack_t signalStack{};
    if (fault.stackPointer() >= stack.base || sigaltstack(nullptr, &signalStack) != 0 ||
        fault.stackPointer() - reinterpret_cast<uintptr_t>(signalStack.ss_sp) < signalStack.ss_size) {
      return false;
    }
    fault.isOverflow = fault.stackPointer() >= stack.slabLow;
  }
  callAside(&reportAside, &fault);
  return fault.isOverflow;
}

}  // namespace weft::inline v0_1::detail
