// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/demangler.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "inspect/demangler_inl.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

constexpr Code kSpecial[] = {
    {"TV", "vtable for "},         {"TT", "VTT for "}, {"TI", "typeinfo for "}, {"TS", "typeinfo name for "},
    {"GV", "guard variable for "},
};

}  // namespace

std::string_view Demangler::demangle(std::string_view mangled) {
  left_ = mangled;
  isOk_ = take("_Z");
  depth_ = numLambdas_ = 0;
  numSubstitutions_ = firstParameter_ = endParameters_ = numPacked_ = expanded_ = used_ = 0;
  lastName_ = {};
  std::string_view text = encoding();
  if (isOk_ && peek() == '.') {  // a part that the compiler has split off
    text = join(text, " [clone ", left_, "]");
    left_ = {};
  }
  return isOk_ && left_.empty() ? text : std::string_view();
}

bool Demangler::take(char c) {
  if (peek() != c || left_.empty()) {
    return false;
  }
  left_.remove_prefix(1);
  return true;
}

bool Demangler::take(std::string_view text) {
  if (!left_.starts_with(text)) {
    return false;
  }
  left_.remove_prefix(text.size());
  return true;
}

uint64_t Demangler::number() {
  uint64_t value = 0;
  if (!isDigit(peek())) {
    fail();
  }
  for (int i = 0; isDigit(peek()); ++i) {
    if (i == 18) {
      fail();
      return 0;
    }
    value = value * 10 + static_cast<uint64_t>(left_.front() - '0');
    left_.remove_prefix(1);
  }
  return value;
}

// Reads what counts: "_" is 0, "0_" is 1, "1_" is 2.
uint64_t Demangler::sequence(unsigned base) {
  if (take('_')) {
    return 0;
  }
  uint64_t value = 0;
  while (!take('_')) {
    const char c = peek();
    const unsigned digit = isDigit(c)             ? static_cast<unsigned>(c - '0')
                           : c >= 'A' && c <= 'Z' ? static_cast<unsigned>(c - 'A') + 10
                                                  : base;
    if (digit >= base || value > 1000000) {
      fail();
      return 0;
    }
    value = value * base + digit;
    left_.remove_prefix(1);
  }
  return value + 1;
}

void Demangler::append(std::string_view part) {
  if (part.empty()) {
    return;
  }
  if (part.size() > sizeof text_ - used_) {
    fail();
    return;
  }
  std::memcpy(text_ + used_, part.data(), part.size());
  used_ += part.size();
}

std::string_view Demangler::whole(const Type& type, Demangler& self) {
  return type.right.empty() ? type.left : self.join(type.left, type.right);
}

std::string_view Demangler::encoding() {
  const Nesting nesting(*this);
  if (!isOk_) {
    return {};
  }
  if (peek() == 'G' || peek() == 'T') {
    return special();
  }
  const Name function = name(true);
  if (left_.empty() || peek() == 'E' || peek() == '.') {
    return join(function.text, function.qualifiers);
  }
  if (function.isTemplate && !function.hasNoReturnType) {
    type();
  }
  const std::string_view arguments = parameters('\0');
  return join(function.text, arguments, function.qualifiers);
}

std::string_view Demangler::special() {
  for (const Code& code : kSpecial) {
    if (take(code.code)) {
      return code.code == "GV" ? join(code.text, name(true).text) : join(code.text, whole(type(), *this));
    }
  }
  if (take("Th")) {  // adjusts the object's address and goes on
    take('n');
    number();
    if (!take('_')) {
      fail();
    }
    return join(std::string_view("non-virtual thunk to "), encoding());
  }
  fail();
  return {};
}

// Reads types up to `end`, or up to the end of the name.
std::string_view Demangler::parameters(char end) {
  const std::string_view list = parameterList(end);
  return join(std::string_view("("), list, std::string_view(")"));
}

std::string_view Demangler::parameterList(char end) {
  if (peek() == 'v' && (left_.size() == 1 || peek(1) == 'E' || peek(1) == '.' || peek(1) == end)) {
    left_.remove_prefix(1);
    return {};
  }
  std::string_view text;
  while (isOk_ && !left_.empty() && peek() != 'E' && peek() != '.') {
    const std::string_view next = whole(type(), *this);
    if (!next.empty()) {
      text = text.empty() ? next : join(text, std::string_view(", "), next);
    }
  }
  return text;
}

}  // namespace weft::inline v0_1::detail::inspect
