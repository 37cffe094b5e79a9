// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <concepts>
#include <mutex>
#include <type_traits>
#include <utility>

#include "weft/detail/channel/cases.h"
#include "weft/detail/channel/lock_case.h"
#include "weft/mutex.h"
#include "weft/select.h"

namespace weft::inline v0_1 {

// A case of select() that locks `mutex`, as lock() does, and calls handler(std::unique_lock<weft::mutex>), or
// handler(), after which the caller holds the mutex and unlocks it.
//
//   weft::select(weft::onLock(mutex, [&](std::unique_lock<weft::mutex>) { merge(total); }),
//                weft::onTimeout(std::chrono::milliseconds(5), [] { std::puts("busy"); }));
// If what is chosen is another case, the mutex goes to who waits behind this case.
// Requires: the caller does not hold the mutex; otherwise a message ends the program.
// Memory ordering: as for mutex::lock().
// Lifetime: refers to `mutex`, which must live until select() returns, or as long as an AnyCase of it.
template <class Mutex, class Handler = detail::Ignore>
[[nodiscard]] auto onLock(Mutex&& mutex, Handler handler = {}) {
  constexpr bool kIsMutex = std::same_as<std::remove_cvref_t<Mutex>, weft::mutex>;
  constexpr bool kLives = !kIsMutex || std::same_as<Mutex, weft::mutex&>;
  constexpr bool kCanBeCalled = !kIsMutex || !kLives ||
                                std::invocable<Handler&, std::unique_lock<weft::mutex>> ||
                                std::invocable<Handler&>;
  static_assert(
      kIsMutex,
      "onLock(mutex, handler): the first argument is a weft::mutex. For any other lock, let its "
      "holder send a message on a channel, or use a weft::Semaphore of one permit and onAcquire().");
  static_assert(kLives,
                "onLock(mutex, handler) refers to the mutex, which must live until select() has returned. "
                "Give it a variable that is not const, without std::move().");
  static_assert(kCanBeCalled,
                "onLock(mutex, handler): the handler takes the lock, or nothing. "
                "Write onLock(mutex, [&](std::unique_lock<weft::mutex> held) { ... }).");
  if constexpr (kIsMutex && kLives && kCanBeCalled) {
    return detail::SubjectCase<detail::LockCase, Handler>("onLock()", std::move(handler), mutex);
  } else {
    return detail::PlainCase<detail::Ignore>(detail::Ignore());
  }
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
