// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

namespace weft::detail {

// The most that a byte of text takes in JSON: \u001f.
inline constexpr size_t kJsonBytesPerByte = 6;

// Writes `text` as the inside of a JSON string to `out`, and a zero after it. What is no valid UTF-8 becomes
// U+FFFD. Returns: the end, where the zero stands. Requires: room for kJsonBytesPerByte bytes for each of
// `text`, and the zero.
char* writeJsonText(const char* text, char* out);

}  // namespace weft::detail
