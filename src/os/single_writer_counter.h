// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/detail/port/processor.h"

namespace weft::inline v0_1::detail {

// A counter that one thread writes and any thread reads.
class SingleWriterCounter {
 public:
  void operator++() { add(1); }
  void operator--() { add(-1); }
  void operator+=(int64_t number) { add(number); }
  // relaxed: a statistic.
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  void add(int64_t number) { port::addBySingleWriter(value_, number); }

  std::atomic<uint64_t> value_{0};
};

}  // namespace weft::inline v0_1::detail
