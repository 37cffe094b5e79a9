// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

// How much of a stack has been used.
namespace weft::inline v0_1::detail {

// Asks the system which pages of [bottom, top) have memory, or are swapped out. Touches none of them.
// Returns: where the lowest such page begins; `top` if there is none; 0 if the system does not tell.
uintptr_t lowestTouched(uintptr_t bottom, uintptr_t top) noexcept;

// Tells how deep what the calling function calls gets on its stack: fills the unused part below with a
// pattern, as far as it has memory, and looks later where the pattern is gone. Pages that had no memory are
// zero. A page that is new, and has nothing but zeros, counts as a whole. The object itself needs less than a
// KiB of the stack, and does not tell smaller depths apart.
// Requires: no AddressSanitizer, under which locals may lie elsewhere.
class StackPaint {
 public:
  // `bottom`: of the stack on which the caller runs.
  explicit StackPaint(uintptr_t bottom) noexcept;

  // Returns: the lowest address that has been written since.
  // Requires: the caller runs on that stack.
  uintptr_t lowestUsed() const noexcept;

 private:
  const uintptr_t bottom_;
  uintptr_t painted_;  // the pattern begins here
};

}  // namespace weft::inline v0_1::detail
