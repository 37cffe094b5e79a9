// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/json_text.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace weft::inline v0_1::detail::inspect {
namespace {

// Returns: the length in bytes of the UTF-8 character at `text`, or 0 if there is none. Stops at the zero.
size_t utf8Length(const unsigned char* text) {
  const uint32_t lead = text[0];
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xc2 ? 0
                        : lead < 0xe0 ? 2
                        : lead < 0xf0 ? 3
                        : lead < 0xf5 ? 4
                                      : 0;
  uint32_t character = length < 2 ? lead : lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xc0) != 0x80) {
      return 0;
    }
    character = character << 6 | (text[i] & 0x3fu);
  }
  const bool isOverlong = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  const bool isSurrogate = character >= 0xd800 && character < 0xe000;
  return isOverlong || isSurrogate || character > 0x10ffff ? 0 : length;
}

}  // namespace

char* writeJsonText(const char* text, char* out) {
  const auto* in = reinterpret_cast<const unsigned char*>(text);
  while (*in != 0) {
    const size_t length = utf8Length(in);
    if (length == 0) {
      out += std::sprintf(out, "\\ufffd");
    } else if (*in == '"' || *in == '\\') {
      *out++ = '\\';
      *out++ = static_cast<char>(*in);
    } else if (*in < 0x20) {
      out += std::sprintf(out, "\\u%04x", static_cast<unsigned>(*in));
    } else {
      std::memcpy(out, in, length);
      out += length;
    }
    in += length > 0 ? length : 1;
  }
  *out = '\0';
  return out;
}

}  // namespace weft::inline v0_1::detail::inspect
