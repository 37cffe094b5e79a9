// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <alloca.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/sanitizers.h>

#include "inspect/arena.h"
#include "inspect/dwarf_expression.h"
#include "inspect/images.h"
#include "inspect/process_memory.h"
#include "inspect/unwinder.h"
#include "os/registers.h"
#include "test_fiber.h"

// Backtraces of suspended fibers, against those that the fibers made of themselves.

using weft::detail::inspect::Address;
using weft::detail::inspect::Arena;
using weft::detail::inspect::ByteReader;
using weft::detail::inspect::evaluate;
using weft::detail::inspect::Images;
using weft::detail::inspect::ProcessMemory;
using weft::detail::inspect::Registers;
using weft::detail::inspect::StackCopy;
using weft::detail::inspect::Unwinder;
using weft::tests::TestFiber;

namespace {

using Frames = std::vector<Address>;

Frames ownFrames() {
  Frames frames;
  frames.reserve(200);
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* to) {
        if (const Address pc = _Unwind_GetIP(context); pc != 0) {
          static_cast<Frames*>(to)->push_back(pc);
        }
        return _URC_NO_REASON;
      },
      &frames);
  return frames;
}

class UnwinderTest : public weft::tests::WithOSFibers {
 protected:
  UnwinderTest() : images_(&arena_), unwinder_(images_, &arena_), memory_(getpid()) {
    EXPECT_TRUE(images_.readMaps(getpid()));
  }

  static Address stackPointerOf(const TestFiber& fiber) { return reinterpret_cast<uintptr_t>(fiber.os.sp); }

  StackCopy copyOf(const TestFiber& fiber) {
    const Address begin = stackPointerOf(fiber);
    const Address end = reinterpret_cast<uintptr_t>(fiber.os.stackBase) + fiber.os.stackSize;
    bytes_.resize(end - begin);
    EXPECT_TRUE(memory_.read(begin, bytes_.data(), bytes_.size()));
    return {bytes_.data(), bytes_.size(), begin};
  }

  static Frames unwind(Unwinder& unwinder, const TestFiber& fiber, const StackCopy& stack,
                       size_t most = 200) {
    Frames frames(most);
    const Registers registers = unwinder.suspendedAt(stackPointerOf(fiber), stack);
    frames.resize(unwinder.unwind(registers, stack, frames.data(), most));
    return frames;
  }

  Frames unwind(const TestFiber& fiber, const StackCopy& stack, size_t most = 200) {
    return unwind(unwinder_, fiber, stack, most);
  }

  Frames unwind(const TestFiber& fiber) { return unwind(fiber, copyOf(fiber)); }

  // `body(pause)` calls pause() at some depth. Compares what is seen of it from outside with what pause()
  // sees. Returns: the functions from pause() outwards.
  std::vector<std::string> compare(const std::function<void(const std::function<void()>&)>& body) {
    Frames own;
    TestFiber fiber([&](TestFiber& f) {
      body([&] {
        own = ownFrames();
        f.suspend();
      });
    });
    fiber.resumeFrom(self);
    EXPECT_FALSE(fiber.ended());
    Frames seen = unwind(fiber);
    EXPECT_EQ(seen, unwind(fiber)) << "the second time, by the cache";
    finish(fiber);
    // The innermost frames differ: ownFrames(), and those of the switch. pause() is in both, at two places.
    size_t same = 0;
    while (same < std::min(own.size(), seen.size()) &&
           own[own.size() - 1 - same] == seen[seen.size() - 1 - same]) {
      ++same;
    }
    EXPECT_LT(own.size() - same, 4u);
    EXPECT_LT(seen.size() - same, 5u);
    std::vector<std::string> names;
    for (const Address pc : seen) {
      names.emplace_back(images_.place(pc - 1).function);
    }
    return names;
  }

  static bool has(const std::vector<std::string>& names, const char* part) {
    return std::any_of(names.begin(), names.end(),
                       [part](const std::string& name) { return name.find(part) != std::string::npos; });
  }

  Arena arena_;
  Images images_;
  Unwinder unwinder_;
  const ProcessMemory memory_;
  std::vector<char> bytes_;
};

using Pause = const std::function<void()>&;

