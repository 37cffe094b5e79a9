// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/export.h"

namespace weft::inline v0_1::detail {

const char WEFT_LIBRARY_CONTAINERS = 0;
const char WEFT_LIBRARY_SANITIZER = 0;

}  // namespace weft::inline v0_1::detail
