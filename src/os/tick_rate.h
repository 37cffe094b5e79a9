// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>

namespace weft::inline v0_1::detail {

// Measures how fast a counter of ticks runs, by two readings of it and of the clock that lie 30 us apart.
//
// The clock is read between two looks at the counter. What the counter shows at the time of the clock lies
// between these, so their distance says how wrong the reading may be. A thread that was preempted within a
// reading has a wide one, which is taken again. One that was preempted between two readings has measured for
// longer, which does no harm. A counter that stands still, goes back or is very slow gives no result.
//
// Rejected: two readings that lie far apart, such as at the start of the program and at the first scheduler.
// While a machine is suspended the clock stands still, and the counter may go on or begin anew.
//
// `Clock` has static functions: now(), of std::chrono's kind, and ticks().
template <class Clock>
class TickRateMeter {
 public:
  // Spins for some 30 us, or 50 us if that is not enough.
  // Returns: ticks in a microsecond, wrong by a sixteenth at most; 0 if that cannot be told.
  static double measure() {
    Reading first = read();
    int numLate = 0;
    for (int i = 0; i < kMostReadings && numLate < kMostLate; ++i) {
      const Reading last = read();
      if (isExact(first, last)) {
        return static_cast<double>(last.ticks - first.ticks) * 1000 / nanoseconds(first, last);
      }
      if (last.width < first.width / 2) {
        first = last;
        numLate = 0;
      }
      numLate += nanoseconds(first, last) > kLongest ? 1 : 0;
    }
    return 0;
  }

 private:
  static constexpr double kShortest = 30'000;  // nanoseconds
  static constexpr double kLongest = 50'000;
  static constexpr int kMostLate = 8;         // readings after kLongest
  static constexpr int kMostReadings = 1000;  // where the clock stands still
  static constexpr int kTries = 4;
  static constexpr uint64_t kEndless = uint64_t{1} << 62;

  struct Reading {
    uint64_t ticks;
    uint64_t width = kEndless;  // the true number of ticks lies within so many
    decltype(Clock::now()) time;
  };

  static Reading read() {
    Reading best{};
    for (int i = 0; i < kTries; ++i) {
      const uint64_t before = Clock::ticks();
      const auto time = Clock::now();
      const uint64_t after = Clock::ticks();
      const uint64_t width = after - before + 1;
      if (after >= before && width < best.width) {
        best = {before + width / 2, width, time};
      }
    }
    return best;
  }

  static double nanoseconds(const Reading& first, const Reading& last) {
    return std::chrono::duration<double, std::nano>(last.time - first.time).count();
  }

  static bool isExact(const Reading& first, const Reading& last) {
    return nanoseconds(first, last) >= kShortest && last.ticks > first.ticks &&
           (last.ticks - first.ticks) / 16 >= first.width + last.width;
  }
};

// All are ticks in a microsecond, or 0 where they are not known. `told`: by the processor or the system. It
// is exact, or wrong: firmware and hypervisors make mistakes. It counts if the measurement agrees.
inline double tickRateOf(double told, double measured, double guess) {
  const double difference = told > measured ? told - measured : measured - told;
  return measured <= 0 ? guess : difference <= measured / 16 ? told : measured;
}

// Measures how fast ticks() runs, unless it has been measured. Spins for some 30 us then.
// Requires: no other thread calls it meanwhile.
void calibrateTicks() noexcept;

}  // namespace weft::inline v0_1::detail
