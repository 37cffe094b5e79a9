// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inspect/layout.h"

namespace weft::inline v0_1::detail {

// Of this copy of weft. A note in its file leads to it.
extern inspect::LayoutTable layoutTable asm("weft_layout_table_0_1");

}  // namespace weft::inline v0_1::detail
