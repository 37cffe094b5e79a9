// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <system_error>

#include "weft/mpi/error.h"
#include "weft/mpi/native.h"

namespace weft::inline v0_1::detail {

// Throws an Error if `code` of the MPI function `function` is one.
inline void check(int code, const char* function) {
  if (code != MPI_SUCCESS) [[unlikely]] {
    throw mpi::Error(code, function);
  }
}

// Sets or clears `error`.
inline void setError(std::error_code& error, int code) {
  error = code != MPI_SUCCESS ? std::error_code(code, mpi::category()) : std::error_code();
}

}  // namespace weft::inline v0_1::detail
