// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Stacks as on a system whose pages have 16 or 64 KiB.

#include "os/fake_page_size.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weft/memory.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "os/stack_pool.h"

namespace page_size_test {

using weft::detail::GuardKind;
using weft::detail::setPageSize;
using weft::detail::setStackGuards;
using weft::detail::Stack;
using weft::detail::stackGuardKind;
using weft::detail::StackPool;
using weft::detail::StackSystem;
using weft::detail::stackSystem;

constexpr size_t kKiB = 1024;
constexpr size_t kLargestPage = 64 * kKiB;

// The system with larger pages: it maps at their multiples, and asks that each call is for whole pages.
class LargePages {
 public:
  explicit LargePages(size_t page) : before_(stackSystem) {
    size = page;
    numCalls = 0;
    setPageSize(page);
    stackSystem.map = [](size_t bytes) { return mapAligned(bytes); };
    stackSystem.unmap = [](void* memory, size_t bytes) {
      check(memory, bytes);
      return munmap(memory, bytes);
    };
    stackSystem.advise = [](void* memory, size_t bytes, int advice) {
      check(memory, bytes);
      return madvise(memory, bytes, advice);
    };
    stackSystem.protect = [](void* memory, size_t bytes, int protection) {
      check(memory, bytes);
      return mprotect(memory, bytes, protection);
    };
    stackSystem.adviseMany = [](const iovec* pieces, size_t count, int) {
      size_t sum = 0;
      for (size_t i = 0; i < count; ++i) {
        check(pieces[i].iov_base, pieces[i].iov_len);
        sum += pieces[i].iov_len;
      }
      return static_cast<ssize_t>(sum);
    };
  }
  ~LargePages() {
    stackSystem = before_;
    setPageSize(0);
  }
  LargePages(const LargePages&) = delete;
  LargePages& operator=(const LargePages&) = delete;

  static inline size_t size;
  static inline int numCalls;

 private:
  static void check(const void* memory, size_t bytes) {
    ++numCalls;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % size, 0u);
    EXPECT_EQ(bytes % size, 0u);
    EXPECT_NE(bytes, 0u);
  }
  static void* mapAligned(size_t bytes) {
    EXPECT_EQ(bytes % size, 0u);
    void* const all = mmap(nullptr, bytes + size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) {
      return nullptr;
    }
    auto* const begin = static_cast<char*>(all);
    const size_t head = (size - reinterpret_cast<uintptr_t>(all) % size) % size;
    if (head != 0) {
      munmap(begin, head);
    }
    munmap(begin + head + bytes, size - head);
    return begin + head;
  }

  const StackSystem before_;
};

// Whether the system can read there.
bool isReadable(uintptr_t place) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool result = write(ends[1], reinterpret_cast<const void*>(place), 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return result;
}

// Of whole pages of each size. A pool of that size is used with one size of pages only.
size_t ownSize() {
  static size_t count = 0;
  return 48 * kLargestPage + kLargestPage * ++count;
}

std::vector<Stack> acquireMany(StackPool& pool, size_t count) {
  std::vector<Stack> stacks;
  for (size_t i = 0; i < count; ++i) {
    stacks.push_back(pool.acquire());
    EXPECT_TRUE(stacks.back());
  }
  return stacks;
}

class PageSizeTest : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (page() < static_cast<size_t>(getpagesize())) {
      GTEST_SKIP() << "the system's pages are larger";
    }
  }
  ~PageSizeTest() override { setStackGuards(guardsBefore_, 0); }

  static size_t page() { return GetParam(); }

  const LargePages pages_{page()};

 private:
  const GuardKind guardsBefore_ = stackGuardKind();
};

TEST_P(PageSizeTest, StacksHaveWholePages) {
  const size_t size = ownSize();
  EXPECT_EQ(weft::pageSize(), page());
  EXPECT_EQ(StackPool::forSize(size).stackSize(), size);
  EXPECT_EQ(&StackPool::forSize(size - 1), &StackPool::forSize(size));
  EXPECT_EQ(&StackPool::forSize(size - page() + 1), &StackPool::forSize(size));
  EXPECT_EQ(StackPool::forSize(size - page()).stackSize(), size - page());
}

TEST_P(PageSizeTest, AGuardHasAnOddNumberOfPagesAndMoreThan64KiB) {
  const size_t guard = StackPool::guardSize();
  EXPECT_EQ(guard % page(), 0u);
  EXPECT_EQ(guard / page() % 2, 1u);
  EXPECT_GE(guard, 64 * kKiB + page());
  EXPECT_LE(guard, 64 * kKiB + 2 * page());
}

TEST_P(PageSizeTest, StacksAreGuardedAndWritableFromBottomToTop) {
  setStackGuards(GuardKind::Protect, 1000);
  StackPool& pool = StackPool::forSize(ownSize());
  const std::vector<Stack> stacks = acquireMany(pool, 40);
  for (const Stack& stack : stacks) {
    EXPECT_EQ(stack.bottom() % page(), 0u);
    std::memset(stack.base, 1, 1);
    std::memset(reinterpret_cast<void*>(stack.top() - 1), 1, 1);
    EXPECT_FALSE(isReadable(stack.bottom() - 1));
    EXPECT_FALSE(isReadable(stack.bottom() - StackPool::guardSize()));
  }
  EXPECT_EQ(pool.stats().numUnguarded, 0u);
  pool.releaseBatch(stacks.data(), 40);
  pool.trim(0);
}

TEST_P(PageSizeTest, APoolAsksTheSystemForWholePages) {
  for (const GuardKind kind : {GuardKind::Install, GuardKind::Protect}) {
    setStackGuards(kind, 1000);
    StackPool& pool = StackPool::forSize(ownSize());
    const std::vector<Stack> stacks = acquireMany(pool, 60);
    pool.releaseBatch(stacks.data(), 59);
    pool.trim(10);  // some become cold
    pool.release(stacks[59]);
    pool.trim(0);  // slabs are unmapped
    EXPECT_EQ(pool.stats().numSlabs, 0u);
    EXPECT_GE(LargePages::numCalls, 60);
    LargePages::numCalls = 0;
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, PageSizeTest, testing::Values(16 * kKiB, 64 * kKiB),
                         [](const auto& tested) { return std::to_string(tested.param / kKiB) + "KiB"; });

}  // namespace page_size_test
