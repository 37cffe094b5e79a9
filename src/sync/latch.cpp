// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/latch.h"

#include "weft/debug.h"

namespace weft::inline v0_1 {

Latch::Latch(ptrdiff_t expected) : core_(static_cast<uint32_t>(expected)) {
  WEFT_ASSERT(expected >= 0 && expected <= max(), "Latch(%td): the count must be 0 to %td.", expected, max());
}

void Latch::count_down(ptrdiff_t n) {
  if (core_.countDown(n)) {
    detail::wakeAll(core_.open());
  }
}

bool Latch::waitFor(detail::TimePoint deadline, const std::stop_token& token) {
  // queue() tests a count of zero again, under the lock.
  if (token.stop_requested() && !core_.isZero()) {
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  return !core_.queue(self) || detail::blockQueued(self, core_, deadline, token, "Latch", this);
}

void Latch::reportDestroyedInUse() {
  WEFT_FATAL("a Latch was destroyed while somebody waits for it. Keep it alive until wait() has returned.");
}

}  // namespace weft::inline v0_1
