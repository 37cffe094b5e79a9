// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/utf8.h"

#include <cstdint>
#include <cstring>

namespace weft::inline v0_1::detail::inspect {
namespace {

// Returns: how many bytes at the beginning of `text` are ASCII. It looks at eight at a time: nearly all names
// have no others.
size_t asciiLength(std::string_view text) {
  size_t length = 0;
  for (uint64_t eight; text.size() - length >= sizeof eight; length += sizeof eight) {
    std::memcpy(&eight, text.data() + length, sizeof eight);
    if ((eight & 0x8080808080808080) != 0) {
      break;
    }
  }
  while (length < text.size() && static_cast<unsigned char>(text[length]) < 0x80) {
    ++length;
  }
  return length;
}

}  // namespace

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
  size_t valid = asciiLength(text);
  while (const size_t length = utf8Length(text.substr(valid))) {
    valid += length;
    valid += asciiLength(text.substr(valid));
  }
  return valid;
}

}  // namespace weft::inline v0_1::detail::inspect
