// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <ostream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <weft/future.h>
#include <weft/sanitizers.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "in_task.h"
#include "surroundings.h"
#include "with_scheduler.h"

// What comes of operator new where it throws: for each function that allocates, its first call of operator
// new fails, then its second, and so on, until it needs no more. The function throws std::bad_alloc or
// succeeds. Afterwards what it works on is used again, and destroyed. Nothing may be left allocated, and no
// descriptor open.
//
// A file has a table of such functions. This header is for one file of a program: it replaces operator new.
//
// These end the program with a message, and are in no table: a scheduler's Config::allocator that fails
// (allocator_failure_test), Allocator::Default and the pools of nodes and stacks without memory
// (system_failure_test).
namespace weft::tests {

// How many calls of operator new of this thread succeed until one fails; below 0: none fails.
inline constinit thread_local int numUntilFailure = -1;
inline constinit std::atomic<int64_t> numLive{0};

// Not inlined: then the compiler leaves no pair of new and delete out.
[[gnu::noinline]] inline void* allocate(size_t size, size_t alignment) noexcept {
  if (numUntilFailure >= 0 && --numUntilFailure < 0) {
    return nullptr;
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, alignof(std::max_align_t)), std::max<size_t>(size, 1)) !=
      0) {
    return nullptr;
  }
  ++numLive;
  return memory;
}

inline void* allocateOrThrow(size_t size, size_t alignment) {
  void* const memory = allocate(size, alignment);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

[[gnu::noinline]] inline void release(void* memory) noexcept {
  if (memory != nullptr) {
    --numLive;
    std::free(memory);
  }
}

}  // namespace weft::tests

