// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/conditionvariable.h"

#include "weft/debug.h"

namespace weft::inline v0_1 {

ConditionVariable::~ConditionVariable() {
  WEFT_ASSERT(
      !core_.isAwaited(),
      "a ConditionVariable was destroyed while somebody waits for it. Notify all and let them go first.");
}

bool ConditionVariable::block(detail::Waiter& self, detail::TimePoint deadline,
                              const std::stop_token& token) {
  return detail::blockQueued(self, core_, deadline, token, "ConditionVariable", this);
}

// A notify_one() that has come already is for another waiter.
void ConditionVariable::leave(detail::Waiter& self) {
  if (!core_.giveUp(self)) {
    detail::block(self, "ConditionVariable", this);
    notify_one();
  }
}

void ConditionVariable::notify(bool all) {
  if (all) {
    detail::wakeAll(core_.claimAll());
  } else if (detail::Waiter* first = core_.claimFirst()) {
    detail::wake(*first);
  }
}

}  // namespace weft::inline v0_1
