// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

// What src/os/own_counter.h declares, without a step of the checker for each access: these are statistics and
// hints.
namespace weft::inline v0_1::detail {

class OwnCounter {
 public:
  void operator++() { ++value_; }
  void operator--() { --value_; }
  uint64_t get() const { return value_; }

 private:
  uint64_t value_ = 0;
};

template <class T>
class OwnPointer {
 public:
  OwnPointer() = default;
  explicit OwnPointer(T* value) : value_(value) {}
  T* get() const { return value_; }
  void set(T* value) { value_ = value; }
  T* look() const { return value_; }

 private:
  T* value_ = nullptr;
};

}  // namespace weft::inline v0_1::detail
