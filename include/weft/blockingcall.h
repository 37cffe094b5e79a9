// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <functional>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/outcome.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

namespace detail {

// Calls run(argument) on a thread that may block, and returns when run() has returned.
// Requires: run() lets no exception escape.
// Errors: throws std::system_error if the system grants no thread.
WEFT_EXPORT void callOnBlockingThread(void (*run)(void*), void* argument);
// As callOnBlockingThread(), without exceptions.
// Returns: 0, or the system's error number if it grants no thread.
[[nodiscard]] WEFT_EXPORT int tryOnBlockingThread(void (*run)(void*), void* argument) noexcept;

// As callOnBlockingThread(), but nobody waits. No scheduler is bound during the call. Returns at once. One
// exception: a call within another call is made here once it exceeds the bound on threads. If the system
// grants no thread, calls refused(argument, error number) instead, here or on the thread of another call.
// Requires: both let no exception escape, and refused() neither suspends nor blocks.
WEFT_EXPORT void startOnBlockingThread(void (*run)(void*), void (*refused)(void*, int), void* argument);

}  // namespace detail

// Calls function(args...) on another thread, where it may block in the system. Suspends the fiber, or blocks
// the thread, until the function has returned. The other fibers of this thread run meanwhile.
//
//   std::string reply = weft::blocking_call([&] { return readLine(socket); });
// The threads are pooled: a call takes the thread that became idle last, or a new one if none is idle. The
// caller's scheduler, if any, is bound to that thread during the call, and unbound before blocking_call()
// returns, so the tasks that only that thread may run have ended by then.
// Returns: what the function returns, references included. What escapes the function is thrown here.
// Errors: throws std::system_error if the system grants no thread.
// Lifetime: the function and its arguments are used in place, not copied.
template <class Function, class... Args>
auto blocking_call(Function&& function, Args&&... args) -> std::invoke_result_t<Function, Args...> {
  using Result = std::invoke_result_t<Function, Args...>;
  detail::assertCallable(function, "blocking_call()");
  detail::Outcome<Result> outcome;
  auto call = [&] {
    outcome.capture([&]() -> Result {
      return std::invoke(std::forward<Function>(function), std::forward<Args>(args)...);
    });
  };
  detail::callOnBlockingThread([](void* argument) { (*static_cast<decltype(call)*>(argument))(); }, &call);
  return outcome.take();
}

template <class Function, class... Args>
  requires(!std::is_invocable_v<Function, Args...>)
void blocking_call(Function&&, Args&&...) {
  static_assert(
      detail::kAlwaysFalse<Function>,
      "blocking_call(f, args...): f cannot be called with these arguments, or with none if there are none.");
}

// The process's threads for blocking_call(). Each has the affinity of the thread that started it.
//
//   weft::BlockingThreads::setMaxCount(64);
struct BlockingThreads {
  // Bounds the number of threads; at first there is no bound. Calls beyond the bound wait for their turn,
  // first in, first out. A call within another call then runs on that call's thread, since otherwise both
  // could wait forever. A call that waits for another task's call does wait forever if that one gets no
  // thread. After the bound was lowered, each thread beyond it ends with its current or next call.
  // Requires: `count` is not 0.
  WEFT_EXPORT static void setMaxCount(unsigned int count);

  // Sets how long a thread that becomes idle from now on waits for a call; ten seconds at first.
  WEFT_EXPORT static void setIdleTime(std::chrono::milliseconds time);

  // Returns: the number of threads, idle ones included.
  WEFT_EXPORT static unsigned int count();
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
