// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "inspect/memory.h"

namespace weft::inline v0_1::detail::inspect {

// Reads bytes of a file or of a stack that may say anything. What does not fit gives 0, and isOk() is false
// from then on, so that one look at the end is enough.
class ByteReader {
 public:
  ByteReader() = default;
  // `address`: where the first byte is mapped, for what is relative to its own place.
  ByteReader(const void* bytes, size_t size, Address address)
      : next_(static_cast<const unsigned char*>(bytes)), left_(size), address_(address) {}

  bool isOk() const { return isOk_; }
  size_t left() const { return left_; }
  Address address() const { return address_; }  // of the next byte
  const unsigned char* bytes() const { return next_; }

  template <class T>
  T get() {
    T value{};
    if (left_ < sizeof value) {
      fail();
    } else {
      std::memcpy(&value, next_, sizeof value);
      skip(sizeof value);
    }
    return value;
  }

  void skip(uint64_t size) {
    if (size > left_) {
      fail();
      return;
    }
    next_ += size;
    left_ -= static_cast<size_t>(size);
    address_ += size;
  }

  // Returns: a reader of the next `size` bytes, which this one skips.
  ByteReader take(uint64_t size) {
    ByteReader part(next_, static_cast<size_t>(size), address_);
    skip(size);
    return isOk_ ? part : ByteReader();
  }

  // A number of DWARF's, of seven bits in a byte.
  uint64_t unsignedLeb() {
    uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte = 0;
    do {
      byte = get<unsigned char>();
      value |= shift < 64 ? uint64_t{byte & 0x7fu} << shift : 0;
      shift += 7;
    } while ((byte & 0x80) != 0);
    return value;
  }

  int64_t signedLeb() {
    uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte = 0;
    do {
      byte = get<unsigned char>();
      value |= shift < 64 ? uint64_t{byte & 0x7fu} << shift : 0;
      shift += 7;
    } while ((byte & 0x80) != 0);
    if (shift < 64 && (byte & 0x40) != 0) {
      value |= ~uint64_t{0} << shift;
    }
    return static_cast<int64_t>(value);
  }

  void fail() {
    isOk_ = false;
    left_ = 0;
  }

 private:
  const unsigned char* next_ = nullptr;
  size_t left_ = 0;
  Address address_ = 0;
  bool isOk_ = true;
};

}  // namespace weft::inline v0_1::detail::inspect
