// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace weft::inline v0_1::detail {

// Does what the environment variable WEFT_WATCHDOG asks for, at the first call.
void obeyWatchdogVariable() noexcept;

}  // namespace weft::inline v0_1::detail
