// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "weft/detail/base/deadline.h"

namespace weft::inline v0_1::detail {

// The time that is left, for calls that take it as such. Null for kNever.
class TimeLeft {
 public:
  explicit TimeLeft(TimePoint deadline) : isBounded_(deadline != kNever) {
    using std::chrono::nanoseconds;
    // A deadline long ago is further away than a number may say.
    if (isBounded_ && deadline != TimePoint::min()) {
      const TimePoint now = TimePoint::clock::now();
      left_ = deadline > now ? nanoseconds(deadline - now).count() : 0;
    }
    time_.tv_sec = static_cast<time_t>(left_ / 1'000'000'000);
    time_.tv_nsec = static_cast<long>(left_ % 1'000'000'000);
  }

  const timespec* get() const { return isBounded_ ? &time_ : nullptr; }
  // Rounded up.
  int milliseconds() const {
    const int64_t rounded = (left_ + 999'999) / 1'000'000;
    return isBounded_ ? static_cast<int>(std::min<int64_t>(rounded, std::numeric_limits<int>::max())) : -1;
  }

 private:
  const bool isBounded_;
  int64_t left_ = 0;
  timespec time_{};
};

}  // namespace weft::inline v0_1::detail
