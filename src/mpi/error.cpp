// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/mpi/error.h"

#include <array>
#include <climits>
#include <string>

#include "weft/debug.h"
#include "weft/mpi/buffer.h"
#include "weft/mpi/native.h"

namespace weft::inline v0_1 {

namespace detail {
namespace {

// Whether MPI tells of its errors: some libraries end the program where they are asked before or afterwards.
bool isRunning() {
  int hasBegun = 0;
  int hasEnded = 0;
  MPI_Initialized(&hasBegun);
  MPI_Finalized(&hasEnded);
  return hasBegun != 0 && hasEnded == 0;
}

class MpiCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "mpi"; }
  std::string message(int code) const override {
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    int length = 0;
    if (!isRunning() || MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
      return "MPI error " + std::to_string(code);
    }
    return {text.data(), static_cast<size_t>(length)};
  }
};

}  // namespace

int checkedCount(size_t count) {
  WEFT_ASSERT(
      count <= INT_MAX,
      "%zu values, or bytes, are more than MPI moves at once, %d. Send them in parts, or as values of "
      "an mpi::Datatype.",
      count, INT_MAX);
  return static_cast<int>(count);
}

}  // namespace detail

namespace mpi {

const std::error_category& category() noexcept {
  static const detail::MpiCategory category;
  return category;
}

Error::Error(int code, const char* function) : system_error(code, category(), function) {}
Error::~Error() = default;

int Error::errorClass() const noexcept {
  int found = MPI_ERR_UNKNOWN;
  if (detail::isRunning()) {
    MPI_Error_class(code().value(), &found);
  }
  return found;
}

}  // namespace mpi
}  // namespace weft::inline v0_1
