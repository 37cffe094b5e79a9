// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/fair/coro_case.h"

#include <mutex>

#include "weft/detail/wait/select_node.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

bool CoroCase::tryTake() {
  task_.assertNotInBody("select()");
  const std::lock_guard<SpinLock> guard(task_.lock_);
  return task_.hasEnded_;
}

// A body that has ended stays so: the claim needs no lock.
bool CoroCase::takeOrLink() {
  {
    const std::lock_guard<SpinLock> guard(task_.lock_);
    if (!task_.hasEnded_) {
      task_.waiters_.pushBack(node);
      return false;
    }
  }
  return claim(node);
}

void CoroCase::unlink() { (void)detail::unlinkIfLinked(node, task_.lock_, task_.waiters_); }

}  // namespace weft::inline v0_1::detail
