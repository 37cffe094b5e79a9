// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string_view>

#include "inspect/demangler.h"

namespace weft::inline v0_1::detail::inspect {

inline constexpr int kDeepest = 48;  // a recursion takes some 300 bytes of stack

struct Code {
  std::string_view code;
  std::string_view text;
};

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }

// Of the functions that call themselves.
class Demangler::Nesting {
 public:
  explicit Nesting(Demangler& self) : self_(self) {
    if (++self_.depth_ > kDeepest) {
      self_.fail();
    }
  }
  ~Nesting() { --self_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Demangler& self_;
};

template <class... Parts>
std::string_view Demangler::join(std::string_view first, Parts... parts) {
  size_t begin = used_;
  if (!first.empty() && first.data() + first.size() == text_ + used_) {
    begin -= first.size();  // what was written last goes on
  } else {
    append(first);
  }
  (append(parts), ...);
  return {text_ + begin, used_ - begin};
}

}  // namespace weft::inline v0_1::detail::inspect