[[gnu::noinline]] void inPlainFrames(int depth, Pause pause) {
  volatile int here = depth;
  if (depth == 0) {
    pause();
  } else {
    inPlainFrames(depth - 1, pause);
  }
  here = here + 1;
}

[[gnu::noinline]] void inFrameOfSize(size_t size, Pause pause) {
  auto* memory = static_cast<volatile char*>(alloca(size));
  memory[0] = 1;
  pause();
  memory[size - 1] = 2;
}

template <size_t Alignment>
[[gnu::noinline]] void inAlignedFrame(Pause pause) {
  struct alignas(Alignment) Local {
    volatile char byte[Alignment];
  } local;
  local.byte[0] = static_cast<char>(reinterpret_cast<uintptr_t>(&local) % Alignment);
  pause();
  local.byte[1] = local.byte[0];
}

// Aligned, and of a size that is not known at compile time: gcc keeps the caller's frame in a register.
[[gnu::noinline]] void inAlignedFrameOfSize(size_t size, Pause pause) {
  alignas(64) volatile char local[64];
  auto* memory = static_cast<volatile char*>(alloca(size));
  local[0] = 1;
  memory[0] = 1;
  inFrameOfSize(size, pause);
  local[1] = local[0];
  memory[size - 1] = 2;
}

[[gnu::noinline]] void inCatchBlock(Pause pause) {
  try {
    throw std::runtime_error("caught");
  } catch (const std::runtime_error&) {
    pause();
  }
}

[[gnu::noinline]] void inSort(Pause pause) {
  std::vector<int> values{3, 1, 2, 5, 4};
  bool isFirst = true;
  std::sort(values.begin(), values.end(), [&](int a, int b) {
    if (std::exchange(isFirst, false)) {
      pause();
    }
    return a < b;
  });
}

const std::function<void()>* pauseOfQsort = nullptr;

