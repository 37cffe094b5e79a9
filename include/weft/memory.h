// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/export.h"

namespace weft::inline v0_1 {

// Returns: the page size in bytes.
WEFT_EXPORT size_t pageSize() noexcept;

// Returns: the least multiple of `alignment` that is not less than `value`.
// Requires: value >= 0, alignment > 0 (not only powers of two), and the result fits a T.
template <class T>
[[nodiscard]] constexpr T alignUp(T value, T alignment) noexcept {
  const T rest = static_cast<T>(value % alignment);
  return rest == 0 ? value : static_cast<T>(value + (alignment - rest));
}

// Has a `type` for raw memory, as std::aligned_storage has.
template <size_t kSize, size_t kAlignment>
struct aligned_storage {
  // Raw memory of kSize bytes, aligned to kAlignment.
  struct alignas(kAlignment) type {
    unsigned char data[kSize];  // uninitialised
  };
};

// A piece of memory, and the request for which it was allocated.
struct Allocation {
  // What the memory is for. A TrackedAllocator counts each usage apart.
  enum class Usage : uint8_t {
    Undefined = 0,
    Stack,   // a fiber's stack
    Create,  // create(), make_unique(), make_unique_n(), make_shared()
    Vector,  // containers::vector
    List,    // containers::list
    Stl,     // StlAllocator
    Count,   // how many usages there are
  };

  // What is asked of an allocator.
  struct Request {
    size_t size = 0;                 // bytes
    size_t alignment = 0;            // a power of two, or 0 for the alignment that fits every scalar
    bool useGuards = false;          // accesses before the memory, and past its last page, fault
    Usage usage = Usage::Undefined;  // what the memory is for

    friend bool operator==(const Request&, const Request&) = default;
  };

  void* ptr = nullptr;  // the memory
  Request request;      // for which it was allocated
};

// The source of memory for weft. Derive from it to supply your own.
//
//   struct Counting : weft::Allocator {
//     weft::Allocation allocate(const weft::Allocation::Request& request) override {
//       ++count;
//       return weft::Allocator::Default->allocate(request);
//     }
//     void free(const weft::Allocation& allocation) override { weft::Allocator::Default->free(allocation); }
//     std::atomic<int> count = 0;
//   };
// Any thread may call an implementation at any time. A null Allocator* ends the program with a message.
// Lifetime: it must outlive all memory that was allocated from it.
class WEFT_EXPORT Allocator {
 public:
  // The default: the system's memory, usable from the first static initialiser to the last destructor.
  // Requires, to set it: no other thread uses weft. Earlier memory goes back to where it came from.
  static Allocator* Default;

  // Destroys what make_unique() made. Knows its size, also through a pointer to a base.
  struct Deleter {
    // For `numObjects` objects in memory of `owner`; without arguments, for a null pointer only.
    Deleter() noexcept = default;
    Deleter(Allocator* owner, size_t numObjects) noexcept : allocator(owner), count(numObjects) {}

    // Destroys the objects that begin at `object`, and frees their memory.
    template <class T>
    void operator()(T* object) const;

    Allocator* allocator = nullptr;  // to which the memory goes back
    size_t count = 0;                // objects
    size_t size = 0;                 // bytes of one object, 0 for sizeof(T)
    size_t alignment = 0;            // of one object, where size is not 0
  };

  // A std::unique_ptr whose object lies in memory of an Allocator.
  template <class T>
  using unique_ptr = std::unique_ptr<T, Deleter>;

  virtual ~Allocator();

  // Returns: memory as requested, never null. If there is no memory, it throws or ends the program, as
  // Default does. The allocator of a scheduler's Config must not throw; otherwise a message ends the program.
  virtual Allocation allocate(const Allocation::Request& request) = 0;

  // Gives memory back.
  // Requires: `allocation`, request included, came from this allocator's allocate(), and is freed once.
  virtual void free(const Allocation& allocation) = 0;

  // Returns: a new T, made from `args`.
  template <class T, class... Args>
  [[nodiscard]] T* create(Args&&... args);

  // Destroys the object, and gives its memory back.
  // Requires: `object` came from create<T>() with this T.
  template <class T>
  void destroy(T* object);

