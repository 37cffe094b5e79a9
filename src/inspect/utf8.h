// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string_view>

namespace weft::inline v0_1::detail::inspect {

// What stands for a byte that is no UTF-8: U+FFFD.
inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

// Returns: the bytes of the character at the beginning of `text`, or 0 if there is none in UTF-8.
size_t utf8Length(std::string_view text);

// Returns: how many bytes at the beginning of `text` are UTF-8.
size_t validUtf8(std::string_view text);

}  // namespace weft::inline v0_1::detail::inspect
