// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdlib>

namespace weft::inline v0_1::detail {

// Returns: the value of an environment variable; null if it is unset or empty. Always null in a program that
// has more rights than whoever started it, such as a set-user-ID one: weft's variables name files to write.
inline const char* environmentVariable(const char* name) noexcept {
  const char* const value = ::secure_getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace weft::inline v0_1::detail
