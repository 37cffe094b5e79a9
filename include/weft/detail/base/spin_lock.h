// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/export.h"

namespace weft::inline v0_1::detail {

// Waits a little for the holder of a spin lock, and increments `round`. It spins. As `round` grows it yields,
// since the holder may have been preempted, and then sleeps, since the holder may have a lower priority. It
// warns after some 5 s: the holder may be this thread, interrupted by a signal.
WEFT_EXPORT void relax(uint32_t& round) noexcept;

// Sets bit `kBit` of `word`, and waits while another thread holds it. Returns: the other bits as they were.
//
// A critical section under such a bit is a few instructions long, and neither suspends nor calls out. So
// fibers and threads alike may spin for it. `wait` is relax(), or a checker's.
template <class Int, class Atomic, class Relax>
Int lockBitBy(Atomic& word, Int kBit, Relax wait) noexcept {
  uint32_t round = 0;
  Int old = word.load(std::memory_order_relaxed);  // relaxed: a guess for the compare-exchange
  for (;;) {
    if ((old & kBit) != 0) {
      wait(round);
      old = word.load(std::memory_order_relaxed);
      // (1) acquire: sees what the last holder wrote; pairs with (2).
    } else if (word.compare_exchange_weak(old, static_cast<Int>(old | kBit), std::memory_order_acquire,
                                          std::memory_order_relaxed)) {
      return old;
    }
  }
}
template <class Int>
Int lockBit(std::atomic<Int>& word, Int kBit) noexcept {
  return detail::lockBitBy<Int>(word, kBit, [](uint32_t& round) { relax(round); });
}

// For sections of a few instructions.
class SpinLock {
 public:
  void lock() noexcept { lockBit<uint32_t>(word_, 1); }
  // (2) release: the section's writes are seen by the next holder (1).
  void unlock() noexcept { word_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t> word_{0};  // 0 free, 1 held
};

}  // namespace weft::inline v0_1::detail
