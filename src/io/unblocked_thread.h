// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <signal.h>

#include <optional>
#include <string>

namespace weft::inline v0_1::detail {

// A thread to which the system may give a signal that others wait for.
struct UnblockedThread {
  int number = 0;
  std::string name;
  int signal = 0;  // one that it does not block
};

// Looks for a thread of this process, other than the calling one, that does not block all of `signals`. If
// there is one, looks again for a while: it may be about to end, or to block all signals, as weft's watchdog
// does. Also looks again while a thread may be about to start.
// Returns: that thread; nothing if there is none, or if the system does not tell.
std::optional<UnblockedThread> findUnblockedThread(const sigset_t& signals);

}  // namespace weft::inline v0_1::detail
