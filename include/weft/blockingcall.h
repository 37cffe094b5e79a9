// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <chrono>
#include <functional>
#include <type_traits>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/export.h"

namespace weft {

namespace detail {

// Calls run(argument) on a thread that may block, and returns when that has returned. Requires: run() lets no
// exception escape.
WEFT_EXPORT void callOnBlockingThread(void (*run)(void*), void* argument);

}  // namespace detail

// Calls function(args...) on another thread, which may block in the system for as long as it likes, and
// suspends the fiber, or blocks the thread, until it has returned: the other fibers of this thread run
// meanwhile.
//
//   std::string reply = weft::blocking_call([&] { return readLine(socket); });
//
// The threads are pooled: a call takes the one that became idle last, or a new one where none is idle. The
// caller's scheduler, if it has one, is bound there for the time of the call, and unbound before
// blocking_call() returns: the tasks that only that thread may run have ended by then. Returns: what the
// function returns, references included; an exception that it lets escape is thrown here. Errors: where the
// system grants no thread, std::system_error is thrown.
// Lifetime: function and arguments are used where they are, and not copied.
template <class Function, class... Args>
auto blocking_call(Function&& function, Args&&... args) -> std::invoke_result_t<Function, Args...> {
  using Result = std::invoke_result_t<Function, Args...>;
  detail::Outcome<Result> outcome;
  auto call = [&] {
    outcome.capture([&]() -> Result {
      return std::invoke(std::forward<Function>(function), std::forward<Args>(args)...);
    });
  };
  detail::callOnBlockingThread([](void* argument) { (*static_cast<decltype(call)*>(argument))(); }, &call);
  return outcome.take();
}

// The threads on which blocking_call() calls: of the whole process, whatever its schedulers.
// As threads do, each keeps the affinity of the thread that started it, by the first call that it made.
//
//   weft::BlockingThreads::setMaxCount(64);
struct BlockingThreads {
  // Bounds how many there may be; there is no bound at first. Calls beyond it wait for their turn, first in,
  // first out; but a call that is made within another one runs on that one's thread then, lest both wait for
  // ever. Threads beyond a bound that was lowered end with the call that they make, or make next. Requires:
  // `count` is not 0.
  WEFT_EXPORT static void setMaxCount(unsigned int count);

  // Sets how long a thread that becomes idle from now on waits for a call before it ends: ten seconds at
  // first.
  WEFT_EXPORT static void setIdleTime(std::chrono::milliseconds time);

  // Returns: how many there are, idle ones included.
  WEFT_EXPORT static unsigned int count();
};

}  // namespace weft
