// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace weft::inline v0_1::detail {

// Keeps the shared library that contains this function in the process, even if the program closes it: threads
// of blocking calls, memory that any thread may touch, and the handler of stack overflows outlast the last
// scheduler. Called before the first of these is made.
// Requires: the caller holds no lock, since this takes the dynamic linker's lock.
void keepLoaded() noexcept;

}  // namespace weft::inline v0_1::detail
