// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "os/fake_page_size.h"
#include "os/system_page_size.h"
#include "weft/debug.h"
#include "weft/sanitizers.h"

#if WEFT_ADDRESS_SANITIZER_ENABLED
#include <sanitizer/lsan_interface.h>
#endif

namespace weft::inline v0_1 {
namespace {

[[noreturn]] void outOfMemory(const Allocation::Request& request, int error) {
  WEFT_FATAL(
      "out of memory: the system has no %zu bytes%s (%s). "
      "Lower the number of tasks in flight, "
      "or raise the limits of the process (ulimit -v, its cgroup, vm.max_map_count).",
      request.size, request.useGuards ? " with guard pages" : "", std::strerror(error));
}

size_t alignmentOf(const Allocation::Request& request) {
  WEFT_ASSERT(request.alignment == 0 || std::has_single_bit(request.alignment),
              "Allocator: the alignment %zu is no power of two.", request.alignment);
  return std::max(request.alignment, alignof(std::max_align_t));
}

void* allocatePlain(const Allocation::Request& request) {
  void* memory = nullptr;
  // Each allocation of zero bytes has an address of its own, as with operator new.
  const int error = ::posix_memalign(&memory, alignmentOf(request), std::max<size_t>(request.size, 1));
  if (error != 0) {
    outOfMemory(request, error);
  }
  return memory;
}

size_t guardedBytes(const Allocation::Request& request) {
  return alignUp(std::max<size_t>(request.size, 1), pageSize());
}

// A mapping of a guard page, the memory from its first byte on, and another guard page.
void* allocateGuarded(const Allocation::Request& request) {
  const size_t page = pageSize();
  const size_t alignment = std::max(alignmentOf(request), page);
  const size_t slack = alignment - page;
  if (request.size > PTRDIFF_MAX - 3 * page - slack) {
    outOfMemory(request, ENOMEM);
  }
  const size_t bytes = guardedBytes(request);
  const size_t mapped = bytes + 2 * page + slack;
  void* mapping = ::mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    outOfMemory(request, errno);
  }
  const uintptr_t start = reinterpret_cast<uintptr_t>(mapping);
  const uintptr_t memory = alignUp<uintptr_t>(start + page, alignment);
  const size_t head = memory - page - start;
  if (head > 0) {
    ::munmap(mapping, head);
  }
  if (slack > head) {
    ::munmap(reinterpret_cast<void*>(memory + bytes + page), slack - head);
  }
  void* const result = reinterpret_cast<void*>(memory);
  if (::mprotect(result, bytes, PROT_READ | PROT_WRITE) != 0) {
    outOfMemory(request, errno);
  }
  // Leak checkers do not look into mappings by themselves.
  WEFT_ADDRESS_SANITIZER_ONLY(__lsan_register_root_region(result, bytes));
  return result;
}

void freeGuarded(const Allocation& allocation) {
  const size_t page = pageSize();
  const size_t bytes = guardedBytes(allocation.request);
  WEFT_ADDRESS_SANITIZER_ONLY(__lsan_unregister_root_region(allocation.ptr, bytes));
  const int result = ::munmap(static_cast<char*>(allocation.ptr) - page, bytes + 2 * page);
  WEFT_ASSERT(result == 0,
              "Allocator: %p with guards cannot be unmapped (%s). Free what allocate() returned.",
              allocation.ptr, std::strerror(errno));
}

class SystemAllocator final : public Allocator {
 public:
  constexpr SystemAllocator() noexcept = default;

  Allocation allocate(const Allocation::Request& request) override {
    return {request.useGuards ? allocateGuarded(request) : allocatePlain(request), request};
  }

