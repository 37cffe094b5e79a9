// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weft::inline v0_1 {

// How often durations were how long: plain data. The buckets are log-linear, as in HdrHistogram (G. Tene):
// two of equal width for each power of two. So each but the last is at most a third as wide as its upper
// bound, from 128 nanoseconds on.
//
//   const weft::Histogram delays = scheduler.stats().workers[0].wakeDelays;
//   for (size_t i = 0; i < weft::Histogram::kBuckets; ++i) {
//     print(weft::Histogram::bound(i), delays.counts[i]);
//   }
struct Histogram {
  static constexpr size_t kBuckets = 64;                // how many there are
  static constexpr std::chrono::nanoseconds kUnit{64};  // the width of the narrowest buckets

  // Returns: below which duration those of a bucket are. The last bucket has all longer ones too: its bound
  // is the largest number of nanoseconds. Requires: bucket < kBuckets.
  static constexpr std::chrono::nanoseconds bound(size_t bucket) {
    if (bucket == kBuckets - 1) {
      return std::chrono::nanoseconds::max();
    }
    return bucket < 2 ? kUnit * (bucket + 1) : kUnit * ((3 + bucket % 2) << (bucket / 2 - 1));
  }

  // Returns: the bucket for `duration`; the first for a negative one.
  static constexpr size_t bucketOf(std::chrono::nanoseconds duration) {
    if (duration < kUnit) {
      return 0;
    }
    const auto units = static_cast<uint64_t>(duration / kUnit);
    const auto power = static_cast<size_t>(63 - std::countl_zero(units));
    const size_t bucket = power == 0 ? 1 : 2 * power + ((units >> (power - 1)) & 1);
    return bucket < kBuckets ? bucket : kBuckets - 1;
  }

  // Returns: how many durations there are.
  constexpr uint64_t count() const {
    uint64_t total = 0;
    for (const uint64_t each : counts) {
      total += each;
    }
    return total;
  }

  std::array<uint64_t, kBuckets> counts{};  // one a bucket
  std::chrono::nanoseconds sum{0};          // of all durations
  std::chrono::nanoseconds longest{0};      // of all durations
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
