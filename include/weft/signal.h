// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>

#include "weft/detail/base/deadline.h"
#include "weft/detail/park/parker.h"

namespace weft::inline v0_1 {

// One bit that wakes a thread: any thread sets it, and one thread waits for it and clears it.
//
//   weft::Signal finished;
//   std::thread worker([&] {
//     work();
//     finished.send();
//   });
//   finished.receiveBlocking();
// Sends are not counted: all those before a receive count as one. Takes no lock. Calls the system only to put
// the receiver to sleep and to wake it. A Signal blocks threads: code on fibers uses an Event.
// Requires: one thread at a time receives.
// Lifetime: a thread that has received may destroy the Signal at once, even if send() has not returned.
class Signal {
 public:
  Signal() = default;
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  // Sets the bit, and wakes the receiver if it sleeps. Any thread. Neither suspends nor blocks. Keeps errno.
  // Async-signal-safe: a signal handler may call it.
  // Memory ordering: the receive that clears the bit sees what was written before each send().
  void send() { parker_.unpark(); }

  // Clears the bit if it is set. Neither suspends nor blocks.
  // Returns: whether it was set.
  bool receive() { return parker_.tryPark(); }

  // Blocks the thread until the bit is set, and clears it.
  void receiveBlocking() { parker_.park(); }

  // As receiveBlocking(), for at most `duration`.
  // Returns: false if the time was up first.
  template <class Rep, class Period>
  bool receiveTimed(const std::chrono::duration<Rep, Period>& duration) {
    return parker_.tryPark() || parker_.parkUntil(detail::deadlineAfter(duration));
  }

 private:
  detail::Parker<detail::StdSync, false> parker_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
