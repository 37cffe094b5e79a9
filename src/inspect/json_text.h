// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

namespace weft::inline v0_1::detail::inspect {

// The most that a byte of text takes in JSON: \u001f.
inline constexpr size_t kJsonBytesPerByte = 6;

// Writes `text` as the inside of a JSON string to `out`, and a zero. Bytes that are not UTF-8 become U+FFFD.
// Requires: room for kJsonBytesPerByte bytes for each byte of `text`, and a zero. Returns: the zero.
char* writeJsonText(const char* text, char* out);

}  // namespace weft::inline v0_1::detail::inspect
