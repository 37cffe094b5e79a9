// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/serial_warning.h"

#include <string_view>

#include "os/environment.h"
#include "os/warn_with_callers.h"

namespace weft::inline v0_1::detail {

constinit std::atomic<bool> isSerialWarningOver{false};

void warnOfSerialRunOnce() {
  const char* const wish = environmentVariable("WEFT_WARN_SERIAL");
  const bool isWanted = wish != nullptr && std::string_view(wish) != "0";
  if (!isSerialWarningOver.exchange(true, std::memory_order_relaxed) && isWanted) {
    detail::warnWithCallers(
        "a parallel algorithm, join() or TaskGroup::run() runs on the calling thread alone, "
        "since no scheduler is bound to it. "
        "Hold a Scheduler::Binding on this thread, "
        "or pass an executor first: parallelFor(weft::defaultExecutor(), range, f). "
        "Further calls are not told.");
  }
}

}  // namespace weft::inline v0_1::detail
