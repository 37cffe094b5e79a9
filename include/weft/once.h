// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <utility>

#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"

namespace weft {

// Has something done once, by the first who asks for it; the others wait until it is done.
//
//   weft::Once loaded;
//   const Table& table() {
//     loaded.call([] { theTable = load(); });  // may suspend
//     return theTable;
//   }
//
// Not std::once_flag and std::call_once: call() is a member; the function must not be called within itself,
// which ends the program with a message; where it throws, the one who has waited longest goes on, not anyone;
// a wait may end by a stop; and isDone() tells.
// Lifetime: may be destroyed as soon as all calls have returned.
class WEFT_EXPORT Once {
 public:
  constexpr Once() = default;
  ~Once() {
    // relaxed: nobody else may use it any more.
    if ((word_.load(std::memory_order_relaxed) & ~kDone) != 0) [[unlikely]] {
      reportDestroyedInUse();
    }
  }
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  // Calls function(args...), unless a call has returned already; while another is running, suspends the
  // fiber, or blocks the thread. Where it throws, the caller gets the exception, and the one who has waited
  // longest calls its own.
  // Requires: not called within the function, which would wait for itself; else a message ends the program.
  // Memory ordering: what the function has written is seen after each call().
  template <class Function, class... Args>
    requires std::invocable<Function, Args...>
  void call(Function&& function, Args&&... args) {
    if (!isDone() && begin({}) == Turn::Mine) {
      run(std::forward<Function>(function), std::forward<Args>(args)...);
    }
  }

  // The same, but waits for another call not beyond a stop that is requested by `token`. Returns: false when
  // that came first.
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
  bool isDone() const {
    // (1) acquire: sees what the function has written; pairs with the release in end().
    return (word_.load(std::memory_order_acquire) & kDone) != 0;
  }

 private:
  static constexpr uint32_t kDone = 1, kRunning = 2, kLocked = 4;

  enum class Turn : uint8_t { Mine, Done, Stopped };

  template <class Function, class... Args>
  void run(Function&& function, Args&&... args) {
    bool hasReturned = false;
    detail::callAndEnd(
        [&] {
          std::invoke(std::forward<Function>(function), std::forward<Args>(args)...);
          hasReturned = true;
        },
        [&] { end(hasReturned); });
  }
  Turn begin(const std::stop_token& token);
  bool giveUp(detail::Waiter& self);
  void end(bool hasReturned);
  [[noreturn]] static void reportDestroyedInUse();

  std::atomic<uint32_t> word_{0};             // each change by the holder of kLocked
  std::atomic<const void*> runner_{nullptr};  // who calls its function
  detail::WaitList waiters_;                  // guarded by kLocked
};

}  // namespace weft
