// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace weft::inline v0_1::detail {

// Keeps the shared library that contains this function in the process, even if the program closes it. The
// reason: threads that wait for blocking calls, memory that any thread may still touch, and the handler of
// stack overflows outlast the last scheduler. Called before the first of these is made.
// Requires: the caller holds no lock, since this takes the dynamic linker's lock.
void keepLoaded() noexcept;

}  // namespace weft::inline v0_1::detail
