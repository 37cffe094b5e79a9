// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/thread_registers.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "os/registers.h"

namespace weft::inline v0_1::detail::tools {

using processor::kInUserRegs;

inspect::Registers registersOf(std::span<const uint64_t> members) {
  inspect::Registers values;
  for (size_t i = 0; i < std::min(std::size(kInUserRegs), members.size()); ++i) {
    if (kInUserRegs[i] != processor::kNoNumber) {
      values.set(kInUserRegs[i], members[i]);
    }
  }
  values.isInterrupted = true;
  return values;
}

}  // namespace weft::inline v0_1::detail::tools
