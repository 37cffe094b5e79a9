// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/text.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace weft::inline v0_1::detail::inspect {

Text& Text::operator<<(std::string_view text) {
  while (!text.empty()) {
    if (used_ == sizeof buffer_) {
      writeLines();
    }
    const size_t size = std::min(text.size(), sizeof buffer_ - used_);
    std::memcpy(buffer_ + used_, text.data(), size);
    used_ += size;
    text.remove_prefix(size);
  }
  return *this;
}

Text& Text::digits(uint64_t value, unsigned base) {
  char text[20];
  char* const end = text + sizeof text;
  char* begin = end;
  do {
    *--begin = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  return *this << std::string_view(begin, static_cast<size_t>(end - begin));
}

Text& Text::decimal(uint64_t value) { return digits(value, 10); }
Text& Text::hex(uint64_t value) { return (*this << "0x").digits(value, 16); }

Text& Text::grouped(uint64_t value) {
  if (value < 1000) {
    return decimal(value);
  }
  grouped(value / 1000);
  const auto digit = [](uint64_t number) { return static_cast<char>('0' + number % 10); };
  return *this << ',' << digit(value / 100) << digit(value / 10) << digit(value);
}

// Makes room. Other output of the process can come between two writes, so they end with a line if they can.
void Text::writeLines() {
  const size_t end = std::string_view(buffer_, used_).rfind('\n');
  const size_t size = end == std::string_view::npos ? used_ : end + 1;
  write_(context_, buffer_, size);
  used_ -= size;
  std::memmove(buffer_, buffer_ + size, used_);
}

void Text::flush() {
  if (used_ != 0) {
    write_(context_, buffer_, used_);
    used_ = 0;
  }
}

void appendTo(void* string, const char* text, size_t size) {
  static_cast<std::string*>(string)->append(text, size);
}

}  // namespace weft::inline v0_1::detail::inspect
