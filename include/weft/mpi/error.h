// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <string>
#include <system_error>

#include "weft/export.h"

namespace weft::inline v0_1::mpi {

// Returns: the category of MPI's error codes. message() is MPI's own text while MPI runs.
WEFT_EXPORT const std::error_category& category() noexcept;

// An operation of MPI has failed. what() has the name of its function and MPI's text, code() MPI's code.
//
//   try {
//     world.recv(values, 0);
//   } catch (const weft::mpi::Error& error) {
//     isTooLarge = error.errorClass() == MPI_ERR_TRUNCATE;
//   }
class WEFT_EXPORT Error : public std::system_error {
 public:
  // An error with MPI's `code` of the MPI function `function`.
  Error(int code, const char* function);
  Error(const Error&) noexcept = default;
  ~Error() override;

  // Returns: MPI's class of the error, such as MPI_ERR_TRUNCATE; MPI_ERR_UNKNOWN once MPI has ended.
  int errorClass() const noexcept;
};

}  // namespace weft::inline v0_1::mpi

#include "weft/detail/base/macros_end.h"
