// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/policy/throttle.h"

#include <algorithm>

namespace weft::inline v0_1::detail {

bool Throttle::beginHold(uint64_t numBlocked, uint64_t numEnded) {
  numBlocked -= numInIo();
  limit_ = std::max(std::min(limit_, 4 * numBlocked), kBlockedFreely);
  if (numBlocked <= limit_) {
    heldAt_ = 0;
    return false;
  }
  if (heldAt_ == 0 || numBlocked < heldAt_) {
    heldAt_ = numBlocked;
    endedBefore_ = numEnded;
    heldUntil_ = TimePoint::clock::now() + kHoldBack;
  }
  return true;
}

void Throttle::endHold(uint64_t numBlocked, uint64_t numEnded, bool hasReady, Others others) {
  numBlocked -= numInIo();
  heldAt_ = 0;
  const bool hasFreed = numEnded != endedBefore_ || hasReady;
  limit_ = numBlocked + (hasFreed                    ? kStartsPerHold
                         : others == Others::AllWait ? numBlocked
                                                     : kStartsPerVainHold);
}

}  // namespace weft::inline v0_1::detail
