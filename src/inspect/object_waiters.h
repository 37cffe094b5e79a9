// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string_view>

#include "inspect/snapshot.h"

namespace weft::inline v0_1::detail::inspect {

inline constexpr std::string_view kSend = "Channel::send";
inline constexpr std::string_view kReceive = "Channel::receive";

// Returns: whether several fibers may wait for the object at this address. `what`: what a fiber waits for.
inline bool isSharedObject(std::string_view what, Address object) {
  // A fiber that waits for its own notify() waits for no object that it could share.
  return object != 0 && !what.starts_with("io::") && !what.starts_with("Fiber::");
}

// Sets Fiber::numWaiters and numOpposite of the fibers from `first` on, by what they wait for. Takes time
// linear in their number, and at most 64 bytes for each that waits. Without memory the numbers stay zero.
void countWaiters(Snapshot& snapshot, size_t first);

}  // namespace weft::inline v0_1::detail::inspect
