// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace weft::inline v0_1::detail::inspect {

// An array whose size is known when it is made. It asks for memory once. Where there is none, it is empty and
// says so, so that a report goes on without it.
template <class T>
class FixedArray {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  FixedArray() = default;
  // All elements are T().
  FixedArray(std::pmr::memory_resource* memory, size_t size) : memory_(memory), size_(size) {
    try {
      data_ = size != 0 ? static_cast<T*>(memory->allocate(size * sizeof(T), alignof(T))) : nullptr;
      for (size_t i = 0; i < size; ++i) {
        new (data_ + i) T();
      }
    } catch (...) {
      size_ = 0;
      isRefused_ = true;
    }
  }
  FixedArray(FixedArray&& other) noexcept { swap(other); }
  FixedArray& operator=(FixedArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~FixedArray() {
    if (data_ != nullptr) {
      memory_->deallocate(data_, size_ * sizeof(T), alignof(T));
    }
  }

  bool isRefused() const { return isRefused_; }  // there was no memory for it
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  std::span<T> all() { return {data_, size_}; }
  std::span<const T> all() const { return {data_, size_}; }

 private:
  void swap(FixedArray& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(isRefused_, other.isRefused_);
  }

  std::pmr::memory_resource* memory_ = nullptr;
  T* data_ = nullptr;
  size_t size_ = 0;
  bool isRefused_ = false;
};

}  // namespace weft::inline v0_1::detail::inspect
