// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/base/spin_lock.h"

#include <sched.h>
#include <time.h>

#include <string_view>

#include "os/relax.h"
#include "weft/debug.h"
#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

constinit std::atomic<uint32_t> relaxPatience{kRelaxPatience};

namespace {

// By writeStderr() alone, which is safe in a signal handler and needs no room on a small stack.
[[gnu::cold, gnu::noinline]] void warnOfLongWait() {
  constexpr std::string_view kText =
      "weft: warning: a thread has waited for seconds for a step of another thread that takes some "
      "instructions, such as a lock bit of an Event. Calls of weft in a signal handler hang so: the handler "
      "waits for the thread that it has interrupted. It may call Signal::send() and nothing else of weft "
      "(docs/scheduler.md, Signals). If there is no such handler, the other thread does not run: it has "
      "been ended, a debugger holds it, or threads of a higher priority take the processors. A backtrace of "
      "all threads shows who waits, in weft::detail::relax().\n";
  writeStderr(kText.data(), kText.size());
}

struct System {
  static void pause() { StdSync::pause(); }
  static void yield() { sched_yield(); }
  // Unlike nanosleep(), this leaves errno alone.
  static void sleepBriefly() {
    const timespec time{0, 50'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }
  // relaxed: only tests change it.
  static uint32_t patience() { return relaxPatience.load(std::memory_order_relaxed); }
  static void warn() { warnOfLongWait(); }
};

}  // namespace

void relax(uint32_t& round) noexcept { relaxBy(round, System()); }

}  // namespace weft::inline v0_1::detail
