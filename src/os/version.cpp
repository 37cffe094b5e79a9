// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/version.h"

namespace weft::inline v0_1 {

int version() noexcept { return WEFT_VERSION; }

}  // namespace weft::inline v0_1
