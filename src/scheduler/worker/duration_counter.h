// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "os/single_writer_counter.h"
#include "weft/histogram.h"

namespace weft::inline v0_1::detail {

// A Histogram that one thread writes and any thread reads. Who reads meanwhile may find a duration in a part
// of the members.
class DurationCounter {
 public:
  void add(std::chrono::nanoseconds duration) {
    ++counts_[Histogram::bucketOf(duration)];
    sum_ += duration.count();
    // relaxed, both: a statistic.
    if (duration.count() > longest_.load(std::memory_order_relaxed)) {
      longest_.store(duration.count(), std::memory_order_relaxed);
    }
  }

  // Any thread.
  Histogram get() const {
    Histogram result;
    for (size_t i = 0; i < Histogram::kBuckets; ++i) {
      result.counts[i] = counts_[i].get();
    }
    result.sum = std::chrono::nanoseconds(static_cast<int64_t>(sum_.get()));
    result.longest =
        std::chrono::nanoseconds(longest_.load(std::memory_order_relaxed));  // relaxed: see add()
    return result;
  }

 private:
  SingleWriterCounter counts_[Histogram::kBuckets];
  SingleWriterCounter sum_;  // nanoseconds
  std::atomic<int64_t> longest_{0};
};

}  // namespace weft::inline v0_1::detail
