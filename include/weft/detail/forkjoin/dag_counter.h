// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

// Counts the predecessors that a node of a DAG still waits for, in one run after the other.
//
// Each predecessor arrives once a run, and the last one goes on with the node. In a run with choices, an
// arrival also says whether the predecessor leads to the node. Then the word has kLed besides the number.
//
//   word               who changes it
//   n + 1 -> n         a predecessor that is not the last
//   + kLed             a predecessor that leads to the node, before it counts itself
//   1 -> numIns        the last one, for the next run
// What must not happen: the last one goes on without the work of another, or takes a node for skipped though
// another one leads to it. Each arrival before the last is a read-modify-write, so the last reads the number
// from all of them in a row, and the mark with it. The mark of the last one is its own.
template <class Sync = StdSync>
class DagCounter {
 public:
  explicit DagCounter(uint32_t numIns) : word_(numIns) {}

  // In a run without choices. Returns: whether others are still to come. If not, the caller is the last one,
  // and sees the work of all.
  bool arrive() {
    // (1) acquire: sees the other predecessors' work, so the last needs no read-modify-write; pairs with (2).
    return word_.load(std::memory_order_acquire) != 1 &&
           // (2) acq_rel: publishes this one's work to the last, which sees all; pairs with (1, 2).
           word_.fetch_sub(1, std::memory_order_acq_rel) != 1;
  }

  // In another run: a predecessor that leads to the node calls lead() first, and all call countDown().
  void lead() {
    // (4) relaxed: the last predecessor's (3) sees it, since it comes before (3) here.
    word_.fetch_or(kLed, std::memory_order_relaxed);
  }
  // Returns: what isLast() and isLed() tell of.
  uint32_t countDown() {
    // (3) acq_rel: publishes this one's work to the last, which sees all, and (4); pairs with (3).
    return word_.fetch_sub(1, std::memory_order_acq_rel);
  }
  static bool isLast(uint32_t arrival) { return (arrival & ~kLed) == 1; }
  static bool isLed(uint32_t arrival) { return (arrival & kLed) != 0; }  // Requires: isLast()

  // The last one, before it goes on with the node.
  // relaxed: for the next run, which begins after this one has ended.
  void reset(uint32_t numIns) { word_.store(numIns, std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kLed = uint32_t{1} << 31;

  typename Sync::template Atomic<uint32_t> word_;
};

}  // namespace weft::inline v0_1::detail
