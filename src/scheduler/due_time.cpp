// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/due_time.h"

#include <chrono>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft::detail {
namespace {

// Linux lets a clock run faster or slower by 0.05 percent.
constexpr double kSlack = 0.999;

bool isCounterSteady() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;  // "invariant TSC"
#else
  return true;  // it is the clock
#endif
}

double nanoseconds(TimePoint::duration time) {
  return std::chrono::duration<double, std::nano>(time).count();
}

}  // namespace

void DueTime::expect(TimePoint deadline) {
  static const bool isSteady = isCounterSteady();
  const double measured = nanoseconds(time_ - firstTime_);
  if (!isSteady || measured <= 0 || tick_ <= firstTick_) {
    expected_ = 0;
    return;
  }
  const double left =
      nanoseconds(deadline - time_) * kSlack * (static_cast<double>(tick_ - firstTick_) / measured);
  constexpr double kMost = 1e18;
  expected_ = left < kMost ? tick_ + static_cast<uint64_t>(left) : std::numeric_limits<uint64_t>::max();
}

}  // namespace weft::detail
