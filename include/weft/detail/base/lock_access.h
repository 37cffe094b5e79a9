// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace weft::inline v0_1::detail {

template <class Lock>
concept HasUncheckedLocking = requires(Lock& lock) {
  lock.lock_no_tsa();
  lock.unlock_no_tsa();
};

// Releases a held lock for the time of a scope. Prefers variants that clang's analysis ignores.
template <class Lock>
class Unlocked {
 public:
  explicit Unlocked(Lock& lock) : lock_(lock) {
    if constexpr (HasUncheckedLocking<Lock>) {
      lock_.unlock_no_tsa();
    } else {
      lock_.unlock();
    }
  }
  ~Unlocked() {
    if constexpr (HasUncheckedLocking<Lock>) {
      lock_.lock_no_tsa();
    } else {
      lock_.lock();
    }
  }
  Unlocked(const Unlocked&) = delete;

 private:
  Lock& lock_;
};

}  // namespace weft::inline v0_1::detail
