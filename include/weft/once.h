// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <atomic>
#include <concepts>
#include <functional>
#include <stop_token>
#include <utility>

#include "weft/detail/base/callable.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/wait/once_core.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

// Calls a function once, by the first caller. The others wait until the function has returned.
//
//   weft::Once loaded;
//   const Table& table() {
//     loaded.call([] { theTable = load(); });  // may suspend
//     return theTable;
//   }
// Differences from std::once_flag and std::call_once:
// - call() is a member. Calling it within the function ends the program with a message.
// - If the function throws, the caller that has waited longest goes on. In std::call_once it is any one.
// - A wait may end by a stop. isDone() tells whether a call has returned.
//
// Lifetime: may be destroyed as soon as all calls have returned.
class WEFT_EXPORT Once {
 public:
  constexpr Once() = default;
  ~Once() {
    if (core_.isRunning()) [[unlikely]] {
      reportDestroyedInUse();
    }
  }
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  // Calls function(args...), unless a call has returned already. While another call is running, suspends the
  // fiber, or blocks the thread. If the function throws, its caller gets the exception, and the caller that
  // has waited longest calls its own function. If the first argument is a std::stop_token, this is
  // call(token, function).
  // Requires: the caller is not the function itself; otherwise a message ends the program.
  // Memory ordering: after each call() the caller sees what the function has written.
  template <class Function, class... Args>
    requires(std::invocable<Function, Args...> || !std::convertible_to<Function, std::stop_token>)
  void call(Function&& function, Args&&... args) {
    if (!isDone() && begin({}) == Turn::Mine) {
      run(std::forward<Function>(function), std::forward<Args>(args)...);
    }
  }

  // As call(function), but a wait for another call also ends at a stop of `token`.
  // Returns: false if the stop came first.
  template <class Function, class... Args>
  bool call(const std::stop_token& token, Function&& function, Args&&... args) {
    if (isDone()) {
      return true;
    }
    const Turn turn = begin(token);
    if (turn == Turn::Mine) {
      run(std::forward<Function>(function), std::forward<Args>(args)...);
    }
    return turn != Turn::Stopped;
  }

  // Returns: whether a call has returned.
  bool isDone() const { return core_.isDone(); }

 private:
  using Turn = detail::OnceCore<>::Turn;

  template <class Function, class... Args>
  void run(Function&& function, Args&&... args) {
    constexpr bool kCanBeCalled = std::invocable<Function, Args...>;
    static_assert(kCanBeCalled,
                  "Once::call(f, args...): f cannot be called with these arguments. "
                  "Write once.call([&] { ... }), or once.call(token, [&] { ... }).");
    if constexpr (kCanBeCalled) {
      detail::assertCallable(function, "Once::call()");
      bool hasReturned = false;
      detail::callAndEnd(
          [&] {
            std::invoke(std::forward<Function>(function), std::forward<Args>(args)...);
            hasReturned = true;
          },
          [&] { end(hasReturned); });
    }
  }
  Turn begin(const std::stop_token& token);
  Turn beginSlow(const std::stop_token& token);
  void end(bool hasReturned);
  [[noreturn]] static void reportDestroyedInUse();

  detail::OnceCore<> core_;
  std::atomic<const void*> runner_{nullptr};  // who calls its function
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
