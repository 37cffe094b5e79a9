// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace weft::inline v0_1::detail {

// Returns: whether ticks() always goes on at one rate, also while the processor sleeps or changes its speed.
bool areTicksSteady();

}  // namespace weft::inline v0_1::detail
