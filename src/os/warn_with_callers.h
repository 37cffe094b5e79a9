// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace weft::inline v0_1::detail {

// As warn(), with a line that names the innermost calls, as fatalAt() does, and more of them.
// Needs about 4 KiB of stack.
[[gnu::cold, gnu::noinline, gnu::format(printf, 1, 2)]] void warnWithCallers(const char* format, ...);

}  // namespace weft::inline v0_1::detail
