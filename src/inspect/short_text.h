// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "inspect/text.h"

namespace weft::inline v0_1::detail::inspect {

// A text in a buffer of its own. What there is no room for is left out.
class ShortText {
 public:
  static constexpr size_t kMost = 600;

  ShortText() = default;
  // What `write` writes to a Text.
  template <class Write>
  explicit ShortText(const Write& write) {
    Text text(
        [](void* to, const char* piece, size_t size) { static_cast<ShortText*>(to)->append({piece, size}); },
        this);
    write(text);
  }
  ShortText(const ShortText&) = delete;
  ShortText& operator=(const ShortText&) = delete;

  void append(std::string_view piece) {
    const size_t length = std::min(piece.size(), kMost - size_);
    std::memcpy(bytes_ + size_, piece.data(), length);
    size_ += length;
  }
  std::string_view view() const { return {bytes_, size_}; }

 private:
  size_t size_ = 0;
  char bytes_[kMost];
};

}  // namespace weft::inline v0_1::detail::inspect
