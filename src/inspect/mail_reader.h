// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "inspect/memory.h"
#include "inspect/offsets.h"
#include "inspect/snapshot.h"

// The tasks that others have placed on a worker, and that it has not looked at yet: letters in its mailbox.
namespace weft::inline v0_1::detail::inspect {

// Returns: whether there are any. Takes one read.
bool hasLetters(const Memory& memory, const Offsets& offsets, Address worker);

// Returns: how many there are, but at most 100,000. Takes a read or two for each.
uint64_t countLetters(const Memory& memory, const Offsets& offsets, Address worker);

// Counts the letters of a worker if its snapshot says only that there are some.
void completeLetters(const Memory& memory, const Offsets& offsets, Worker& worker);

}  // namespace weft::inline v0_1::detail::inspect
