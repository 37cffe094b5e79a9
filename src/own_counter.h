// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

namespace weft::detail {

// A counter that one thread writes and any thread reads.
class OwnCounter {
 public:
  // relaxed, all of it: a statistic.
  void operator++() { value_.store(value_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void operator--() { value_.store(value_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace weft::detail
