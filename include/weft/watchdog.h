// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "weft/export.h"

namespace weft::inline v0_1 {

namespace detail {
class WatchdogThread;
}

// Watches all schedulers of the process while it lives, and tells when one of them hangs.
//
// A thread of its own looks at the schedulers now and then, and compares what it sees. It reads their memory
// from outside, as weft::dump() does: no worker is stopped, asked, or waited for. A look takes some
// 50,000 instructions, and 1,200 for each fiber that waits. Tasks, waits and switches take the time that they
// take without it.
//
// What it sees it tells once, and again only if that has gone away and come back. A time that it tells is one
// through which it has seen the condition itself: the true one is longer by up to two of its periods.
// Times do not count in which the watchdog does not come to look, as when a debugger stops the process.
//
//   weft::Watchdog watchdog(weft::Watchdog::Config().setLongestTask(std::chrono::milliseconds(200)));
//
// WEFT_WATCHDOG=1000 in the environment has the first scheduler of the process start one, with 1000 ms for
// longestTask and longestDelay.
//
// The stack of a thread that runs a task cannot be read while it runs. A debugger stops the thread for that:
// gdb -p PID -batch -ex 'thread apply all bt'. `perf top -t THREAD` names the functions that take the time.
class WEFT_EXPORT Watchdog {
 public:
  // What a watchdog tells.
  enum class Condition : uint8_t {
    // A task has run for longestTask without waiting or letting others run: it computes, or sits in a system
    // call or a lock that is not weft's.
    LongTask,
    // A task that LongTask was told of has waited, let others run, or ended.
    LongTaskOver,
    // For longestDelay a fiber that may go on, a timer that is due, or a queued task has waited behind what
    // one worker runs. With a bound thread, that may be the thread's own code.
    Delay,
    // For longestDelay no worker has taken any of the tasks that are queued for all workers.
    StuckQueue,
    // Nothing can go on: fibers wait, and nobody is left to wake them. All workers have slept for
    // longestStandstill with nothing queued, no fiber waits for a time or for I/O, and each other thread of
    // the process waits in a lock or a condition variable without a time limit. Not told of an idle server:
    // it has a thread or a fiber that waits for the world outside. Only a signal handler, or another process
    // that shares memory with this one, could wake somebody. Never told where the system does not let the
    // process read /proc/self/task/THREAD/syscall.
    Standstill,
    // Fibers wait for locks of each other. Told once a few looks have seen it, about a second after it began,
    // whatever the times are.
    Deadlock,
  };

  // What a handler gets.
  struct Report {
    Condition condition = Condition::LongTask;  // what it has seen
    std::chrono::nanoseconds duration{};        // at least; 0 for Deadlock
    // One or more lines, each with its end. Standstill and StuckQueue have a dump of all schedulers,
    // Deadlock the stacks of its fibers. The last line says where the events before are, if
    // weft::trace::start() was given a path.
    std::string text;
  };
  using Handler = std::function<void(const Report&)>;

  // What is told, and to whom.
  struct WEFT_EXPORT Config {
    // Each is more than zero. A quarter of the smallest is the period of looks, but from 1 ms to 1 s.
    std::chrono::nanoseconds longestTask = std::chrono::seconds(1);
    std::chrono::nanoseconds longestDelay = std::chrono::seconds(1);
    std::chrono::nanoseconds longestStandstill = std::chrono::seconds(5);
    // Called on the watchdog's thread, which looks at nothing meanwhile. Must not throw, nor destroy the
    // watchdog. None prints the text to stderr, without malloc.
    Handler handler;

    // Each sets a member, and returns the object, so that calls can be chained.
    Config& setLongestTask(std::chrono::nanoseconds time);
    Config& setLongestDelay(std::chrono::nanoseconds time);
    Config& setLongestStandstill(std::chrono::nanoseconds time);
    Config& setHandler(Handler function);
  };

  // Starts the thread. Schedulers may come and go before and after; several watchdogs each tell the same.
  // Errors: throws std::system_error if the system refuses the thread. A message ends the program if a time
  // is not more than zero.
  Watchdog();
  explicit Watchdog(const Config& config);
  // Waits for a look that is being made, and for its handler. Blocks the thread.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::unique_ptr<detail::WatchdogThread> thread_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
