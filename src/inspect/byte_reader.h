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

  // Numbers of DWARF's, of seven bits in a byte.
  uint64_t unsignedLeb() { return leb().value; }
  int64_t signedLeb() {
    const Leb read = leb();
    const bool isNegative = read.numBits < 64 && (read.last & 0x40) != 0;
    return static_cast<int64_t>(isNegative ? read.value | ~uint64_t{0} << read.numBits : read.value);
  }

  void fail() {
    isOk_ = false;
    left_ = 0;
  }

 private:
  struct Leb {
    uint64_t value = 0;
    unsigned numBits = 0;  // that were read
    unsigned char last = 0;
  };

  Leb leb() {
    Leb read;
    do {
      read.last = get<unsigned char>();
      read.value |= read.numBits < 64 ? uint64_t{read.last & 0x7fu} << read.numBits : 0;
      read.numBits += 7;
    } while ((read.last & 0x80) != 0);
    return read;
  }

  const unsigned char* next_ = nullptr;
  size_t left_ = 0;
  Address address_ = 0;
  bool isOk_ = true;
};

}  // namespace weft::inline v0_1::detail::inspect
