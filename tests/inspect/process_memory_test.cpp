// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <new>
#include <vector>

#include "inspect/arena.h"
#include "inspect/process_memory.h"

// Reading memory that may be unmapped, and memory without malloc.

using weft::detail::inspect::Address;
using weft::detail::inspect::Arena;
using weft::detail::inspect::Memory;
using weft::detail::inspect::ProcessMemory;

namespace {

Address addressOf(const void* p) { return reinterpret_cast<uintptr_t>(p); }

// Two pages, with nothing between them. (A debugger's file of the memory reads what is protected.)
class Hole {
 public:
  Hole() : size_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* memory = mmap(nullptr, 3 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    begin_ = static_cast<char*>(memory);
    std::memset(begin_, 'a', size_);
    std::memset(begin_ + 2 * size_, 'c', size_);
    EXPECT_EQ(munmap(begin_ + size_, size_), 0);
  }
  ~Hole() {
    munmap(begin_, size_);
    munmap(begin_ + 2 * size_, size_);
  }
  Hole(const Hole&) = delete;
  Hole& operator=(const Hole&) = delete;

  Address page(size_t index) const { return addressOf(begin_ + index * size_); }
  size_t pageSize() const { return size_; }

 private:
  size_t size_;
  char* begin_;
};

// By the call for it, and by the file of the system that has no such call, or forbids it.
class ProcessMemoryTest : public testing::TestWithParam<ProcessMemory::Way> {};

INSTANTIATE_TEST_SUITE_P(Ways, ProcessMemoryTest,
                         testing::Values(ProcessMemory::Way::Call, ProcessMemory::Way::File));

TEST_P(ProcessMemoryTest, ReadsTheCallingProcess) {
  const ProcessMemory memory(getpid(), GetParam());
  const uint64_t value = 0x1122334455667788;
  uint64_t seen = 0;
  EXPECT_TRUE(memory.get(addressOf(&value), seen));
  EXPECT_EQ(seen, value);
  EXPECT_EQ(memory.lastError(), 0);
}

TEST_P(ProcessMemoryTest, WhatIsNotMappedCannotBeRead) {
  const ProcessMemory memory(getpid(), GetParam());
  const Hole hole;
  char text[8];
  EXPECT_FALSE(memory.read(hole.page(1), text, sizeof text));
  EXPECT_EQ(memory.lastError(), EFAULT);
  EXPECT_FALSE(memory.read(hole.page(1) - 4, text, sizeof text));
  EXPECT_FALSE(memory.read(0, text, sizeof text));
  EXPECT_FALSE(memory.read(~Address{0} - 4, text, sizeof text));
  EXPECT_TRUE(memory.read(hole.page(2), text, sizeof text));
}

TEST_P(ProcessMemoryTest, PiecesAfterOneThatFailsAreRead) {
  const ProcessMemory memory(getpid(), GetParam());
  const Hole hole;
  constexpr size_t kPieces = 300;
  std::vector<char> to(kPieces * 2);
  std::vector<Memory::Piece> pieces;
  for (size_t i = 0; i < kPieces; ++i) {
    pieces.push_back({hole.page(i % 3), &to[2 * i], 2, i % 2 == 0});
  }
  memory.readMany(pieces.data(), pieces.size());
  for (size_t i = 0; i < kPieces; ++i) {
    ASSERT_EQ(pieces[i].isRead, i % 3 != 1) << i;
    ASSERT_EQ(to[2 * i + 1], i % 3 == 0 ? 'a' : i % 3 == 2 ? 'c' : '\0') << i;
  }
}

TEST_P(ProcessMemoryTest, AProcessThatHasEndedCannotBeRead) {
  const ProcessMemory memory(0x7ffffff0, GetParam());
  int value = 0;
  EXPECT_FALSE(memory.get(addressOf(&value), value));
  EXPECT_EQ(memory.lastError(), ESRCH);
}

TEST(ArenaTest, MemoryIsAlignedAndItsOwn) {
  Arena arena;
  std::vector<char*> small;
  for (size_t i = 0; i < 20000; ++i) {
    const size_t alignment = size_t{1} << i % 8;
    auto* memory = static_cast<char*>(arena.allocate(100 + i % 7, alignment));
    ASSERT_EQ(addressOf(memory) % alignment, 0u);
    std::memset(memory, static_cast<int>(i % 100), 100 + i % 7);
    small.push_back(memory);
  }
  for (size_t i = 0; i < small.size(); ++i) {
    ASSERT_EQ(small[i][99 + i % 7], static_cast<char>(i % 100));
  }
}

TEST(ArenaTest, AVectorMayGrowFar) {
  Arena arena;
  std::pmr::vector<uint64_t> values(&arena);
  for (uint64_t i = 0; i < 1000000; ++i) {
    values.push_back(i);
  }
  EXPECT_EQ(values.back(), 999999u);
  EXPECT_EQ(values.front(), 0u);
}

TEST(ArenaTest, MemoryThatWasGivenLastIsUsedAgain) {
  Arena arena;
  void* first = arena.allocate(100, 8);
  arena.deallocate(first, 100, 8);
  EXPECT_EQ(arena.allocate(100, 8), first);
}

TEST(ArenaTest, LargeMemoryGoesBackWhenItIsFreed) {
  Arena arena;
  const ProcessMemory memory(getpid());
  constexpr size_t kLarge = 2 * Arena::kChunk;
  char byte = 0;
  void* large = arena.allocate(kLarge, 64);
  const Address middle = addressOf(large) + kLarge / 2;
  EXPECT_TRUE(memory.get(middle, byte));
  arena.deallocate(large, kLarge, 64);
  EXPECT_FALSE(memory.get(middle, byte));
}

TEST(ArenaTest, WithoutMemoryItThrows) {
  Arena arena;
  EXPECT_THROW(static_cast<void>(arena.allocate(size_t{1} << 60, 8)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(arena.allocate(~size_t{0} - 64, 8)), std::bad_alloc);
}

}  // namespace
