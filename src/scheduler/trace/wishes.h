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
  static constexpr uint32_t kRecorded = 1;  // in `word`: events are recorded
  static constexpr uint32_t kNewHooks = 2;  // added to `word` at each change of `hooks`

  uint32_t current() const noexcept {
    // (1) acquire: sees what has changed; pairs with the addition in setFiberHooks().
    return word.load(std::memory_order_acquire);
  }
  bool areWakesNoted() const noexcept { return (current() & kRecorded) != 0; }

  std::atomic<uint32_t> word{0};
  std::atomic<const FiberHooks*> hooks{nullptr};  // stored before `word` changes, loaded after it has
};
extern constinit Wishes wishes;

}  // namespace weft::inline v0_1::detail
