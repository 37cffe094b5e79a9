// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/tick_rate.h"

#include <atomic>

#include "os/tick_counter.h"
#include "weft/detail/base/ticks.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__riscv) && __riscv_xlen == 64
#include <fcntl.h>
#include <unistd.h>
#endif

namespace weft::inline v0_1::detail {
namespace {

// Returns: the rate by the processor or the system, for tickRateOf().
double toldTickRate() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned denominator = 0, numerator = 0, crystal = 0, unused = 0;
  if (__get_cpuid(0x15, &denominator, &numerator, &crystal, &unused) == 0 || denominator == 0) {
    return 0;
  }
  return 1e-6 * crystal * numerator / denominator;  // 0 where the crystal's rate is not told
#elif defined(__aarch64__)
  uint64_t hertz = 0;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
  return 1e-6 * static_cast<double>(hertz);
#elif defined(__riscv) && __riscv_xlen == 64
  unsigned char hertz[4] = {};  // the most significant first
  const int file = open("/proc/device-tree/cpus/timebase-frequency", O_RDONLY | O_CLOEXEC);
  const bool isRead = file >= 0 && read(file, hertz, sizeof hertz) == sizeof hertz;
  if (file >= 0) {
    close(file);
  }
  return isRead ? 1e-6 * (hertz[0] * 0x1p24 + hertz[1] * 0x1p16 + hertz[2] * 0x1p8 + hertz[3]) : 0;
#else
  return double{port::kTicksPerMicrosecond};  // the system's clock, or the architecture's usual rate
#endif
}

constinit bool isCalibrated = false;

}  // namespace

constinit std::atomic<float> tickRate{port::kTicksPerMicrosecond};

void calibrateTicks() noexcept {
  if (!isCalibrated) {
    isCalibrated = true;
    const double measured = TickRateMeter<MachineClock>::measure();
    const double rate = tickRateOf(toldTickRate(), measured, double{port::kTicksPerMicrosecond});
    // relaxed: a number, which nothing else depends on.
    tickRate.store(static_cast<float>(rate), std::memory_order_relaxed);
  }
}

}  // namespace weft::inline v0_1::detail
