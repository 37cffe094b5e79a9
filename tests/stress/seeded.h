// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdlib>
#include <cstring>

namespace weft::model {

// Whether the bug of bugs.txt is put in.
inline bool isSeeded(const char* name) {
  static const char* const seeded = ::std::getenv("WEFT_STRESS_BUG");
  return seeded != nullptr && ::std::strcmp(seeded, name) == 0;
}

}  // namespace weft::model
