// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/thread_registers.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace weft::inline v0_1::detail::tools {
namespace {

using inspect::Registers;

#if defined(__x86_64__)
// The numbers that DWARF gives the members of user_regs_struct; kNoNumber: none.
constexpr uint8_t kNoNumber = 0xff;
constexpr uint8_t kNumbers[] = {
    15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, kNoNumber, Registers::kPc, kNoNumber, kNoNumber, 7};
#else
#error "weft knows the registers of x86-64 only"
#endif

}  // namespace

Registers registersOf(std::span<const uint64_t> members) {
  Registers registers;
  for (size_t i = 0; i < std::min(std::size(kNumbers), members.size()); ++i) {
    if (kNumbers[i] != kNoNumber) {
      registers.set(kNumbers[i], members[i]);
    }
  }
  registers.isInterrupted = true;
  return registers;
}

}  // namespace weft::inline v0_1::detail::tools
