// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/memory.h"

namespace weft::inline v0_1::containers {

// An array that grows. The first kBaseCapacity elements lie in the vector itself: they need no allocation.
//
//   weft::containers::vector<int, 16> primes;
//   primes.push_back(2);
//   use(primes.data(), primes.size());
// Growing moves the elements, as does moving a vector that holds them: pointers to them become invalid.
template <class T, int kBaseCapacity>
class vector {
  static_assert(kBaseCapacity >= 0, "a capacity below zero makes no sense");

 public:
  // What generic code asks of a container.
  using value_type = T;
  using size_type = size_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  // Makes an empty vector, whose memory comes from `source`.
  explicit(false) vector(Allocator* source = Allocator::Default) noexcept
      : allocator(detail::assertAllocator(source, "containers::vector")) {}

  // Copies the elements.
  vector(const vector& other, Allocator* source = Allocator::Default) : vector(source) { append(other); }
  template <int kOther>
  explicit(false) vector(const vector<T, kOther>& other, Allocator* source = Allocator::Default)
      : vector(source) {
    append(other);
  }

  // Takes over the elements, and the memory of `other` if it is from `source`. Leaves `other` empty.
  vector(vector&& other, Allocator* source = Allocator::Default) : vector(source) { takeOver(other); }
  template <int kOther>
  explicit(false) vector(vector<T, kOther>&& other, Allocator* source = Allocator::Default) : vector(source) {
    takeOver(other);
  }

  ~vector() {
    clear();
    freeHeap();
  }

  // Replaces the elements; the vector keeps its allocator.
  vector& operator=(const vector& other) { return assign(other); }
  template <int kOther>
  vector& operator=(const vector<T, kOther>& other) {
    return assign(other);
  }
  vector& operator=(vector&& other) { return assign(std::move(other)); }
  template <int kOther>
  vector& operator=(vector<T, kOther>&& other) {
    return assign(std::move(other));
  }

  // Adds an element at the end.
  void push_back(const T& value) { emplace(value); }
  void push_back(T&& value) { emplace(std::move(value)); }
  void emplace_back(T&& value) { emplace(std::move(value)); }
  template <class... Args>
  void emplace_back(Args&&... args) {
    emplace(std::forward<Args>(args)...);
  }

  // Removes the last element. Requires: there is one.
  void pop_back() {
    WEFT_ASSERT(size_ > 0, "containers::vector: pop_back() of an empty vector.");
    std::destroy_at(elements_ + --size_);
  }

  // Destroys all elements; keeps the memory.
  void clear() noexcept {
    std::destroy_n(elements_, size_);
    size_ = 0;
  }

  // Removes the last elements, or adds default-constructed ones.
  void resize(size_t count) {
    reserve(count);
    while (size_ < count) {
      ::new (static_cast<void*>(elements_ + size_)) T();
      ++size_;
    }
    while (size_ > count) {
      pop_back();
    }
  }

  // Makes room for `count` elements.
  void reserve(size_t count) {
    if (count > capacity_) {
      Heap larger(allocator, count);
      adopt(larger);
    }
  }

  // An element, the first, and the last. Requires: `index` is below size(), or the vector is not empty.
  T& operator[](size_t index) { return elements_[checked(index)]; }
  const T& operator[](size_t index) const { return elements_[checked(index)]; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  // The range of the elements.
  T* begin() noexcept { return elements_; }
  const T* begin() const noexcept { return elements_; }
  T* end() noexcept { return elements_ + size_; }
  const T* end() const noexcept { return elements_ + size_; }
  T* data() noexcept { return elements_; }
  const T* data() const noexcept { return elements_; }

  // The number of elements, whether it is zero, and how many elements fit without an allocation.
  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  size_t cap() const noexcept { return capacity_; }

  Allocator* const allocator;  // where the memory comes from

 private:
  template <class, int>
  friend class vector;

  // Memory for elements. Unless it is released, the destructor destroys `last`, if set, and frees it.
  struct Heap {
    Heap(Allocator* source, size_t count)
        : from(source),
          memory(source->allocate(detail::requestFor<T>(count, Allocation::Usage::Vector))),
          capacity(count) {}
    ~Heap() {
      if (memory.ptr != nullptr) {
        std::destroy_n(last, last != nullptr ? 1 : 0);
        from->free(memory);
      }
    }
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;
    T* elements() const { return static_cast<T*>(memory.ptr); }

    Allocator* from;
    Allocation memory;
    size_t capacity;
    T* last = nullptr;
  };

  T* inner() noexcept { return reinterpret_cast<T*>(inner_); }

  size_t checked(size_t index) const {
    WEFT_DCHECK(index < size_, "containers::vector: there is no element %zu of %zu.", index, size_);
    return index;
  }

  void freeHeap() noexcept {
    if (heap_.ptr != nullptr) {
      allocator->free(heap_);
      heap_ = {};
    }
  }

  // Moves the elements into `larger`, and keeps that memory.
  void adopt(Heap& larger) {
    std::uninitialized_move_n(elements_, size_, larger.elements());
    std::destroy_n(elements_, size_);
    freeHeap();
    heap_ = larger.memory;
    elements_ = larger.elements();
    capacity_ = larger.capacity;
    larger.memory.ptr = nullptr;
  }

  template <class... Args>
  void emplace(Args&&... args) {
    if (size_ < capacity_) {
      ::new (static_cast<void*>(elements_ + size_)) T(std::forward<Args>(args)...);
    } else {
      // First, since it may be made from an element of this vector.
      Heap larger(allocator, capacity_ < 4 ? 8 : capacity_ * 2);
      larger.last = ::new (static_cast<void*>(larger.elements() + size_)) T(std::forward<Args>(args)...);
      adopt(larger);
    }
    ++size_;
  }

  template <class Other>
  void append(const Other& other) {
    reserve(size_ + other.size());
    for (const T& element : other) {
      emplace(element);
    }
  }

  template <class Other>
  vector& assign(Other&& other) {
    if (static_cast<const void*>(this) != &other) {
      clear();
      if constexpr (std::is_lvalue_reference_v<Other>) {
        append(other);
      } else {
        takeOver(other);
      }
    }
    return *this;
  }

  // Requires: this is empty.
  template <class Other>
  void takeOver(Other& other) {
    if (other.heap_.ptr != nullptr && other.allocator == allocator) {
      freeHeap();
      heap_ = std::exchange(other.heap_, {});
      elements_ = std::exchange(other.elements_, other.inner());
      capacity_ = std::exchange(other.capacity_, Other::kInnerCapacity);
      size_ = std::exchange(other.size_, 0);
    } else {
      reserve(other.size_);
      std::uninitialized_move_n(other.elements_, other.size_, elements_);
      size_ = other.size_;
      other.clear();
    }
  }

  static constexpr size_t kInnerCapacity = static_cast<size_t>(kBaseCapacity);

  alignas(T) unsigned char inner_[kBaseCapacity > 0 ? sizeof(T) * kInnerCapacity : 1];
  T* elements_ = inner();
  size_t size_ = 0;
  size_t capacity_ = kInnerCapacity;
  Allocation heap_;  // null while the elements lie in inner_
};

}  // namespace weft::inline v0_1::containers

#include "weft/detail/base/macros_end.h"
