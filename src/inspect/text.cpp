// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/text.h"

#include <algorithm>
#include <cstring>

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr size_t kMostDigits = 20 + 6;  // of 2^64 - 1, with commas

}  // namespace

Text& Text::operator<<(std::string_view text) {
  while (!text.empty()) {
    if (used_ == sizeof buffer_) {
      flush();
    }
    const size_t size = std::min(text.size(), sizeof buffer_ - used_);
    std::memcpy(buffer_ + used_, text.data(), size);
    used_ += size;
    text.remove_prefix(size);
  }
  return *this;
}

Text& Text::decimal(uint64_t value) {
  char digits[kMostDigits];
  char* begin = digits + sizeof digits;
  do {
    *--begin = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return *this << std::string_view(begin, static_cast<size_t>(digits + sizeof digits - begin));
}

Text& Text::grouped(uint64_t value) {
  char digits[kMostDigits];
  char* begin = digits + sizeof digits;
  unsigned count = 0;
  do {
    if (count != 0 && count % 3 == 0) {
      *--begin = ',';
    }
    *--begin = static_cast<char>('0' + value % 10);
    value /= 10;
    ++count;
  } while (value != 0);
  return *this << std::string_view(begin, static_cast<size_t>(digits + sizeof digits - begin));
}

Text& Text::hex(uint64_t value) {
  char digits[kMostDigits];
  char* begin = digits + sizeof digits;
  do {
    *--begin = "0123456789abcdef"[value % 16];
    value /= 16;
  } while (value != 0);
  *--begin = 'x';
  *--begin = '0';
  return *this << std::string_view(begin, static_cast<size_t>(digits + sizeof digits - begin));
}

void Text::flush() {
  if (used_ != 0) {
    write_(context_, buffer_, used_);
    used_ = 0;
  }
}

}  // namespace weft::inline v0_1::detail::inspect
