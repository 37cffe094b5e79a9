// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/stack_use.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <weft/memory.h>
#include <weft/sanitizers.h>

#include <cstring>
#include <functional>

#include "os/osfiber.h"
#include "os/registers.h"
#include "os/stack_pool.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr size_t kStackSize = size_t{256} * 1024;

TEST(LowestTouchedTest, IsThePageOfTheFirstTouch) {
  const size_t page = pageSize();
  void* memory = mmap(nullptr, 200 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t end = begin + 200 * page;
  madvise(memory, 200 * page, MADV_NOHUGEPAGE);
  EXPECT_EQ(lowestTouched(begin, end), end);
  for (const size_t touched : {size_t{199}, size_t{150}, size_t{64}, size_t{63}, size_t{0}}) {
    *reinterpret_cast<volatile char*>(begin + touched * page + 5) = 0;
    EXPECT_EQ(lowestTouched(begin, end), begin + touched * page);
  }
  EXPECT_EQ(lowestTouched(begin + page, end), begin + 63 * page);
  munmap(memory, 200 * page);
}

// Runs functions on a stack of the pool, one after another.
class StackPaintTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (WEFT_ADDRESS_SANITIZER_ENABLED) {
      GTEST_SKIP() << "locals may lie elsewhere";
    }
    stack_ = StackPool::forSize(kStackSize).acquire();
    ASSERT_TRUE(stack_);
    // Nothing is left of earlier use.
    ASSERT_EQ(madvise(stack_.base, stack_.size, MADV_DONTNEED), 0);
    thread_.initThread();
    fiber_.init(
        stack_.base, stack_.size, [](void* self) { static_cast<StackPaintTest*>(self)->run(); }, this);
  }
  void TearDown() override {
    if (stack_) {
      fiber_.destroy();
      StackPool::forSize(kStackSize).release(stack_);
    }
  }

  // Returns: how deep function() got, counted from the stack's top.
  size_t depthOf(const std::function<void()>& function) {
    function_ = &function;
    OSFiber::switchTo(thread_, fiber_, OSFiber::exceptionGlobals());
    return depth_;
  }

 private:
  void run() {
    for (;;) {
      const StackPaint paint(stack_.bottom());
      (*function_)();
      depth_ = stack_.top() - paint.lowestUsed();
      OSFiber::switchTo(fiber_, thread_, OSFiber::exceptionGlobals());
    }
  }

  Stack stack_;
  OSFiber thread_, fiber_;
  const std::function<void()>* function_ = nullptr;
  size_t depth_ = 0;
};

template <size_t kBytes>
[[gnu::noinline]] void use(int value) {
  char local[kBytes];
  std::memset(local, value, kBytes);
  asm volatile("" : : "r"(local) : "memory");
}

constexpr size_t kSlack = 2048;  // what the measuring and the calls need

TEST_F(StackPaintTest, ADepthIsThatOfWhatRan) {
  const size_t little = depthOf([] {});
  EXPECT_LT(little, kSlack);
  for (int i = 0; i < 3; ++i) {
    const size_t most = depthOf([] { use<100'000>(1); });
    EXPECT_GE(most, 100'000u);
    EXPECT_LT(most, 100'000 + kSlack);
    const size_t less = depthOf([] { use<30'000>(2); });
    EXPECT_GE(less, 30'000u);
    EXPECT_LT(less, 30'000 + kSlack);
    EXPECT_LT(depthOf([] {}), kSlack);
  }
  // Deeper than before, so that new pages are touched.
  const size_t deeper = depthOf([] { use<200'000>(3); });
  EXPECT_GE(deeper, 200'000u);
  EXPECT_LT(deeper, 200'000 + kSlack);
}

TEST_F(StackPaintTest, ZerosCountAsUse) {
  for (int i = 0; i < 2; ++i) {
    const size_t depth = depthOf([] { use<100'000>(0); });
    EXPECT_GE(depth, 100'000u);
    EXPECT_LT(depth, 100'000 + kSlack + pageSize());
    EXPECT_LT(depthOf([] {}), kSlack);
  }
}

// Some systems' gcc touches each page of a large frame by default.
#if defined(__GNUC__) && !defined(__clang__)
[[gnu::optimize("no-stack-clash-protection")]]
#endif
[[gnu::noinline]] void
touchTheMiddle() {
  char local[100'000];
  local[sizeof local / 2] = 1;
  asm volatile("" : : "r"(local) : "memory");
}

TEST_F(StackPaintTest, AnArrayOfWhichLittleIsTouchedCountsToItsLowestTouchedWord) {
  const size_t depth = depthOf([] { touchTheMiddle(); });
  EXPECT_GE(depth, 50'000u);
  // Below the array lie calls of ThreadSanitizer, and on powerpc64 a word that each frame has at its end.
  if (!WEFT_THREAD_SANITIZER_ENABLED && processor::kElfMachine != EM_PPC64) {
    EXPECT_LT(depth, 50'000 + kSlack);
  }
}

}  // namespace
}  // namespace weft::inline v0_1::detail
