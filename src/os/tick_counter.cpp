// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/tick_counter.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace weft::inline v0_1::detail {

bool areTicksSteady() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;  // "invariant TSC"
#else
  return true;  // it is a clock
#endif
}

}  // namespace weft::inline v0_1::detail
