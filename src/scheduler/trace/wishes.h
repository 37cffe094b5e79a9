// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

#include "weft/fiberhooks.h"

namespace weft::inline v0_1::detail {

// What the process wants to know of its workers. A worker compares `word` at its polls with what it has
// followed last: see Worker::followWishes(). So all wishes together cost a load and a comparison a poll.
struct Wishes {
  // `word` tells in its lower half who wants to know of wakes, and counts changes in its upper half.
  static constexpr uint64_t kRecorded = 1;  // events are recorded
  static constexpr uint64_t kMeasured = 2;  // for each scheduler that is measured: WorkerGroup::isMeasured
  // Of `hooks`, of a WorkerGroup::isMeasured, or of the limits of lateWatch.
  static constexpr uint64_t kChange = uint64_t{1} << 32;

  uint64_t current() const noexcept {
    // (1) acquire: sees what has changed; pairs with the additions in setFiberHooks(),
    // SchedulerCore::measure() and trace::start().
    return word.load(std::memory_order_acquire);
  }
  bool areWakesNoted() const noexcept { return static_cast<uint32_t>(current()) != 0; }

  std::atomic<uint64_t> word{0};
  std::atomic<const FiberHooks*> hooks{nullptr};  // stored before `word` changes, loaded after it has
};
extern constinit Wishes wishes;

}  // namespace weft::inline v0_1::detail
