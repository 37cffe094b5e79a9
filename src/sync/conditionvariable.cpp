// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/conditionvariable.h"

#include "weft/debug.h"
#include "weft/detail/base/spin_lock.h"

namespace weft {

struct ConditionVariable::ListLock {
  ConditionVariable& variable;

  void lock() { detail::lockBit<uint32_t>(variable.word_, kLocked); }
  void unlock() {
    // (1) release: the list is seen by the next lockBit; the last access to the condition variable.
    variable.word_.store(variable.list_.isEmpty() ? 0 : kWaiters, std::memory_order_release);
  }
};

ConditionVariable::~ConditionVariable() {
  WEFT_ASSERT(
      list_.isEmpty(),
      "a ConditionVariable was destroyed while somebody waits for it. Notify all and let them go first.");
}

void ConditionVariable::link(detail::Waiter& self) {
  ListLock lock{*this};
  lock.lock();
  list_.pushBack(self);
  lock.unlock();
}

bool ConditionVariable::block(detail::Waiter& self, detail::TimePoint deadline) {
  ListLock lock{*this};
  return detail::blockLinked(self, lock, list_, deadline, "ConditionVariable", this);
}

bool ConditionVariable::block(detail::Waiter& self, detail::TimePoint deadline,
                              const std::stop_token& token) {
  const auto claim = [&] {
    ListLock lock{*this};
    return detail::unlinkIfLinked(self, lock, list_);
  };
  return detail::blockStoppable(self, deadline, token, claim, "ConditionVariable", this) ==
         detail::WaitEnd::Woken;
}

void ConditionVariable::notify(bool all) {
  ListLock lock{*this};
  lock.lock();
  detail::WaitList claimed;
  detail::Waiter* first = nullptr;
  if (all) {
    claimed.claimAll(list_);
  } else {
    first = list_.popFront();
  }
  lock.unlock();
  if (first != nullptr) {
    detail::wake(*first);
  }
  detail::wakeAll(claimed);
}

}  // namespace weft
