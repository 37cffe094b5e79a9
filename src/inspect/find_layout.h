// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inspect/memory.h"

namespace weft::inline v0_1::detail::inspect {

// Looks for the LayoutTable of an image, which is a program or a shared library whose ELF header is mapped at
// `begin`. Reads mapped memory alone: the image's file may be stripped, gone, or in another container.
// Returns: where the table should be, which readOffsets() checks; 0 if the image has no note of one.
Address findTable(const Memory& memory, Address begin);

}  // namespace weft::inline v0_1::detail::inspect
