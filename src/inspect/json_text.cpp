// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/json_text.h"

#include <cstring>

#include "inspect/utf8.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

bool isEscapedInJson(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

}  // namespace

std::string_view JsonPieces::next() {
  size_t plain = 0;
  while (plain < rest_.size() && !isEscapedInJson(rest_[plain])) {
    const bool isAscii = static_cast<unsigned char>(rest_[plain]) < 0x80;
    const size_t length = isAscii ? 1 : utf8Length(rest_.substr(plain));
    if (length == 0) {
      break;
    }
    plain += length;
  }
  return plain == 0 && !rest_.empty() ? escapeNext() : take(plain);
}

std::string_view JsonPieces::take(size_t size) {
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::string_view JsonPieces::escapeNext() {
  const auto byte = static_cast<unsigned char>(take(1)[0]);
  if (byte >= 0x80) {
    return "\\ufffd";
  }
  if (byte >= 0x20) {
    escape_[0] = '\\';
    escape_[1] = static_cast<char>(byte);
    return {escape_, 2};
  }
  std::memcpy(escape_, "\\u00", 4);
  escape_[4] = "01"[byte / 16];
  escape_[5] = "0123456789abcdef"[byte % 16];
  return {escape_, sizeof escape_};
}

}  // namespace weft::inline v0_1::detail::inspect
