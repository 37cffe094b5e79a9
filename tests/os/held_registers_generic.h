// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cfenv>
#include <cstdint>

// A processor without assembly: a switch by ucontext leaves no frame of weft's to look at.
#define WEFT_TEST_NO_FRAMES

namespace weft::tests {

inline FloatingPointWords floatingPointWords() {
  return {
      {static_cast<uint64_t>(std::fegetround()), static_cast<uint64_t>(std::fetestexcept(FE_ALL_EXCEPT))}};
}

}  // namespace weft::tests
