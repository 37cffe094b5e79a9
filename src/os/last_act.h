// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace weft::inline v0_1::detail {

// What is done after a fatal message, before the process ends.
using LastAct = void (*)() noexcept;

// Fatal messages know no recorder of events: it tells them. `act` returns. It is called on any thread, by
// several at a time, and by itself.
void setLastAct(LastAct act) noexcept;

}  // namespace weft::inline v0_1::detail
