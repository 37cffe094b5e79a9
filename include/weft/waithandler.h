// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <functional>

#include "weft/detail/base/deadline.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

namespace detail {
struct ThreadWaiter;
}  // namespace detail

// What a thread waits for, as its wait handler sees it.
// Lifetime: valid until the handler returns.
class WaitHandle {
 public:
  // Neither suspends nor blocks.
  // Returns: whether what is waited for has come, or the time of the wait is up.
  WEFT_EXPORT bool ready() const noexcept;

  // Sets a function that is called once, when what is waited for has come: by the thread that brings it, or
  // at once if it has come already. `wake` should make the handler look at ready(), for example by posting a
  // message to the thread. It must neither wait nor throw. A later call replaces the function of an earlier
  // one.
  // Lifetime: `wake` may still run when ready() is true, and after the handler has returned. So it must not
  // use what ends with the handler. The wait returns after `wake` has returned and was destroyed.
  WEFT_EXPORT void onReady(std::function<void()> wake) const;

  // Returns: the time of std::chrono::steady_clock at which the wait gives up; time_point::max() if never.
  // Nothing calls `wake` then, so the handler must look at the clock itself.
  detail::TimePoint deadline() const noexcept { return deadline_; }

 private:
  friend struct detail::ThreadWaiter;
  WaitHandle(detail::ThreadWaiter& waiter, detail::TimePoint deadline) noexcept
      : waiter_(&waiter), deadline_(deadline) {}

  detail::ThreadWaiter* waiter_;
  detail::TimePoint deadline_;
};

// A function that a thread without a scheduler calls instead of blocking in a wait. The handler may itself
// wait, and is then called again for that wait, which must be able to end without the outer calls of the
// handler. If the handler returns before the wait is over, the thread blocks for the rest.
using WaitHandler = std::function<void(WaitHandle)>;

// Sets what the calling thread does instead of blocking when it waits for a Future, or for anything else of
// weft except a mutex, a SharedMutex or a Once. (A handler that is held up by a mutex of the wait that it
// serves would wait forever.) With an empty handler the thread blocks, as it does by default. A fiber never
// calls a handler when it waits, nor does a thread while a scheduler is bound to it: they run other fibers.
// Neither suspends nor blocks.
// Lifetime: the thread's end destroys the handler before the thread_local objects that were made before it
// was set. Their destructors may set another one.
// Returns: the handler that was set before.
//
//   weft::setThreadWaitHandler([&window](weft::WaitHandle wait) {
//     wait.onReady([&window] { window.postEmptyMessage(); });
//     while (!wait.ready()) {
//       window.dispatchOneMessage();
//     }
//   });
WEFT_EXPORT WaitHandler setThreadWaitHandler(WaitHandler handler);

namespace detail {

// Returns: whether a wait of the calling thread would call its handler.
WEFT_EXPORT bool hasWaitHandler() noexcept;

}  // namespace detail

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
