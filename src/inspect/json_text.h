// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string_view>

namespace weft::inline v0_1::detail::inspect {

// Cuts text into the pieces of the inside of a JSON string: text that stands for itself, and escapes. A byte
// that is not UTF-8 becomes U+FFFD. Calls no malloc, and needs no memory for all of the text.
class JsonPieces {
 public:
  explicit JsonPieces(std::string_view text) : rest_(text) {}

  // Returns: the next piece, which is valid until the next call; it is empty at the end.
  std::string_view next();

 private:
  std::string_view take(size_t size);
  std::string_view escapeNext();

  std::string_view rest_;
  char escape_[6];  // as \u001f
};

}  // namespace weft::inline v0_1::detail::inspect
