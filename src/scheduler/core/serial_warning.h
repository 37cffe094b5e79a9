// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>

namespace weft::inline v0_1::detail {

// Whether it is certain that no warning is to come: the environment asks for none, or it was told.
// false -> true, by the first call. relaxed: it guards nothing.
extern constinit std::atomic<bool> isSerialWarningOver;

[[gnu::cold, gnu::noinline]] void warnOfSerialRunOnce();

// Called where what was meant for several threads runs on the calling thread alone, since no scheduler is
// bound to it. The first call in a process warns, if WEFT_WARN_SERIAL is set, and not to 0.
inline void noteSerialRun() {
  if (!isSerialWarningOver.load(std::memory_order_relaxed)) [[unlikely]] {
    warnOfSerialRunOnce();
  }
}

}  // namespace weft::inline v0_1::detail
