// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "inspect/byte_reader.h"
#include "inspect/unwinder.h"

namespace weft::inline v0_1::detail::inspect {

// Evaluates an expression of call frame information (DWARF 5, section 2.5), such as gcc writes for frames
// with an alignment of their own, and linkers for .plt. `cfa`: what lies on the expression's stack at first;
// null: nothing. Returns: whether all of it was understood and could be read. If not, `result` is the address
// that could not be read; 0: it was not understood.
[[nodiscard]] bool evaluate(ByteReader expression, const Registers& registers, const StackCopy& stack,
                            const Address* cfa, Address& result);

}  // namespace weft::inline v0_1::detail::inspect