  void free(const Allocation& allocation) override {
    if (allocation.ptr == nullptr) {
      return;
    }
    if (allocation.request.useGuards) {
      freeGuarded(allocation);
    } else {
      std::free(allocation.ptr);
    }
  }
};

// Never destroyed: static objects of the program may still free.
union Immortal {
  constexpr Immortal() noexcept : allocator() {}
  ~Immortal() {}
  SystemAllocator allocator;
};

constinit Immortal immortal;

// 0: not asked for yet. relaxed: each thread that finds 0 is told the same by the system.
constinit std::atomic<size_t> knownPageSize{0};

template <class Stats, class Usage>
size_t sumOf(const Stats& byUsage, size_t Usage::* field) {
  size_t sum = 0;
  for (const Usage& usage : byUsage) {
    sum += usage.*field;
  }
  return sum;
}

}  // namespace

constinit Allocator* Allocator::Default = &immortal.allocator;

Allocator::~Allocator() = default;

size_t pageSize() noexcept {
  size_t size = knownPageSize.load(std::memory_order_relaxed);
  if (size == 0) [[unlikely]] {
    size = detail::systemPageSize();
    knownPageSize.store(size, std::memory_order_relaxed);
  }
  return size;
}

TrackedAllocator::TrackedAllocator(Allocator* inner) noexcept
    : inner_(detail::assertAllocator(inner, "TrackedAllocator")) {}

TrackedAllocator::~TrackedAllocator() = default;

Allocation TrackedAllocator::allocate(const Allocation::Request& request) {
  const auto usage = static_cast<size_t>(request.usage);
  WEFT_ASSERT(usage < counters_.size(), "TrackedAllocator: there is no usage %zu.", usage);
  Allocation allocation = inner_->allocate(request);
  // relaxed, both: statistics.
  counters_[usage].count.fetch_add(1, std::memory_order_relaxed);
  counters_[usage].bytes.fetch_add(request.size, std::memory_order_relaxed);
  return allocation;
}

void TrackedAllocator::free(const Allocation& allocation) {
  if (allocation.ptr == nullptr) {
    return;
  }
  const auto usage = static_cast<size_t>(allocation.request.usage);
  const size_t size = allocation.request.size;
  WEFT_ASSERT(usage < counters_.size(), "TrackedAllocator: there is no usage %zu.", usage);
  // relaxed, both: statistics; handing memory to another thread to free orders the two counts as well.
  const size_t count = counters_[usage].count.fetch_sub(1, std::memory_order_relaxed);
  const size_t bytes = counters_[usage].bytes.fetch_sub(size, std::memory_order_relaxed);
  WEFT_ASSERT(count > 0 && bytes >= size,
              "TrackedAllocator: %p (%zu bytes, usage %zu) was not allocated here, "
              "or with another size or usage. "
              "Free each allocation once, with the request that it was made with.",
              allocation.ptr, size, usage);
  inner_->free(allocation);
}

TrackedAllocator::Stats TrackedAllocator::stats() const noexcept {
  Stats stats;
  for (size_t i = 0; i < counters_.size(); ++i) {
    // relaxed, both: statistics.
    stats.byUsage[i].count = counters_[i].count.load(std::memory_order_relaxed);
    stats.byUsage[i].bytes = counters_[i].bytes.load(std::memory_order_relaxed);
  }
  return stats;
}

size_t TrackedAllocator::Stats::numAllocations() const noexcept { return sumOf(byUsage, &UsageStats::count); }

size_t TrackedAllocator::Stats::bytesAllocated() const noexcept { return sumOf(byUsage, &UsageStats::bytes); }

namespace detail {

// relaxed: tests set it while no other thread runs.
void setPageSize(size_t bytes) noexcept { knownPageSize.store(bytes, std::memory_order_relaxed); }

size_t allocationBytes(size_t size, size_t count) {
  size_t bytes = 0;
  WEFT_ASSERT(!__builtin_mul_overflow(size, count, &bytes) && bytes <= PTRDIFF_MAX,
              "out of memory: %zu objects of %zu bytes exceed the address space.", count, size);
  return bytes;
}

}  // namespace detail
}  // namespace weft::inline v0_1
