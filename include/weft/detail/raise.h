// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/debug.h"

namespace weft::detail {

// Throws `error`, a std::exception; where there are no exceptions, what() ends the program.
template <class Error>
[[noreturn, gnu::cold]] void raise(const Error& error) {
#if !defined(WEFT_NO_EXCEPTIONS)
  throw error;
#else
  WEFT_FATAL("%s", error.what());
#endif
}

}  // namespace weft::detail
