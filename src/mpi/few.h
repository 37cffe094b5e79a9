// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace weft::inline v0_1::detail {

// An array of values whose number is known when it is made. Few do not take an allocation.
template <class T>
class Few {
 public:
  explicit Few(size_t count)
      : count_(count), allocated_(count > kInPlace ? std::make_unique<T[]>(count) : nullptr) {}

  T& operator[](size_t index) { return span()[index]; }
  std::span<T> span() { return {allocated_ != nullptr ? allocated_.get() : inPlace_.data(), count_}; }

 private:
  static constexpr size_t kInPlace = 16;

  const size_t count_;
  const std::unique_ptr<T[]> allocated_;
  std::array<T, kInPlace> inPlace_{};
};

}  // namespace weft::inline v0_1::detail