#if !WEFT_THREAD_SANITIZER_ENABLED
// Instead of the standard library's, whose other forms call these. AddressSanitizer's do not; ThreadSanitizer
// keeps its own.
void* operator new(size_t size) { return weft::tests::allocateOrThrow(size, 1); }
void* operator new[](size_t size) { return weft::tests::allocateOrThrow(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return weft::tests::allocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return weft::tests::allocate(size, 1); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return weft::tests::allocate(size, 1); }
void operator delete(void* memory) noexcept { weft::tests::release(memory); }
void operator delete[](void* memory) noexcept { weft::tests::release(memory); }
void operator delete(void* memory, size_t) noexcept { weft::tests::release(memory); }
void operator delete[](void* memory, size_t) noexcept { weft::tests::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { weft::tests::release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { weft::tests::release(memory); }
#endif

namespace weft::tests {

// Takes its memory from operator new, and so fails as that does.
class NewAllocator final : public Allocator {
 public:
  Allocation allocate(const Allocation::Request& request) override {
    return {allocateOrThrow(request.size, request.alignment), request};
  }
  void free(const Allocation& allocation) override { release(allocation.ptr); }
};

// One use of an operation, in which one call of operator new may fail.
class Attempt {
 public:
  static constexpr int kNever = 1'000'000;

  explicit Attempt(int failing) : failing_(failing) {}

  // Calls f(), in which the call fails. To be called once.
  // Returns: whether f() has succeeded.
  template <class F>
  bool operator()(F&& f) {
    numUntilFailure = failing_;
    bool isDone = false;
    try {
      std::forward<F>(f)();
      isDone = true;
    } catch (const std::bad_alloc&) {
    }
    hasFailed_ = numUntilFailure < 0;
    numUntilFailure = -1;
    EXPECT_TRUE(isDone || hasFailed_) << "std::bad_alloc without a failure";
    return isDone;
  }

  bool hasFailed() const { return hasFailed_; }
  Allocator* allocator() { return &allocator_; }

 private:
  const int failing_;
  bool hasFailed_ = false;
  NewAllocator allocator_;
};

// Too large for a pooled node.
using Large = std::array<char, 300>;
// Too long for what a string holds itself.
inline std::string longText() { return std::string(100, 'x'); }

// A function that counts its calls. It is too large for a pooled node, and its copies allocate too.
template <class Count>
auto counting(Count& count) {
  return [&count, text = longText(), large = Large()] {
    count += text.empty() || large.empty() ? 0 : 1;
    return static_cast<int>(count);
  };
}

// What async(where..., f) makes of a function.
template <class... Where>
void asyncOn(Attempt& attempt, Where&... where) {
  std::atomic<int> numRun{0};
  const auto function = counting(numRun);
  const auto begin = [&] { return async(where..., function); };
  Future<int> future;
  const int expected = attempt([&] { future = begin(); }) ? 2 : 1;
  EXPECT_EQ(future.valid(), expected == 2);
  if (future.valid()) {
    EXPECT_EQ(future.get(), 1);
  }
  EXPECT_EQ(begin().get(), expected);
}

struct AllocatingOperation {
  const char* name;
  std::function<void(Attempt&)> use;
  bool isUnaware = false;  // it never calls operator new
};

inline std::ostream& operator<<(std::ostream& stream, const AllocatingOperation& value) {
  return stream << value.name;
}

inline std::string nameOf(const ::testing::TestParamInfo<AllocatingOperation>& info) {
  return info.param.name;
}

// Returns: how many descriptors are open. The wake eventfds of parkers do not count: they stay for the next
// thread.
inline int64_t numDescriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return std::count_if(begin(open), end(open), [](const auto& entry) {
    std::error_code closed;
    return read_symlink(entry.path(), closed) != "anon_inode:[eventfd]";
  });
}

// Returns: whether count() is no more than before. A thread that has ended its work may be about to give
// memory back, or a descriptor.
template <class Count>
bool comesBackTo(int64_t before, const Count& count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (count() > before && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  return count() <= before;
}

// Runs each row of a file's table.
class FailingAllocations : public ::testing::TestWithParam<AllocatingOperation> {
 protected:
  void SetUp() override {
    if (!mayStartThreads(2)) {
      GTEST_SKIP() << "the system refuses threads";
    }
    if (WEFT_THREAD_SANITIZER_ENABLED != 0) {
      GTEST_SKIP() << "operator new is ThreadSanitizer's";
    }
  }

  static void failOutsideOfTasks() { failEach(GetParam().use); }
  static void failInATask() {
    failEach([](Attempt& attempt) { inTask([&] { GetParam().use(attempt); }); });
  }

 private:
  // Lets each call of operator new fail, one after the other. `use(attempt)` uses the operation.
  template <class Use>
  static void failEach(const Use& use) {
    failEach(use, 0);
    failEach(use, 1);
  }
  template <class Use>
  static void failEach(const Use& use, int numWorkers) {
    SCOPED_TRACE(std::to_string(numWorkers) + " workers");
    Scheduler scheduler(smallConfig(numWorkers));
    Scheduler::Binding bound(scheduler);
    {
      // What the library keeps for ever is made by the first use.
      Attempt attempt(Attempt::kNever);
      use(attempt);
    }
    for (int failing = 0; !HasFailure(); ++failing) {
      SCOPED_TRACE(failing);
      const int64_t numDescriptorsBefore = numDescriptors();
      const int64_t numLiveBefore = numLive;
      Attempt attempt(failing);
      use(attempt);
      ASSERT_TRUE(comesBackTo(numLiveBefore, [] { return numLive.load(); }))
          << numLive - numLiveBefore << " allocations were leaked";
      ASSERT_TRUE(comesBackTo(numDescriptorsBefore, &numDescriptors))
          << numDescriptors() - numDescriptorsBefore << " descriptors were left open";
      if (!attempt.hasFailed()) {
        EXPECT_NE(failing > 0, GetParam().isUnaware) << "whether operator new is called";
        return;
      }
    }
  }
};

}  // namespace weft::tests

// A row of such a table.
#define WEFT_ALLOCATING(function) \
  ::weft::tests::AllocatingOperation { #function, &function }
