// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

// What src/os/single_writer_counter.h declares, without a step of the checker for each access: these are
// statistics and hints.
namespace weft::inline v0_1::detail {

class SingleWriterCounter {
 public:
  void operator++() { ++value_; }
  void operator--() { --value_; }
  void operator+=(int64_t number) { value_ += static_cast<uint64_t>(number); }
  uint64_t get() const { return value_; }

 private:
  uint64_t value_ = 0;
};

template <class T>
class SingleWriterPointer {
 public:
  SingleWriterPointer() = default;
  explicit SingleWriterPointer(T* value) : value_(value) {}
  T* get() const { return value_; }
  void set(T* value) { value_ = value; }
  T* look() const { return value_; }

 private:
  T* value_ = nullptr;
};

}  // namespace weft::inline v0_1::detail
