// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// The template members of weft/memory.h, which includes this file.

#include "weft/memory.h"

namespace weft::inline v0_1 {
namespace detail {

// Returns: size * count. Ends the program with a message if that overflows.
WEFT_EXPORT size_t allocationBytes(size_t size, size_t count);

// Ends the program with a message: `what`, "BoundedPool" for instance, was given no allocator.
[[noreturn, gnu::cold, gnu::noinline]] WEFT_EXPORT void reportNullAllocator(const char* what);

// Ends the program with a message if `allocator` is null. Returns: `allocator`.
inline Allocator* assertAllocator(Allocator* allocator, const char* what) noexcept {
  if (allocator == nullptr) [[unlikely]] {
    detail::reportNullAllocator(what);
  }
  return allocator;
}

template <class T>
Allocation::Request requestFor(size_t count, Allocation::Usage usage) {
  return {.size = allocationBytes(sizeof(T), count), .alignment = alignof(T), .usage = usage};
}

// Objects under construction. The destructor destroys them and frees the memory, unless release() was called.
template <class T>
struct PartlyBuilt {
  PartlyBuilt(Allocator* source, size_t count)
      : allocator(source),
        allocation(source->allocate(detail::requestFor<T>(count, Allocation::Usage::Create))) {}
  PartlyBuilt(const PartlyBuilt&) = delete;
  PartlyBuilt& operator=(const PartlyBuilt&) = delete;
  ~PartlyBuilt() {
    if (allocation.ptr != nullptr) {
      std::destroy_n(static_cast<T*>(allocation.ptr), numBuilt);
      allocator->free(allocation);
    }
  }

  template <class... Args>
  void buildNext(Args&&... args) {
    ::new (static_cast<void*>(static_cast<T*>(allocation.ptr) + numBuilt)) T(std::forward<Args>(args)...);
    ++numBuilt;
  }
  T* release() noexcept { return static_cast<T*>(std::exchange(allocation.ptr, nullptr)); }

  Allocator* allocator;
  Allocation allocation;
  size_t numBuilt = 0;
};

// The start of the complete object of which `object` is a part.
template <class T>
void* wholeObject(T* object) noexcept {
  if constexpr (std::is_polymorphic_v<T>) {
    return const_cast<void*>(dynamic_cast<const volatile void*>(object));
  } else {
    return const_cast<void*>(static_cast<const volatile void*>(object));
  }
}

// For make_shared(): its memory counts as Usage::Create.
template <class T>
struct SharedAllocator {
  using value_type = T;

  explicit SharedAllocator(Allocator* source) noexcept : allocator(source) {}
  template <class U>
  SharedAllocator(const SharedAllocator<U>& other) noexcept : allocator(other.allocator) {}

  T* allocate(size_t count) {
    return static_cast<T*>(allocator->allocate(detail::requestFor<T>(count, Allocation::Usage::Create)).ptr);
  }
  void deallocate(T* object, size_t count) {
    allocator->free({object, detail::requestFor<T>(count, Allocation::Usage::Create)});
  }

  template <class U>
  friend bool operator==(const SharedAllocator& a, const SharedAllocator<U>& b) noexcept {
    return a.allocator == b.allocator;
  }

  Allocator* allocator;
};

}  // namespace detail

template <class T>
void Allocator::Deleter::operator()(T* object) const {
  void* const whole = detail::wholeObject(object);
  const bool mayBeBase = std::is_polymorphic_v<T> && size != 0;
  std::destroy_n(object, count);
  allocator->free({whole,
                   {.size = (mayBeBase ? size : sizeof(T)) * count,
                    .alignment = mayBeBase ? alignment : alignof(T),
                    .usage = Allocation::Usage::Create}});
}

template <class T, class... Args>
T* Allocator::create(Args&&... args) {
  detail::PartlyBuilt<T> built(this, 1);
  built.buildNext(std::forward<Args>(args)...);
  return built.release();
}

template <class T>
void Allocator::destroy(T* object) {
  Deleter(this, 1)(object);
}

template <class T, class... Args>
Allocator::unique_ptr<T> Allocator::make_unique(Args&&... args) {
  Deleter deleter(this, 1);
  deleter.size = sizeof(T);
  deleter.alignment = alignof(T);
  return unique_ptr<T>(create<T>(std::forward<Args>(args)...), deleter);
}

template <class T, class... Args>
Allocator::unique_ptr<T> Allocator::make_unique_n(size_t count, Args&&... args) {
  if (count == 0) {
    return nullptr;
  }
  detail::PartlyBuilt<T> built(this, count);
  for (size_t i = 0; i < count; ++i) {
    built.buildNext(args...);
  }
  Deleter deleter(this, count);
  deleter.size = sizeof(T);
  deleter.alignment = alignof(T);
  return unique_ptr<T>(built.release(), deleter);
}

template <class T, class... Args>
std::shared_ptr<T> Allocator::make_shared(Args&&... args) {
  return std::allocate_shared<T>(detail::SharedAllocator<T>(this), std::forward<Args>(args)...);
}

template <class T>
StlAllocator<T>::StlAllocator(Allocator* source) noexcept
    : allocator(detail::assertAllocator(source, "StlAllocator")) {}

template <class T>
T* StlAllocator<T>::allocate(size_t count) {
  return static_cast<T*>(allocator->allocate(detail::requestFor<T>(count, Allocation::Usage::Stl)).ptr);
}

template <class T>
void StlAllocator<T>::deallocate(T* object, size_t count) {
  allocator->free({object, detail::requestFor<T>(count, Allocation::Usage::Stl)});
}

}  // namespace weft::inline v0_1
