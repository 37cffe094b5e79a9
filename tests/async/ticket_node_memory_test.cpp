// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/ticket.h>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <weft/sanitizers.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

// ThreadSanitizer has operators of its own, which a program cannot replace.
#if !WEFT_THREAD_SANITIZER_ENABLED
// An operator new of the program that aligns memory to what is asked for, and to no more.
namespace {

constexpr size_t kShift = 8;

bool isShifted(std::align_val_t alignment) { return static_cast<size_t>(alignment) <= kShift; }

void* allocate(size_t size, std::align_val_t alignment) {
  const auto bytes = static_cast<size_t>(alignment);
  void* memory = isShifted(alignment) ? std::malloc(size + kShift)
                                      : std::aligned_alloc(bytes, (size + bytes - 1) / bytes * bytes);
  return isShifted(alignment) ? static_cast<std::byte*>(memory) + kShift : memory;
}

void giveBack(void* memory, std::align_val_t alignment) {
  std::free(isShifted(alignment) && memory != nullptr ? static_cast<std::byte*>(memory) - kShift : memory);
}

}  // namespace

void* operator new(size_t size, std::align_val_t alignment) { return allocate(size, alignment); }
void operator delete(void* memory, std::align_val_t alignment) noexcept { giveBack(memory, alignment); }
void operator delete(void* memory, size_t, std::align_val_t alignment) noexcept {
  giveBack(memory, alignment);
}
#endif

namespace weft {
namespace {

TEST(TicketNodeMemoryTest, AFunctionThatFitsNoPooledNodeIsCalled) {
  Scheduler scheduler{Scheduler::Config()};
  const Scheduler::Binding bound(scheduler);
  const std::array<char, 200> large{'x'};
  for (int round = 0; round < 10; ++round) {
    Ticket::Queue queue;
    const Ticket first = queue.take(), second = queue.take();
    const WaitGroup called(2);
    for (int i = 0; i < 2; ++i) {
      second.onCall([large, called] {
        EXPECT_EQ(large[0], 'x');
        called.done();
      });
    }
    first.done();
    called.wait();
  }
}

}  // namespace
}  // namespace weft