  // As create(), but the result owns the object.
  template <class T, class... Args>
  [[nodiscard]] unique_ptr<T> make_unique(Args&&... args);

  // Returns: `count` objects in a row, each made from `args` as lvalues. Null if `count` is 0.
  template <class T, class... Args>
  [[nodiscard]] unique_ptr<T> make_unique_n(size_t count, Args&&... args);

  // As make_unique(), but shared; one allocation with the control block.
  template <class T, class... Args>
  [[nodiscard]] std::shared_ptr<T> make_shared(Args&&... args);

 protected:
  Allocator() noexcept = default;
  Allocator(const Allocator&) noexcept = default;
  Allocator& operator=(const Allocator&) noexcept = default;
};

// Counts the memory that passes through. Giving back more than was taken ends the program with a message.
//
//   weft::TrackedAllocator allocator(weft::Allocator::Default);
//   { auto object = allocator.make_unique<int>(1); }
//   assert(allocator.stats().numAllocations() == 0);
class WEFT_EXPORT TrackedAllocator final : public Allocator {
 public:
  // What is allocated now for one usage.
  struct UsageStats {
    size_t count = 0;  // allocations
    size_t bytes = 0;
  };

  // What is allocated now, for each usage and in all.
  struct WEFT_EXPORT Stats {
    // Return: the sums over all usages.
    size_t numAllocations() const noexcept;
    size_t bytesAllocated() const noexcept;

    std::array<UsageStats, static_cast<size_t>(Allocation::Usage::Count)> byUsage;  // index: a Usage
  };

  // Lifetime: `inner` must outlive this allocator.
  explicit TrackedAllocator(Allocator* inner) noexcept;
  ~TrackedAllocator() override;
  TrackedAllocator(const TrackedAllocator&) = delete;
  TrackedAllocator& operator=(const TrackedAllocator&) = delete;

  // Returns: the counts: exact while no other thread allocates.
  Stats stats() const noexcept;

  // Count, and call the functions of the inner allocator.
  Allocation allocate(const Allocation::Request& request) override;
  void free(const Allocation& allocation) override;

 private:
  // Any thread adds when it allocates and subtracts when it frees. relaxed: they are statistics.
  struct Counters {
    std::atomic<size_t> count{0};
    std::atomic<size_t> bytes{0};
  };

  Allocator* const inner_;
  std::array<Counters, static_cast<size_t>(Allocation::Usage::Count)> counters_;
};

// Lets a standard container use an Allocator, which goes along in moves and swaps.
//
//   std::vector<int, weft::StlAllocator<int>> numbers{weft::StlAllocator<int>(allocator)};
template <class T>
struct StlAllocator {
  // What std::allocator_traits and containers ask for.
  using value_type = T;
  using pointer = T*;
  using const_pointer = const T*;
  using reference = T&;
  using const_reference = const T&;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  // What std::allocator_traits asks for.
  template <class U>
  struct rebind {
    using other = StlAllocator<U>;  // which takes its memory from the same Allocator
  };

  // Takes its memory from `source`, or from where `other` takes it.
  StlAllocator(Allocator* source) noexcept;
  template <class U>
  StlAllocator(const StlAllocator<U>& other) noexcept : allocator(other.allocator) {}

  // What std::allocator_traits and containers ask for.
  [[nodiscard]] T* allocate(size_t count);
  void deallocate(T* object, size_t count);
  T* address(T& object) const noexcept { return std::addressof(object); }
  const T* address(const T& object) const noexcept { return std::addressof(object); }
  size_t max_size() const noexcept { return std::numeric_limits<size_t>::max() / sizeof(T); }
  void construct(T* at, const T& value) { ::new (static_cast<void*>(at)) T(value); }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  void destroy(T* object) { object->~T(); }
  template <class U>
  void destroy(U* object) {
    object->~U();
  }
  template <class U>
  friend bool operator==(const StlAllocator& a, const StlAllocator<U>& b) noexcept {
    return a.allocator == b.allocator;
  }

  Allocator* allocator;  // from which the memory comes
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/memory_inl.h"

#include "weft/detail/base/macros_end.h"
