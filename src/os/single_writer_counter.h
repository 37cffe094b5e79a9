// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

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
  // One instruction. Compilers make three of a relaxed load and a relaxed store.
  void add(int64_t number) {
#if defined(__x86_64__)
    asm("addq %1, %0" : "+m"(value_) : "er"(number) : "cc");
#else
    // relaxed, both: a statistic.
    value_.store(value_.load(std::memory_order_relaxed) + static_cast<uint64_t>(number),
                 std::memory_order_relaxed);
#endif
  }

  std::atomic<uint64_t> value_{0};
};

}  // namespace weft::inline v0_1::detail
