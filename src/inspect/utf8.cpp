// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/utf8.h"

#include <cstdint>

namespace weft::inline v0_1::detail::inspect {

size_t utf8Length(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  const uint32_t lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xc2 ? 0
                        : lead < 0xe0 ? 2
                        : lead < 0xf0 ? 3
                        : lead < 0xf5 ? 4
                                      : 0;
  if (length > text.size()) {
    return 0;
  }
  uint32_t character = length < 2 ? lead : lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const uint32_t byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) {
      return 0;
    }
    character = character << 6 | (byte & 0x3f);
  }
  const bool isOverlong = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  const bool isSurrogate = character >= 0xd800 && character < 0xe000;
  return isOverlong || isSurrogate || character > 0x10ffff ? 0 : length;
}

size_t validUtf8(std::string_view text) {
  size_t valid = 0;
  while (const size_t length = utf8Length(text.substr(valid))) {
    valid += length;
  }
  return valid;
}

}  // namespace weft::inline v0_1::detail::inspect