int compareAndPause(const void* a, const void* b) {
  if (pauseOfQsort != nullptr) {
    (*std::exchange(pauseOfQsort, nullptr))();
  }
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

// Code of a shared library between the program's.
[[gnu::noinline]] void inQsort(Pause pause) {
  int values[] = {3, 1, 2};
  pauseOfQsort = &pause;
  std::qsort(values, 3, sizeof values[0], &compareAndPause);
}

TEST_F(UnwinderTest, PlainFrames) {
  const auto names = compare([](Pause pause) { inPlainFrames(20, pause); });
  EXPECT_EQ(std::count_if(names.begin(), names.end(),
                          [](const std::string& name) { return name.find("inPlainFrames") != name.npos; }),
            21);
  EXPECT_EQ(names.back(), "weft_fiber_base");
}

TEST_F(UnwinderTest, FramesWhoseSizeIsNotKnownAtCompileTime) {
  EXPECT_TRUE(has(compare([](Pause pause) { inFrameOfSize(5000, pause); }), "inFrameOfSize"));
}

TEST_F(UnwinderTest, FramesWithAnAlignmentOfTheirOwn) {
  for (const size_t more : {1, 17, 100, 1000}) {
    const auto names = compare([more](Pause pause) {
      inFrameOfSize(more, [&] { inAlignedFrame<64>([&] { inAlignedFrame<1024>(pause); }); });
    });
    EXPECT_TRUE(has(names, "inAlignedFrameILm64E"));
    EXPECT_TRUE(has(names, "inAlignedFrameILm1024E"));
    EXPECT_TRUE(
        has(compare([more](Pause pause) { inAlignedFrameOfSize(more, pause); }), "inAlignedFrameOfSize"));
  }
}

TEST_F(UnwinderTest, FramesOfCatchBlocksAndOfTheStandardLibrary) {
  EXPECT_TRUE(has(compare(&inCatchBlock), "inCatchBlock"));
  EXPECT_TRUE(has(compare(&inSort), "inSort"));
}

TEST_F(UnwinderTest, FramesOfASharedLibrary) {
  const auto names = compare(&inQsort);
  EXPECT_TRUE(has(names, "compareAndPause"));
  EXPECT_TRUE(has(names, "inQsort"));
}

// Where calls leave their return address in a register, a function that calls nothing may have no frame, and
// has not saved it.
[[gnu::noinline]] int loadWithoutFrame(const volatile int* from) { return *from; }

[[gnu::noinline]] int callLoad(const volatile int* from) {
  const int value = loadWithoutFrame(from);
  asm volatile("");  // lest the call is the last thing, and leaves no frame
  return value + 1;
}

std::function<void(const ucontext_t&)> atFault;

TEST_F(UnwinderTest, AFunctionWithoutAFrameThatWasInterruptedLeadsToItsCallers) {
  const auto page = static_cast<size_t>(getpagesize());
  void* const memory = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Frames seen(200);
  TestFiber fiber([&](TestFiber&) { EXPECT_EQ(callLoad(static_cast<int*>(memory)), 1); });
  bytes_.reserve(fiber.os.stackSize);  // a handler of a signal allocates nothing
  atFault = [&](const ucontext_t& context) {
    Registers registers;
    for (size_t i = 0; i < Registers::kCount; ++i) {
      registers.set(i, weft::detail::processor::ofContext(context, i));
    }
    registers.isInterrupted = true;
    const Address begin = registers.values[Registers::kStackPointer];
    const Address end = reinterpret_cast<uintptr_t>(fiber.os.stackBase) + fiber.os.stackSize;
    bytes_.resize(end - begin);
    EXPECT_TRUE(memory_.read(begin, bytes_.data(), bytes_.size()));
    seen.resize(unwinder_.unwind(registers, {bytes_.data(), bytes_.size(), begin}, seen.data(), seen.size()));
    EXPECT_EQ(mprotect(memory, page, PROT_READ), 0);
  };
  struct sigaction action{};
  struct sigaction before{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t*, void* context) { atFault(*static_cast<ucontext_t*>(context)); };
  ASSERT_EQ(sigaction(SIGSEGV, &action, &before), 0);
  fiber.resumeFrom(self);
  finish(fiber);
  sigaction(SIGSEGV, &before, nullptr);
  munmap(memory, page);
  ASSERT_GT(seen.size(), 3u);
  EXPECT_NE(images_.place(seen[0]).function.find("loadWithoutFrame"), std::string_view::npos);
  EXPECT_NE(images_.place(seen[1] - 1).function.find("callLoad"), std::string_view::npos);
  EXPECT_EQ(images_.place(seen.back() - 1).function, "weft_fiber_base");
}

TEST_F(UnwinderTest, SignaturesAreTakenOffReturnAddresses) {
  constexpr Address kSignature = Address{0x5a} << 48;
  TestFiber fiber([](TestFiber& f) { inPlainFrames(20, [&] { f.suspend(); }); });
  fiber.resumeFrom(self);
  const StackCopy stack = copyOf(fiber);
  const Frames plain = unwind(fiber, stack);
  ASSERT_GT(plain.size(), 20u);
  for (size_t at = 0; at + sizeof(Address) <= bytes_.size(); at += sizeof(Address)) {
    Address word;
    std::memcpy(&word, bytes_.data() + at, sizeof word);
    word |= std::find(plain.begin(), plain.end(), word) != plain.end() ? kSignature : 0;
    std::memcpy(bytes_.data() + at, &word, sizeof word);
  }
  Unwinder knowing(images_, &arena_, Address{0x7f} << 48);
  Unwinder unknowing(images_, &arena_, 0);
  EXPECT_EQ(unwind(knowing, fiber, stack), plain);
  EXPECT_LE(unwind(unknowing, fiber, stack).size(), 1u);
  finish(fiber);
}

// The instruction tells that return addresses are signed from there on, or no longer.
[[gnu::noinline]] void inFrameThatSigns(Pause pause) {
  asm volatile(".cfi_escape 0x2d");
  pause();
  asm volatile(".cfi_escape 0x2d");
}

TEST_F(UnwinderTest, FramesWhoseCodeTellsThatItSigns) {
  TestFiber fiber([](TestFiber& f) { inFrameThatSigns([&] { f.suspend(); }); });
  fiber.resumeFrom(self);
  const Frames frames = unwind(fiber);
  finish(fiber);
  EXPECT_TRUE(std::any_of(frames.begin(), frames.end(), [this](Address pc) {
    return images_.place(pc - 1).function.find("inFrameThatSigns") != std::string_view::npos;
  }));
  EXPECT_EQ(images_.place(frames.back() - 1).function, "weft_fiber_base");
}

TEST_F(UnwinderTest, AFiberThatHasNotRunHasItsBaseAlone) {
  TestFiber fiber([](TestFiber&) {});
  const Frames frames = unwind(fiber);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(images_.place(frames[0] - 1).function, "weft_fiber_base");
  finish(fiber);
}

TEST_F(UnwinderTest, ABacktraceEndsWhereTheCopyDoes) {
  TestFiber fiber([](TestFiber& f) { inPlainFrames(20, [&] { f.suspend(); }); });
  fiber.resumeFrom(self);
  const StackCopy whole = copyOf(fiber);
  const Frames all = unwind(fiber, whole);
  ASSERT_GT(all.size(), 20u);
  size_t longest = 0;
  for (size_t size = 0; size <= whole.size; ++size) {
    const std::vector<char> bytes(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(size));
    const Frames some = unwind(fiber, {bytes.data(), size, whole.begin});
    ASSERT_GE(some.size(), longest);
    ASSERT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
    longest = some.size();
  }
  EXPECT_EQ(longest, all.size());
  EXPECT_EQ(unwind(fiber, whole, 7), Frames(all.begin(), all.begin() + 7));
  finish(fiber);
}

TEST_F(UnwinderTest, TheLowestSavedPlaceIsWhereACopyOfAFrameMayBegin) {
  TestFiber fiber([](TestFiber& f) {
    inPlainFrames(3, [&] { inFrameOfSize(5000, [&] { inAlignedFrame<1024>([&] { f.suspend(); }); }); });
  });
  fiber.resumeFrom(self);
  const StackCopy whole = copyOf(fiber);
  const auto from = [&](Address begin) {
    const size_t skipped = begin - whole.begin;
    return StackCopy{bytes_.data() + skipped, whole.size - skipped, begin};
  };
  Registers registers = unwinder_.suspendedAt(stackPointerOf(fiber), whole);
  int numFrames = 0;
  for (Registers caller = registers; unwinder_.toCaller(caller, whole); registers = caller, ++numFrames) {
    const Address lowest = unwinder_.lowestSaved(registers, whole);
    Registers again = registers;
    EXPECT_TRUE(unwinder_.toCaller(again, from(lowest))) << images_.place(registers.pc() - 1).function;
    EXPECT_EQ(again.pc(), caller.pc());
    again = registers;
    EXPECT_FALSE(unwinder_.toCaller(again, from(lowest + 1))) << images_.place(registers.pc() - 1).function;
  }
  EXPECT_GT(numFrames, 6);
  finish(fiber);
}

// gcc keeps where such a frame begins near that end. The copy has the other end alone at first.
TEST_F(UnwinderTest, ACopyOfALargeAlignedFrameIsFoundInTwoSteps) {
  constexpr size_t kEnough = 512;  // for the frames' ends, but for none of their middles
  TestFiber fiber([](TestFiber& f) { inAlignedFrameOfSize(5000, [&] { f.suspend(); }); });
  fiber.resumeFrom(self);
  const StackCopy whole = copyOf(fiber);
  const auto from = [&](Address begin) {
    const size_t skipped = begin - whole.begin;
    return StackCopy{bytes_.data() + skipped, std::min(whole.size - skipped, kEnough), begin};
  };
  Registers registers = unwinder_.suspendedAt(stackPointerOf(fiber), whole);
  for (Registers caller = registers; unwinder_.toCaller(caller, whole); registers = caller) {
    StackCopy copy = from(registers.values[Registers::kStackPointer]);
    for (int i = 0; i < 2; ++i) {
      copy = from(unwinder_.lowestSaved(registers, copy));
    }
    Registers again = registers;
    EXPECT_TRUE(unwinder_.toCaller(again, copy)) << images_.place(registers.pc() - 1).function;
    EXPECT_EQ(again.pc(), caller.pc());
  }
  EXPECT_TRUE(unwinder_.isOutermost(registers));
  finish(fiber);
}

TEST_F(UnwinderTest, AStackThatWasOverwrittenGivesNoFault) {
  TestFiber fiber([](TestFiber& f) { inAlignedFrameOfSize(100, [&] { f.suspend(); }); });
  fiber.resumeFrom(self);
  const StackCopy stack = copyOf(fiber);
  const std::vector<char> whole = bytes_;
  uint32_t random = 1;
  for (int i = 0; i < 2000; ++i) {
    bytes_ = whole;
    for (int j = 0; j < 20; ++j) {
      random = random * 1664525 + 1013904223;
      bytes_[(random >> 8) % bytes_.size()] ^= static_cast<char>(1u << random % 8);
    }
    EXPECT_LE(unwind(fiber, {bytes_.data(), bytes_.size(), stack.begin}).size(), 200u);
  }
  finish(fiber);
}

// Operations with a register: its value plus an operand. The second has the register's number before that.
constexpr unsigned char kSpPlus = 0x70 + Registers::kStackPointer;  // breg
constexpr unsigned char kRegisterPlus = 0x92;                       // bregx

bool evaluates(std::initializer_list<unsigned char> operations, Address& result) {
  static constexpr uint64_t kStack[] = {11, 22, 33};
  Registers registers;
  registers.set(Registers::kStackPointer, 0x1000);
  registers.set(Registers::kPc, 0x4449);
  const std::vector<unsigned char> bytes(operations);  // of its own size, for AddressSanitizer
  const Address cfa = 0x1018;
  return evaluate(ByteReader(bytes.data(), bytes.size(), 0), registers, {kStack, sizeof kStack, 0x1000}, &cfa,
                  result);
}

Address valueOf(std::initializer_list<unsigned char> operations) {
  Address result = 0;
  EXPECT_TRUE(evaluates(operations, result));
  return result;
}

TEST_F(UnwinderTest, ExpressionsOfCallFrameInformation) {
  EXPECT_EQ(valueOf({}), 0x1018u);                          // the CFA
  EXPECT_EQ(valueOf({kSpPlus, 0x08, 0x06}), 22u);           // 8, deref
  EXPECT_EQ(valueOf({kSpPlus, 0x78}), 0xff8u);              // -8
  EXPECT_EQ(valueOf({0x3c, 0x09, 0xff, 0x22}), 11u);        // lit12, const1s -1, plus
  EXPECT_EQ(valueOf({0x3c, 0x23, 0x80, 0x01}), 140u);       // lit12, plus_uconst 128
  EXPECT_EQ(valueOf({0x33, 0x32, 0x24, 0x35, 0x21}), 13u);  // lit3, lit2, shl, lit5, or
  constexpr bool kIsBig = std::endian::native == std::endian::big;
  EXPECT_EQ(valueOf({0x33, 0x28, !kIsBig, kIsBig, 0x96, 0x37}), 7u);  // lit3, bra over a nop, lit7
  // What linkers write for .plt of x86-64: sp + 8 + ((pc & 15) >= 11) * 8.
  EXPECT_EQ(
      valueOf({kSpPlus, 0x08, kRegisterPlus, Registers::kPc, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}),
      0x1008u);
}

TEST_F(UnwinderTest, ExpressionsThatAreWrongAreRefused) {
  Address result = 0;
  EXPECT_FALSE(evaluates({0x22}, result));                 // plus, of one value
  EXPECT_FALSE(evaluates({0x13}, result));                 // drop: nothing is left
  EXPECT_FALSE(evaluates({0x70, 0x00}, result));           // breg0 is not known
  EXPECT_FALSE(evaluates({kSpPlus, 0x20, 0x06}, result));  // outside the copy
  EXPECT_EQ(result, 0x1020u) << "what is missing";
  EXPECT_FALSE(evaluates({0x0e, 0x01}, result));              // a constant that is cut
  EXPECT_FALSE(evaluates({0xff}, result));                    // not known
  EXPECT_FALSE(evaluates({0x2f, 0xfd, 0xff}, result));        // jumps to itself
  EXPECT_FALSE(evaluates({0x30, 0x2f, 0xfc, 0xff}, result));  // fills the stack
  EXPECT_FALSE(evaluates({0x31, 0x30, 0x1b}, result));        // a division by 0
}

}  // namespace
