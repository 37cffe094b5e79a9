// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

#include "weft/detail/base/deadline.h"
#include "weft/export.h"

namespace weft {

namespace detail {
struct ThreadWaiter;
}  // namespace detail

// The wait of a thread, as its wait handler sees it. Lifetime: valid until the handler returns.
class WaitHandle {
 public:
  // Returns: whether the wait is over: what is waited for has come, or the time is up. Neither suspends nor
  // blocks.
  WEFT_EXPORT bool ready() const noexcept;

  // Has `wake` called once what is waited for has come, by the thread that brings it; or at once, if it has
  // come already. It should make the handler look at ready(): post a message to the thread, say. It neither
  // waits nor throws. A later one replaces an earlier one.
  WEFT_EXPORT void onReady(std::function<void()> wake) const;

  // Returns: when the time of the wait is up, which calls nobody; time_point::max() if it has no such time.
  detail::TimePoint deadline() const noexcept { return deadline_; }

 private:
  friend struct detail::ThreadWaiter;
  WaitHandle(detail::ThreadWaiter& waiter, detail::TimePoint deadline) noexcept
      : waiter_(&waiter), deadline_(deadline) {}

  detail::ThreadWaiter* waiter_;
  detail::TimePoint deadline_;
};

// Called by a thread instead of blocking. It may wait itself, for which it is
// called again: what it waits for has to come without its outer calls. Where it returns before the wait is
// over, the thread blocks for the rest.
using WaitHandler = std::function<void(WaitHandle)>;

// Sets what the calling thread does instead of blocking when it waits: for a Future, or for any other thing
// of weft but a mutex, a SharedMutex or a Once (a handler that is held up by a mutex of the wait that it
// serves would wait for ever). An empty handler: it blocks, as at first. A fiber never calls a handler when
// it waits, nor does a thread while a scheduler is bound to it: they run other fibers. Returns: the handler
// before. Neither suspends nor blocks.
//
//   weft::setThreadWaitHandler([&window](weft::WaitHandle wait) {
//     wait.onReady([&window] { window.postEmptyMessage(); });
//     while (!wait.ready()) {
//       window.dispatchOneMessage();
//     }
//   });
WEFT_EXPORT WaitHandler setThreadWaitHandler(WaitHandler handler);

}  // namespace weft
