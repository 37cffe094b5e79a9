// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::inline v0_1::detail::inspect {

// Text that is written bit by bit, into a buffer of its own and from there to a function. Calls no malloc, so
// that it works while a process dies.
class Text {
 public:
  using Write = void (*)(void* context, const char* text, size_t size);
  Text(Write write, void* context) : write_(write), context_(context) {}
  ~Text() { flush(); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  Text& operator<<(std::string_view text);
  Text& operator<<(const char* text) { return *this << std::string_view(text); }
  Text& operator<<(char c) { return *this << std::string_view(&c, 1); }
  Text& decimal(uint64_t value);  // 99812
  Text& grouped(uint64_t value);  // 99,812
  Text& hex(uint64_t value);      // 0x7f40
  void flush();

 private:
  Text& digits(uint64_t value, unsigned base);
  void writeLines();

  const Write write_;
  void* const context_;
  size_t used_ = 0;
  char buffer_[4096];  // so much goes into a pipe at once
};

// For Text: appends to the std::string that is the context, which calls malloc.
void appendTo(void* string, const char* text, size_t size);

}  // namespace weft::inline v0_1::detail::inspect
